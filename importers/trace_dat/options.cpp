// SPDX-License-Identifier: GPL-3.0-or-later
// Reads options, each checked by itself: one that is wrong costs nothing but itself.
#include "importers/trace_dat/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "importers/trace_dat/metadata_texts.h"

namespace tickscope::trace_dat {

namespace {

constexpr std::string_view bufferOption = "BUFFER option";

constexpr u32 highestCpu = 65'535;
constexpr std::size_t mostBuffers = 1'000;
constexpr std::size_t mostGuests = 1'000;

ByteReader readerOf(const Reading& reading, const Option& option) {
  return {option.data, reading.header.swap, option.at};
}

/// An ASCII integer, decimal or with 0x, as DATE and OFFSET hold it.
Known<s64> signedText(Bytes bytes) {
  std::string_view text = trimmedEnd(asText(bytes));
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  u64 value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, hex ? 16 : 10);
  if (text.empty() || error != std::errc{} || stop != end) return {};
  // A hexadecimal number is the bit pattern of a signed one.
  if (!hex && value > static_cast<u64>(std::numeric_limits<s64>::max())) return {};
  return negative ? static_cast<s64>(0 - value) : static_cast<s64>(value);
}

void bad(Reading& reading, const Option& option, std::string_view name) {
  reading.note(Counter::OptionBad, option.at, std::string(name));
}

void takeDate(Reading& reading, const Option& option) {
  const auto micros = signedText(option.data);
  constexpr s64 most = std::numeric_limits<s64>::max() / 1000;
  if (!micros || *micros > most || *micros < -most) return bad(reading, option, "DATE");
  reading.out.metadata.dateOffset = *micros * 1000;
}

void takeOffset(Reading& reading, const Option& option) {
  const auto nanos = signedText(option.data);
  if (!nanos) return bad(reading, option, "OFFSET");
  reading.out.metadata.timeOffset = nanos;
}

void takeStatistics(Reading& reading, const Option& option) {
  constexpr std::string_view heading = "\nBuffer: ";
  const std::string_view text = asText(option.data);
  if (text.starts_with(heading)) {
    reading.statisticsOf = trimmedEnd(text.substr(heading.size()));
    return;
  }
  reading.statistics[reading.statisticsOf].push_back(parseStatistics(text));
}

void takeCpuCount(Reading& reading, const Option& option) {
  ByteReader reader = readerOf(reading, option);
  u32 count = reader.number<u32>();
  if (reader.failed()) return bad(reading, option, "CPUCOUNT");
  if (count > highestCpu && byteSwapped(count) <= highestCpu) {
    reading.note(Counter::SwappedOption, option.at, "CPUCOUNT");
    count = byteSwapped(count);
  }
  if (count == 0 || count > highestCpu + 1) return bad(reading, option, "CPUCOUNT");
  reading.cpuCount = count;
  reading.out.metadata.possibleCpus = count;
}

void takeTscToNs(Reading& reading, const Option& option) {
  ByteReader reader = readerOf(reading, option);
  Metadata::TscToNs factors{};
  factors.mult = reader.number<u32>();
  factors.shift = reader.number<u32>();
  factors.offset = reader.number<u64>();
  if (reader.failed() || factors.mult == 0 || factors.shift > 63) {
    return bad(reading, option, "TSC2NSEC");
  }
  reading.out.metadata.tscToNs = factors;
}

std::string counted(u64 n, std::string_view thing) {
  return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s");
}

void addGuest(Reading& reading, std::string words) {
  auto& guests = reading.out.metadata.guests;
  if (guests.size() < mostGuests) guests.push_back(std::move(words));
}

void takeGuest(Reading& reading, const Option& option) {
  ByteReader reader = readerOf(reading, option);
  const std::string_view name = reader.string(256);
  const u64 id = reader.number<u64>();
  const u32 count = reader.number<u32>();
  if (reader.failed() || u64{count} * 8 > reader.left()) return bad(reading, option, "GUEST");
  std::string words =
      fmt::format("guest {}, trace id 0x{:x}: {}", name, id, counted(count, "virtual CPU"));
  constexpr u32 mostNamed = 64;
  for (u32 i = 0; i < count && i < mostNamed; ++i) {
    const u32 cpu = reader.number<u32>();
    const u32 pid = reader.number<u32>();
    words += fmt::format("{} {} is thread {}", i == 0 ? "," : ";", cpu, pid);
  }
  addGuest(reading, std::move(words));
}

void takeTimeShift(Reading& reading, const Option& option) {
  ByteReader reader = readerOf(reading, option);
  const u64 peer = reader.number<u64>();
  const u32 flags = reader.number<u32>();
  const u32 cpus = reader.number<u32>();
  u64 samples = 0;
  if (u64{cpus} * 4 > reader.left()) return bad(reading, option, "TIME_SHIFT");
  for (u32 cpu = 0; cpu < cpus && !reader.failed(); ++cpu) {
    const u64 count = reader.number<u32>();
    samples += count;
    // Times and offsets; scalings are left out of a single sample, fractions are newer.
    reader.take(count * 16);
    if (count > 1) reader.take(count * 8);
  }
  if (reader.failed()) return bad(reading, option, "TIME_SHIFT");
  addGuest(reading, fmt::format("time shift against trace id 0x{:x}: {}, {}{}; not applied", peer,
                                counted(cpus, "CPU"), counted(samples, "sample"),
                                flags & 1U ? ", to be interpolated" : ""));
}

}  // namespace

