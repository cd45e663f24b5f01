// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings told in words of the domain, for tests of models and detectors.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis.h"

namespace tickscope::support {

/// A script is lines; `#` begins a comment. Times are seconds or figures with ns, us, ms, s.
///
///   kernel hz=250 hrule=R1            facts as --fact takes them; what is not given is that of a stock 6.1 kernel,
///                                     HZ 250; jiffies are 4294900000 when the trace's clock, which is monotonic, reads 0
///   without timer_start.bucket_expiry a field that the recording does not have
///   realtime 1700000000s              what CLOCK_REALTIME is ahead of the clock from here on (that at the beginning)
///   at 1.000                          the anchor that the times of events count from
///   +2us cpu0 [sh-72] [[dh]] EVENT FIELD=VALUE ...
///   repeat 50 every 10us              the lines down to `end`, the anchor moved on each time; `$i` is the number
///   end
///   loss cpu0 [N]                     events were lost behind the CPU's last one
///   expect F06 [cpu0] [count=50] [grade=S2]     a finding; further: no F06 | no S1 | judged F06 | not-judged F06
///
/// The task is `name-pid` or `idle` (the default). Flags in brackets: d irqs off, h hard interrupt, s softirq, n
/// need-resched; without them they follow from the interrupts and softirqs that are open.
/// Values: `+300us` for an hrtimer's times counts from the event; `R+300us` likewise on CLOCK_REALTIME; `j+5` for
/// jiffies from those of the event's time. Timers are names (t1), functions theirs. vec=TIMER, mode=ABS|SOFT,
/// prev=sh-72:120 next=idle for tasks. timer_start takes cpu=, flags=D|P|I, and clk=j-500 of its base (default: now),
/// from which index and bucket follow. `call from=hrtimer_reprogram` is a programming call, `call expires=+1ms` one
/// with its value. What an event leaves out: times that follow, else 0.
class TraceScript {
 public:
  /// Throws std::runtime_error with the line's number where it cannot be read.
  explicit TraceScript(std::string_view script);
  ~TraceScript();
  TraceScript(TraceScript&&) noexcept;

  [[nodiscard]] std::shared_ptr<const Recording> recording() const;
  [[nodiscard]] const ProfileOverrides& facts() const;
  [[nodiscard]] Analysis analysed() const;
  /// The findings, and each expectation that they do not meet as a line; empty: all are met.
  [[nodiscard]] std::string unmet(const Thresholds& thresholds = {}) const;
  [[nodiscard]] Findings findings(const Thresholds& thresholds = {}) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// What a script expects and does not meet, with the default thresholds; empty: all is met.
std::string unmet(std::string_view script);

/// The findings of an analysis as lines: "F06 S2 0.81 cpu 0 count 50/50 title"; then what was judged and what not.
std::string findingLines(const Findings& findings);

}  // namespace tickscope::support
