// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzes the import of whole files, and the text of what was imported.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/trace/event_text.h"
#include "importers/import.h"
#include "tests/support/trace_dat_source.h"
#include "tests/support/trace_dat_writer.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t maxSize);

namespace tickscope {
namespace {

constexpr u32 printedRows = 200;
constexpr u64 mostMemory = 64 << 20;

void printRows(const Recording& recording) {
  std::size_t length = 0;
  for (const Buffer& buffer : recording.buffers) {
    const EventText text(recording, buffer);
    const u32 rows = std::min(buffer.events.size(), printedRows);
    for (u32 i = 0; i < rows; ++i) {
      const Row row{i};
      length += text.line(row).size();
      if (i % 8 == 0) length += text.fields(row).size();
    }
  }
  // Somebody must look at the length, or the compiler may drop what made it.
  if (length == std::numeric_limits<std::size_t>::max()) std::abort();
}

support::Order otherOrder(support::Order order) {
  return order == support::Order::Little ? support::Order::Big : support::Order::Little;
}

/// Changes one thing in a file that can be read, where blind changes of bytes do not get: inside
/// packed chunks, or a number to a value that means something.
class Mutation {
 public:
  Mutation(support::DatFile file, unsigned seed) : file_(std::move(file)), random_(seed) {}

  support::Blob changed() {
    switch (below(8)) {
      case 0:
      case 1:
        forceNumber();
        break;
      case 2:
        mutateText();
        break;
      case 3:
        mutatePayload();
        break;
      case 4:
        container();
        break;
      case 5:
        mutateOption();
        break;
      default:
        records();
        break;
    }
    return support::write(file_);
  }

 private:
  u64 below(u64 bound) { return bound == 0 ? 0 : random_() % bound; }
  template <class T>
  T* any(std::vector<T>& from) {
    return from.empty() ? nullptr : &from[below(from.size())];
  }

  void forceNumber() {
    auto places = support::writeWithPlaces(file_).places;
    const auto* place = any(places);
    if (place == nullptr) return;
    const u64 bit = u64{1} << below(u64{8} * place->width);
    const u64 values[] = {
        0,       1,        bit, bit - 1, place->value ^ bit, place->value + 1, place->value - 1,
        ~u64{0}, random_()};
    file_.forced[place->name] = values[below(std::size(values))];
  }

  void mutate(std::string& text) {
    std::vector<u8> bytes(text.begin(), text.end());
    mutate(bytes);
    text.assign(bytes.begin(), bytes.end());
  }
  void mutate(support::Blob& bytes) {
    const std::size_t size = bytes.size();
    bytes.resize(size + 64);
    bytes.resize(LLVMFuzzerMutate(bytes.data(), size, bytes.size()));
  }

  void mutateText() {
    switch (below(6)) {
      case 0:
        return mutate(file_.kallsyms);
      case 1:
        return mutate(file_.cmdlines);
      case 2:
        return mutate(file_.printkFormats);
      case 3:
        if (auto* format = any(file_.ftraceFormats)) mutate(*format);
        return;
      default:
        if (auto* system = any(file_.systems)) {
          if (auto* format = any(system->formats)) mutate(*format);
        }
    }
  }

  support::Page* page() {
    auto* buffer = any(file_.buffers);
    auto* stream = buffer == nullptr ? nullptr : any(buffer->streams);
    return stream == nullptr ? nullptr : any(stream->pages);
  }

  void mutatePayload() {
    auto* from = page();
    auto* record = from == nullptr ? nullptr : any(from->records);
    if (record != nullptr) mutate(record->payload);
  }

  void container() {
    switch (below(4)) {
      case 0:
        file_.codec = static_cast<support::Codec>(below(3));
        break;
      case 1:
        file_.version = file_.version == 6 ? 7 : 6;
        break;
      case 2:
        file_.order = otherOrder(file_.order);
        break;
      default:
        file_.word = file_.word == 8 ? 4 : 8;
        break;
    }
    if (file_.version == 6) file_.codec = support::Codec::None;
  }

  void mutateOption() {
    auto* option = any(file_.options);
    if (option == nullptr || below(4) == 0) {
      file_.options.push_back({static_cast<u16>(below(27)), support::Blob(below(64))});
    } else {
      mutate(option->data);
    }
  }

  void records() {
    support::Page* to = page();
    if (to == nullptr) return;
    const u64 kind = below(7);
    support::Record record{static_cast<support::Record::Kind>(kind), random_() >> below(64),
                           support::Blob(below(200))};
    const auto at = static_cast<std::ptrdiff_t>(below(to->records.size() + 1));
    switch (below(4)) {
      case 0:
        if (!to->records.empty()) to->records.erase(to->records.begin() + std::max<s64>(at - 1, 0));
        break;
      case 1:
        to->lost = support::Lost{};
        if (below(2) == 0) to->lost->count = random_();
        break;
      case 2:
        to->time = random_() >> below(64);
        break;
      default:
        to->records.insert(to->records.begin() + at, std::move(record));
        break;
    }
  }

  support::DatFile file_;
  std::mt19937_64 random_;
};

}  // namespace
}  // namespace tickscope

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize,
                                          unsigned seed) {
  using namespace tickscope;
  if (seed % 3 != 0) {
    try {
      support::DatFile file = support::readDat({data, size});
      if (file.cpuCount.value_or(0) <= 4096 && file.pageSize <= 1 << 20) {
        const support::Blob bytes = Mutation(std::move(file), seed).changed();
        if (bytes.size() <= maxSize) {
          std::copy(bytes.begin(), bytes.end(), data);
          return bytes.size();
        }
      }
    } catch (const std::exception&) {
      // A damaged file: bytes are all there is to change.
    }
  }
  return LLVMFuzzerMutate(data, size, maxSize);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tickscope;
  const ByteSource source = ByteSource::memory({data, data + size});
  (void)sniff(source);
  ImportOptions options;
  options.maxMemory = mostMemory;
  options.maxUnpack = mostMemory;
  Progress progress;
  if (const auto recording = importTrace(source, options, progress)) printRows(*recording);
  return 0;
}
