// SPDX-License-Identifier: GPL-3.0-or-later
// A row as the kernel prints it in its `trace` file, with nine decimals and plain pointers.
#pragma once

#include <string>
#include <vector>

#include "core/trace/recording.h"

namespace tickscope {

/// Prints the rows of one buffer. Cheap to make; thread-safe.
class EventText {
 public:
  EventText(const Recording& recording, const Buffer& buffer)
      : recording_(&recording), buffer_(&buffer) {}

  /// `          <idle>-0       [001] d.h1.  6.403416103: hrtimer_start: hrtimer=…`: the kernel's columns, time in
  /// full. Stacks and markers with newlines give several lines, without a newline at the end.
  [[nodiscard]] std::string line(Row row) const;
  /// What stands behind the time: `hrtimer_start: hrtimer=…`; without a name where the kernel prints none.
  [[nodiscard]] std::string nameAndBody(Row row) const;
  /// The text behind the event's name.
  [[nodiscard]] std::string body(Row row) const;
  /// `comm` of the row's task; `<...>` when unknown, as the kernel prints it.
  [[nodiscard]] std::string comm(Pid pid) const;
  /// Event name to show and filter by.
  [[nodiscard]] std::string_view eventName(Row row) const;
  /// All fields but the common ones, by their format names.
  [[nodiscard]] std::vector<FieldValue> fields(Row row) const;
  /// `function=…` and the like: `symbol`, `symbol [module]`, or the address in hex when no symbol is near.
  [[nodiscard]] std::string symbol(Address address) const;
  /// The same for an address inside of a function, such as the caller of a traced one.
  [[nodiscard]] std::string place(Address address) const;

 private:
  const Recording* recording_;
  const Buffer* buffer_;
};

/// The irqs-off, need-resched, hardirq/softirq, preempt-depth, migrate-disable columns, `d.h1.` (events.md 3).
std::string contextText(Context context);
/// Seconds with nine decimals for ns clocks, the bare number for others.
std::string timeText(TraceTime time, ClockUnit unit);

}  // namespace tickscope
