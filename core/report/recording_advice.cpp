// SPDX-License-Identifier: GPL-3.0-or-later
// Events and functions by question.
#include "core/report/recording_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tickscope {

namespace {

constexpr std::array<RecordingAdvice, 7> questions{{
    {"double-reprogram", "Does a restart program the clock event device twice?", "F06 F07",
     "timer:hrtimer_* irq:softirq_* irq_vectors:local_timer_* sched:sched_switch", true},
    {"stall", "Are timers lost, stalled or late?", "F03 F04 F05 F10 F15 F20 F22 F23",
     "timer irq irq_vectors sched:sched_switch sched:sched_waking power:cpu_idle cpuhp "
     "timer_migration ipi",
     true},
    {"storm", "What do bursts of timers and wake-ups cost?", "F01 F02 F11 F12 F16",
     "timer sched:sched_switch sched:sched_waking sched:sched_wakeup irq power:cpu_idle", false},
    {"granularity", "How far from the requested jiffy do wheel timers run?", "F08 F09 F18",
     "timer irq:softirq_* power:cpu_idle", false},
    {"idle-wakeups", "What wakes idle CPUs?", "F13 F14 F17",
     "timer irq irq_vectors power:cpu_idle ipi sched:sched_switch", false},
    {"isolation", "What disturbs an isolated CPU?", "F19 F21",
     "timer irq irq_vectors sched ipi workqueue:workqueue_execute_*", false},
    {"all", "Everything that Tickscope can judge", "F01-F23",
     "timer irq irq_vectors sched power:cpu_idle cpuhp timer_migration ipi "
     "workqueue:workqueue_execute_*",
     true},
}};

}  // namespace

std::span<const RecordingAdvice> recordingAdvice() { return questions; }

const RecordingAdvice* recordingAdvice(std::string_view key) {
  const auto found = std::ranges::find(questions, key, &RecordingAdvice::key);
  return found == questions.end() ? nullptr : &*found;
}

std::string recordCommand(const RecordingAdvice& advice, u32 kbPerCpu, u32 seconds) {
  std::string command = fmt::format("trace-cmd record -C mono -b {} -o trace.dat", kbPerCpu);
  std::string_view left = advice.events;
  while (!left.empty()) {
    const std::string_view event = left.substr(0, left.find(' '));
    left.remove_prefix(std::min(left.size(), event.size() + 1));
    const bool pattern = event.find('*') != std::string_view::npos;
    command += pattern ? fmt::format(" -e '{}'", event) : fmt::format(" -e {}", event);
  }
  if (advice.programming) command += " -p function -l tick_program_event";
  return command + fmt::format(" sleep {}", seconds);
}

}  // namespace tickscope
