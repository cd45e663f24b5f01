// SPDX-License-Identifier: GPL-3.0-or-later
// Reads T.
#include "app/cli/point.h"

#include <fmt/format.h>

#include "core/base/shown_text.h"
#include "core/base/time_text.h"

namespace tickscope {

namespace {

constexpr u64 highestRow = 0xffff'ffffU;

Known<u64> positive(const Known<Whole>& number) {
  if (!number || number->negative) return {};
  return number->magnitude;
}

}  // namespace

Result<Point> readPoint(std::string_view option, const std::string& text, ClockUnit unit,
                        bool otherClocks) {
  const auto usage = [&](std::string_view what) {
    return fail(Error::Kind::Usage, fmt::format("{} {}: {}", option, shown(text), what));
  };
  const std::string_view whole = text;
  const auto behind = [&](std::string_view prefix) -> Known<std::string_view> {
    if (!whole.starts_with(prefix)) return {};
    return whole.substr(prefix.size());
  };
  const auto asCount = [](std::string_view digits) -> Known<u64> {
    const auto number = readNumber(digits);
    if (!number) return {};
    return positive(asWhole(*number));
  };
  const auto asNs = [](std::string_view digits) -> Known<u64> {
    const auto number = readNumber(digits);
    if (!number) return {};
    return positive(inNanoseconds(*number, WrittenNumber::Unit::Second));
  };

  if (const auto row = behind("event:")) {
    const auto value = asCount(*row);
    if (!value || *value > highestRow) return usage("behind event: stands the number of a row.");
    return Point{Point::Of::AtRow, *value};
  }
  if (const auto mono = behind("mono:")) {
    const auto value = asNs(*mono);
    if (!value) {
      return usage("behind mono: stands a time of CLOCK_MONOTONIC, such as 12.345678901 or 50ms.");
    }
    return Point{Point::Of::AtMono, *value};
  }
  if (const auto jiffies = behind("jiffies:")) {
    const auto value = asCount(*jiffies);
    if (!value) return usage("behind jiffies: stands a whole number.");
    return Point{Point::Of::AtJiffies, *value};
  }
  const bool seconds = unit == ClockUnit::Nanoseconds;
  const auto value = seconds ? asNs(whole) : asCount(whole);
  if (!value) {
    const std::string_view others =
        otherClocks ? ", mono:12.345678901, jiffies:N or event:ROW" : " or event:ROW";
    return fail(
        Error::Kind::Usage,
        seconds
            ? fmt::format("{} takes a time such as 12.345678901, 50ms{}, not '{}'.", option, others,
                          shown(text))
            : fmt::format("{} takes a whole number, because the clock of this trace does not count "
                          "seconds,{}, not '{}'.",
                          option, otherClocks ? others.substr(1) : others, shown(text)));
  }
  return Point{Point::Of::AtTime, *value};
}

}  // namespace tickscope
