// SPDX-License-Identifier: GPL-3.0-or-later
// Applies --buffer, --from, --to and --cpu to a recording.
#include <fmt/format.h>

#include "app/cli/command.h"
#include "app/cli/point.h"
#include "core/base/shown_text.h"

namespace tickscope {

namespace {

tl::unexpected<Error> usage(std::string what) { return fail(Error::Kind::Usage, std::move(what)); }

std::string nameOf(const Buffer& buffer) {
  return buffer.name.empty() ? "'' (the top buffer)" : "'" + shown(buffer.name) + "'";
}

/// Calls row(u32) or time(u64) with the point that `text` names.
template <class OnRow, class OnTime>
Result<void> applyPoint(std::string_view option, const std::string& text, ClockUnit unit,
                        OnRow&& row, OnTime&& time) {
  const auto point = readPoint(option, text, unit, false);
  if (!point) return tl::unexpected(point.error());
  switch (point->of) {
    case Point::Of::AtRow:
      row(static_cast<u32>(point->value));
      return {};
    case Point::Of::AtTime:
      time(point->value);
      return {};
    case Point::Of::AtMono:
    case Point::Of::AtJiffies:
      break;
  }
  return usage(
      fmt::format("{} {}: events are chosen by a time as the trace prints it, or event:ROW.",
                  option, shown(text)));
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
    const auto read = applyPoint(
        "--from", options.from, unit, [&](u32 row) { selection.fromRow(row); },
        [&](u64 time) { selection.fromTime(time); });
    if (!read) return tl::unexpected(read.error());
  }
  if (!options.to.empty()) {
    const auto read = applyPoint(
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
