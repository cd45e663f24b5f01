// SPDX-License-Identifier: GPL-3.0-or-later
// Which operation a call of tick_program_event belongs to, by the function that made it.
#pragma once

#include <unordered_map>

#include "core/trace/symbols.h"

namespace tickscope {

/// Inlining hides levels, so nothing finer can be told (events.md 2).
enum class CallSite : u8 {
  Unknown,         ///< no caller recorded, or its name is not known
  Interrupt,       ///< hrtimer_interrupt: the end of a pass
  Start,           ///< hrtimer_start_range_ns: enqueue, or restart of the first timer
  StartOrSoftirq,  ///< hrtimer_reprogram: enqueue, or the end of the soft pass
  StartOrRemoval,  ///< hrtimer_force_reprogram: removal or restart of the first timer, or a retrigger
  Removal,         ///< removal of the first timer
  Softirq,         ///< hrtimer_run_softirq: the end of the soft pass
  Retrigger,       ///< retrigger_next_event: clock set, resume, hotplug
  Other            ///< broadcast, low resolution tick: no operation on hrtimers
};

class CallSites {
 public:
  explicit CallSites(const Symbols& symbols) : symbols_(symbols) {}
  /// By the address that the function tracer gives as parent; 0: not recorded.
  CallSite of(Address caller);

 private:
  const Symbols& symbols_;
  std::unordered_map<u64, CallSite> known_;
};

/// By the name, suffixes of the compiler (.isra.0, .constprop.0, ...) allowed.
CallSite callSiteNamed(std::string_view function);

}  // namespace tickscope
