// SPDX-License-Identifier: GPL-3.0-or-later
// Which finding explains which, and when an instance is near enough to its cause.
#include "core/findings/attribution.h"

#include <algorithm>
#include <array>

namespace tickscope {

namespace {

enum class Reach : u8 {
  SameCpu,    ///< the cause covers half of it, or its end
  Touches,    ///< the same CPU, and they have any time in common
  SameTimer,  ///< of the same timer and inside its cause
  AfterStep   ///< any CPU, within two seconds behind its cause
};

struct Rule {
  std::string_view cause;
  std::string_view causeKinds;  ///< empty: all
  std::string_view effect;
  std::string_view effectKinds;
  Reach reach;
};

/// Findings 1.5: the first that matches wins.
constexpr std::array<Rule, 25> rules{{
    {"F22", "a", "F10", "", Reach::AfterStep},  {"F22", "a", "F14", "", Reach::AfterStep},
    {"F22", "a", "F23", "", Reach::AfterStep},  {"F04", "", "F10", "", Reach::SameCpu},
    {"F04", "", "F03", "c", Reach::SameCpu},    {"F05", "", "F14", "", Reach::SameCpu},
    {"F05", "", "F10", "", Reach::SameCpu},  // What an interrupt's callbacks took is why the next time had passed when it programmed.
    {"F12", "", "F14", "b", Reach::Touches},    {"F01", "", "F14", "b", Reach::Touches},
    {"F11", "", "F14", "b", Reach::Touches},    {"F14", "b", "F10", "", Reach::SameCpu},
    {"F21", "", "F10", "", Reach::SameCpu},     {"F21", "", "F03", "c", Reach::SameCpu},
    {"F08", "", "F10", "", Reach::SameTimer},   {"F20", "", "F03", "", Reach::SameCpu},
    {"F20", "", "F10", "", Reach::SameCpu},     {"F15", "c", "F03", "", Reach::SameCpu},
    {"F15", "c", "F04", "", Reach::SameCpu},    {"F11", "", "F10", "", Reach::SameCpu},
    {"F11", "", "F12", "", Reach::SameCpu},     {"F11", "", "F21", "a", Reach::SameCpu},
    {"F12", "", "F10", "", Reach::SameTimer},   {"F03", "a", "F10", "", Reach::SameTimer},
    {"F03", "a", "F03", "b", Reach::SameTimer}, {"F03", "a", "F03", "c", Reach::SameTimer},
}};

/// Effects of a clock step come within this (ns of the trace's clock).
constexpr s64 stepReachNs = 2'000'000'000;

bool admits(std::string_view kinds, char kind) {
  return kinds.empty() || kinds.find(kind) != std::string_view::npos;
}

/// Instances that may explain, by begin, with the latest end so far: those that reach a time are found from behind.
class Causes {
 public:
  struct Cause {
    const Instance* instance;
    u32 judged, at;
    TraceTime latestEnd;
  };

  void add(const Instance& instance, u32 judged, u32 at) {
    causes_.push_back({&instance, judged, at, instance.when.to});
  }
  void order() {
    std::ranges::stable_sort(causes_, {}, [](const Cause& c) { return c.instance->when.from; });
    for (std::size_t i = 1; i < causes_.size(); ++i) {
      causes_[i].latestEnd = std::max(causes_[i].latestEnd, causes_[i - 1].latestEnd);
    }
  }

  [[nodiscard]] const Cause* of(const Instance& effect, Reach reach) const {
    auto at = std::ranges::upper_bound(causes_, effect.when.to, {},
                                       [](const Cause& c) { return c.instance->when.from; });
    const s64 behind = reach == Reach::AfterStep ? stepReachNs : 0;
    while (at != causes_.begin()) {
      --at;
      if (at->latestEnd.value < effect.when.from.value - behind) return nullptr;
      if (at->instance != &effect && explains(*at->instance, effect, reach)) return &*at;
    }
    return nullptr;
  }

 private:
  static bool explains(const Instance& cause, const Instance& effect, Reach reach) {
    if (reach == Reach::AfterStep) {
      return cause.when.from <= effect.when.to &&
             effect.when.from.value <= cause.when.to.value + stepReachNs;
    }
    if (reach == Reach::SameTimer) {
      return cause.timer && cause.timer == effect.timer && cause.when.from <= effect.when.from &&
             effect.when.from <= cause.when.to;
    }
    if (cause.cpu != effect.cpu) return false;
    if (reach == Reach::Touches) {
      return cause.when.from <= effect.when.to && effect.when.from <= cause.when.to;
    }
    if (cause.when.from <= effect.when.to && effect.when.to <= cause.when.to) return true;
    const s64 common = std::min(cause.when.to, effect.when.to).value -
                       std::max(cause.when.from, effect.when.from).value;
    return common > 0 && 2 * common >= (effect.when.to - effect.when.from).value;
  }

  std::vector<Cause> causes_;
};

}  // namespace

Explanations explanationsOf(std::span<const DetectorResult> results) {
  Explanations made(results.size());
  for (std::size_t d = 0; d < results.size(); ++d) {
    for (const Judged& judged : results[d].judged) made[d].emplace_back(judged.instances.size());
  }
  const auto placeOf = [&](std::string_view id) {
    return std::ranges::find(results, id, [](const DetectorResult& r) { return r.info->id; });
  };
  for (const Rule& rule : rules) {
    const auto cause = placeOf(rule.cause), effect = placeOf(rule.effect);
    if (cause == results.end() || effect == results.end()) continue;
    const auto causeAt = static_cast<u32>(cause - results.begin());
    const auto effectAt = static_cast<u32>(effect - results.begin());
    Causes causes;
    for (u32 j = 0; j < cause->judged.size(); ++j) {
      if (!admits(rule.causeKinds, cause->judged[j].kind)) continue;
      const auto& instances = cause->judged[j].instances;
      for (u32 i = 0; i < instances.size(); ++i) causes.add(instances[i], j, i);
    }
    causes.order();
    for (u32 j = 0; j < effect->judged.size(); ++j) {
      if (!admits(rule.effectKinds, effect->judged[j].kind)) continue;
      const auto& instances = effect->judged[j].instances;
      for (std::size_t i = 0; i < instances.size(); ++i) {
        if (made[effectAt][j][i]) continue;
        const Causes::Cause* found = causes.of(instances[i], rule.reach);
        if (!found) continue;
        // What is itself explained passes on its root.
        const Known<Explanation>& root = made[causeAt][found->judged][found->at];
        made[effectAt][j][i] =
            root ? *root : Explanation{causeAt, found->judged, found->instance->causeKey};
      }
    }
  }
  return made;
}

}  // namespace tickscope
