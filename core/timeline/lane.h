// SPDX-License-Identifier: GPL-3.0-or-later
// The lanes of a CPU: which events belong to which, kept as rows with a pyramid of counts above them.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "core/timeline/pyramid.h"
#include "core/trace/event_store.h"

namespace tickscope {

/// In the order in which they are shown.
enum class LaneKind : u8 { Task, HardIrq, Softirq, Hrtimer, Wheel, Programming };
inline constexpr std::size_t laneCount = 6;
constexpr std::size_t number(LaneKind lane) { return static_cast<std::size_t>(lane); }

/// Lanes of time show how busy the CPU was; the others show single instants.
constexpr bool isLaneOfTime(LaneKind lane) { return lane <= LaneKind::Softirq; }
std::string_view nameOf(LaneKind lane);

/// What an event does in its lane.
enum class LanePart : u8 { None, Switch, Entry, Exit, Raise, Arm, Cancel, Call };

struct LaneRole {
  LaneKind lane{};
  LanePart part = LanePart::None;  ///< None: the event is in no lane
};
/// The role of a kind; programming calls are chosen once a store, see LaneRoles.
LaneRole roleOf(EventKind kind);

/// Roles of all event types of one store, by type index. When one programming call leaves several events (a probe and
/// the function tracer on the same function, hrtimer_rearm beside them), only the first of these kinds counts, or each
/// call would count twice: probe, traced function, hrtimer_rearm.
class LaneRoles {
 public:
  LaneRoles() = default;
  explicit LaneRoles(const EventStore& store);
  [[nodiscard]] LaneRole of(u16 type) const { return roles_[type]; }
  /// Whether any event of the lane was recorded on any CPU.
  [[nodiscard]] bool recorded(LaneKind lane) const { return recorded_[number(lane)]; }
  /// Whether the lane has entries that can be paired: some exit was recorded on some CPU.
  [[nodiscard]] bool paired(LaneKind lane) const { return paired_[number(lane)]; }

 private:
  std::vector<LaneRole> roles_;
  std::array<bool, laneCount> recorded_{}, paired_{};
};

/// Kinds of events within a lane that are told apart in dense views; a bin holds a bit for each that it contains.
namespace lane_class {
inline constexpr u8 timer = 1, hrtimer = 2, other = 4;  // softirq vectors
inline constexpr u8 arm = 1, expiry = 2, cancel = 4;    // timers
}  // namespace lane_class

/// Times in lanes are relative to Timeline::origin, in units of the trace clock, at most this.
inline constexpr s64 farthest = s64{1} << 62;

/// Events lost on a CPU, as places in time.
struct LaneLoss {
  s64 from{}, to{};
  Known<u64> count;
  bool atBegin = false, atEnd = false;  ///< nothing was recorded before, behind
  u32 nextRow = ~u32{0};                ///< first row behind the gap; ~0: none
};

/// An interval of a lane: a task runs, an interrupt or a callback is being served.
struct LaneSpan {
  s64 from{}, to{};
  Row row{};  ///< the event that begins it; the one that ends it where the beginning was not recorded
  u8 depth = 0;            ///< 0: outermost
  bool idle = false;       ///< the idle task "runs"
  bool beginKnown = true;  ///< false: it began before `from`, which is where the recording begins
  bool endKnown = true;  ///< false: it ended somewhere behind `to`: nothing is known from there on
  bool operator==(const LaneSpan&) const = default;
};

/// What is open at a place of a lane. Deeper nesting than `kept` is counted, not named.
struct LaneState {
  static constexpr u8 kept = 4;
  struct Open {
    s64 at{};
    u64 key{};
    Row row{};
    bool operator==(const Open&) const = default;
  };
  u64 busy = 0;        ///< units of busy time in closed spans
  u64 operations = 0;  ///< what counts in the lane so far: see LaneWalk::counted
  s64 since = 0;  ///< where the knowledge begins: the CPU's first event, or the first behind a loss
  u32 loss = 0;   ///< next of the CPU's losses
  u32 depth = 0;
  bool fresh = true;                     ///< nothing was entered since the knowledge began
  bool idle = false;                     ///< what is open is the idle task
  LanePart partBefore = LanePart::None;  ///< of the event before, and its row
  Row before{};
  std::array<Open, kept> open{};
  bool operator==(const LaneState&) const = default;
};

struct Lane {
  /// A state is kept before every event whose place is a multiple of this.
  static constexpr u32 checkpointEvery = 256;

  LaneKind kind{};
  std::vector<Row> rows;   ///< ascending, in recorded order
  std::vector<s64> times;  ///< of rows, running maximum; only where the CPU's times step back
  std::vector<LaneState> checkpoints;
  Pyramid pyramid;  ///< empty in lanes of few events
};

/// A CPU's lanes. Damaged files can hold two streams of one CPU: each is a track.
struct CpuTrack {
  u32 stream{};
  Cpu cpu{};
  s64 first{}, last{};  ///< times of its first and last event
  std::vector<LaneLoss> losses;
  std::array<Lane, laneCount> lanes;
};

/// Events of all kinds of some neighbouring CPUs over the whole recording.
struct OverviewRow {
  u32 firstTrack{}, tracks{};
  std::vector<u32> counts;  ///< by bins of 2^Timeline::overviewShift units
};

/// What can be drawn of a buffer. Immutable; refers to the store, which must outlive it.
struct Timeline {
  const EventStore* store = nullptr;
  LaneRoles roles;
  TraceTime origin{};
  s64 last = 0;                       ///< time of the last event
  std::vector<CpuTrack> tracks;       ///< by CPU, then stream; only streams with events or losses
  std::vector<OverviewRow> overview;  ///< at most overviewRows
  u32 overviewShift = 0;
  static constexpr u32 overviewRows = 64;
  static constexpr u32 overviewBins = 2048;

  /// Earlier times than the origin are negative; nothing is farther than `farthest`.
  [[nodiscard]] s64 relative(TraceTime time) const {
    const u64 apart = static_cast<u64>(time.value) - static_cast<u64>(origin.value);
    if (time >= origin) return static_cast<s64>(std::min<u64>(apart, static_cast<u64>(farthest)));
    return -static_cast<s64>(std::min<u64>(u64{0} - apart, static_cast<u64>(farthest)));
  }
  [[nodiscard]] TraceTime absolute(s64 relative) const { return origin + TraceDelta{relative}; }
  /// Time of the event at `place` in a lane: never before that of the event at place - 1.
  [[nodiscard]] s64 timeAt(const Lane& lane, u32 place) const {
    return lane.times.empty() ? relative(store->time(lane.rows[place])) : lane.times[place];
  }
  /// The first place in a lane whose time is not before `time`; lane.rows.size() when there is none.
  [[nodiscard]] u32 lowerBound(const Lane& lane, s64 time) const;
  /// The same, searched from `start` on with growing steps: cheap when it is near. All before `start` are earlier.
  [[nodiscard]] u32 gallop(const Lane& lane, s64 time, u32 start) const;
  /// Bytes held.
  [[nodiscard]] u64 bytes() const;
};

}  // namespace tickscope
