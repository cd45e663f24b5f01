// SPDX-License-Identifier: GPL-3.0-or-later
// Each interrupt takes from the sleeps of its CPU that are open at its time.
#include "core/findings/f17_greedy_walk.h"

#include <algorithm>
#include <map>

namespace tickscope {

namespace {

class Walk {
 public:
  Walk(std::span<const GreedySleep> sleeps, Rearm rearm) : sleeps_(sleeps) {
    out_.ran.resize(sleeps.size());
    settled_.resize(sleeps.size());
    early_.resize(sleeps.size());
    shift_.resize(sleeps.size());
    next_.assign(sleeps.size(), GreedySleep::none);
    for (u32 i = 0; i < sleeps.size(); ++i) {
      out_.ran[i] = sleeps[i].ran;
      const u32 before = sleeps[i].before;
      if (rearm == Rearm::Shifted && before != GreedySleep::none) {
        next_[before] = i;
      } else {
        order_.push_back(i);
      }
    }
    std::ranges::stable_sort(order_, {}, [&](u32 i) { return sleeps_[i].armed; });
  }

  GreedyOutcome run(std::span<const GreedyInterrupt> interrupts, std::span<const u32> list) {
    std::size_t begun = 0;
    for (const GreedyInterrupt& interrupt : interrupts) {
      while (begun < order_.size() && sleeps_[order_[begun]].armed <= interrupt.at) {
        open(order_[begun++]);
      }
      const auto own = list.subspan(interrupt.first, interrupt.count);
      const bool gone = interrupt.idle && !interrupt.fixed && !own.empty() &&
                        std::ranges::all_of(own, [&](u32 i) { return early_[i]; });
      out_.vanished.push_back(gone);
      s64 ns = interrupt.ns;
      u64 ran = 0;
      for (const u32 i : own) {
        if (early_[i]) ns -= sleeps_[i].runNs;
        ran += !early_[i];
        if (!settled_[i]) settle(i, sleeps_[i].ran - shift_[i]);
      }
      if (!gone && interrupt.idle) take(interrupt, ns, ran);
      if (!interrupt.idle) continue;
      out_.longestBefore = std::max(out_.longestBefore, interrupt.ns);
      out_.mostBefore = std::max<u64>(out_.mostBefore, interrupt.count);
      if (gone) continue;
      out_.longestAfter = std::max(out_.longestAfter, ns);
      out_.mostAfter = std::max(out_.mostAfter, ran);
    }
    return std::move(out_);
  }

 private:
  void open(u32 i) { open_[sleeps_[i].cpu].push_back(i); }

  /// When it runs is decided; then so is what the arm behind it does.
  void settle(u32 i, s64 at) {
    settled_[i] = true;
    out_.ran[i] = at;
    const u32 next = next_[i];
    if (next == GreedySleep::none) return;
    shift_[next] = std::max<s64>(0, sleeps_[i].ran - at);
    open(next);
  }

  void take(const GreedyInterrupt& interrupt, s64& ns, u64& ran) {
    const std::vector<u32>& open = open_[interrupt.cpu];
    // What is settled here may open further ones behind it; these have their turn in the same pass.
    for (std::size_t at = 0; at < open.size(); ++at) {
      const u32 i = open[at];
      if (settled_[i]) continue;
      const GreedySleep& sleep = sleeps_[i];
      if (sleep.armed - shift_[i] > interrupt.at) continue;
      if (shift_[i] > 0 && sleep.expires - shift_[i] < interrupt.at) {
        settle(i, sleep.ran - shift_[i]);  // its own interrupt came before
      } else if (sleep.movable && sleep.soft - shift_[i] <= interrupt.at) {
        early_[i] = true;
        ++out_.ranEarly;
        ns += sleep.runNs;
        ++ran;
        settle(i, std::min(interrupt.at, sleep.ran - shift_[i]));
      }
    }
    std::erase_if(open_[interrupt.cpu], [&](u32 i) { return settled_[i]; });
  }

  std::span<const GreedySleep> sleeps_;
  GreedyOutcome out_;
  std::vector<u32> order_;  ///< sleeps whose arm is where it was, by their arm
  std::vector<bool> settled_, early_;
  std::vector<s64> shift_;
  std::vector<u32> next_;
  std::map<Cpu, std::vector<u32>> open_;
};

}  // namespace

GreedyOutcome greedyWalk(std::span<const GreedySleep> sleeps,
                         std::span<const GreedyInterrupt> interrupts, std::span<const u32> list,
                         Rearm rearm) {
  return Walk(sleeps, rearm).run(interrupts, list);
}

}  // namespace tickscope
