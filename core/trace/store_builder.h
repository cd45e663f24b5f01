// SPDX-License-Identifier: GPL-3.0-or-later
// Fills an EventStore: pieces of streams are built side by side, then joined into one order.
#pragma once

#include <memory>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/trace/event_store.h"

namespace tickscope {

/// A run of events of one stream, in recorded order. One thread at a time. Its arena and pools may serve
/// several pieces after one another, never at the same time.
class StreamPiece {
 public:
  StreamPiece(EventArena& arena, Pools& pools, std::span<const EventType> types)
      : arena_(&arena), pools_(&pools), types_(types), counts_(types.size(), 0) {}

  /// Room for an event of `type`, whose payload the caller writes; `size` is types[type].layout.size, which callers
  /// in hot loops have at hand. nullptr: out of memory.
  u8* append(u64 time, u32 pid, u8 flags, u8 preemptCount, u16 type, u8 size) {
    if (inGroup_ == groupSize || !group_) [[unlikely]] {
      if (!openGroup()) return nullptr;
    }
    EventGroup& group = *group_;
    const u32 at = inGroup_++;
    group.time[at] = time;
    group.pid[at] = pid;
    group.type[at] = type;
    group.flags[at] = flags;
    group.preemptCount[at] = preemptCount;
    u8* const room = payload_;
    group.payloadAt[at] = static_cast<u16>(room - group.payload);
    payload_ = room + size;
    ++counts_[type];
    return room;
  }
  /// Appends an event from its payload; strings are numbers of pools(). False: out of memory.
  template <class P>
  [[nodiscard]] bool append(TraceTime time, Pid pid, Context context, u16 type, const P& payload) {
    const StoredLayout& layout = types_[type].layout;
    u8* const room = append(static_cast<u64>(time.value), static_cast<u32>(number(pid)),
                            context.flags, context.preemptCount, type, layout.size);
    if (!room) return false;
    std::size_t member = 0;
    P::Fields::forEach([&]<class F>() {
      const u8 at = layout.at[member++];
      if (at != StoredLayout::absent) storeMember(room + at, payload.*F::member, *pools_);
    });
    return true;
  }
  /// Events were lost between the last event and the next one. `count` empty: an unknown number.
  void loss(Known<u64> count) { losses_.push_back({size(), count}); }
  /// Ends the piece; nothing is appended behind.
  void close() {
    closeGroup();
    group_ = nullptr;
  }

  [[nodiscard]] u32 size() const {
    return groups_.empty() ? 0 : static_cast<u32>((groups_.size() - 1) * groupSize) + inGroup_;
  }
  [[nodiscard]] Pools& pools() { return *pools_; }

 private:
  friend class StoreAssembly;
  struct Gap {
    u32 before;  // place in the piece
    Known<u64> count;
  };
  bool openGroup();
  void closeGroup() {
    if (group_) arena_->used(payload_);
  }

  EventArena* arena_;
  Pools* pools_;
  std::span<const EventType> types_;
  std::vector<EventGroup*> groups_;
  std::vector<u32> counts_;
  std::vector<Gap> losses_;
  EventGroup* group_ = nullptr;
  u8* payload_ = nullptr;
  u32 inGroup_ = 0;
};

/// A stream as its pieces, in recorded order.
struct StreamPieces {
  Cpu cpu{};
  bool cpuInferred = false;
  std::vector<StreamPiece> pieces;
};

/// What belongs to the pieces and must live as long as the store.
struct StoreParts {
  std::vector<EventType> types;
  std::vector<StreamPieces> streams;  ///< in order of CPU; ties in time go to the earlier stream
  std::vector<std::shared_ptr<EventArena>> arenas;
};

/// Joins pieces that all share `pools`. Takes threads for what can be done side by side; the result does not
/// depend on their number. Errors: TooLarge (more than 2^32 - 2 rows, out of memory), Cancelled.
Result<EventStore> assemble(StoreParts parts, std::shared_ptr<Pools> pools, Progress& progress);

/// Joins pieces that each have pools of their own (`piecePools[i]` for the i-th piece, counted over all
/// streams): the numbers are as if one pool had served all pieces in order.
Result<EventStore> assemble(StoreParts parts, std::vector<std::unique_ptr<Pools>> piecePools,
                            int threads, Progress& progress);

}  // namespace tickscope
