// SPDX-License-Identifier: GPL-3.0-or-later
// Reads records again and prints them.
#include "importers/trace_dat/record_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>

#include "core/base/shown_text.h"
#include "importers/trace_dat/record_printer.h"

namespace tickscope::trace_dat {
namespace {

constexpr std::size_t keptBlocks = 8;
constexpr std::string_view unreadable = "[the record's bytes cannot be read again]";

/// The last few blocks that were unpacked.
class BlockCache {
 public:
  BlockCache(ByteSource source, std::vector<Block> blocks)
      : source_(std::move(source)), blocks_(std::move(blocks)) {}

  std::vector<u8> bytes(const RawRef& record) {
    const std::scoped_lock lock(mutex_);
    const std::vector<u8>* const block = find(record.block);
    if (!block || record.offset > block->size() || record.length > block->size() - record.offset)
      return {};
    const auto begin = block->begin() + static_cast<std::ptrdiff_t>(record.offset);
    return {begin, begin + static_cast<std::ptrdiff_t>(record.length)};
  }

 private:
  struct Kept {
    u32 block;
    std::vector<u8> bytes;
  };
  const std::vector<u8>* find(u32 block) {
    if (block >= blocks_.size()) return nullptr;
    const auto kept =
        std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.block == block; });
    if (kept != kept_.end()) {
      std::rotate(kept_.begin(), kept, kept + 1);
      return &kept_.front().bytes;
    }
    const BlockReader::Unpacked unpacked = reader_.read(source_, blocks_[block]);
    if (kept_.size() >= keptBlocks) kept_.pop_back();
    kept_.push_front({block, {unpacked.bytes.begin(), unpacked.bytes.end()}});
    return &kept_.front().bytes;
  }

  std::mutex mutex_;
  ByteSource source_;
  std::vector<Block> blocks_;
  BlockReader reader_;
  std::deque<Kept> kept_;  // the last used first
};

}  // namespace

struct RecordText::State {
  /// Made when the first record of a type is printed: a file can hold formats of thousands of
  /// events.
  struct Lazy {
    std::once_flag once;
    std::unique_ptr<const RecordPrinter> printer;
  };

  State(ByteSource source, std::shared_ptr<const Binding> bound, std::vector<Block> blocks,
        const Metadata& metadata)
      : cache(std::move(source), std::move(blocks)),
        binding(std::move(bound)),
        symbols(metadata.symbols),
        strings(metadata.printkFormats),
        addresses(*symbols, metadata.wordSize),
        library(symbols, metadata.wordSize, metadata.bigEndian, metadata.pageSize),
        printers(std::make_unique<Lazy[]>(binding->types.size())) {
    around = {&addresses, &strings, binding->ring.swap, binding->ring.bigEndian};
  }

  [[nodiscard]] const EventFormat* format(u16 type) const {
    if (type >= binding->formatOfType.size()) return nullptr;
    const u32 index = binding->formatOfType[type];
    return index < binding->formats.size() ? &binding->formats[index] : nullptr;
  }

  /// nullptr: the type has no format.
  [[nodiscard]] const RecordPrinter* printer(u16 type) const {
    const EventFormat* const found = format(type);
    if (!found || type >= binding->types.size()) return nullptr;
    Lazy& lazy = printers[type];
    std::call_once(lazy.once, [&] {
      lazy.printer =
          std::make_unique<RecordPrinter>(*found, binding->types[type].kind, addresses.wordSize());
    });
    return lazy.printer.get();
  }

  mutable BlockCache cache;
  std::shared_ptr<const Binding> binding;
  std::shared_ptr<const Symbols> symbols;
  std::unordered_map<u64, std::string> strings;
  AddressText addresses;
  TraceEventText library;
  PrintSurroundings around;
  std::unique_ptr<Lazy[]> printers;
};

RecordText::RecordText(ByteSource source, std::shared_ptr<const Binding> binding,
                       std::vector<Block> blocks, const Metadata& metadata)
    : state_(std::make_unique<State>(std::move(source), std::move(binding), std::move(blocks),
                                     metadata)) {}

RecordText::~RecordText() = default;

std::string RecordText::body(u16 type, const RawRef& record) const {
  const std::vector<u8> bytes = state_->cache.bytes(record);
  if (bytes.empty()) return record.length ? std::string(unreadable) : std::string("[no bytes]");
  const RecordPrinter* const printer = state_->printer(type);
  if (printer) return printer->print(bytes, state_->around, state_->library);
  std::string text = "[no format]";
  for (const u8 byte : bytes) fmt::format_to(std::back_inserter(text), " {:02x}", byte);
  return text;
}

std::vector<FieldValue> RecordText::fields(u16 type, const RawRef& record) const {
  const EventFormat* const format = state_->format(type);
  return format ? recordFields(*format, state_->cache.bytes(record), state_->around)
                : std::vector<FieldValue>{};
}

bool RecordText::namedInText(u16 type) const {
  const RecordPrinter* const printer = state_->printer(type);
  return !printer || printer->named();
}

std::vector<u8> RecordText::bytes(const RawRef& record) const {
  return state_->cache.bytes(record);
}

Known<std::string> RecordText::typedBody(u16 type, std::span<const TypedValue> values) const {
  const RecordPrinter* const printer = state_->printer(type);
  return printer ? printer->typed(values, state_->around) : Known<std::string>{};
}

std::string_view RecordText::fieldName(u16 type, std::size_t place) const {
  const EventFormat* const format = state_->format(type);
  if (!format || type >= state_->binding->types.size()) return {};
  const auto infos = infoOf(state_->binding->types[type].kind).fields;
  if (place >= infos.size()) return {};
  const FieldInfo& info = infos[place];
  if (format->find(info.name)) return info.name;
  return !info.alias.empty() && format->find(info.alias) ? info.alias : std::string_view{};
}

}  // namespace tickscope::trace_dat
