// SPDX-License-Identifier: GPL-3.0-or-later
// The events of one buffer: immutable columns in blocks of 256, in one order by time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/trace/event_arena.h"
#include "core/trace/loss.h"
#include "core/trace/stored_layout.h"

namespace tickscope {

/// What the interrupted task was doing: the common_flags and common_preempt_count of the record (events.md 3).
struct Context {
  u8 flags{};         ///< TRACE_FLAG bits
  u8 preemptCount{};  ///< low 4 bits: preempt depth, high 4: migrate-disable depth (5.12+)
  [[nodiscard]] bool hardIrq() const { return flags & 0x08U; }
  [[nodiscard]] bool softIrq() const { return flags & 0x10U; }
  [[nodiscard]] bool irqsOff() const { return flags & 0x01U; }
  [[nodiscard]] bool nmi() const { return flags & 0x40U; }
  bool operator==(const Context&) const = default;
};

/// One event of the formats of a recording. Rows point to it by index.
struct EventType {
  EventKind kind = kindOf<Raw>;
  u16 id{};                  ///< common_type; 0 for records whose id has no format
  std::string system, name;  ///< as the format says, for instance "timer", "hrtimer_start"
  u32 has{};                 ///< bit i: field i of infoOf(kind).fields was recorded
  StoredLayout layout{};
  [[nodiscard]] bool recorded(std::size_t field) const { return (has >> field) & 1U; }
};

/// A CPU's events in recorded order. Two streams can name one CPU in damaged files.
struct Stream {
  Cpu cpu{};
  u32 first{};  ///< position of its first event: events of all streams, one stream after the other
  u32 count{};
  bool cpuInferred = false;  ///< the number was guessed while salvaging
};

/// A row whose time is before that of the row before it on its CPU.
struct BackwardStep {
  Row row{};
  TraceDelta by{};  ///< positive
};

class EventStore {
 public:
  [[nodiscard]] u32 size() const { return static_cast<u32>(order_.size()); }
  [[nodiscard]] bool empty() const { return order_.empty(); }

  [[nodiscard]] TraceTime time(Row row) const {
    const Place p = place(row);
    return {static_cast<s64>(p.group->time[p.at])};
  }
  [[nodiscard]] Pid pid(Row row) const {
    const Place p = place(row);
    return static_cast<Pid>(p.group->pid[p.at]);
  }
  [[nodiscard]] Context context(Row row) const {
    const Place p = place(row);
    return {p.group->flags[p.at], p.group->preemptCount[p.at]};
  }
  [[nodiscard]] u16 typeIndex(Row row) const {
    const Place p = place(row);
    return p.group->type[p.at];
  }
  [[nodiscard]] const EventType& type(Row row) const { return types_[typeIndex(row)]; }
  [[nodiscard]] EventKind kind(Row row) const { return kinds_[typeIndex(row)]; }
  [[nodiscard]] Cpu cpu(Row row) const { return streams_[streamOf(row)].cpu; }
  [[nodiscard]] u32 streamOf(Row row) const {
    return groupStream_[order_[number(row)] >> groupShift];
  }

  /// The payload. Precondition: kind(row) == kindOf<P>.
  template <class P>
  [[nodiscard]] P as(Row row) const {
    const Place p = place(row);
    return unpack<P>(p.group->payload + p.group->payloadAt[p.at],
                     types_[p.group->type[p.at]].layout);
  }
  /// Calls f(const P&) with the payload of whatever kind the row is.
  template <class F>
  void visit(Row row, F&& f) const {
    visitKind(kind(row), [&]<class P>() { f(as<P>(row)); });
  }

