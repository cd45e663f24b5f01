// SPDX-License-Identifier: GPL-3.0-or-later
// Builds streams of blocks: rows of tables first, then pages that no row names.
#include "importers/trace_dat/stream_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "importers/trace_dat/chunk_list.h"
#include "importers/trace_dat/page_walk.h"

namespace tickscope::trace_dat {

namespace {

constexpr u32 highestCpu = 65'535;
constexpr int mostTried = 8;
/// No recorder writes a row that is not at a multiple of the page size: only made files have many.
constexpr u32 mostAlignments = 64;
/// More than a tebibyte is not missing: the size is wrong.
constexpr u64 mostMissing = u64{1} << 40U;

/// What became of one table.
struct BuiltTable {
  std::size_t buffer = 0;    ///< index into the buffers
  std::set<u32> taken;       ///< CPUs that have a stream
  u32 free = 0;              ///< no lower number is free
  std::set<u32> impossible;  ///< numbers that no CPU has
  std::vector<u32> lost;     ///< CPUs whose rows are of no use
};

class Builder {
 public:
  Builder(Reading& reading, const RecordFacts& facts) : r_(reading), facts_(facts) {}

  void run() {
    built_.resize(r_.tables.size());
    for (const BufferTable& table : r_.tables) {
      for (const StreamRow& row : table.rows) {
        if (row.size != 0) begins_.try_emplace(row.offset, Begin{&row, &table});
      }
    }
    for (std::size_t i = 0; i < r_.tables.size(); ++i) {
      built_[i].buffer = bufferFor(r_.tables[i]);
      rows(r_.tables[i], built_[i]);
    }
    for (std::size_t i = 0; i < r_.tables.size(); ++i) search(r_.tables[i], built_[i]);
    dropEmptyFinds();
    for (BufferPlaces& buffer : r_.out.buffers) {
      std::stable_sort(buffer.streams.begin(), buffer.streams.end(),
                       [](const PageStream& a, const PageStream& b) { return a.cpu < b.cpu; });
      noteTwice(buffer);
    }
  }

 private:
  std::size_t bufferFor(const BufferTable& table) {
    const auto key = std::pair(table.name, table.pageSize);
    const auto [place, added] = index_.try_emplace(key, r_.out.buffers.size());
    if (added) {
      BufferPlaces buffer;
      buffer.name = table.name;
      buffer.clock = table.clock;
      buffer.pageSize = table.pageSize;
      r_.out.buffers.push_back(std::move(buffer));
    }
    return place->second;
  }

  void rows(BufferTable& table, BuiltTable& built) {
    if (!table.packed) table.packed = anyChunks(table);
    if (r_.header.codec == Codec::None) table.packed = false;
    if (*table.packed && !anyChunks(table) && anyPlain(table)) table.packed = false;
    if (!*table.packed && anyChunks(table)) table.packed = true;
    u64 walked = 0;
    for (StreamRow& row : table.rows) {
      if (row.size == 0) continue;
      PageStream stream;
      if (row.cpu > highestCpu) {
        row.inferred = true;
        stream.cpu = Cpu{nextFree(built)};
        noteCpu(row.at, stream.cpu, fmt::format("the file says {}", row.cpu));
        if (!built.impossible.insert(row.cpu).second) {
          r_.log.note(Counter::CpuTwice, {row.at, {}, fmt::format("CPU {}", row.cpu)});
        }
      } else {
        stream.cpu = Cpu{static_cast<u16>(row.cpu)};
      }
      stream.cpuInferred = row.inferred;
      blocksOf(table, row, stream);
      if (stream.blocks.empty()) {
        table.damaged = true;
        if (!row.inferred) built.lost.push_back(row.cpu);
        continue;
      }
      built.taken.insert(number(stream.cpu));
      if (table.foundByWalk) walked += pagesIn(stream.blocks, table.pageSize);
      r_.out.buffers[built.buffer].streams.push_back(std::move(stream));
    }
    if (walked > 0) {
      r_.log.note(Counter::SalvagedPages,
                  {table.dataFrom, {}, "their table was found by going from section to section"}, 0,
                  walked);
    }
  }

