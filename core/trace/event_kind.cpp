// SPDX-License-Identifier: GPL-3.0-or-later
// Names of tracepoints to kinds.
#include "core/trace/event_kind.h"

#include <algorithm>

#include "core/trace/stored_layout.h"

namespace tickscope {

EventKind kindNamed(std::string_view event) {
  const auto* const found =
      std::find_if(kindInfos.begin(), kindInfos.end(), [&](const KindInfo& info) {
        return !info.event.empty() && (info.event == event || info.eventAlias == event);
      });
  return found == kindInfos.end() || event.empty()
             ? kindOf<Raw>
             : static_cast<EventKind>(found - kindInfos.begin());
}

EventKind kindOfEvent(std::string_view system, std::string_view event) {
  // Users choose the names of probes and synthetic events: a kprobe called hrtimer_start is no hrtimer_start.
  static constexpr std::array<std::string_view, 14> known{
      "timer", "hrtimer", "irq",       "irq_vectors",     "ipi",        "csd",    "sched",
      "power", "cpuhp",   "workqueue", "timer_migration", "alarmtimer", "ftrace", ""};
  if (std::find(known.begin(), known.end(), system) == known.end()) return kindOf<Raw>;
  const EventKind kind = kindNamed(event);
  if (kind != kindOf<Raw>) return kind;
  if (system == "irq_vectors") {
    if (event.ends_with("_entry")) return kindOf<VectorEntry>;
    if (event.ends_with("_exit")) return kindOf<VectorExit>;
  }
  return kindOf<Raw>;
}

StoredLayout storedLayout(EventKind kind, u32 has) {
  StoredLayout layout;
  [&]<class... P>(KindList<P...>) {
    (void)((kindOf<P> == kind ? (layout = storedLayout<P>(has), true) : false) || ...);
  }(Kinds{});
  return layout;
}

}  // namespace tickscope
