// SPDX-License-Identifier: GPL-3.0-or-later
// The context columns and the time of a row.
#include <fmt/format.h>

#include "core/trace/event_text.h"

namespace tickscope {
namespace {

constexpr u32 irqsOff = 0x01, irqsUnsupported = 0x02, needResched = 0x04, hardIrq = 0x08,
              softIrq = 0x10, preemptResched = 0x20, nmi = 0x40, bottomHalfOff = 0x80;

char irqColumn(u32 flags) {
  if (flags & irqsOff) return flags & bottomHalfOff ? 'D' : 'd';
  if (flags & bottomHalfOff) return 'b';
  return flags & irqsUnsupported ? 'X' : '.';
}

char reschedColumn(u32 flags) {
  switch (flags & (needResched | preemptResched)) {
    case needResched | preemptResched:
      return 'N';
    case needResched:
      return 'n';
    case preemptResched:
      return 'p';
    default:
      return '.';
  }
}

char levelColumn(u32 flags) {
  if (flags & nmi) return flags & hardIrq ? 'Z' : 'z';
  if (flags & hardIrq) return flags & softIrq ? 'H' : 'h';
  return flags & softIrq ? 's' : '.';
}

char depthColumn(u32 depth) { return depth ? "0123456789abcdef"[depth & 0xfU] : '.'; }

}  // namespace

std::string contextText(Context context) {
  return {irqColumn(context.flags), reschedColumn(context.flags), levelColumn(context.flags),
          depthColumn(context.preemptCount & 0xfU), depthColumn(context.preemptCount >> 4U)};
}

std::string timeText(TraceTime time, ClockUnit unit) {
  const u64 value = static_cast<u64>(time.value);
  constexpr u64 second = 1'000'000'000;
  if (unit == ClockUnit::Nanoseconds) {
    return fmt::format("{}.{:09}", value / second, value % second);
  }
  return fmt::format("{}", value);
}

}  // namespace tickscope