  /// Does `test` hold at the begin of one of the first streams?
  template <class Test>
  [[nodiscard]] bool anyOf(const BufferTable& table, Test&& test) const {
    int tried = 0;
    for (const StreamRow& row : table.rows) {
      if (row.size == 0 || row.offset >= r_.size()) continue;
      if (test(row.offset)) return true;
      if (++tried == mostTried) break;
    }
    return false;
  }
  [[nodiscard]] bool anyChunks(const BufferTable& table) const {
    return anyOf(table, [&](u64 offset) { return chunksBeginAt(r_, offset, r_.size()); });
  }
  [[nodiscard]] bool anyPlain(const BufferTable& table) const {
    return anyOf(table, [&](u64 offset) { return plainAt(offset, table.pageSize); });
  }
  [[nodiscard]] bool plainAt(u64 offset, u32 pageSize) const {
    const std::vector<u8> page = r_.source.bytes(offset, pageSize);
    return facts_.plausiblePage(page, r_.out.ring, pageSize);
  }

  void blocksOf(const BufferTable& table, StreamRow row, PageStream& stream) {
    const auto note = [&](Counter counter, u64 at, std::string detail, u64 amount = 0) {
      r_.log.note(counter, {at, stream.cpu, std::move(detail)}, amount);
    };
    if (row.offset >= r_.size()) {
      return note(Counter::RangeCut, row.at, fmt::format("pages at 0x{:x}", row.offset),
                  row.size <= mostMissing ? row.size : 0);
    }
    const bool packed = *table.packed;
    if (!packed) row.offset = aligned(table, row, stream.cpu);
    if (const Known<u64> next = nextBegin(row)) {
      note(Counter::Overlap, row.at,
           fmt::format("pages at 0x{:x} reach into those at 0x{:x}", row.offset, *next));
      row.size = *next - row.offset;
    }
    // The 4 bytes of the number of chunks are not in the size.
    const u64 there = r_.size() - row.offset;
    const u64 size = std::min(there, row.size + (packed && row.size < there ? 4 : 0));
    if (row.size > there) {
      note(Counter::RangeCut, row.at, fmt::format("pages at 0x{:x}", row.offset), row.size - there);
    }
    if (packed) {
      packedBlocks(table, row, row.offset + size, stream);
    } else {
      const u64 end = row.offset + size;
      const auto spans = r_.claims.freeIn(row.offset, end);
      plainBlocks(table, row.offset, spans, stream);
      const bool whole =
          spans.size() == 1 && spans.front().from == row.offset && spans.front().to == end;
      if (!whole) note(Counter::Overlap, row.at, fmt::format("pages at 0x{:x}", row.offset));
      r_.claims.claim(row.offset, end);
    }
  }

  /// Where another stream begins inside this one, when that one ends where something else begins or the data end: then
  /// its place is right, and the size of this one is not.
  [[nodiscard]] Known<u64> nextBegin(const StreamRow& row) const {
    const u64 end = row.size > r_.size() - row.offset ? r_.size() : row.offset + row.size;
    int tried = 0;
    for (auto next = begins_.upper_bound(row.offset); next != begins_.end() && next->first < end;
         ++next) {
      if (++tried > mostTried) break;
      const StreamRow& other = *next->second.row;
      if (other.at == row.at) continue;  // it was moved to where its pages are
      const BufferTable& table = *next->second.table;
      if (other.size > r_.size() - other.offset) continue;
      const auto rounded = [&](u64 at) {
        return (at + table.pageSize - 1) / table.pageSize * table.pageSize;
      };
      const u64 otherEnd = rounded(other.offset + other.size);
      if (otherEnd == rounded(table.dataTo) || otherEnd == rounded(r_.size()) ||
          begins_.contains(otherEnd))
        return next->first;
    }
    return {};
  }

  /// Pages that are not claimed yet, whole ones counted from the stream's begin.
  static void plainBlocks(const BufferTable& table, u64 offset,
                          const std::vector<Claims::Span>& spans, PageStream& stream) {
    for (const Claims::Span& span : spans) {
      const u64 skipped = (span.from - offset + table.pageSize - 1) / table.pageSize;
      const u64 from = offset + skipped * table.pageSize;
      if (from < span.to) appendPlain(stream.blocks, from, span.to - from, table.pageSize);
    }
  }

