// SPDX-License-Identifier: GPL-3.0-or-later
// The hrtimer model against brute minima over a list, and its ranges against every place of an unseen timer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/model/hrtimer_model.h"
#include "tests/support/timers_by_list.h"

namespace tickscope {
namespace {

using support::TimersByList;

constexpr std::array<s64, clockBaseCount> offsets{0, 1000, 10, 1037, 0, 1000, 10, 1037};
constexpr std::array<const char*, hrtimerRuleCount> ruleNames{"RP", "R0", "R1", "R2",
                                                              "R3", "R4", "R5"};

enum class Step : u8 {
  Start,
  Restart,
  Cancel,
  RemoteStart,
  RemoteCancel,
  InterruptBegin,
  InterruptEnd,
  Expire,
  SelfRestart,
  SelfStart,
  SoftirqEnd,
  Retrigger,
  Hang
};
constexpr std::array<const char*, 13> stepNames{
    "start",       "restart",       "cancel", "remote start", "remote cancel",
    "interrupt",   "interrupt end", "expire", "RESTART",      "self start",
    "softirq end", "retrigger",     "hang"};

/// One operation, the same for the model and for every list.
struct Move {
  Step step{};
  Known<u32> old;
  TimersByList::Timer timer;
  bool here = true, lazy = false;
  s64 now = 0;
};

std::string text(const Move& move) {
  return fmt::format("{} old={} id={} base={} x={} here={} lazy={} now={}",
                     stepNames[number(move.step)], move.old ? static_cast<s64>(*move.old) : -1,
                     move.timer.id, number(move.timer.base), move.timer.x, move.here, move.lazy,
                     move.now);
}

/// Draws sequences that a kernel could perform, following one list.
class Script {
 public:
  Script(u32 seed, HrtimerRule rule, s64 latest) : random_(seed), rule_(rule), latest_(latest) {}

  Move draw(const TimersByList& list) {
    Move move;
    std::vector<TimersByList::Timer> queued;
    for (u8 b = 0; b < clockBaseCount; ++b) {
      for (const auto& timer : list.ordered(static_cast<ClockBase>(b))) {
        if (timer.id < unseenIds) queued.push_back(timer);
      }
    }
    if (inInterrupt_) {
      auto due = list.due(false, now_);
      std::erase_if(due, [](const auto& timer) { return timer.id >= unseenIds; });
      if (ran_) {
        // The callback that just ran may start its own timer, or is queued again behind it.
        const u32 ran = *std::exchange(ran_, {});
        const u32 what = below(4);
        if (what < 2) {
          move = fresh(what == 0 ? Step::SelfRestart : Step::SelfStart, base_);
          move.timer.x = std::max(move.timer.x, now_ + 1);
          move.timer.expires = move.timer.x + offsets[number(base_)];
          move.old = ran;
          return move;
        }
      }
      if (!due.empty() && below(4) != 0) {
        move.step = Step::Expire;
        move.timer = due.front();
        ran_ = move.timer.id;
        base_ = move.timer.base;
        return move;
      }
      if (due.empty() && below(3) == 0) {
        move.step = Step::InterruptEnd;
        inInterrupt_ = false;
        return move;
      }
    }
    switch (below(12)) {
      case 0:
      case 1:
        return fresh(Step::Start, anyBase());
      case 2:
      case 3:
      case 4:
      case 5: {
        if (queued.empty()) return fresh(Step::Start, anyBase());
        const auto& old = queued[below(static_cast<u32>(queued.size()))];
        move = fresh(Step::Restart, old.base);
        if (below(4) == 0) move.timer.x = old.x;
        move.timer.expires = move.timer.x + offsets[number(old.base)];
        move.old = old.id;
        move.lazy = below(8) == 0;
        // A first timer of this CPU stays here from R2 on.
        move.here = below(10) != 0 || (rule_ >= HrtimerRule::R2 && list.next() == old.id);
        return move;
      }
      case 6:
      case 7:
        if (queued.empty()) return fresh(Step::Start, anyBase());
        move.step = below(4) == 0 ? Step::RemoteCancel : Step::Cancel;
        move.timer = queued[below(static_cast<u32>(queued.size()))];
        move.lazy = below(8) == 0;
        return move;
      case 8: {
        // A timer is never queued remotely as the CPU's first.
        move = fresh(Step::RemoteStart, anyBase());
        if (move.timer.x < list.e() && !inInterrupt_) return fresh(Step::Start, anyBase());
        if (inInterrupt_) return fresh(Step::Start, anyBase());
        return move;
      }
      case 9:
        if (list.softirqActivated() && !inInterrupt_) {
          move.step = Step::SoftirqEnd;
          return move;
        }
        [[fallthrough]];
      case 10:
        if (inInterrupt_) return fresh(Step::Start, anyBase());
        move.step = Step::InterruptBegin;
        move.now = now_ = below(static_cast<u32>(latest_));
        inInterrupt_ = true;
        ran_.reset();
        return move;
      default:
        if (inInterrupt_) return fresh(Step::Start, anyBase());
        move.step = below(6) == 0 ? Step::Hang : Step::Retrigger;
        return move;
    }
  }

