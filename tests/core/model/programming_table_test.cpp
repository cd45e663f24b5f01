// SPDX-License-Identifier: GPL-3.0-or-later
// The programming calls of each operation under each generation of rules, row by row of the table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <sstream>

#include "core/model/hrtimer_model.h"

namespace tickscope {
namespace {

using Counts = std::vector<u32>;

constexpr ClockBase hard = ClockBase::Mono, soft = ClockBase::MonoSoft;
constexpr s64 us = 1'000;

/// A CPU with nothing queued and everything known. Times in microseconds; the tick of the table is at 4000.
class Bench {
 public:
  explicit Bench(HrtimerRule rule) : rule_(rule), model_(RuleSet{}.set(number(rule))) {
    model_.beginInterrupt(MonoTime{0});
    model_.endInterrupt();
    model_.softirqRaised();
    model_.endSoftirq();
  }
  HrtimerModel& model() { return model_; }
  [[nodiscard]] HrtimerRule rule() const { return rule_; }

  /// A timer by its number; its span changes with each start.
  u32 start(u32 timer, ClockBase base, s64 at, HrtimerModel::Start with = {}) {
    with.span = SpanId{++last_};
    with.base = base;
    with.x = MonoTime{at * us};
    with.expires = BaseTime{at * us};
    if (spans_.contains(timer)) {
      with.was = spans_[timer];
      with.armed = with.armed && model_.queued(*with.was);
    }
    spans_[timer] = with.span;
    return count(model_.start(with));
  }
  u32 cancel(u32 timer, bool lazy = false) { return count(model_.cancel(spans_[timer], lazy)); }
  void startByOther(u32 timer, ClockBase base, s64 at) {
    spans_[timer] = SpanId{++last_};
    model_.enqueueRemote(spans_[timer], base, MonoTime{at * us}, BaseTime{at * us});
  }
  void cancelByOther(u32 timer) { model_.cancelRemote(spans_[timer]); }
  void restart(u32 timer, ClockBase base, s64 at) {
    spans_[timer] = SpanId{++last_};
    model_.enqueueRestart(spans_[timer], base, MonoTime{at * us}, BaseTime{at * us});
  }
  void expire(u32 timer) { model_.expire(spans_[timer]); }
  void interrupt(s64 now) { model_.beginInterrupt(MonoTime{now * us}); }
  u32 interruptEnd(bool retried = false) { return count(model_.endInterrupt(retried)); }
  u32 count(const CallsByRule& calls) {
    const Calls sum = calls[number(rule_)].sum();
    EXPECT_TRUE(sum.known()) << "nothing is unseen, yet the outcome is " << int{sum.least} << ".."
                             << int{sum.most};
    return sum.least;
  }
  Known<s64> e() { return ns(model_.scalars(rule_).expiresNext); }
  Known<s64> se() { return ns(model_.scalars(rule_).softirqExpiresNext); }