bool takeOption(Reading& reading, const Option& option) {
  Metadata& metadata = reading.out.metadata;
  const std::string_view text = asText(option.data);
  switch (option.id) {
    case option_id::date:
      takeDate(reading, option);
      return true;
    case option_id::cpuStatistics:
      takeStatistics(reading, option);
      return true;
    case option_id::traceClock:
      reading.traceClock = chosenClock(text);
      reading.traceClockAt = option.at;
      return true;
    case option_id::uname:
      setUname(text, metadata);
      return true;
    case option_id::version:
      metadata.writer = trimmedEnd(text);
      return true;
    case option_id::offset:
      takeOffset(reading, option);
      return true;
    case option_id::cpuCount:
      takeCpuCount(reading, option);
      return true;
    case option_id::traceId: {
      ByteReader reader = readerOf(reading, option);
      const u64 id = reader.number<u64>();
      if (reader.failed()) {
        bad(reading, option, "TRACEID");
      } else {
        metadata.traceId = id;
      }
      return true;
    }
    case option_id::timeShift:
      takeTimeShift(reading, option);
      return true;
    case option_id::guest:
      takeGuest(reading, option);
      return true;
    case option_id::tscToNs:
      takeTscToNs(reading, option);
      return true;
    case option_id::hook:
      reading.note(Counter::IgnoredOption, option.at, "HOOK");
      return true;
    case option_id::procMaps:
      reading.note(Counter::IgnoredOption, option.at, "PROCMAPS");
      return true;
    case option_id::btf:
      reading.note(Counter::IgnoredOption, option.at, "BTF");
      return true;
    case option_id::modules:
      reading.note(Counter::IgnoredOption, option.at, "MODULES");
      return true;
    case option_id::lastBoot:
      metadata.lastBoot = true;
      reading.note(
          Counter::LastBoot, option.at,
          fmt::format("instance {}", text.substr(0, std::min(text.find(':'), text.size()))));
      return true;
    default:
      return false;
  }
}

Known<BufferPlace6> readBufferOption6(const Reading& reading, const Option& option) {
  ByteReader reader = readerOf(reading, option);
  BufferPlace6 place;
  place.offset = reader.number<u64>();
  if (reader.failed()) return {};
  place.name = trimmedEnd(asText(reader.rest()));
  return place;
}

