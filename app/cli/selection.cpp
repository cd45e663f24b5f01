// SPDX-License-Identifier: GPL-3.0-or-later
// Applies --buffer, --from, --to and --cpu to a recording.
#include <fmt/format.h>

#include "app/cli/command.h"
#include "core/base/shown_text.h"
#include "core/base/time_text.h"

namespace tickscope {

namespace {

tl::unexpected<Error> usage(std::string what) { return fail(Error::Kind::Usage, std::move(what)); }

std::string nameOf(const Buffer& buffer) {
  return buffer.name.empty() ? "'' (the top buffer)" : "'" + shown(buffer.name) + "'";
}

/// Calls row(u32) or time(u64) with the point that `text` names.
template <class OnRow, class OnTime>
Result<void> readPoint(std::string_view option, const std::string& text, ClockUnit unit,
                       OnRow&& row, OnTime&& time) {
  for (const std::string_view clock : {"mono:", "jiffies:"}) {
    if (text.starts_with(clock)) {
      return usage(fmt::format(
          "{} {}: times of that clock cannot be found in a trace yet; give a time as the trace "
          "prints it, or event:ROW.",
          option, text));
    }
  }
  constexpr std::string_view event = "event:";
  if (text.starts_with(event)) {
    const auto number = readNumber(std::string_view(text).substr(event.size()));
    const auto whole = number ? asWhole(*number) : Known<Whole>{};
    if (!whole || whole->negative || whole->magnitude > 0xffff'ffffU) {
      return usage(fmt::format("{} {}: behind event: stands the number of a row.", option, text));
    }
    row(static_cast<u32>(whole->magnitude));
    return {};
  }
  const auto number = readNumber(text);
  const bool seconds = unit == ClockUnit::Nanoseconds;
  const auto value = !number   ? Known<Whole>{}
                     : seconds ? inNanoseconds(*number, WrittenNumber::Unit::Second)
                               : asWhole(*number);
  if (!value || value->negative) {
    return usage(
        seconds
            ? fmt::format("{} takes a time such as 12.345678901, 50ms or event:ROW, not '{}'.",
                          option, text)
            : fmt::format("{} takes a whole number, because the clock of this trace does not count "
                          "seconds, or event:ROW, not '{}'.",
                          option, text));
  }
  time(value->magnitude);
  return {};
}

}  // namespace

Result<u32> chosenBuffer(const Recording& recording, const CommonOptions& options) {
  if (recording.buffers.empty()) {
    return fail(Error::Kind::NotATrace, "The recording has no buffer of events.");
  }
  if (!options.buffer) return recording.mainBuffer();
  std::string names;
  for (u32 i = 0; i < recording.buffers.size(); ++i) {
    if (recording.buffers[i].name == *options.buffer) return i;
    names += (names.empty() ? "" : ", ") + nameOf(recording.buffers[i]);
  }
  return usage(fmt::format("There is no buffer '{}'; there {} {}.", shown(*options.buffer),
                           recording.buffers.size() == 1 ? "is" : "are", names));
}

Result<RowSelection> chosenRows(const Buffer& buffer, const CommonOptions& options) {
  RowSelection selection(buffer.events);
  const ClockUnit unit = buffer.clock.unit;
  if (!options.from.empty()) {
    const auto read = readPoint(
        "--from", options.from, unit, [&](u32 row) { selection.fromRow(row); },
        [&](u64 time) { selection.fromTime(time); });
    if (!read) return tl::unexpected(read.error());
  }
  if (!options.to.empty()) {
    const auto read = readPoint(
        "--to", options.to, unit, [&](u32 row) { selection.toRow(row); },
        [&](u64 time) { selection.toTime(time); });
    if (!read) return tl::unexpected(read.error());
  }
  if (!options.cpus.empty()) {
    const auto cpus = readCpuList(options.cpus);
    if (!cpus) return tl::unexpected(cpus.error());
    selection.onlyCpus(*cpus);
  }
  return selection;
}

}  // namespace tickscope
