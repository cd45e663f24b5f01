// SPDX-License-Identifier: GPL-3.0-or-later
// Callers of tick_program_event by name, as the kernels of several machines name them.
#include "core/model/call_site.h"

#include <gtest/gtest.h>

#include <array>

namespace tickscope {
namespace {

TEST(CallSite, IsToldByTheNameWithoutTheCompilersSuffix) {
  struct Case {
    std::string_view function;
    CallSite site;
  };
  constexpr std::array cases{
      Case{"hrtimer_interrupt", CallSite::Interrupt},
      Case{"hrtimer_start_range_ns", CallSite::Start},
      Case{"hrtimer_start_range_ns_user", CallSite::Start},
      Case{"hrtimer_reprogram", CallSite::StartOrSoftirq},
      Case{"hrtimer_reprogram.constprop.0", CallSite::StartOrSoftirq},
      Case{"hrtimer_force_reprogram", CallSite::StartOrRemoval},
      Case{"__remove_hrtimer", CallSite::Removal},
      Case{"hrtimer_try_to_cancel.part.0", CallSite::Removal},
      Case{"hrtimer_run_softirq", CallSite::Softirq},
      Case{"retrigger_next_event", CallSite::Retrigger},
      Case{"___tick_broadcast_oneshot_control", CallSite::Other},
      Case{"tick_nohz_restart", CallSite::Other},
      Case{"hrtimer_interrupted", CallSite::Unknown},
      Case{"schedule", CallSite::Unknown},
      Case{"", CallSite::Unknown},
  };
  for (const Case& c : cases) EXPECT_EQ(callSiteNamed(c.function), c.site) << c.function;
}

TEST(CallSite, TakesTheNearestSymbolBelowTheCaller) {
  const Symbols symbols("ffffffff81000000 T hrtimer_interrupt\nffffffff81000400 T schedule\n");
  CallSites sites(symbols);
  EXPECT_EQ(sites.of(Address{0xffffffff810000ee}), CallSite::Interrupt);
  EXPECT_EQ(sites.of(Address{0xffffffff81000410}), CallSite::Unknown);
  EXPECT_EQ(sites.of(Address{0}), CallSite::Unknown) << "no caller was recorded";
}

}  // namespace
}  // namespace tickscope
