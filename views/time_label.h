// SPDX-License-Identifier: GPL-3.0-or-later
// Times as the window writes them: exact, in groups of three digits.
#pragma once

#include <QString>

#include "core/trace/recording.h"

namespace tickscope {

/// `6.403 416 103` (seconds) for clocks of ns; the number in groups of three for all others.
[[nodiscard]] QString timeInGroups(TraceTime time, ClockUnit unit);
/// The same without blanks, as it is copied.
[[nodiscard]] QString timeForCopy(TraceTime time, ClockUnit unit);
/// `+1 304.250` (microseconds) for clocks of ns; a signed number in groups of three for all others.
[[nodiscard]] QString differenceInGroups(TraceDelta difference, ClockUnit unit);
/// A difference with a unit that fits it, exact to 1 ns: `850 ns`, `3.172 µs`, `1.060 004 ms`, `−2.5 s`; `12 counts`
/// for clocks that do not count ns.
[[nodiscard]] QString differenceWords(TraceDelta difference, ClockUnit unit);
/// `s` or what the clock counts, for headings.
[[nodiscard]] QString unitName(ClockUnit unit);
/// 9,610.
[[nodiscard]] QString countText(u64 count);

/// Reads what timeInGroups() and timeForCopy() write; blanks are ignored, and for clocks of ns a unit (s, ms, us, ns)
/// may stand behind the number. Empty: it is no time.
[[nodiscard]] Known<TraceTime> readTime(const QString& text, ClockUnit unit);

}  // namespace tickscope
