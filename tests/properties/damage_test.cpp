// SPDX-License-Identifier: GPL-3.0-or-later
// Cut, flipped and lying files: never a crash, a hang or greed; what is whole survives; what is lost is said.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/damage.h"
#include "tests/support/imported.h"
#include "tests/support/isolated.h"
#include "tests/support/recordings.h"
#include "tests/support/trace_dat_convert.h"
#include "tests/support/trace_dat_source.h"
#include "tests/support/trace_dat_writer.h"

namespace tickscope::support {
namespace {

/// Memory as reading-traces 1.9 bounds it for files of a few hundred KiB, and what the process has anyway.
constexpr Limits small{.cpuSeconds = 2, .addressSpace = u64{700} << 20U};

void expectNone(const std::vector<std::string>& failures, const std::string& what) {
  for (const std::string& failure : failures) ADD_FAILURE() << what << ": " << failure;
}

/// Events that lie wholly before `cut`, by CPU: of pages, or of chunks of packed streams.
std::map<u32, u64> wholeBefore(std::span<const u8> bytes, u64 cut) {
  const Layout layout = readLayout(bytes);
  std::map<u32, u64> events;
  const DatFile file = readDat(bytes);
  for (std::size_t b = 0; b < layout.buffers.size(); ++b) {
    for (std::size_t s = 0; s < layout.buffers[b].streams.size(); ++s) {
      const StreamPlace& place = layout.buffers[b].streams[s];
      const std::vector<Page>& pages = file.buffers[b].streams[s].pages;
      std::size_t whole = 0;
      if (!layout.buffers[b].isPacked) {
        whole = cut <= place.offset
                    ? 0
                    : std::min<u64>((cut - place.offset) / file.pageSize, pages.size());
      } else {
        const auto number = [&](u64 at) {
          return at + 4 <= bytes.size()
                     ? loadNumber<u32>(bytes.data() + at, file.order == Order::Big)
                     : 0U;
        };
        u64 at = place.offset + 4;
        for (u32 chunks = number(place.offset); chunks > 0 && at + 8 + number(at) <= cut;
             --chunks) {
          whole += number(at + 4) / file.pageSize;
          at += 8 + u64{number(at)};
        }
      }
      for (std::size_t p = 0; p < whole; ++p) events[place.cpu] += eventsOn(pages[p]);
    }
  }
  return events;
}

class Truncation : public testing::TestWithParam<const char*> {};

TEST_P(Truncation, KeepsWhatIsWholeAndSaysWhatIsMissing) {
  TICKSCOPE_NEED_RECORDING(path, GetParam());
  const Blob whole = readFile(path);
  const Control control(importedBytes(whole));
  const auto check = [&](u64 kib) -> std::string {
    const u64 cut = kib * 1024;
    const auto found = tryImport(
        ByteSource::memory({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)}),
        1 + static_cast<int>(kib % 2));
    u64 expected = 0;
    for (const auto& [cpu, events] : wholeBefore(whole, cut)) expected += events;
    if (!found) {
      if (expected > 0)
        return fmt::format("refused, though {} events are whole: {}", expected,
                           describe(found.error()));
      if (!found.error().offset) return "error without an offset: " + found.error().what;
      return "";
    }
    if (std::string text = control.differenceOfPrefix(*found); !text.empty())
      return text + "\n" + logText(found->log);
    if (control.rowsOf(*found) < expected) {
      return fmt::format("{} rows, but {} events are whole\n{}", control.rowsOf(*found), expected,
                         logText(found->log));
    }
    if (!saysWhereDamage(found->log))
      return "the log has no message with an offset\n" + logText(found->log);
    if (kib % 16 == 0) printAll(*found);
    return "";
  };
  const u64 cuts = (whole.size() - 1) / 1024 + 1;
  expectNone(isolatedCases(
                 cuts, check, [](u64 kib) { return fmt::format("cut at {} KiB", kib); }, small),
             GetParam());
}

INSTANTIATE_TEST_SUITE_P(Files, Truncation,
                         testing::Values("formats/base-v6.dat", "formats/base-v7-zstd.dat",
                                         "arch/arch-s390x-v6.dat"));

/// A small file with two CPUs of two pages each, cut out of a recording.
DatFile smallFile(const std::string& path, const Target& target) {
  DatFile file = readDat(readFile(path));
  constexpr std::size_t pages = 2;
  constexpr std::size_t records = 12;
  std::set<u32> ids;
  for (support::Buffer& buffer : file.buffers) {
    for (support::Stream& stream : buffer.streams) {
      stream.pages.resize(std::min(stream.pages.size(), pages));
      for (Page& page : stream.pages) {
        page.records.resize(std::min(page.records.size(), records));
        page.tail.clear();
        for (const Record& record : page.records) {
          if (record.payload.size() >= 2) ids.insert(record.payload[0] + 256U * record.payload[1]);
        }
      }
    }
  }
  const auto unused = [&](const std::string& text) {
    return !ids.contains(parseFormat(text, file.word).id);
  };
  std::erase_if(file.ftraceFormats, unused);
  for (System& system : file.systems) std::erase_if(system.formats, unused);
  std::erase_if(file.systems, [](const System& system) { return system.formats.empty(); });
  file.kallsyms.resize(std::min<std::size_t>(file.kallsyms.size(), 200));
  file.cmdlines.resize(std::min<std::size_t>(file.cmdlines.size(), 60));
  return reencoded(file, target);
}

/// Which CPU and page of the buffer a number belongs to; empty: the container.
struct Owner {
  std::optional<u32> cpu, page;
  bool record = false;
};
Owner ownerOf(const std::string& name) {
  Owner owner;
  const auto after = [&](std::string_view key) -> std::optional<u32> {
    const std::size_t at = name.find(key);
    if (at == std::string::npos) return {};
    return static_cast<u32>(std::strtoul(name.c_str() + at + key.size(), nullptr, 10));
  };
  owner.cpu = after(".cpu.");
  owner.page = after(".page.");
  owner.record = name.find(".record.") != std::string::npos;
  return owner;
}

struct Flip {
  const FieldPlace* place;
  u64 value;
};

/// All single bits of a number, and the values at which numbers turn; `few`: a part of both.
std::vector<u64> wrongValues(const FieldPlace& place, bool few) {
  std::set<u64> values;
  const u32 bits = 8 * place.width;
  const u64 mask = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
  for (u32 bit = 0; bit < bits; bit += few ? 5 : 1) values.insert(place.value ^ (u64{1} << bit));
  const std::vector<u64> extremes{
      u64{0},          ~u64{0},         place.value - 1, place.value + 1,
      u64{0x7fff},     u64{0x8000},     u64{0xffff},     u64{0x7fffffff},
      u64{0x80000000}, u64{0xffffffff}, u64{0xfffffff0}, u64{0x100000000},
      u64{1} << 40U,   ~u64{0} >> 1U,   u64{1} << 63U,   ~u64{0} - 15};
  for (const u64 extreme : std::span(extremes).first(few ? 4 : extremes.size())) {
    values.insert(extreme & mask);
  }
  values.erase(place.value & mask);
  return {values.begin(), values.end()};
}

/// A wrong offset that is the place of another CPU's pages: whose they are, nothing in the file tells.
bool pointsAtOther(const Flip& flip, const Written& written, u32 pageSize) {
  if (!flip.place->name.ends_with(".offset")) return false;
  const auto valueOf = [&](const std::string& name) {
    const auto found = std::find_if(written.places.begin(), written.places.end(),
                                    [&](const FieldPlace& p) { return p.name == name; });
    return found == written.places.end() ? u64{0} : found->value;
  };
  for (const FieldPlace& place : written.places) {
    if (!place.name.ends_with(".offset") || place.name.find(".cpu.") == std::string::npos ||
        place.name == flip.place->name)
      continue;
    const std::string size = place.name.substr(0, place.name.size() - 6) + "size";
    if (flip.value + pageSize > place.value && flip.value < place.value + valueOf(size))
      return true;
  }
  return false;
}

struct Variant {
  const char* name;
  Target target;
  bool few = false;
};
void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

class NumbersSlow : public testing::TestWithParam<Variant> {};

TEST_P(NumbersSlow, MayLieWithoutHarmToTheRest) {
  TICKSCOPE_NEED_RECORDING(path, "formats/lost.dat");
  DatFile file = smallFile(path, GetParam().target);
  file.pagesPerChunk = 1;
  const Written written = writeWithPlaces(file);
  const Control control(importedBytes(written.bytes));
  ASSERT_GT(control.rows(), 20U);
  std::vector<Flip> flips;
  for (const FieldPlace& place : written.places) {
    const Owner owner = ownerOf(place.name);
    const bool few = GetParam().few || underSanitizer() ||
                     (owner.record && place.name.find(".record.0.") == std::string::npos);
    for (const u64 value : wrongValues(place, few)) flips.push_back({&place, value});
  }
  const auto describe = [&](u64 i) {
    return fmt::format("{} = {:#x} instead of {:#x}", flips[i].place->name, flips[i].value,
                       flips[i].place->value);
  };
  std::string silent;
  const auto check = [&](u64 i) -> std::string {
    const Flip& flip = flips[i];
    Blob bytes;
    if (flip.place->offset) {
      bytes = written.bytes;
      Blob number;
      append(number, file.order, flip.place->width, flip.value);
      std::copy(number.begin(), number.end(),
                bytes.begin() + static_cast<std::ptrdiff_t>(*flip.place->offset));
    } else {
      DatFile lying = file;
      lying.forced[flip.place->name] = flip.value;
      bytes = write(lying);
    }
    const auto found = tryImport(ByteSource::memory(bytes), 1 + static_cast<int>(i % 2));
    const Owner owner = ownerOf(flip.place->name);
    if (!found) {
      if (owner.cpu) return "refused because of one CPU: " + tickscope::describe(found.error());
      return found.error().what.empty() ? "an error without words" : "";
    }
    printAll(*found);
    // Damage in the pages of one CPU costs no other CPU anything, and no other page of that CPU.
    if (owner.page) return control.differenceElsewhere(*found, *owner.cpu, *owner.page, file);
    if (owner.cpu && flip.place->name.find(".id") == std::string::npos &&
        !pointsAtOther(flip, written, file.pageSize)) {
      if (std::string text = control.differenceOfOthers(*found, *owner.cpu); !text.empty())
        return text + "\n" + logText(found->log);
    }
    if (control.rowsOf(*found) < control.rows() && !saysWhereDamage(found->log)) {
      return fmt::format("{} of {} rows, and no message with an offset\n{}", control.rowsOf(*found),
                         control.rows(), logText(found->log));
    }
    return "";
  };
  expectNone(isolatedCases(flips.size(), check, describe, small), GetParam().name);
  fmt::print("{}: {} wrong numbers in {} places, {} bytes\n", GetParam().name, flips.size(),
             written.places.size(), written.bytes.size());
}

INSTANTIATE_TEST_SUITE_P(
    Containers, NumbersSlow,
    testing::Values(
        Variant{"v6", {.version = 6}}, Variant{"v7", {.version = 7, .codec = Codec::None}},
        Variant{"zstd", {.version = 7, .codec = Codec::Zstd}},
        Variant{
            "zlib, big endian", {.version = 7, .codec = Codec::Zlib, .order = Order::Big}, true},
        Variant{"v6, 32-bit big endian", {.version = 6, .order = Order::Big, .word = 4}, true}),
    [](const auto& test) {
      std::string name = test.param.name;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name;
    });

}  // namespace
}  // namespace tickscope::support