  void packedBlocks(const BufferTable& table, const StreamRow& row, u64 end, PageStream& stream) {
    if (!r_.header.codec || *r_.header.codec == Codec::None) {
      return r_.log.note(
          Counter::ChunkBad,
          {row.offset, stream.cpu, fmt::format("packed with {:?}", r_.header.compression)});
    }
    const u64 free = r_.claims.freeUpTo(row.offset, end);
    if (free - row.offset < std::min(row.size, end - row.offset)) {
      r_.log.note(Counter::Overlap,
                  {row.at, stream.cpu, fmt::format("pages at 0x{:x}", row.offset)});
    }
    if (free == row.offset) return;
    const u64 reached = readChunks(r_, stream.cpu, row.offset, free, table.pageSize, stream.blocks);
    r_.claims.claim(row.offset, reached);
  }

  /// Pages stand at multiples of their size; a row that says otherwise is moved to where they do.
  u64 aligned(const BufferTable& table, const StreamRow& row, Cpu cpu) {
    const u64 below = row.offset / table.pageSize * table.pageSize;
    if (below == row.offset || ++r_.alignments > mostAlignments) return row.offset;
    if (plainAt(row.offset, table.pageSize)) return row.offset;
    for (const u64 offset : {below, below + table.pageSize}) {
      if (offset < r_.size() && plainAt(offset, table.pageSize)) {
        r_.log.note(
            Counter::RangeCut,
            {row.at, cpu, fmt::format("pages are at 0x{:x}, not 0x{:x}", offset, row.offset)});
        return offset;
      }
    }
    return row.offset;
  }

  /// Looks through what no row names of a table's data.
  void search(const BufferTable& table, BuiltTable& built) {
    std::vector<FoundRun> runs;
    for (const Claims::Span& span : r_.claims.freeIn(table.dataFrom, table.dataTo)) {
      const bool packed = table.packed.value_or(false);
      // A packed stream can be shorter than a page: between those that rows name there are only zeros.
      if (!table.damaged && !packed && span.to - span.from < table.pageSize) continue;
      auto found = packed ? scanChunks(r_, facts_, span.from, span.to, table.pageSize)
                          : scanPages(r_, facts_, span.from, span.to, table.pageSize);
      for (FoundRun& run : found) {
        run.cpu = provenCpu(r_.source, run.blocks, facts_, r_.out.ring, table.pageSize);
        runs.push_back(std::move(run));
      }
      r_.claims.claim(span.from, span.to);
    }
    if (runs.empty()) return;
    const std::vector<u32> numbers = numbersFor(runs, built.lost, built.taken);
    BufferPlaces& buffer = r_.out.buffers[built.buffer];
    std::map<Cpu, std::size_t> streamOf;
    for (std::size_t i = 0; i < buffer.streams.size(); ++i) streamOf[buffer.streams[i].cpu] = i;
    u64 pages = 0;
    const u64 first = runs.front().blocks.front().offset;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      FoundRun& run = runs[i];
      pages += run.pages;
      const Cpu cpu{static_cast<u16>(numbers[i])};
      if (addToStream(buffer, cpu, run, streamOf)) continue;
      PageStream stream;
      stream.cpu = cpu;
      stream.cpuInferred = !run.cpu;
      if (stream.cpuInferred) noteCpu(run.blocks.front().offset, cpu, {});
      stream.blocks = std::move(run.blocks);
      if (!stream.cpuInferred) streamOf[cpu] = buffer.streams.size();
      buffer.streams.push_back(std::move(stream));
    }
    r_.log.note(Counter::SalvagedPages, {first, {}, {}}, 0, pages);
  }

  /// A run of a proven CPU continues the stream of that CPU that ends before it. `streamOf`: the
  /// last such stream of each CPU.
  static bool addToStream(BufferPlaces& buffer, Cpu cpu, const FoundRun& run,
                          const std::map<Cpu, std::size_t>& streamOf) {
    const auto found = streamOf.find(cpu);
    if (!run.cpu || found == streamOf.end()) return false;
    std::vector<Block>& blocks = buffer.streams[found->second].blocks;
    if (blocks.back().offset > run.blocks.front().offset) return false;
    blocks.insert(blocks.end(), run.blocks.begin(), run.blocks.end());
    return true;
  }

  /// Buffers that only a search made, and it found nothing.
  void dropEmptyFinds() {
    std::set<std::size_t> drop;
    for (std::size_t i = 0; i < r_.tables.size(); ++i) {
      const BufferTable& table = r_.tables[i];
      const bool empty = r_.out.buffers[built_[i].buffer].streams.empty();
      if (empty && table.foundByWalk && table.rows.empty() && table.clock.name.empty()) {
        drop.insert(built_[i].buffer);
      }
    }
    for (auto i = drop.rbegin(); i != drop.rend(); ++i) {
      r_.out.buffers.erase(r_.out.buffers.begin() + static_cast<std::ptrdiff_t>(*i));
    }
  }

