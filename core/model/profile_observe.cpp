// SPDX-License-Identifier: GPL-3.0-or-later
// Turns what a replay counted into observed rules.
#include <fmt/format.h>

#include <bit>
#include <cstdlib>

#include "core/model/profile_evidence.h"
#include "core/model/profile_learner.h"

namespace tickscope {

namespace {

/// Of `values` the one nearest to the expected: a kernel that has lost its rule has most likely lost no more than that.
template <class E>
Known<E> nearest(u32 values, const Known<E>& expected) {
  if (!expected) {
    if (std::popcount(values) != 1) return {};
    return static_cast<E>(std::countr_zero(values));
  }
  const int at = static_cast<int>(*expected);
  Known<E> best;
  for (int i = 0; i < 32; ++i) {
    if (!((values >> i) & 1U)) continue;
    if (!best || std::abs(i - at) < std::abs(static_cast<int>(*best) - at)) {
      best = static_cast<E>(i);
    }
  }
  return best;
}

template <class E>
void see(Fact<E>& fact, E value, u64 n, std::string why) {
  fact.observed = value;
  fact.seenConfidence = trust::behaviour(n);
  fact.evidence.push_back({EvidenceClass::Behaviour, std::move(why)});
  const bool left = (fact.possible >> static_cast<u32>(value)) & 1U;
  if (left && std::popcount(fact.possible) > 1 && fact.confidence < fact.seenConfidence) {
    fact.expected = value;
    fact.confidence = fact.seenConfidence;
  }
}

void observeHrtimers(Fact<HrtimerRule>& fact, const Observed& observed) {
  u32 explains = 0;
  u64 operations = 0;
  for (std::size_t rule = 0; rule < hrtimerRuleCount; ++rule) {
    const u64 all = observed.fits[rule] + observed.misses[rule];
    operations = std::max(operations, all);
    if (all > 0 && observed.misses[rule] * 100 <= all) explains |= 1U << rule;
  }
  if (explains == 0) return;
  // Rules that formats exclude are no answer while another one is.
  const Known<HrtimerRule> expected = fact.expected;
  const u32 allowed = explains & fact.possible;
  const Known<HrtimerRule> value = nearest<HrtimerRule>(allowed ? allowed : explains, expected);
  if (!value) return;
  see(fact, *value, observed.fits[static_cast<std::size_t>(*value)],
      fmt::format("{} of {} telling operations made the calls of {}",
                  observed.fits[static_cast<std::size_t>(*value)], operations, valueText(*value)));
}

void observeForwarding(Fact<ForwardRule>& fact, const Observed& observed) {
  using enum ForwardRule;
  if (observed.staleArms > 0 && observed.staleArms * 100 > observed.tellingArms) {
    see(fact, F0, observed.staleArms,
        fmt::format("{} of {} telling arms went by a clk that lagged", observed.staleArms,
                    observed.tellingArms));
  } else if (observed.tellingArms > 0) {
    const bool coarse =
        observed.staleDeferrable > 0 && observed.staleDeferrable * 100 > observed.tellingDeferrable;
    see(fact, coarse ? F1 : F2, observed.tellingArms,
        fmt::format("{} of {} telling arms went by a current clk",
                    observed.tellingArms - observed.staleArms, observed.tellingArms));
  }
}

}  // namespace

void observe(KernelProfile& profile, const Observed& observed) {
  observeHrtimers(profile.hrtimer, observed);
  observeForwarding(profile.forward, observed);
}

}  // namespace tickscope