 private:
  static Known<s64> ns(Known<MonoTime> t) { return t ? Known<s64>{t->value / us} : Known<s64>{}; }
  HrtimerRule rule_;
  HrtimerModel model_;
  std::map<u32, SpanId> spans_;
  u32 last_ = 0;
};

constexpr u32 T = 0, A = 1, B = 2;

/// A CPU with the tick at 4 ms.
Bench ticking(HrtimerRule rule) {
  Bench bench(rule);
  bench.start(T, hard, 4000);
  return bench;
}

/// A restart of A from `from` to `to` beside the tick.
u32 restartA(HrtimerRule rule, ClockBase base, s64 from, s64 to) {
  Bench bench = ticking(rule);
  bench.start(A, base, from);
  return bench.start(A, base, to);
}

HrtimerModel::Start elsewhere() {
  HrtimerModel::Start op{};
  op.owner = false;
  return op;
}

struct TableRow {
  u32 number;
  const char* operation;
  const char* calls[6];  ///< RP R0 R1 R2 R3 R4, as printed; "=": as RP
  std::function<Counts(HrtimerRule)> perform;
};

std::string named(const TableRow& row) {
  return fmt::format("row {}: {}", row.number, row.operation);
}

const std::vector<TableRow>& table();

class ProgrammingTableRow : public testing::TestWithParam<std::size_t> {};

TEST_P(ProgrammingTableRow, HoldsUnderEveryRule) {
  const TableRow& row = table()[GetParam()];
  for (std::size_t r = 0; r < hrtimerRuleCount; ++r) {
    // R5 differs from R4 only for timers that are expired when started.
    const std::size_t column = std::min<std::size_t>(r, 5);
    std::string expected = row.calls[column];
    if (expected == "=") expected = row.calls[0];
    if (expected == "-") continue;
    Counts want;
    std::istringstream numbers(expected);
    for (u32 number = 0; numbers >> number;) {
      want.push_back(number);
      numbers.ignore(1);
    }
    const Counts seen = row.perform(static_cast<HrtimerRule>(r));
    // One figure for several ways to do the operation: each must cost that.
    if (want.size() == 1) want.resize(seen.size(), want[0]);
    EXPECT_EQ(seen, want) << named(row) << ", rule " << r << " (0 RP, 1 R0 .. 6 R5), table says "
                          << expected;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryRow, ProgrammingTableRow,
                         testing::Range(std::size_t{0}, table().size()), [](const auto& each) {
                           return fmt::format("Row{}", table()[each.param].number);
                         });

const std::vector<TableRow>& table() {
  using R = HrtimerRule;
  static const std::vector<TableRow> rows{
      {1,
       "start new, becomes first (hard; or soft and x < SE)",
       {"1", "1", "1", "1", "1", "1"},
       [](R rule) -> Counts {
         Counts counts{ticking(rule).start(A, hard, 1000)};
         if (rule != R::RP) counts.push_back(ticking(rule).start(A, soft, 1000));
         return counts;
       }},
      {2,
       "start new, not first, or x == E, or leftmost only in its own clock base",
       {"0", "0", "0", "0", "0", "0"},
       [](R rule) -> Counts {
         return {ticking(rule).start(A, hard, 5000), ticking(rule).start(A, hard, 4000),
                 ticking(rule).start(A, ClockBase::Real, 5000)};
       }},
      {3,
       "start soft, first soft but later than E (SE updated)",
       {"-", "0", "0", "0", "0", "0"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         const u32 calls = bench.start(A, soft, 5000);
         EXPECT_EQ(bench.se(), 5000);
         return {calls};
       }},
      {4,
       "start soft while SA (between raise and softirq end)",
       {"-", "0", "0", "0", "0", "0"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.model().softirqRaised();
         return {bench.start(A, soft, 1000)};
       }},
      {5,
       "restart hard NT -> later, still first",
       {"2", "2", "2", "1", "1", "1"},
       [](R rule) -> Counts { return {restartA(rule, hard, 1000, 2000)}; }},
      {6,
       "restart hard NT -> later, other is first",
       {"1", "1", "1", "1", "1", "1"},
       [](R rule) -> Counts { return {restartA(rule, hard, 1000, 5000)}; }},
      {7,
       "restart hard NT -> earlier",
       {"2", "2", "2", "1", "1", "1"},
       [](R rule) -> Counts { return {restartA(rule, hard, 1000, 500)}; }},
      {8,
       "restart hard NT -> same expiry",
       {"2", "2", "2", "0", "0", "0"},
       [](R rule) -> Counts { return {restartA(rule, hard, 1000, 1000)}; }},
      {9,
       "restart NT -> later, another timer has the old expiry",
       {"0", "0", "0", "0", "0", "0"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.start(A, hard, 1000);
         bench.start(B, hard, 1000);
         return {bench.start(A, hard, 2000)};
       }},
      {10,
       "restart the only timer of the CPU (INF in between)",
       {"2", "2", "2", "1", "1", "1"},
       [](R rule) -> Counts {
         Bench bench(rule);
         bench.start(A, hard, 1000);
         return {bench.start(A, hard, 2000)};
       }},
      {11,
       "restart non-first -> first",
       {"1", "1", "1", "1", "1", "1"},
       [](R rule) -> Counts { return {restartA(rule, hard, 5000, 2000)}; }},
      {12,
       "restart non-first -> non-first",
       {"0", "0", "0", "0", "0", "0"},
       [](R rule) -> Counts { return {restartA(rule, hard, 5000, 6000)}; }},
      {13,
       "restart soft NT -> later, still first, SE fresh",
       {"-", "1", "2", "1", "1", "1"},
       [](R rule) -> Counts { return {restartA(rule, soft, 1000, 2000)}; }},
      {14,
       "each following restart of that soft timer to later",
       {"-", "0", "2", "1", "1", "1"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.start(A, soft, 1000);
         bench.start(A, soft, 1500);
         return {bench.start(A, soft, 2000), bench.start(A, soft, 2500),
                 bench.start(A, soft, 3000)};
       }},
      {15,
       "restart soft NT -> earlier",
       {"-", "2", "2", "1", "1", "1"},
       [](R rule) -> Counts { return {restartA(rule, soft, 1000, 500)}; }},
      {16,
       "restart soft NT -> same expiry",
       {"-", "1", "2", "0", "0", "0"},
       [](R rule) -> Counts { return {restartA(rule, soft, 1000, 1000)}; }},
      {17,
       "restart soft NT -> later than the hard first",
       {"-", "1", "1", "1", "1", "1"},
       [](R rule) -> Counts { return {restartA(rule, soft, 1000, 5000)}; }},
      {18,
       "restart soft non-first -> later; SE keeps the old, too early value",
       {"-", "0", "0", "0", "0", "0"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.start(A, soft, 5000);
         const u32 calls = bench.start(A, soft, 6000);
         EXPECT_EQ(bench.se(), 5000);
         return {calls};
       }},
      {19,
       "restart soft non-first -> first",
       {"-", "1", "1", "1", "1", "1"},
       [](R rule) -> Counts { return {restartA(rule, soft, 5000, 2000)}; }},
      {20,
       "cancel NT (hard or soft)",
       {"1", "1", "1", "1", "1", "1"},
       [](R rule) -> Counts {
         Counts counts;
         for (const ClockBase base : {hard, soft}) {
           if (base == soft && rule == R::RP) continue;
           Bench bench = ticking(rule);
           bench.start(A, base, 1000);
           counts.push_back(bench.cancel(A));
         }
         return counts;
       }},
      {21,
       "cancel NT, another timer has the same expiry",
       {"0", "0", "0", "0", "0", "0"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.start(A, hard, 4000);
         return {bench.cancel(T)};
       }},
      {22,
       "cancel non-first; SE of a soft first keeps the old value",
       {"0", "0", "0", "0", "0", "0"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.start(A, hard, 5000);
         Counts counts{bench.cancel(A)};
         if (rule == R::RP) return counts;
         bench.start(B, soft, 5000);
         counts.push_back(bench.cancel(B));
         EXPECT_EQ(bench.se(), 5000);
         return counts;
       }},
      {23,
       "cancel the last timer (program INF)",
       {"1", "1", "1", "1", "1", "1"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         const u32 calls = bench.cancel(T);
         EXPECT_EQ(bench.e(), never.value / us);
         return {calls};
       }},
      {24,
       "cancel a timer of another CPU (that CPU gets one spurious interrupt)",
       {"0", "0", "0", "0", "0", "0"},
       [](R rule) -> Counts {
         Bench owner = ticking(rule);
         owner.start(A, hard, 1000);
         owner.cancelByOther(A);
         EXPECT_EQ(owner.e(), 1000) << "the device of the owner still fires at the old time";
         // The canceller has no such timer in its trees and knows all that are.
         return {ticking(rule).count(ticking(rule).model().cancel(SpanId{99}))};
       }},
      {25,
       "start, queued on a remote CPU",
       {"0", "0", "0", "0", "0", "0"},
       [](R rule) -> Counts { return {ticking(rule).start(A, hard, 1000, elsewhere())}; }},
      {26,
       "start, elected remote CPU refused -> local first",
       {"1", "1", "1", "1", "1", "1"},
       [](R rule) -> Counts { return {ticking(rule).start(A, hard, 1000)}; }},
      {27,
       "restart local NT while a remote target is elected (RP-R1: moves; R2+: stays)",
       {"1", "1", "1", "1", "1", "1"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.start(A, hard, 1000);
         return {bench.start(A, hard, 2000, rule <= R::R1 ? elsewhere() : HrtimerModel::Start{})};
       }},
      {28,
       "restart of a timer queued remotely, pulled here, first / not first",
       {"1/0", "1/0", "1/0", "1/0", "1/0", "1/0"},
       [](R rule) -> Counts {
         Counts counts;
         for (const s64 to : {1000, 5000}) {
           HrtimerModel::Start op{};
           op.wasOnThisCpu = false;
           Bench bench = ticking(rule);
           bench.start(A, hard, 6000, elsewhere());
           counts.push_back(bench.start(A, hard, to, op));
         }
         return counts;
       }},
      {29,
       "whole interrupt: one pass, any number of expiries, RESTART or not, or spurious",
       {"1", "1", "1", "1", "1", "1"},
       [](R rule) -> Counts {
         Counts counts;
         for (u32 way = 0; way < 4; ++way) {
           Bench bench = ticking(rule);
           bench.start(A, hard, 1000);
           bench.start(B, hard, 1100);
           bench.interrupt(way == 3 ? 500 : 1200);
           if (way < 3) bench.expire(A);
           if (way == 1) bench.restart(A, hard, 3000);
           if (way == 2) bench.expire(B);
           counts.push_back(bench.interruptEnd());
         }
         return counts;
       }},
      {30,
       "+ for each hard callback that calls hrtimer_start on itself while it is NT",
       {"0", "0", "0", "1", "0", "0"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.start(A, hard, 1000);
         bench.interrupt(1000);
         bench.expire(A);
         HrtimerModel::Start op{};
         op.callbackRuns = true;
         const u32 calls = bench.start(A, hard, 2000, op);
         EXPECT_EQ(bench.interruptEnd(), 1U) << "the interrupt's own call comes as well";
         return {calls};
       }},
      {31,
       "+ for each start of another timer / cancel of a non-NT timer in the interrupt",
       {"0", "0", "0", "0", "0", "0"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.start(A, hard, 1000);
         bench.interrupt(1000);
         bench.expire(A);
         return {bench.start(B, hard, 2000), bench.cancel(T)};
       }},
      {32,
       "+ for each extra pass (retry) / + hang",
       {"1/1", "1/1", "1/1", "1/1", "1/1", "0/0"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.interrupt(4000);
         bench.expire(T);
         const u32 retry = bench.interruptEnd(true);
         bench.interrupt(4100);
         bench.interruptEnd();
         return {retry, bench.count(bench.model().hang())};
       }},
      {33,
       "softirq end: next soft earlier than E / not / no soft left",
       {"-", "1/0/0", "1/0/0", "1/0/0", "1/0/0", "1/0/0"},
       [](R rule) -> Counts {
         Counts counts;
         for (const s64 next : {2000, 5000, 0}) {
           Bench bench = ticking(rule);
           bench.start(A, soft, 1000);
           if (next) bench.start(B, soft, next);
           bench.interrupt(1000);
           bench.model().softirqRaised();
           bench.interruptEnd();
           bench.expire(A);
           counts.push_back(bench.count(bench.model().endSoftirq()));
         }
         return counts;
       }},
      {34,
       "softirq callback starts a hard timer that becomes first",
       {"-", "1", "1", "1", "1", "1"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.start(A, soft, 1000);
         bench.interrupt(1000);
         bench.model().softirqRaised();
         bench.interruptEnd();
         bench.expire(A);
         return {bench.start(B, hard, 2000)};
       }},
      {35,
       "clock set, resume, migration target: per retriggered CPU, even if nothing changed",
       {"1", "1", "1", "1", "1", "1"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         return {bench.count(bench.model().retrigger())};
       }},
      {36,
       "CPU dying, on the dying CPU: moves 0; cancel of its tick 1 if NT",
       {"0+1", "=", "=", "=", "=", "="},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.start(A, hard, 5000);
         const u32 tick = bench.cancel(T);
         const std::size_t left = bench.model().takeAll().size();
         EXPECT_EQ(left, 1U);
         return {0, tick};
       }},
      {37,
       "start on a dying CPU, first on the target: local + on target by IPI",
       {"-", "-", "-", "0+1", "0+1", "0+1"},
       [](R rule) -> Counts {
         Bench dying(rule), target = ticking(rule);
         HrtimerModel::Start op = elsewhere();
         op.online = false;
         const u32 local = dying.start(A, hard, 1000, op);
         target.startByOther(A, hard, 1000);
         return {local, target.count(target.model().retrigger())};
       }},
      // The other half of the row, the tick's own calls in low resolution, is no operation on an hrtimer.
      {38,
       "anything with HR off",
       {"0", "=", "=", "=", "=", "="},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.model().setHighRes(false);
         Counts counts{bench.start(A, hard, 1000), bench.start(A, hard, 2000), bench.cancel(A),
                       bench.cancel(T), bench.count(bench.model().retrigger())};
         bench.start(B, soft, 500);
         bench.model().softirqRaised();
         counts.push_back(bench.count(bench.model().endSoftirq()));
         return counts;
       }},
      {39,
       "tick stop: tick is NT, moved out, stays first",
       {"2", "2", "2", "1", "1", "1"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.start(A, hard, 20'000);
         return {bench.start(T, hard, 12'000)};
       }},
      // Where next_tick is unchanged the tick code starts nothing, so that the third figure has no operation.
      {40,
       "tick stop: tick is NT, other becomes first / tick not first / unchanged next_tick",
       {"1/0/0", "=", "=", "=", "=", "="},
       [](R rule) -> Counts {
         Counts counts;
         for (const s64 other : {8000, 2000}) {
           Bench bench = ticking(rule);
           bench.start(A, hard, other);
           counts.push_back(bench.start(T, hard, 12'000));
         }
         counts.push_back(0);
         return counts;
       }},
      {41,
       "tick stop for ever (cancel), tick is NT",
       {"1", "1", "1", "1", "1", "1"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.start(A, hard, 20'000);
         return {bench.cancel(T)};
       }},
      {42,
       "tick restart (idle exit): stopped tick is NT and next tick is first: cancel + start",
       {"2", "2", "2", "2", "2", "1"},
       [](R rule) -> Counts {
         Bench bench(rule);
         bench.start(T, hard, 40'000);
         bench.start(A, hard, 50'000);
         const u32 cancel = rule >= R::R4 ? 0 : bench.cancel(T);  // R4 starts it without a cancel
         return {cancel + bench.start(T, hard, 4000)};
       }},
      {43,
       "tick restart: other is first, next tick becomes first / not",
       {"1/0", "=", "=", "=", "=", "="},
       [](R rule) -> Counts {
         Counts counts;
         for (const s64 other : {8000, 2000}) {
           Bench bench(rule);
           bench.start(T, hard, 40'000);
           bench.start(A, hard, other);
           const u32 cancel = rule >= R::R4 ? 0 : bench.cancel(T);
           counts.push_back(cancel + bench.start(T, hard, 4000));
         }
         return counts;
       }},
      {44,
       "any start or cancel while HG",
       {"0", "0", "0", "0", "0", "0"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.model().hang();
         return {bench.start(A, hard, 1000), bench.start(A, hard, 500), bench.cancel(A),
                 bench.cancel(T)};
       }},
      {45,
       "LAZY timer that is NT -> later / cancel / -> earlier",
       {"2/1/2", "2/1/2", "2/1/2", "1/1/1", "1/1/1", "0/0/1"},
       [](R rule) -> Counts {
         HrtimerModel::Start lazy{};
         lazy.lazy = true;
         Counts counts;
         for (const s64 to : {2000, 0, 500}) {
           Bench bench = ticking(rule);
           bench.start(A, hard, 1000, lazy);
           counts.push_back(to ? bench.start(A, hard, to, lazy) : bench.cancel(A, true));
         }
         return counts;
       }},
      {46,
       "start with expiry in the past: first by definition",
       {"1", "1", "1", "1", "1", "1"},
       [](R rule) -> Counts { return {ticking(rule).start(A, hard, 0)}; }},
      {47,
       "any start/restart/cancel while IRQ",
       {"0", "0", "0", "0", "0", "0"},
       [](R rule) -> Counts {
         Bench bench = ticking(rule);
         bench.start(A, hard, 1000);
         bench.start(B, hard, 6000);
         bench.interrupt(1000);
         bench.expire(A);
         return {bench.start(B, hard, 7000), bench.start(B, hard, 3000), bench.cancel(B),
                 bench.start(3, hard, 2000)};
       }},
  };
  return rows;
}

TEST(ProgrammingTable, HoldsAllRows) {
  ASSERT_EQ(table().size(), 47U);
  for (std::size_t i = 0; i < table().size(); ++i) EXPECT_EQ(table()[i].number, i + 1);
}

TEST(ProgrammingTable, UserTimerExpiredAtItsStartProgramsUnderR5OnlyIfItWasNext) {
  HrtimerModel::Start expired{};
  expired.expiredAtStart = true;
  EXPECT_EQ(ticking(HrtimerRule::R5).start(A, hard, 0, expired), 0U) << "new";
  Bench bench = ticking(HrtimerRule::R5);
  bench.start(A, hard, 1000);
  EXPECT_EQ(bench.start(A, hard, 0, expired), 1U) << "it was next: the device must leave its time";
  EXPECT_EQ(bench.e(), 4000);
}

}  // namespace
}  // namespace tickscope