  void noteTwice(const BufferPlaces& buffer) {
    for (std::size_t i = 1; i < buffer.streams.size(); ++i) {
      if (buffer.streams[i].cpu != buffer.streams[i - 1].cpu) continue;
      r_.log.note(Counter::CpuTwice,
                  {buffer.streams[i].blocks.front().offset, buffer.streams[i].cpu, {}});
    }
  }

  void noteCpu(u64 at, Cpu cpu, std::string detail) {
    r_.log.note(Counter::CpuInferred, {at, cpu, std::move(detail)});
  }

  static u16 nextFree(BuiltTable& built) {
    while (built.free < highestCpu && built.taken.contains(built.free)) ++built.free;
    return static_cast<u16>(built.free);
  }

  static u64 pagesIn(const std::vector<Block>& blocks, u32 pageSize) {
    u64 pages = 0;
    for (const Block& block : blocks) pages += (block.plain + u64{pageSize} - 1) / pageSize;
    return pages;
  }

  Reading& r_;
  const RecordFacts& facts_;
  std::map<std::pair<std::string, u32>, std::size_t> index_;
  std::vector<BuiltTable> built_;
  /// Rows by where their pages begin.
  struct Begin {
    const StreamRow* row;
    const BufferTable* table;
  };
  std::map<u64, Begin> begins_;
};

}  // namespace

std::vector<Claims::Span> Claims::freeIn(u64 from, u64 to) const {
  std::vector<Span> spans;
  auto next = taken_.upper_bound(from);
  if (next != taken_.begin()) from = std::max(from, std::prev(next)->second);
  for (; from < to; ++next) {
    const u64 end = next == taken_.end() ? to : std::min(to, next->first);
    if (end > from) spans.push_back({from, end});
    if (next == taken_.end()) break;
    from = std::max(from, next->second);
  }
  return spans;
}

u64 Claims::freeUpTo(u64 from, u64 to) const {
  const auto next = taken_.upper_bound(from);
  if (next != taken_.begin() && std::prev(next)->second > from) return from;
  return next == taken_.end() ? to : std::min(to, next->first);
}

bool Claims::isFree(u64 from, u64 to) const { return from >= to || freeUpTo(from, to) == to; }

void Claims::claim(u64 from, u64 to) {
  if (from >= to) return;
  auto next = taken_.upper_bound(from);
  if (next != taken_.begin() && std::prev(next)->second >= from) {
    --next;
    from = next->first;
    to = std::max(to, next->second);
    next = taken_.erase(next);
  }
  while (next != taken_.end() && next->first <= to) {
    to = std::max(to, next->second);
    next = taken_.erase(next);
  }
  taken_.emplace(from, to);
}

std::vector<u32> numbersFor(const std::vector<FoundRun>& runs, const std::vector<u32>& lost,
                            const std::set<u32>& taken) {
  std::set<u32> used = taken;
  std::size_t unproved = 0;
  for (const FoundRun& run : runs) {
    if (run.cpu) used.insert(*run.cpu);
    if (!run.cpu) ++unproved;
  }
  // As many runs as rows that were lost: they are most likely those.
  std::vector<u32> missing;
  for (const u32 cpu : lost) {
    if (!used.contains(cpu)) missing.push_back(cpu);
  }
  const bool match = missing.size() == unproved;
  std::vector<u32> numbers;
  std::size_t nextMissing = 0;
  u32 next = 0;
  for (const FoundRun& run : runs) {
    u32 cpu = 0;
    if (run.cpu) {
      cpu = *run.cpu;
    } else if (match) {
      cpu = missing[nextMissing++];
    } else {
      cpu = next;
      while (cpu < highestCpu && used.contains(cpu)) ++cpu;
      used.insert(cpu);
    }
    next = std::min(cpu, highestCpu - 1) + 1;
    numbers.push_back(cpu);
  }
  return numbers;
}

void buildStreams(Reading& reading, const RecordFacts& facts) { Builder(reading, facts).run(); }

}  // namespace tickscope::trace_dat