  /// Unseen timers have ids from here on.
  static constexpr u32 unseenIds = 1'000'000;
  u32 below(u32 end) { return std::uniform_int_distribution<u32>(0, end - 1)(random_); }

 private:
  Move fresh(Step step, ClockBase base) {
    Move move;
    move.step = step;
    const s64 x = 2 * (1 + below(16));
    move.timer = {++last_, base, x, x + offsets[number(base)]};
    return move;
  }
  ClockBase anyBase() {
    constexpr std::array bases{ClockBase::Mono,    ClockBase::Mono,     ClockBase::Real,
                               ClockBase::Tai,     ClockBase::MonoSoft, ClockBase::MonoSoft,
                               ClockBase::RealSoft};
    return bases[below(rule_ == HrtimerRule::RP ? 4 : bases.size())];
  }

  std::mt19937 random_;
  HrtimerRule rule_;
  s64 latest_;
  u32 last_ = 0;
  bool inInterrupt_ = false;
  s64 now_ = 0;
  Known<u32> ran_;
  ClockBase base_{};
};

/// What an operation was seen to do.
struct Seen {
  TimersByList::Made made;
  bool raised = false;
};

Seen apply(TimersByList& list, const Move& move) {
  switch (move.step) {
    case Step::Start:
    case Step::Restart:
    case Step::SelfStart:
      return {list.start(move.old, move.timer, move.here, move.lazy)};
    case Step::Cancel:
      return {list.cancel(move.timer.id, move.lazy)};
    case Step::RemoteStart:
      list.startByOther(move.timer);
      return {};
    case Step::RemoteCancel:
      list.takeByOther(move.timer.id);
      return {};
    case Step::InterruptBegin:
      return {{}, list.interrupt(move.now)};
    case Step::InterruptEnd:
      return {{0, list.interruptEnd()}};
    case Step::Expire:
      list.expire(move.timer.id);
      return {};
    case Step::SelfRestart:
      list.restart(move.timer);
      return {};
    case Step::SoftirqEnd:
      return {{0, list.softirqEnd()}};
    case Step::Retrigger:
      return {{0, list.retrigger()}};
    case Step::Hang:
      list.hang();
      return {};
  }
  return {};
}

struct Predicted {
  CallsByRule calls{};
  Known<bool> raised = false;
};

Predicted apply(HrtimerModel& model, const Move& move, HrtimerRule rule, bool raised) {
  const auto span = SpanId{move.timer.id};
  const MonoTime x{move.timer.x};
  const BaseTime expires{move.timer.expires};
  switch (move.step) {
    case Step::Start:
    case Step::Restart:
    case Step::SelfStart: {
      HrtimerModel::Start op{
          .span = span, .was = {}, .base = move.timer.base, .x = x, .expires = expires};
      if (move.old) op.was = SpanId{*move.old};
      op.owner = move.here;
      op.lazy = move.lazy;
      op.callbackRuns = move.step == Step::SelfStart;
      op.armed = move.step != Step::SelfStart;
      return {model.start(op)};
    }
    case Step::Cancel:
      return {model.cancel(span, move.lazy)};
    case Step::RemoteStart:
      model.enqueueRemote(span, move.timer.base, x, expires);
      return {};
    case Step::RemoteCancel:
      model.cancelRemote(span);
      return {};
    case Step::InterruptBegin: {
      const auto begun = model.beginInterrupt(MonoTime{move.now});
      if (raised) model.softirqRaised();
      return {{}, begun.raises[number(rule)]};
    }
    case Step::InterruptEnd:
      return {model.endInterrupt()};
    case Step::Expire:
      model.expire(span);
      return {};
    case Step::SelfRestart:
      model.enqueueRestart(span, move.timer.base, x, expires);
      return {};
    case Step::SoftirqEnd:
      return {model.endSoftirq()};
    case Step::Retrigger:
      return {model.retrigger()};
    case Step::Hang:
      model.hang();
      return {};
  }
  return {};
}

std::string text(const OperationCalls& calls) {
  return fmt::format("removal {}..{} enqueue {}..{} sum {}..{}", calls.removal.least,
                     calls.removal.most, calls.enqueue.least, calls.enqueue.most, calls.sum().least,
                     calls.sum().most);
}

std::string history(const std::vector<Move>& moves) {
  std::string all;
  const std::size_t from = moves.size() > 25 ? moves.size() - 25 : 0;
  for (std::size_t i = from; i < moves.size(); ++i)
    all += fmt::format("{:3} {}\n", i, text(moves[i]));
  return all;
}

/// Empty when trees and scalars are the same.
std::string difference(const HrtimerModel& model, const TimersByList& list, HrtimerRule rule) {
  const HrtimerScalars scalars = model.scalars(rule);
  std::string all;
  if (scalars.expiresNext != MonoTime{list.e()}) {
    all += fmt::format("E: list {}, model {}\n", list.e(),
                       scalars.expiresNext ? scalars.expiresNext->value : -1);
  }
  if (rule != HrtimerRule::RP && scalars.softirqExpiresNext != MonoTime{list.se()}) {
    all += fmt::format("SE: list {}, model {}\n", list.se(),
                       scalars.softirqExpiresNext ? scalars.softirqExpiresNext->value : -1);
  }
  const Known<SpanId> next = list.next() ? Known<SpanId>{SpanId{*list.next()}} : Known<SpanId>{};
  if (scalars.nextTimer != next) {
    all += fmt::format("NT: list {}, model {}\n", next ? static_cast<s64>(number(*next)) : -1,
                       scalars.nextTimer ? static_cast<s64>(number(*scalars.nextTimer)) : -1);
  }
  for (u8 b = 0; b < clockBaseCount; ++b) {
    const auto base = static_cast<ClockBase>(b);
    std::string want, got;
    for (const auto& timer : list.ordered(base)) want += fmt::format(" {}@{}", timer.id, timer.x);
    model.tree(base).forEach([&](const HrtimerTree::Timer& timer) {
      got += fmt::format(" {}@{}", number(timer.span), timer.x.value);
    });
    if (want != got) all += fmt::format("base {}: list{}, model{}\n", b, want, got);
  }
  return all;
}

class HrtimersByRule : public testing::TestWithParam<HrtimerRule> {};

TEST_P(HrtimersByRule, AgreeWithAListAfterEveryOperation) {
  const HrtimerRule rule = GetParam();
  RuleSet rules;
  rules.set(number(rule));
  u32 compared = 0;
  for (u32 seed = 1; seed <= 60; ++seed) {
    HrtimerModel model(rules);
    TimersByList list(rule);
    Script script(seed, rule, 30);
    std::vector<Move> moves;
    // The scalars begin unknown; the first interrupt makes them known.
    for (const Step step : {Step::InterruptBegin, Step::InterruptEnd}) {
      const Move move{.step = step, .old = {}, .timer = {}};
      apply(list, move);
      apply(model, move, rule, false);
    }
    model.softirqRaised();
    model.endSoftirq();
    for (u32 i = 0; i < 400; ++i) {
      const Move move = script.draw(list);
      moves.push_back(move);
      const Seen seen = apply(list, move);
      const Predicted predicted = apply(model, move, rule, seen.raised);
      const OperationCalls calls = predicted.calls[number(rule)];
      const auto want = [](u32 made) {
        return Calls{static_cast<u8>(made), static_cast<u8>(made)};
      };
      ASSERT_TRUE(calls.removal == want(seen.made.removal) &&
                  calls.enqueue == want(seen.made.enqueue) && predicted.raised == seen.raised &&
                  difference(model, list, rule).empty())
          << ruleNames[number(rule)] << ", seed " << seed << "\n"
          << history(moves) << "list: removal " << seen.made.removal << " enqueue "
          << seen.made.enqueue << " raised " << seen.raised << "\nmodel: " << text(calls) << "\n"
          << difference(model, list, rule);
      ++compared;
    }
  }
  EXPECT_GE(compared, 20'000U);
}

/// The least and most that any world makes of it.
struct Hull {
  Calls removal{255, 0}, enqueue{255, 0}, sum{255, 0};
  void add(const TimersByList::Made& made) {
    widen(removal, made.removal);
    widen(enqueue, made.enqueue);
    widen(sum, made.removal + made.enqueue);
  }
  static void widen(Calls& calls, u32 by) {
    calls.least = std::min(calls.least, static_cast<u8>(by));
    calls.most = std::max(calls.most, static_cast<u8>(by));
  }
};

bool contains(Calls range, Calls inner) {
  return range.least <= inner.least && inner.most <= range.most;
}

TEST_P(HrtimersByRule, RangesHoldEveryPlaceOfAnUnseenTimerAndLittleElse) {
  const HrtimerRule rule = GetParam();
  RuleSet rules;
  rules.set(number(rule));
  u32 judged = 0, tight = 0, known = 0;
  std::map<std::string, u32> loose;
  for (u32 seed = 1; seed <= 150; ++seed) {
    Script script(seed, rule, 30);
    const s64 floor = 2 + script.below(34);
    Script moveScript(seed + 100'000, rule, floor);
    // Worlds: nothing unseen; one unseen timer at every place, on and between those of known ones; two of them.
    std::vector<TimersByList> lists;
    const auto world = [&](std::vector<std::pair<ClockBase, s64>> unseen) {
      TimersByList& list = lists.emplace_back(rule);
      for (const auto& [base, x] : unseen) {
        list.restart({Script::unseenIds + number(base), base, x, x + offsets[number(base)]});
      }
    };
    world({});
    const bool softs = rule != HrtimerRule::RP;
    for (s64 x = floor; x < 38; ++x) {
      world({{ClockBase::Mono, x}});
      world({{ClockBase::Tai, x}});
      if (!softs) continue;
      world({{ClockBase::MonoSoft, x}});
      world({{ClockBase::TaiSoft, x}});
      for (const s64 behind : {x, x + 1, x + 5}) {
        world({{ClockBase::Mono, x}, {ClockBase::MonoSoft, behind}});
        world({{ClockBase::Mono, behind}, {ClockBase::MonoSoft, x}});
      }
    }
    HrtimerModel model(rules);
    model.setFloor(MonoTime{floor});
    // A raise and the end of its softirq make softirq_expires_next known as well, which R0 does not do by itself.
    for (const Step step :
         {Step::InterruptBegin, Step::InterruptEnd, Step::SoftirqEnd, Step::Retrigger}) {
      const Move move{.step = step, .old = {}, .timer = {}, .now = never.value};
      bool raised = false;
      for (TimersByList& list : lists) raised = apply(list, move).raised;
      apply(model, move, rule, raised);
    }
    std::vector<Move> moves;
    for (u32 i = 0; i < 40; ++i) {
      const Move move = moveScript.draw(lists.front());
      if (move.step == Step::RemoteStart) continue;  // would have to be later than E in each world
      if (!move.here) continue;
      moves.push_back(move);
      Hull hull;
      std::vector<TimersByList> alive;
      Known<bool> raised;
      for (TimersByList& list : lists) {
        const Seen seen = apply(list, move);
        if (!raised) raised = seen.raised;
        // A world in which the interrupt raised otherwise is not that of this recording.
        if (seen.raised != *raised) continue;
        hull.add(seen.made);
        alive.push_back(list);
      }
      lists = std::move(alive);
      const Predicted predicted = apply(model, move, rule, *raised);
      const OperationCalls calls = predicted.calls[number(rule)];
      const HrtimerScalars scalars = model.scalars(rule);
      std::string wrong;
      for (const TimersByList& list : lists) {
        const auto check = [&](const char* name, auto claimed, auto held) {
          if (!claimed || *claimed == held) return;
          std::string unseen;
          for (u8 base = 0; base < clockBaseCount; ++base) {
            for (const auto& timer : list.ordered(static_cast<ClockBase>(base))) {
              if (timer.id >= Script::unseenIds) unseen += fmt::format(" {}@{}", base, timer.x);
            }
          }
          wrong +=
              fmt::format("{} claimed {}, held {} with unseen{}\n", name, *claimed, held, unseen);
        };
        const auto ns = [](Known<MonoTime> t) { return t ? Known<s64>{t->value} : Known<s64>{}; };
        check("E", ns(scalars.expiresNext), list.e());
        if (softs) check("SE", ns(scalars.softirqExpiresNext), list.se());
        check("NT", scalars.nextTimer ? Known<u32>{number(*scalars.nextTimer)} : Known<u32>{},
              list.next().value_or(0));
      }
      ASSERT_TRUE(contains(calls.removal, hull.removal) && contains(calls.enqueue, hull.enqueue) &&
                  contains(calls.sum(), hull.sum) && wrong.empty())
          << ruleNames[number(rule)] << ", seed " << seed << ", floor " << floor << "\n"
          << history(moves) << "worlds: removal " << int{hull.removal.least} << ".."
          << int{hull.removal.most} << " enqueue " << int{hull.enqueue.least} << ".."
          << int{hull.enqueue.most} << " sum " << int{hull.sum.least} << ".." << int{hull.sum.most}
          << "\nmodel: " << text(calls) << "\n"
          << wrong;
      ++judged;
      known += calls.sum().known() ? 1 : 0;
      if (calls.sum() == hull.sum && calls.removal == hull.removal &&
          calls.enqueue == hull.enqueue) {
        ++tight;
      } else {
        ++loose[stepNames[number(move.step)]];
      }
    }
  }
  std::string where;
  for (const auto& [step, count] : loose) where += fmt::format(" {} {}", step, count);
  RecordProperty("judged", static_cast<int>(judged));
  fmt::print("{}: {} operations, {} as tight as can be, {} known; looser:{}\n",
             ruleNames[number(rule)], judged, tight, known, where);
  EXPECT_GE(tight * 100, judged * 99) << where;
}

INSTANTIATE_TEST_SUITE_P(EveryRule, HrtimersByRule,
                         testing::Values(HrtimerRule::RP, HrtimerRule::R0, HrtimerRule::R1,
                                         HrtimerRule::R2, HrtimerRule::R3, HrtimerRule::R4,
                                         HrtimerRule::R5),
                         [](const auto& each) { return ruleNames[number(each.param)]; });

}  // namespace
}  // namespace tickscope
