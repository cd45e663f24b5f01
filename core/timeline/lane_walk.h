// SPDX-License-Identifier: GPL-3.0-or-later
// Walks along a lane and pairs beginnings with ends: what is open, since when, and what is not known.
#pragma once

#include <algorithm>

#include "core/timeline/lane.h"

namespace tickscope {

/// What an entry and its exit have in common: irq, vector, timer. Events that are no such pair: 0.
u64 pairKeyOf(const EventStore& store, Row row);

/// The timer that an arm, cancel or expiry is about.
Address timerOf(const EventStore& store, Row row);

/// An hrtimer or wheel timer leaves up to three events for what is one operation: a restart cancels and starts, an
/// expiry cancels and enters the callback. Tells whether `row` completes the operation that the cancel of the same
/// timer just before it in the lane has begun.
inline bool completesOperation(const EventStore& store, LanePart part, Row row, LanePart partBefore,
                               Row before) {
  if (partBefore != LanePart::Cancel) return false;
  if (part != LanePart::Arm && part != LanePart::Entry) return false;
  return timerOf(store, row) == timerOf(store, before);
}

/// Sinks get span(const LaneSpan&) for each span at its end, and point(time, row) for an entry or exit that has no
/// other half. The walk takes the events of a lane in order, each once.
class LaneWalk {
 public:
  LaneWalk(const Timeline& timeline, const CpuTrack& track, LaneKind lane)
      : store_(timeline.store), track_(&track), paired_(timeline.roles.paired(lane)) {
    state_.since = track.first;
    if (!track.losses.empty() && track.losses.front().atBegin)
      state_.since = track.losses.front().to;
  }

  [[nodiscard]] const LaneState& state() const { return state_; }
  void restore(const LaneState& state) { state_ = state; }

  template <class Sink>
  void step(s64 time, Row row, LanePart part, Sink& sink) {
    passLosses(number(row), sink);
    completes_ = completesOperation(*store_, part, row, state_.partBefore, state_.before);
    counted_ = part != LanePart::Exit && !completes_;
    if (counted_) ++state_.operations;
    state_.partBefore = part;
    state_.before = row;
    switch (part) {
      case LanePart::Switch:
        return switched(time, row, sink);
      case LanePart::Entry:
        return entered(time, row, sink);
      case LanePart::Exit:
        return left(time, row, sink);
      default:
        return;
    }
  }
  /// Whether the last event counts: everything but exits and what completes an operation.
  [[nodiscard]] bool counted() const { return counted_; }
  /// Whether the last event completed the operation that the one before began.
  [[nodiscard]] bool completed() const { return completes_; }
  /// Ends what is open at the end of the CPU's events.
  template <class Sink>
  void finish(Sink& sink) {
    passLosses(~u32{0}, sink);
    closeFrom(0, track_->last, false, sink);
  }
  /// Gives what is open at `time` to the sink, as if it ended there with its end not known; the walk stays as it is.
  /// `next` is the lane's next event, if there is one: an exit tells that something is open that was never entered.
  template <class Sink>
  void peek(s64 time, Known<Row> next, LanePart nextPart, s64 nextTime, Sink& sink) const {
    LaneWalk ahead = *this;
    // Whatever is open ends at the next loss at the latest.
    if (state_.loss < track_->losses.size()) {
      const LaneLoss& loss = track_->losses[state_.loss];
      if (!next || number(*next) >= loss.nextRow) {
        next.reset();
        ahead.closeFrom(0, std::min(time, loss.from), false, sink);
        return;
      }
    }
    if (next && state_.fresh && (nextPart == LanePart::Exit || nextPart == LanePart::Switch)) {
      ahead.step(nextTime, *next, nextPart, sink);
      return;
    }
    ahead.closeFrom(0, std::min(time, track_->last), false, sink);
  }

 private:
  template <class Sink>
  void passLosses(u32 row, Sink& sink) {
    while (state_.loss < track_->losses.size() && row >= track_->losses[state_.loss].nextRow) {
      const LaneLoss& loss = track_->losses[state_.loss++];
      closeFrom(0, loss.from, false, sink);
      state_.since = loss.to;
      state_.fresh = true;
    }
  }

  template <class Sink>
  void emit(const LaneSpan& span, Sink& sink) {
    if (span.depth == 0 && !span.idle && span.to > span.from) {
      state_.busy += static_cast<u64>(span.to - span.from);
    }
    sink.span(span);
  }

  /// Ends all that is open from `depth` on.
  template <class Sink>
  void closeFrom(u32 depth, s64 time, bool endKnown, Sink& sink) {
    const u32 named = std::min<u32>(state_.depth, LaneState::kept);
    for (u32 d = named; d > depth; --d) {
      const LaneState::Open& open = state_.open[d - 1];
      emit({open.at, std::max(open.at, time), open.row, static_cast<u8>(d - 1), state_.idle, true,
            endKnown},
           sink);
    }
    state_.depth = std::min(state_.depth, depth);
  }

  template <class Sink>
  void switched(s64 time, Row row, Sink& sink) {
    const SchedSwitch event = store_->as<SchedSwitch>(row);
    if (state_.fresh) {
      if (time > state_.since)
        emit({state_.since, time, row, 0, event.prev.pid == Pid{0}, false, true}, sink);
    } else {
      // Another task than the one switched to: a switch between them was not recorded.
      const bool same = state_.open[0].key == static_cast<u64>(number(event.prev.pid));
      closeFrom(0, time, same, sink);
    }
    state_.fresh = false;
    state_.idle = event.next.pid == Pid{0};
    state_.open[0] = {time, static_cast<u64>(number(event.next.pid)), row};
    state_.depth = 1;
  }

  template <class Sink>
  void entered(s64 time, Row row, Sink& sink) {
    if (!paired_) {
      sink.point(time, row);
      return;
    }
    const u64 key = pairKeyOf(*store_, row);
    const u32 named = std::min<u32>(state_.depth, LaneState::kept);
    for (u32 d = 0; d < named; ++d) {
      if (state_.open[d].key != key) continue;
      // None of these can interrupt itself, so the exit is missing: its end is not known, only that it was entered.
      closeFrom(d + 1, time, false, sink);
      emit({state_.open[d].at, state_.open[d].at, state_.open[d].row, static_cast<u8>(d), false,
            true, false},
           sink);
      state_.depth = d;
      break;
    }
    state_.fresh = false;
    if (state_.depth < LaneState::kept) state_.open[state_.depth] = {time, key, row};
    ++state_.depth;
  }

  template <class Sink>
  void left(s64 time, Row row, Sink& sink) {
    if (state_.depth > LaneState::kept) {
      --state_.depth;
      return;
    }
    const u64 key = pairKeyOf(*store_, row);
    for (u32 d = state_.depth; d > 0; --d) {
      if (state_.open[d - 1].key != key) continue;
      closeFrom(d, time, false, sink);
      closeFrom(d - 1, time, true, sink);
      return;
    }
    if (!state_.fresh) {
      sink.point(time, row);
      return;
    }
    emit({state_.since, std::max(state_.since, time), row, 0, false, false, true}, sink);
    state_.since = std::max(state_.since, time);
  }

  const EventStore* store_;
  const CpuTrack* track_;
  bool paired_;
  bool counted_ = false, completes_ = false;
  LaneState state_;
};

}  // namespace tickscope
