// SPDX-License-Identifier: GPL-3.0-or-later
// Raw pages of a killed recorder: nothing but pages, so all else comes from a trace.dat (reading-traces 1.10).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "importers/trace_dat/chunk_list.h"
#include "importers/trace_dat/stream_table.h"

namespace tickscope::trace_dat {

namespace {

constexpr u64 samplePages = 16;

/// N of the last `cpuN` in a file name.
Known<u32> cpuInName(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::size_t at = name.rfind("cpu");
  if (at == std::string_view::npos) return {};
  const char* from = name.data() + at + 3;
  const char* end = name.data() + name.size();
  u32 cpu = 0;
  const auto [stop, error] = std::from_chars(from, end, cpu);
  if (error != std::errc{} || cpu > 65'535) return {};
  if (stop != end && *stop != '.' && *stop != '-' && *stop != '_') return {};
  return cpu;
}

/// What the events of another recording cannot tell about these pages, though their formats can.
bool concernsFormats(Counter counter) {
  constexpr std::array kept{
      Counter::HeaderBad,    Counter::FormatBad,      Counter::FormatTwice,
      Counter::FormatTooBig, Counter::NoSymbols,      Counter::BadCmdline,
      Counter::BadPrintk,    Counter::UnknownSection, Counter::EndianFlagWrong};
  return std::find(kept.begin(), kept.end(), counter) != kept.end();
}

u32 plausiblePages(const ByteSource& source, const RecordFacts& facts, const RingLayout& ring,
                   u32 pageSize) {
  u32 found = 0;
  for (u64 i = 0; i < samplePages && (i + 1) * pageSize <= source.size(); ++i) {
    const std::vector<u8> page = source.bytes(i * pageSize, pageSize);
    if (page.size() == pageSize && facts.plausiblePage(page, ring, pageSize)) ++found;
  }
  return found;
}

/// Ids may be those of another boot, but the pages of one machine agree in their arithmetic.
bool anyPage(std::span<const ByteSource> cpus, const RingLayout& ring, u32 pageSize) {
  const RecordFacts anyRecord({});
  return std::any_of(cpus.begin(), cpus.end(), [&](const ByteSource& source) {
    for (u64 i = 0; i < samplePages && i * pageSize < source.size(); ++i) {
      if (anyRecord.plausiblePage(source.bytes(i * pageSize, pageSize), ring, pageSize))
        return true;
    }
    return false;
  });
}

/// The size at which most bytes of the sources are good pages; `usual` when nothing speaks against it.
u32 pageSizeOf(std::span<const ByteSource> cpus, const RecordFacts& facts, const RingLayout& ring,
               u32 usual) {
  const auto pages = [&](u32 pageSize) {
    u64 found = 0;
    for (const ByteSource& cpu : cpus) found += plausiblePages(cpu, facts, ring, pageSize);
    return found;
  };
  if (pages(usual) > 0) return usual;
  for (u32 size = 4U << 10U; size <= 1U << 20U; size *= 2) {
    if (size != usual && pages(size) > 0) return size;
  }
  return usual;
}

}  // namespace

Result<Container> readRawPages(std::span<const ByteSource> cpus, const ByteSource& formatsFrom,
                               u64 maxUnpack, ImportLog& log, Progress& progress) {
  ImportLog formatLog;
  auto container = readContainer(formatsFrom, maxUnpack, formatLog, progress);
  if (!container) return tl::unexpected(std::move(container.error()));
  for (const LogEntry& entry : formatLog.entries()) {
    if (!concernsFormats(entry.counter)) continue;
    for (std::size_t i = 0; i < entry.examples.size(); ++i) {
      log.note(entry.counter, entry.examples[i], 0,
               i == 0 ? entry.count - (entry.examples.size() - 1) : 1);
    }
  }

  Container& out = *container;
  BufferPlaces pages;
  if (!out.buffers.empty()) {
    pages.clock = out.buffers.front().clock;
    if (!pages.clock.name.empty()) pages.clock.source += " of the file with the formats";
  }
  out.buffers.clear();
  out.texts.clear();
  Metadata& metadata = out.metadata;
  metadata.format = "raw ring buffer pages";
  metadata.compression = "none";
  metadata.possibleCpus.reset();
  metadata.dateOffset.reset();
  metadata.timeOffset.reset();
  metadata.traceId.reset();
  metadata.guests.clear();

  const RecordFacts facts(out.formats);
  const u32 pageSize = pageSizeOf(cpus, facts, out.ring, metadata.pageSize);
  metadata.pageSize = pages.pageSize = pageSize;
  const ByteSource joined = ByteSource::joined({cpus.begin(), cpus.end()});

  std::vector<FoundRun> runs;
  u64 start = 0;
  for (const ByteSource& source : cpus) {
    FoundRun run;
    appendPlain(run.blocks, start, source.size(), pageSize);
    start += source.size();
    if (run.blocks.empty()) continue;
    run.cpu = cpuInName(source.name());
    if (!run.cpu) run.cpu = provenCpu(joined, run.blocks, facts, out.ring, pageSize);
    if (source.size() >= pageSize && plausiblePages(source, facts, out.ring, pageSize) == 0) {
      // Ids that happen to be taken there name the wrong events.
      log.note(Counter::FormatBad, {run.blocks.front().offset,
                                    {},
                                    "no page of " + source.name() +
                                        " holds events of these formats only; are they of another "
                                        "kernel?"});
    }
    runs.push_back(std::move(run));
  }
  if (!runs.empty() && !anyPage(cpus, out.ring, pageSize)) {
    return fail(Error::Kind::NotATrace, "The formats do not fit: " + cpus.front().name() +
                                            (cpus.size() > 1 ? " and the others hold" : " holds") +
                                            " no pages of the machine that this file is from.");
  }
  const std::vector<u32> numbers = numbersFor(runs, {}, {});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    PageStream stream;
    stream.cpu = Cpu{static_cast<u16>(numbers[i])};
    stream.cpuInferred = !runs[i].cpu;
    const u64 offset = runs[i].blocks.front().offset;
    if (stream.cpuInferred) log.note(Counter::CpuInferred, {offset, stream.cpu, {}});
    const bool twice =
        std::any_of(pages.streams.begin(), pages.streams.end(),
                    [&](const PageStream& other) { return other.cpu == stream.cpu; });
    if (twice) log.note(Counter::CpuTwice, {offset, stream.cpu, {}});
    stream.blocks = std::move(runs[i].blocks);
    pages.streams.push_back(std::move(stream));
  }
  std::stable_sort(pages.streams.begin(), pages.streams.end(),
                   [](const PageStream& a, const PageStream& b) { return a.cpu < b.cpu; });
  out.buffers.push_back(std::move(pages));
  return container;
}

}  // namespace tickscope::trace_dat
