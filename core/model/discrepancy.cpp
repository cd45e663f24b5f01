// SPDX-License-Identifier: GPL-3.0-or-later
// Codes and titles of discrepancies, texts of invariants.
#include "core/model/discrepancy.h"

namespace tickscope {

namespace {

struct Words {
  std::string_view code, title;
};
constexpr std::array<Words, discrepancyKindCount> words{{
    {"", ""},
    {"X01", "a timer expired that was not armed"},
    {"X02", "a timer was cancelled that was not armed"},
    {"X03", "an armed timer was started without a cancel"},
    {"X04", "was_armed differs from the model"},
    {"X05", "a wheel timer expired before its bucket was due"},
    {"X06", "an hrtimer expired before its softexpires"},
    {"X07", "a bucket that no admissible clk gives"},
    {"X08", "a timer was passed over and is still pending"},
    {"X09", "timers expired out of order"},
    {"X10", "a timer expired on another CPU than it was queued on"},
    {"X11", "an operation made more or fewer programming calls than predicted"},
    {"X12", "the device was programmed later than the first timer"},
    {"X13", "an exit without its entry"},
    {"X14", "one timer armed in two bases"},
    {"X15", "base clk moved backward or ahead of jiffies"},
    {"X16", "time moved backward"},
    {"X17", "a softirq was raised, or not raised, against the rule"},
    {"X18", "the timer list differs from the model"},
    {"X19", "two pieces of evidence on the kernel exclude each other"},
    {"X20", "the time of a pass lies behind its record"},
}};

constexpr std::array<std::string_view, invariantCount> texts{
    "",
    "wheel timers run at the time of their bucket",
    "jiffies have reached the bucket when its timers run",
    "a base's clk never goes back",
    "wheel timers never run before the jiffy after their expiry",
    "idx of timer_start is that of the formula for an admissible clk",
    "a bucket is due 1 to 8^level jiffies after the timers in it",
    "wheel timers run at most one jiffy after their bucket is due",
    "wheel timers of one run come in the kernel's order",
    "timer_cancel stands before timer_expire_entry",
    "wheel callbacks run in the TIMER softirq",
    "one callback of a wheel base runs at a time",
    "the tick raises TIMER when a bucket is due",
    "the running tick moves by whole ticks",
    "hrtimers never run before their softexpires",
    "hrtimers of one pass and base run in order of expires",
    "a pass leaves no hrtimer that was due",
    "the time of a pass is not after its records",
    "hard hrtimers run in the interrupt, soft ones in the HRTIMER softirq",
    "was_armed is as the model has it",
    "a timer is armed once",
    "operations make the predicted number of programming calls",
    "the device is never programmed later than the first timer",
    "the timer interrupt comes when it was programmed for",
    "a timer interrupt runs a timer or is explained",
    "HRTIMER is raised when, and only when, softirq_expires_next is reached",
    "soft hrtimers run when their softirq has begun",
    "a restarting callback moves its timer forward",
    "monotonic time and jiffies do not go back or stand still",
    "an offline CPU has no timer events",
    "/proc/timer_list shows the timers of the model",
};

}  // namespace

std::string_view codeOf(DiscrepancyKind kind) { return words[static_cast<std::size_t>(kind)].code; }
std::string_view titleOf(DiscrepancyKind kind) {
  return words[static_cast<std::size_t>(kind)].title;
}
bool isCounted(std::size_t invariant) { return invariant > 0 && invariant < invariantCount; }
std::string_view invariantText(std::size_t number) { return texts[number]; }

}  // namespace tickscope
