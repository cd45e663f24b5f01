// SPDX-License-Identifier: GPL-3.0-or-later
// Names of the functions that program the clock event device.
#include "core/model/call_site.h"

#include <array>

namespace tickscope {

namespace {

struct Named {
  std::string_view prefix;
  bool whole;  // the name without suffixes, not only its beginning
  CallSite site;
};
// The first that fits counts.
constexpr std::array named{
    Named{"hrtimer_interrupt", true, CallSite::Interrupt},
    Named{"__hrtimer_rearm_deferred", true, CallSite::Interrupt},
    Named{"hrtimer_start_range_ns", false, CallSite::Start},
    Named{"__hrtimer_start_range_ns", true, CallSite::Start},
    Named{"hrtimer_reprogram", true, CallSite::StartOrSoftirq},
    Named{"__hrtimer_reprogram", true, CallSite::StartOrSoftirq},
    Named{"hrtimer_force_reprogram", true, CallSite::StartOrRemoval},
    Named{"__remove_hrtimer", true, CallSite::Removal},
    Named{"remove_hrtimer", true, CallSite::Removal},
    Named{"hrtimer_try_to_cancel", true, CallSite::Removal},
    Named{"hrtimer_cancel", true, CallSite::Removal},
    Named{"hrtimer_run_softirq", true, CallSite::Softirq},
    Named{"hrtimer_update_softirq_timer", true, CallSite::Softirq},
    Named{"retrigger_next_event", true, CallSite::Retrigger},
    Named{"clock_was_set", false, CallSite::Retrigger},
    Named{"tick_", false, CallSite::Other},
    Named{"__tick_", false, CallSite::Other},
    Named{"___tick_", false, CallSite::Other},
};

}  // namespace

CallSite callSiteNamed(std::string_view function) {
  const std::string_view stem = function.substr(0, function.find('.'));
  for (const Named& n : named) {
    if (n.whole ? stem == n.prefix : stem.starts_with(n.prefix)) return n.site;
  }
  return CallSite::Unknown;
}

CallSite CallSites::of(Address caller) {
  if (caller == Address{}) return CallSite::Unknown;
  const auto [at, isNew] = known_.try_emplace(static_cast<u64>(caller), CallSite::Unknown);
  if (isNew) {
    if (const auto symbol = symbols_.at(caller)) at->second = callSiteNamed(symbol->name);
  }
  return at->second;
}

}  // namespace tickscope
