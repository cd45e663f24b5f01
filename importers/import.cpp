// SPDX-License-Identifier: GPL-3.0-or-later
// From a container to a recording: pieces of streams are decoded side by side and joined.
#include "importers/import.h"

#include <fmt/format.h>

#include <map>

#include "core/base/parallel.h"
#include "core/base/shown_text.h"
#include "core/base/time_text.h"
#include "core/trace/event_text.h"
#include "core/trace/store_builder.h"
#include "importers/trace_dat/container.h"
#include "importers/trace_dat/field_binding.h"
#include "importers/trace_dat/record_printer.h"
#include "importers/trace_dat/record_text.h"
#include "importers/trace_dat/stream_reader.h"

namespace tickscope {
namespace {

using trace_dat::Block;
using trace_dat::BlockReader;
using trace_dat::BufferPlaces;
using trace_dat::Codec;
using trace_dat::PageStream;
using trace_dat::RunEnd;
using trace_dat::StreamRun;

/// Plain bytes of a piece: enough that joining costs nothing, few enough to keep two threads busy to the end.
constexpr u64 pieceBytes = u64{4} << 20U;

/// A buffer's streams cut into runs, which do not depend on the number of threads.
struct BufferRuns {
  std::vector<StreamRun> runs;
  std::vector<u32> streamOfRun;
};

BufferRuns cutIntoRuns(const BufferPlaces& places, u32& blockNumber) {
  BufferRuns cut;
  for (u32 s = 0; s < places.streams.size(); ++s) {
    const PageStream& stream = places.streams[s];
    const std::span<const Block> blocks = stream.blocks;
    for (std::size_t from = 0; from < blocks.size();) {
      u64 plain = 0;
      std::size_t to = from;
      while (to < blocks.size() && plain < pieceBytes) plain += blocks[to++].plain;
      cut.runs.push_back(
          {stream.cpu, blocks.subspan(from, to - from), blockNumber + static_cast<u32>(from)});
      cut.streamOfRun.push_back(s);
      from = to;
    }
    blockNumber += static_cast<u32>(blocks.size());
  }
  return cut;
}

/// Removes blocks behind the point where unpacking would exceed `most` bytes in all.
void limitUnpacking(trace_dat::Container& container, u64 most, ImportLog& log) {
  u64 plain = 0;
  for (BufferPlaces& buffer : container.buffers) {
    for (PageStream& stream : buffer.streams) {
      for (std::size_t b = 0; b < stream.blocks.size(); ++b) {
        const Block& block = stream.blocks[b];
        if (block.codec == Codec::None) continue;
        plain += block.plain;
        if (plain <= most) continue;
        log.note(Counter::LimitInflate,
                 {block.offset, stream.cpu, fmt::format("more than {} bytes", most)});
        stream.blocks.resize(b);
        plain = most;
      }
    }
  }
}

class TraceDatImport {
 public:
  TraceDatImport(const ByteSource& source, const ImportOptions& options, Progress& progress)
      : source_(source), options_(options), progress_(progress) {}

  Result<Recording> run(trace_dat::Container container, ImportLog log) {
    recording_.path = source_.name();
    recording_.fileSize = source_.size();
    recording_.fingerprint = source_.fingerprint();
    recording_.log = std::move(log);
    limitUnpacking(container, options_.maxUnpack.value_or(64 * source_.size() + (u64{64} << 20U)),
                   recording_.log);
    binding_ =
        std::make_shared<trace_dat::Binding>(trace_dat::bindFormats(container, recording_.log));
    container.metadata.eventFormats = static_cast<u32>(binding_->formats.size());
    recording_.metadata = std::move(container.metadata);
    for (const trace_dat::TextBuffer& text : container.texts) {
      recording_.textBuffers.push_back(fmt::format(
          "{}, {} bytes of text", text.name.empty() ? "(top)" : text.name, grouped(text.size)));
      recording_.log.note(Counter::TextBuffer, {text.offset, {}, text.name});
    }

    u64 packed = 0;
    u64 plain = 0;
    for (const BufferPlaces& buffer : container.buffers) {
      for (const PageStream& stream : buffer.streams) {
        for (const Block& block : stream.blocks) {
          packed += block.packed;
          plain += block.plain;
          blocks_.push_back(block);
        }
      }
    }
    maxMemory_ = options_.maxMemory.value_or(4 * plain + (u64{64} << 20U));
    progress_.begin("reading events", packed);
    rawText_ =
        std::make_shared<trace_dat::RecordText>(source_, binding_, blocks_, recording_.metadata);
    u32 blockNumber = 0;
    for (BufferPlaces& places : container.buffers) {
      auto buffer = readBuffer(places, blockNumber);
      if (!buffer) return tl::unexpected<Error>(std::move(buffer.error()));
      recording_.buffers.push_back(std::move(*buffer));
    }
    notePrintFormats();
    return std::move(recording_);
  }

