// SPDX-License-Identifier: GPL-3.0-or-later
// The hot loop of the import: unpack a block, walk its pages, decode each record while it is in cache.
#include "importers/trace_dat/stream_reader.h"

#include <fmt/format.h>

#include "importers/trace_dat/page_walk.h"

namespace tickscope::trace_dat {
namespace {

/// A pid for records that end before their common_pid.
constexpr u32 noPid = ~u32{0};

__extension__ using WideProduct = unsigned __int128;

/// `Swap`: numbers are not in this machine's order.
template <bool Swap>
class RunReader {
 public:
  RunReader(const StreamContext& context, const StreamRun& run, StreamPiece& piece, ImportLog& log)
      : context_(context),
        binding_(context.binding),
        run_(run),
        piece_(piece),
        log_(log),
        target_{piece.pools(),
                binding_.ring.swap,
                binding_.ring.bigEndian,
                binding_.ring.commitSize,
                {}} {
    if (context.metadata.tscToNs) tsc_ = *context.metadata.tscToNs;
  }

  /// False: out of memory.
  bool block(const BlockReader::Unpacked& unpacked, const Block& block, u32 number) {
    blockAt_ = &block;
    target_.place.block = number;
    blockBegin_ = unpacked.bytes.data();
    for (std::size_t at = 0; at < unpacked.bytes.size(); at += context_.pageSize) {
      if (!page(unpacked.bytes.subspan(
              at, std::min<std::size_t>(context_.pageSize, unpacked.bytes.size() - at))))
        return false;
    }
    return true;
  }

  void noteSums() {
    if (target_.badStrings)
      log_.note(Counter::StringBad, {{}, run_.cpu, ""}, 0, target_.badStrings);
    for (const auto& [id, count] : unknownIds_) {
      log_.note(Counter::EventUnknown, {{}, run_.cpu, fmt::format("event id {}", id)}, 0, count);
    }
  }

 private:
  bool page(Bytes page) {
    PageHead head;
    if (!readPageHead(page, binding_.ring, context_.pageSize, head)) {
      if (!page.empty())
        log_.note(Counter::PagePartial,
                  {placeOf(page.data()), run_.cpu, "shorter than a page header"}, page.size());
      return true;
    }
    if (head.missed) piece_.loss(head.missedCount);
    Bytes data = page.subspan(binding_.ring.dataOffset, head.data);
    u32 rows = 0;
    if (head.commitTooBig) {
      // A page that lies about its length is believed as far as its records make sense.
      data = data.first(believable(data));
    }
    const u32 before = piece_.size();
    const WalkEnd end = walk(data, head.time);
    rows = piece_.size() - before;
    if (outOfMemory_) return false;
    noteEnd(page, head, end, rows);
    return true;
  }

  WalkEnd walk(Bytes data, u64 time) {
    const auto visit = [this](u64 t, const u8* record, u32 length) {
      return this->record(t, record, length);
    };
    return walkRecords(data, time, binding_.ring, visit);
  }

  /// Bytes up to the first record whose id has no format or that is shorter than it.
  u32 believable(Bytes data) const {
    u32 good = 0;
    const WalkEnd end = walkRecords(data, 0, binding_.ring, [&](u64, const u8* record, u32 length) {
      const u16 plan = length >= binding_.common.least ? binding_.planOfId[idOf(record)] : u16{0};
      if (!plan || length < binding_.plans[plan - 1U].least) return false;
      good = static_cast<u32>(record - data.data()) + length;
      return true;
    });
    return end.why == WalkEnd::Why::Stopped || end.why == WalkEnd::Why::Overrun
               ? std::min<u32>(end.at, static_cast<u32>(data.size()))
               : good;
  }

  void noteEnd(Bytes page, const PageHead& head, const WalkEnd& end, u32 rows) {
    const auto where = [&](u32 at) { return placeOf(page.data() + binding_.ring.dataOffset + at); };
    if (head.commitTooBig) {
      log_.note(Counter::PageBadCommit,
                {placeOf(page.data()), run_.cpu, fmt::format("{} records read", rows)}, rows);
      return;
    }
    if (head.cut) {
      log_.note(Counter::PagePartial, {where(end.at), run_.cpu, ""}, 0);
      return;
    }
    if (end.why == WalkEnd::Why::Overrun) {
      log_.note(Counter::RecordOverrun,
                {where(end.at), run_.cpu, fmt::format("{} records read", rows)}, rows);
    } else if (end.why == WalkEnd::Why::ZeroTail) {
      log_.note(Counter::PageZeroTail, {where(end.at), run_.cpu, ""});
    }
  }

  [[nodiscard]] u32 idOf(const u8* record) const {
    if (usual_) [[likely]]
      return loadNumber<u16>(record, Swap);
    const u8* const at = record + binding_.common.typeOffset;
    return binding_.common.typeSize == 1 ? *at : loadNumber<u16>(at, Swap);
  }

