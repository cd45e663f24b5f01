// SPDX-License-Identifier: GPL-3.0-or-later
// Stores with the events that timelines are made of, written in a test a line each.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "core/trace/recording.h"
#include "core/trace/store_builder.h"

namespace tickscope::support {

/// CPUs are given in ascending order, the events of each in recorded order.
class EventMaker {
 public:
  EventMaker();
  EventMaker& cpu(u16 number);
  EventMaker& loss(Known<u64> count);

  template <class P>
  EventMaker& add(s64 time, const P& payload, Pid pid = Pid{0}, Context context = {}) {
    StreamPiece& piece = parts_.streams.back().pieces.back();
    if (!piece.append({time}, pid, context, typeOf(kindOf<P>), payload)) {
      throw std::runtime_error("no memory for the events of a test");
    }
    return *this;
  }
  /// Tasks are `name-pid` or "idle", for instance "sh-72".
  EventMaker& switchTo(s64 time, const std::string& from, const std::string& to);
  EventMaker& irq(s64 from, s64 to, s32 number = 1);
  EventMaker& softirq(s64 raise, s64 from, s64 to, u32 vector);
  /// The callback of an hrtimer runs, the cancel before it included.
  EventMaker& expiry(s64 from, s64 to, u64 timer);
  EventMaker& call(s64 time);

  /// Leaves the maker empty.
  [[nodiscard]] EventStore finish();
  [[nodiscard]] std::shared_ptr<Recording> recording(ClockUnit unit = ClockUnit::Nanoseconds);
  [[nodiscard]] StringId string(std::string_view text);

 private:
  [[nodiscard]] u16 typeOf(EventKind kind) const;
  [[nodiscard]] Task task(const std::string& name);

  StoreParts parts_;
  std::shared_ptr<Pools> pools_;
};

}  // namespace tickscope::support