void readBufferOption7(Reading& reading, const Option& option, bool foundByWalk) {
  if (reading.tables.size() >= mostBuffers) {
    return reading.note(Counter::OptionsCut, option.at, "more than 1,000 buffers");
  }
  ByteReader reader = readerOf(reading, option);
  BufferTable table;
  table.foundByWalk = foundByWalk;
  const u64 size = reading.size();
  const auto inFile = [size](u64 value) { return value <= size; };
  const u64 section = reader.number<u64>();
  table.name = reader.string(4096);
  table.clock.name = chosenClock(reader.string(4096));
  if (reader.failed()) {
    return reading.note(Counter::OptionsCut, option.at, "BUFFER");
  }
  if (!table.clock.name.empty()) table.clock.source = bufferOption;
  table.pageSizeAt = reader.offset();
  const u32 pageSize = reader.number<u32>();
  const u64 countAt = reader.offset();
  constexpr u64 rowSize = 20;
  const u32 rows = reader.number<u32>();
  const u64 fit = reader.left() / rowSize;

  // trace-cmd writes the numbers of this option in the order of the machine that it runs on. One
  // number alone may be damaged; the number of rows or the place of the section tells for all.
  const bool other = (rows > fit && byteSwapped(rows) == fit) ||
                     (!inFile(section) && inFile(byteSwapped(section)));
  bool swapped = false;
  const auto believable = [&]<class T>(T value, bool swap, auto&& possible) {
    if (!swap || !possible(byteSwapped(value))) return value;
    swapped = true;
    return byteSwapped(value);
  };
  const auto isCpu = [](u32 cpu) { return cpu <= highestCpu; };
  table.dataFrom = believable(section, other, inFile);
  table.pageSize = believable(pageSize, other || !isPageSize(pageSize), isPageSize);
  const u32 count = believable(rows, other, [fit](u32 value) { return value <= fit; });
  if (reader.failed()) {
    reading.note(Counter::OptionsCut, option.at, "BUFFER");
    table.damaged = true;
  } else if (count > fit) {
    reading.note(Counter::RangeCut, countAt,
                 fmt::format("{} rows announced, {} there", count, fit));
    table.damaged = true;
  } else if (count < fit) {
    reading.note(Counter::HeaderBad, countAt,
                 fmt::format("{} rows announced, room for {}", count, fit));
    table.damaged = true;
  }
  table.rows.reserve(static_cast<std::size_t>(std::min<u64>(count, fit)));
  for (u64 i = 0; i < std::min<u64>(count, fit); ++i) {
    StreamRow row;
    row.at = reader.offset();
    const u32 cpu = reader.number<u32>();
    row.cpu = believable(cpu, other || !isCpu(cpu), isCpu);
    row.offset = believable(reader.number<u64>(), other, inFile);
    row.size = believable(reader.number<u64>(), other, inFile);
    table.rows.push_back(row);
  }
  if (swapped) reading.note(Counter::SwappedOption, option.at, "BUFFER");
  reading.tables.push_back(std::move(table));
}

void settleClocks(Reading& reading) {
  for (BufferPlaces& buffer : reading.out.buffers) {
    const auto statistics = reading.statistics.find(buffer.name);
    if (statistics != reading.statistics.end()) buffer.statistics = statistics->second;
    BufferClock& clock = buffer.clock;
    const bool top = buffer.name.empty();
    if (top && reading.traceClock && !reading.traceClock->empty()) {
      if (!clock.name.empty() && clock.name != *reading.traceClock) {
        reading.note(
            Counter::ClockConflict, reading.traceClockAt,
            fmt::format("{} in one place, {} in another", *reading.traceClock, clock.name));
      }
      clock.name = *reading.traceClock;
      clock.source = "TRACECLOCK option";
    }
    // trace-cmd 3.1 writes the clock of another buffer there.
    if (!top && clock.source == bufferOption) clock.source += ", not reliable for instances";
    clock.unit = unitOf(clock.name);
    if (clock.unit == ClockUnit::Cycles && reading.out.metadata.tscToNs) {
      clock.unit = ClockUnit::Nanoseconds;
      clock.source += ", turned into ns by TSC2NSEC";
      continue;
    }
    Known<bool> point;
    for (const CpuStatistics& cpu : buffer.statistics) {
      if (const auto seen = nowHasPoint(cpu.text)) point = seen;
    }
    if (!point) continue;
    const bool nanoseconds = clock.unit == ClockUnit::Nanoseconds;
    if (clock.unit == ClockUnit::Unknown) {
      if (*point) clock.unit = ClockUnit::Nanoseconds;
    } else if (nanoseconds != *point) {
      // The kernel prints a fraction for clocks of nanoseconds only: it knows its clock.
      reading.log.note(Counter::ClockConflict,
                       {{},
                        {},
                        fmt::format("buffer {}: called {}, but the kernel's statistics {}",
                                    top ? "(top)" : buffer.name, clock.name,
                                    *point ? "have seconds" : "have no seconds")});
      clock.source += "; the kernel's statistics contradict it";
      clock.unit = *point ? ClockUnit::Nanoseconds : ClockUnit::Unknown;
    }
  }
}

}  // namespace tickscope::trace_dat