 private:
  Result<Buffer> readBuffer(BufferPlaces& places, u32& blockNumber) {
    const BufferRuns cut = cutIntoRuns(places, blockNumber);
    Result<EventStore> store = decode(places, cut, options_.threads);
    if (!store) return tl::unexpected<Error>(std::move(store.error()));
    Buffer buffer{std::move(places.name), std::move(places.clock), std::move(*store),
                  std::move(places.statistics), rawText_};
    noteLosses(buffer);
    return buffer;
  }

  Result<EventStore> decode(const BufferPlaces& places, const BufferRuns& cut, int threads) {
    const auto count = static_cast<u32>(cut.runs.size());
    threads = std::max(1, std::min(threads, static_cast<int>(count)));
    const bool shared = threads == 1;
    StoreParts parts;
    parts.types = binding_->types;
    for (const PageStream& stream : places.streams)
      parts.streams.push_back({stream.cpu, stream.cpuInferred, {}});
    std::vector<std::unique_ptr<Pools>> pools(shared ? 0 : count);
    for (auto& own : pools) own = std::make_unique<Pools>();
    auto sharedPools = std::make_shared<Pools>();
    for (int worker = 0; worker < threads; ++worker)
      parts.arenas.push_back(std::make_shared<EventArena>());

    std::atomic<u64> storedBytes{0};
    const trace_dat::StreamContext context{source_,         *binding_, recording_.metadata,
                                           places.pageSize, progress_, storedBytes,
                                           maxMemory_};
    std::vector<Known<StreamPiece>> pieces(count);
    std::vector<ImportLog> logs(count);
    std::vector<RunEnd> ends(count, RunEnd::Done);
    std::vector<std::unique_ptr<BlockReader>> readers;
    for (int worker = 0; worker < threads; ++worker)
      readers.push_back(std::make_unique<BlockReader>());
    std::atomic<bool> stop{false};
    parallelFor(count, threads, [&](u32 i, int worker) {
      if (stop) return;
      EventArena& arena = *parts.arenas[static_cast<std::size_t>(worker)];
      pieces[i].emplace(arena, shared ? *sharedPools : *pools[i], binding_->types);
      ends[i] = trace_dat::readRun(context, cut.runs[i], *readers[static_cast<std::size_t>(worker)],
                                   *pieces[i], arena, logs[i]);
      if (ends[i] != RunEnd::Done) stop = true;
    });
    if (progress_.cancelled()) return fail(Error::Kind::Cancelled, "Cancelled.");
    const auto limited = std::find(ends.begin(), ends.end(), RunEnd::MemoryLimit);
    // Where several threads hit the limit depends on their speed; one alone stops at the same row each time.
    if (limited != ends.end() && !shared) return decode(places, cut, 1);

    for (u32 i = 0; i < count; ++i) {
      if (!pieces[i])
        pieces[i].emplace(*parts.arenas[0], shared ? *sharedPools : *pools[i], binding_->types);
      parts.streams[cut.streamOfRun[i]].pieces.push_back(std::move(*pieces[i]));
      recording_.log.add(logs[i]);
    }
    if (limited != ends.end()) {
      const StreamRun& run = cut.runs[static_cast<std::size_t>(limited - ends.begin())];
      recording_.log.note(Counter::LimitMemory, {run.blocks.front().offset, run.cpu,
                                                 fmt::format("{} bytes", maxMemory_)});
    }
    return shared ? assemble(std::move(parts), std::move(sharedPools), progress_)
                  : assemble(std::move(parts), std::move(pools), threads, progress_);
  }