  [[nodiscard]] std::span<const Stream> streams() const { return streams_; }
  /// Rows of a stream in recorded order, which is also ascending but for backward times' sake never reordered.
  [[nodiscard]] std::span<const Row> rowsOfStream(u32 stream) const {
    return std::span<const Row>(rowOf_).subspan(streams_[stream].first, streams_[stream].count);
  }
  /// Rows of the first stream of that CPU; empty when it has none.
  [[nodiscard]] std::span<const Row> rowsOf(Cpu cpu) const;
  /// Place of a row within rowsOfStream(streamOf(row)): neighbours there are the CPU's previous and next event.
  [[nodiscard]] u32 placeInStream(Row row) const {
    const u32 slot = order_[number(row)];
    return groupFirst_[slot >> groupShift] + (slot & groupMask) -
           streams_[groupStream_[slot >> groupShift]].first;
  }
  /// The first row at or after t; size() when there is none. Where times step back on a CPU, rows near such a step
  /// may lie on either side.
  [[nodiscard]] u32 lowerBound(TraceTime t) const;

  [[nodiscard]] std::span<const EventType> types() const { return types_; }
  /// Events of a type on a stream.
  [[nodiscard]] u32 count(u16 type, u32 stream) const {
    return counts_[stream * types_.size() + type];
  }
  [[nodiscard]] std::span<const Loss> losses() const { return losses_; }
  [[nodiscard]] std::span<const BackwardStep> backwardSteps() const { return backward_; }
  /// From when events of that kind would have been recorded on every CPU; empty: the recording has none of them.
  [[nodiscard]] Known<TraceTime> firstPossible(EventKind kind) const;

  [[nodiscard]] std::string_view text(StringId id) const { return pools_->strings[number(id)]; }
  /// Names of the tasks that sched events mention, with repetitions.
  [[nodiscard]] std::span<const StringId> taskComms() const { return taskComm_; }
  /// Bytes held, index included.
  [[nodiscard]] u64 bytes() const;

  /// Calls f.template operator()<P>() for the payload type of a kind.
  template <class F>
  static void visitKind(EventKind kind, F&& f) {
    [&]<class... P>(KindList<P...>) {
      (void)((kindOf<P> == kind ? (f.template operator()<P>(), true) : false) || ...);
    }(Kinds{});
  }

 private:
  friend class StoreAssembly;
  struct Place {
    const EventGroup* group;
    u32 at;
  };
  [[nodiscard]] Place place(Row row) const {
    const u32 slot = order_[number(row)];
    return {groups_[slot >> groupShift], slot & groupMask};
  }

  template <class P>
  P unpack(const u8* from, const StoredLayout& layout) const {
    P payload;
    std::size_t member = 0;
    P::Fields::forEach([&]<class F>() {
      const u8 at = layout.at[member++];
      if (at != StoredLayout::absent) load(payload.*F::member, from + at);
    });
    return payload;
  }
  template <class T>
  void load(T& value, const u8* from) const {
    if constexpr (std::is_same_v<T, Address>) {
      value = static_cast<Address>(pools_->addresses[loaded<u32>(from)]);
    } else if constexpr (std::is_same_v<T, Task>) {
      const u32 id = loaded<u32>(from);
      const TaskBlock& block = pools_->tasks[id];
      value = {taskComm_[id], static_cast<Pid>(block.pid), block.prio};
    } else if constexpr (std::is_same_v<T, bool>) {
      value = *from != 0;
    } else {
      value = loaded<T>(from);
    }
  }
  template <class T>
  static T loaded(const u8* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }

  std::vector<EventType> types_;
  std::vector<EventKind> kinds_;  // of types_, dense for speed
  std::vector<Stream> streams_;
  std::vector<const EventGroup*> groups_;
  std::vector<u32> groupFirst_;  // position of a group's first event
  std::vector<u16> groupStream_;
  BigColumn<u32> order_;     // row -> slot = group << 8 | place in group
  BigColumn<Row> rowOf_;     // position -> row
  std::vector<u32> counts_;  // stream x type
  std::vector<Loss> losses_;
  std::vector<BackwardStep> backward_;
  std::vector<StringId> taskComm_;  // of pools_->tasks
  std::shared_ptr<const Pools> pools_;
  std::vector<std::shared_ptr<EventArena>> arenas_;
};

}  // namespace tickscope
