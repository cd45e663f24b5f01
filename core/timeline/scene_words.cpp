// SPDX-License-Identifier: GPL-3.0-or-later
// Names and sums in words.
#include "core/timeline/scene_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/time_text.h"
#include "core/trace/value_names.h"

namespace tickscope {

namespace {

std::string symbolOf(const SceneNames& names, Address address) {
  if (names.symbol) return names.symbol(address);
  return fmt::format("0x{:x}", number(address));
}

std::string taskName(const EventStore& store, const Task& task) {
  if (task.pid == Pid{0}) return "idle";
  return fmt::format("{}-{}", store.text(task.comm), number(task.pid));
}

/// `reschedule` of the event reschedule_entry.
std::string vectorName(std::string_view event) {
  for (const std::string_view ending : {"_entry", "_exit"}) {
    if (event.size() > ending.size() && event.ends_with(ending)) {
      event.remove_suffix(ending.size());
      break;
    }
  }
  std::string name(event);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string plural(u64 count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", grouped(count), count == 1 ? one : many);
}

void join(std::string& words, std::string_view part) {
  if (!words.empty()) words += " · ";
  words += part;
}

/// "sh-72 runs", "idle" or "busy 16 %".
std::string taskWords(const Timeline& timeline, const CpuTrack& track, const SceneNames& names,
                      const ViewWindow& window, const LaneView& view, bool durations) {
  const s64 from = std::max(window.from, track.first);
  const s64 to = std::min(window.to, track.last);
  if (to <= from || track.lanes[number(LaneKind::Task)].rows.empty()) return "";
  if (view.counted == 0 && view.spans.size() == 1 && view.spans[0].from <= from &&
      view.spans[0].to >= to) {
    const LaneSpan& span = view.spans[0];
    if (span.idle) return "idle";
    return nameOfRow(*timeline.store, names, span.row, !span.beginKnown) + " runs";
  }
  if (!durations) return "";
  const double share = static_cast<double>(view.busy) / static_cast<double>(to - from);
  const int percent = static_cast<int>(std::clamp(share, 0.0, 1.0) * 100 + 0.5);
  if (percent == 0 && view.busy > 0) return "busy below 1 %";
  if (percent == 100 && view.busy < static_cast<u64>(to - from)) return "busy above 99 %";
  return fmt::format("busy {} %", percent);
}

std::string timerWords(const LaneView& view, const ViewWindow& window, std::string_view kind) {
  if (!view.counted) return "";
  if (!view.cells.empty()) {
    return fmt::format("{} {} {}", grouped(view.counted), kind,
                       view.counted == 1 ? "operation" : "operations");
  }
  u64 arms = 0, restarts = 0, expiries = 0, cancels = 0;
  for (const LaneOperation& operation : view.operations) {
    if (operation.time < window.from || operation.time >= window.to) continue;
    switch (operation.shape) {
      case Shape::Arm:
        ++arms;
        break;
      case Shape::Restart:
        ++restarts;
        break;
      case Shape::Expire:
        ++expiries;
        break;
      case Shape::Cancel:
        ++cancels;
        break;
      default:
        break;
    }
  }
  std::string words;
  const auto say = [&](u64 count, std::string_view one, std::string_view many) {
    if (count)
      join(words, plural(count, fmt::format("{} {}", kind, one), fmt::format("{} {}", kind, many)));
  };
  say(arms, "arm", "arms");
  say(restarts, "restart", "restarts");
  say(expiries, "expiry", "expiries");
  say(cancels, "cancel", "cancels");
  return words;
}

}  // namespace

std::string nameOfRow(const EventStore& store, const SceneNames& names, Row row, bool asPrevious) {
  switch (store.kind(row)) {
    case kindOf<SchedSwitch>: {
      const SchedSwitch event = store.as<SchedSwitch>(row);
      return taskName(store, asPrevious ? event.prev : event.next);
    }
    case kindOf<IrqHandlerEntry>: {
      const IrqHandlerEntry event = store.as<IrqHandlerEntry>(row);
      return fmt::format("{} {}", event.irq, store.text(event.name));
    }
    case kindOf<IrqHandlerExit>:
      return fmt::format("irq {}", store.as<IrqHandlerExit>(row).irq);
    case kindOf<LocalTimerEntry>:
    case kindOf<LocalTimerExit>:
      return "local timer";
    case kindOf<VectorEntry>:
    case kindOf<VectorExit>:
      return vectorName(store.type(row).name);
    case kindOf<IpiEntry>:
    case kindOf<IpiExit>:
      return "IPI";
    case kindOf<SoftirqRaise>:
      return softirqName(store.as<SoftirqRaise>(row).vec);
    case kindOf<SoftirqEntry>:
      return softirqName(store.as<SoftirqEntry>(row).vec);
    case kindOf<SoftirqExit>:
      return softirqName(store.as<SoftirqExit>(row).vec);
    case kindOf<HrtimerStart>:
      return symbolOf(names, store.as<HrtimerStart>(row).function);
    case kindOf<HrtimerExpireEntry>:
      return symbolOf(names, store.as<HrtimerExpireEntry>(row).function);
    case kindOf<TimerStart>:
      return symbolOf(names, store.as<TimerStart>(row).function);
    case kindOf<TimerExpireEntry>: {
      // Old kernels print no function with the expiry.
      const Address function = store.as<TimerExpireEntry>(row).function;
      return function == Address{} ? "callback" : symbolOf(names, function);
    }
    case kindOf<HrtimerExpireExit>:
    case kindOf<TimerExpireExit>:
      return "callback";
    default:
      return std::string(store.type(row).name);
  }
}

std::string_view neededFor(LaneKind lane) {
  switch (lane) {
    case LaneKind::Task:
      return "not recorded: the running task needs sched_switch";
    case LaneKind::HardIrq:
      return "not recorded: hard interrupts need irq_handler_entry and _exit, x86 vectors the "
             "irq_vectors events";
    case LaneKind::Softirq:
      return "not recorded: softirqs need softirq_raise, softirq_entry and softirq_exit";
    case LaneKind::Hrtimer:
      return "not recorded: hrtimers need hrtimer_start, _cancel, _expire_entry and _expire_exit";
    case LaneKind::Wheel:
      return "not recorded: wheel timers need timer_start, _cancel, _expire_entry and _expire_exit";
    case LaneKind::Programming:
      return "not recorded: programming calls need the function, kprobe or fprobe event of "
             "tick_program_event";
  }
  return "";
}

std::string lossWords(const LaneLoss& loss) {
  if (!loss.count) return "events lost";
  return plural(*loss.count, "event lost", "events lost");
}

std::string headerWords(const Timeline& timeline, const CpuTrack& track, const SceneNames& names,
                        const ViewWindow& window, const std::array<LaneView, laneCount>& views,
                        bool durations) {
  std::string words;
  const auto say = [&](std::string_view part) {
    if (!part.empty()) join(words, part);
  };
  // Losses first: nothing behind them is whole, and the end may be cut.
  bool lost = false, counted = true;
  u64 events = 0;
  for (const LaneLoss& loss : track.losses) {
    if (loss.to < window.from || loss.from >= window.to) continue;
    lost = true;
    counted = counted && loss.count.has_value();
    events += loss.count.value_or(0);
  }
  if (lost && !counted && events) say(fmt::format("{} and more events lost", grouped(events)));
  if (lost && !counted && !events) say("events lost");
  if (lost && counted) say(plural(events, "event lost", "events lost"));
  say(taskWords(timeline, track, names, window, views[number(LaneKind::Task)], durations));
  say(timerWords(views[number(LaneKind::Hrtimer)], window, "hrtimer"));
  say(timerWords(views[number(LaneKind::Wheel)], window, "wheel"));
  const u64 calls = views[number(LaneKind::Programming)].counted;
  if (calls) say(plural(calls, "programming call", "programming calls"));
  return words;
}

}  // namespace tickscope