  /// What the store holds as data, and the kernel's own counts, as words of the log.
  void noteLosses(const Buffer& buffer) {
    std::map<Cpu, u64> known;
    for (const Loss& loss : buffer.events.losses()) {
      const std::string before =
          loss.to ? fmt::format("before {}", timeText(*loss.to, buffer.clock.unit)) : "at the end";
      if (loss.count) {
        known[loss.cpu] += *loss.count;
        recording_.log.note(Counter::MissedEvents, {{}, loss.cpu, before}, *loss.count);
      } else {
        recording_.log.note(Counter::MissedUnknown, {{}, loss.cpu, before});
      }
    }
    for (const CpuStatistics& statistics : buffer.statistics) {
      const u64 overrun = statistics.overrun.value_or(0);
      if (overrun > known[statistics.cpu]) {
        recording_.log.note(Counter::OverrunBeforeStart, {{}, statistics.cpu, buffer.name},
                            overrun - known[statistics.cpu]);
      }
    }
    noteBackwardSteps(buffer);
  }

  /// Of the events that occur, those whose print format we do not follow. A file can hold formats of thousands of
  /// events; those without a record are nobody's concern.
  void notePrintFormats() {
    std::vector<bool> used(binding_->formats.size());
    for (const Buffer& buffer : recording_.buffers) {
      for (u16 type = 0; type < binding_->types.size(); ++type) {
        const u32 format = binding_->formatOfType[type];
        if (format >= used.size() || used[format]) continue;
        for (u32 s = 0; s < buffer.events.streams().size(); ++s)
          used[format] = used[format] || buffer.events.count(type, s);
      }
    }
    for (u32 i = 0; i < used.size(); ++i) {
      if (!used[i]) continue;
      const trace_dat::EventFormat& format = binding_->formats[i];
      const trace_dat::RecordPrinter printer(format, kindOf<Raw>, binding_->ring.commitSize);
      if (printer.way() != trace_dat::RecordPrinter::Way::FieldList) continue;
      recording_.log.note(Counter::PrintFormatBad, {format.offset, {}, shown(format.name)});
    }
  }

  void noteBackwardSteps(const Buffer& buffer) {
    struct Steps {
      u64 count = 0;
      s64 largest = 0;
    };
    std::map<Cpu, Steps> steps;
    for (const BackwardStep& step : buffer.events.backwardSteps()) {
      Steps& of = steps[buffer.events.cpu(step.row)];
      ++of.count;
      of.largest = std::max(of.largest, step.by.value);
    }
    const bool inTime = buffer.clock.unit == ClockUnit::Nanoseconds;
    for (const auto& [cpu, of] : steps) {
      recording_.log.note(
          Counter::TimeBackward,
          {{}, cpu, fmt::format("by at most {}{}", of.largest, inTime ? " ns" : "")}, 0, of.count);
    }
  }

  const ByteSource& source_;
  const ImportOptions& options_;
  Progress& progress_;
  Recording recording_;
  std::shared_ptr<trace_dat::Binding> binding_;
  std::shared_ptr<const trace_dat::RecordText> rawText_;
  std::vector<Block> blocks_;
  u64 maxMemory_ = 0;
};

}  // namespace

namespace {

u64 maxUnpack(const ImportOptions& options, const ByteSource& source) {
  return options.maxUnpack.value_or(64 * source.size() + (u64{64} << 20U));
}

}  // namespace

Result<Recording> importTrace(const ByteSource& source, const ImportOptions& options,
                              Progress& progress) {
  ImportLog log;
  auto container = trace_dat::readContainer(source, maxUnpack(options, source), log, progress);
  if (!container) return tl::unexpected<Error>(std::move(container.error()));
  return TraceDatImport(source, options, progress).run(std::move(*container), std::move(log));
}

Result<Recording> importRawPages(std::span<const ByteSource> cpus, const ByteSource& formatsFrom,
                                 const ImportOptions& options, Progress& progress) {
  if (cpus.empty()) return fail(Error::Kind::Usage, "No raw pages are named.");
  ImportLog log;
  auto container =
      trace_dat::readRawPages(cpus, formatsFrom, maxUnpack(options, formatsFrom), log, progress);
  if (!container) return tl::unexpected<Error>(std::move(container.error()));
  const ByteSource joined = ByteSource::joined({cpus.begin(), cpus.end()});
  return TraceDatImport(joined, options, progress).run(std::move(*container), std::move(log));
}

}  // namespace tickscope
