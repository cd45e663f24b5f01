// SPDX-License-Identifier: GPL-3.0-or-later
// The unit of each trace clock, and the buffer that opens first.
#include "core/trace/recording.h"

#include <algorithm>
#include <array>

namespace tickscope {

ClockUnit unitOf(std::string_view clock) {
  constexpr std::array<std::string_view, 7> nanoseconds{"local",    "global", "perf", "mono",
                                                        "mono_raw", "boot",   "tai"};
  if (std::find(nanoseconds.begin(), nanoseconds.end(), clock) != nanoseconds.end()) {
    return ClockUnit::Nanoseconds;
  }
  if (clock == "uptime") return ClockUnit::Jiffies100Hz;
  if (clock == "counter") return ClockUnit::Events;
  if (clock == "x86-tsc" || clock == "ppc-tb") return ClockUnit::Cycles;
  return ClockUnit::Unknown;
}

u32 Recording::mainBuffer() const {
  u32 fullest = 0;
  for (u32 i = 0; i < buffers.size(); ++i) {
    if (buffers[i].name.empty() && buffers[i].events.size() > 0) return i;
    if (buffers[i].events.size() > buffers[fullest].events.size()) fullest = i;
  }
  return fullest;
}

}  // namespace tickscope