  bool record(u64 time, const u8* record, u32 length) {
    if (tsc_.mult)
      time = static_cast<u64>((static_cast<WideProduct>(time) * tsc_.mult) >> tsc_.shift);
    if (length < least_) [[unlikely]]
      return shortRecord(time, record, length);
    u32 pid;
    u8 flags;
    u8 preempt;
    if (usual_) [[likely]] {
      pid = loadNumber<u32>(record + 4, Swap);
      flags = record[2];
      preempt = record[3];
    } else {
      pid = loadNumber<u32>(record + binding_.common.pidOffset, Swap);
      flags = record[binding_.common.flagsOffset];
      preempt = record[binding_.common.preemptOffset];
    }
    const u32 id = idOf(record);
    const u16 found = planOfId_[id];
    if (!found) [[unlikely]] {
      ++unknown(id);
      return raw(time, pid, flags, preempt, 0, record, length);
    }
    const DecodePlan& plan = plans_[found - 1U];
    if (length < plan.least) [[unlikely]] {
      log_.note(Counter::RecordShort,
                {placeOf(record), run_.cpu, binding_.types[plan.rawType].name});
      return raw(time, pid, flags, preempt, plan.rawType, record, length);
    }
    u16 type = plan.type;
    if (plan.byPlace) [[unlikely]] {
      const bool program = programEvent(plan, record);
      if (plan.probe && !program)
        return raw(time, pid, flags, preempt, plan.rawType, record, length);
      if (program) type = plan.programType;
    }
    u8* const to = piece_.append(time, pid, flags, preempt, type, plan.layout.size);
    if (!to) [[unlikely]] {
      outOfMemory_ = true;
      return false;
    }
    target_.place.offset = static_cast<u32>(record - blockBegin_);
    target_.place.length = length;
    plan.decode(plan, record, length, to, target_);
    return true;
  }

  [[nodiscard]] bool programEvent(const DecodePlan& plan, const u8* record) const {
    if (!plan.programSize) return false;
    const u64 ip = binding_.ring.commitSize == 8 ? loadNumber<u64>(record + plan.ipOffset, Swap)
                                                 : loadNumber<u32>(record + plan.ipOffset, Swap);
    return ip - plan.programFrom < plan.programSize;
  }

  bool raw(u64 time, u32 pid, u8 flags, u8 preempt, u16 type, const u8* record, u32 length) {
    u8* const to = piece_.append(time, pid, flags, preempt, type, sizeof(RawRef));
    if (!to) {
      outOfMemory_ = true;
      return false;
    }
    const RawRef place{target_.place.block, static_cast<u32>(record - blockBegin_), length};
    std::memcpy(to, &place, sizeof place);
    return true;
  }

  bool shortRecord(u64 time, const u8* record, u32 length) {
    log_.note(Counter::RecordShort, {placeOf(record), run_.cpu, "shorter than the common fields"});
    u16 type = 0;
    if (length >= binding_.common.typeOffset + u32{binding_.common.typeSize}) {
      const u16 found = binding_.planOfId[idOf(record)];
      if (found) type = binding_.plans[found - 1U].rawType;
    }
    return raw(time, noPid, 0, 0, type, record, length);
  }

  u64& unknown(u32 id) {
    for (auto& [known, count] : unknownIds_) {
      if (known == id) return count;
    }
    // Damaged files can hold any id; the first few are named, the rest are summed up under the last of them.
    constexpr std::size_t most = 64;
    if (unknownIds_.size() == most) return unknownIds_.back().second;
    return unknownIds_.emplace_back(id, 0).second;
  }

  /// In the input where that is known: of packed data the place of the block.
  [[nodiscard]] u64 placeOf(const u8* at) const {
    return blockAt_->codec == Codec::None ? blockAt_->offset + static_cast<u64>(at - blockBegin_)
                                          : blockAt_->offset;
  }

  const StreamContext& context_;
  const Binding& binding_;
  const StreamRun& run_;
  StreamPiece& piece_;
  ImportLog& log_;
  DecodeTarget target_;
  Metadata::TscToNs tsc_{};
  // Of binding_, at hand for each record.
  const u16* const planOfId_ = binding_.planOfId.data();
  const DecodePlan* const plans_ = binding_.plans.data();
  const u32 least_ = binding_.common.least;
  const bool usual_ = binding_.common.usual;
  const Block* blockAt_ = nullptr;
  const u8* blockBegin_ = nullptr;
  std::vector<std::pair<u32, u64>> unknownIds_;
  bool outOfMemory_ = false;
};

template <bool Swap>
RunEnd readBlocks(const StreamContext& context, const StreamRun& run, BlockReader& blocks,
                  StreamPiece& piece, EventArena& arena, ImportLog& log) {
  RunReader<Swap> reader(context, run, piece, log);
  u64 counted = arena.bytes();
  RunEnd end = RunEnd::Done;
  for (u32 b = 0; b < run.blocks.size(); ++b) {
    const Block& block = run.blocks[b];
    const BlockReader::Unpacked unpacked = blocks.read(context.source, block);
    if (unpacked.damaged) {
      const bool packed = block.codec != Codec::None;
      const Counter counter = !packed                  ? Counter::RangeCut
                              : unpacked.bytes.empty() ? Counter::ChunkBad
                                                       : Counter::ChunkShort;
      log.note(counter, {block.offset, run.cpu, unpacked.why}, block.plain - unpacked.bytes.size());
    }
    if (!reader.block(unpacked, block, run.blockNumber + b)) {
      end = RunEnd::MemoryLimit;
      break;
    }
    const u64 now = arena.bytes();
    const u64 all = context.storedBytes.fetch_add(now - counted) + (now - counted);
    counted = now;
    if (!context.progress.advance(block.packed)) {
      end = RunEnd::Cancelled;
      break;
    }
    if (all > context.maxMemory) {
      end = RunEnd::MemoryLimit;
      break;
    }
  }
  reader.noteSums();
  piece.close();
  return end;
}

}  // namespace

RunEnd readRun(const StreamContext& context, const StreamRun& run, BlockReader& blocks,
               StreamPiece& piece, EventArena& arena, ImportLog& log) {
  return context.binding.ring.swap ? readBlocks<true>(context, run, blocks, piece, arena, log)
                                   : readBlocks<false>(context, run, blocks, piece, arena, log);
}

}  // namespace tickscope::trace_dat
