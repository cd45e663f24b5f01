// SPDX-License-Identifier: GPL-3.0-or-later
// Pairs entries with exits, CPU by CPU.
#include "core/model/brackets.h"

#include <algorithm>
#include <array>

#include "core/base/parallel.h"
#include "core/model/hindsight.h"
#include "core/model/kernel_numbers.h"

namespace tickscope {

namespace {

constexpr std::size_t softirqVectors = 10;

class BracketWalk {
 public:
  BracketWalk(const EventStore& store, const ReplayTables& tables, u32 stream)
      : store_(store), tables_(tables), stream_(stream) {
    made_.cpu = store.streams()[stream].cpu;
    raised_.fill(noRow);
    for (const Loss& loss : lossesByRow(store)) {
      if (loss.cpu == made_.cpu && loss.next) gaps_.push_back(*loss.next);
    }
  }

  CpuBrackets run() {
    for (const Row row : store_.rowsOfStream(stream_)) {
      while (nextGap_ < gaps_.size() && gaps_[nextGap_] <= row) {
        ++nextGap_;
        cut();
      }
      step(row);
      before_ = row;
    }
    nameTimerInterrupts();
    return std::move(made_);
  }

 private:
  /// An open bracket; by task, as a softirq of an RT kernel is preempted by tasks.
  struct Open {
    u32 at;
    u64 key;
    u32 task;
  };

  void step(Row row) {
    if (inferredOpen_ && !store_.context(row).hardIrq()) endInferred();
    switch (store_.kind(row)) {
      case kindOf<LocalTimerEntry>:
        enter(row, BracketKind::TimerInterrupt, key(1, store_.as<LocalTimerEntry>(row).vector));
        break;
      case kindOf<LocalTimerExit>:
        leave(row, BracketKind::TimerInterrupt, key(1, store_.as<LocalTimerExit>(row).vector));
        break;
      case kindOf<IrqHandlerEntry>:
        enter(row, BracketKind::Interrupt, key(2, store_.as<IrqHandlerEntry>(row).irq));
        break;
      case kindOf<IrqHandlerExit>:
        leave(row, BracketKind::Interrupt, key(2, store_.as<IrqHandlerExit>(row).irq));
        break;
      case kindOf<VectorEntry>:
        enter(row, BracketKind::Interrupt, key(3, store_.as<VectorEntry>(row).vector));
        break;
      case kindOf<VectorExit>:
        leave(row, BracketKind::Interrupt, key(3, store_.as<VectorExit>(row).vector));
        break;
      case kindOf<IpiEntry>:
        enter(row, BracketKind::Interrupt, number(store_.as<IpiEntry>(row).reason));
        break;
      case kindOf<IpiExit>:
        leave(row, BracketKind::Interrupt, number(store_.as<IpiExit>(row).reason));
        break;
      case kindOf<SoftirqRaise>:
        if (const u32 vec = store_.as<SoftirqRaise>(row).vec;
            vec < softirqVectors && raised_[vec] == noRow) {
          raised_[vec] = row;
        }
        break;
      case kindOf<SoftirqEntry>: {
        const u32 vec = store_.as<SoftirqEntry>(row).vec;
        Bracket& made = enter(row, BracketKind::Softirq, key(4, static_cast<s32>(vec)));
        made.vector = static_cast<u8>(std::min<u32>(vec, 255));
        if (vec < softirqVectors) made.raised = std::exchange(raised_[vec], noRow);
        break;
      }
      case kindOf<SoftirqExit>: {
        const u32 vec = store_.as<SoftirqExit>(row).vec;
        if (Bracket* made = leave(row, BracketKind::Softirq, key(4, static_cast<s32>(vec)))) {
          made->vector = static_cast<u8>(std::min<u32>(vec, 255));
        }
        break;
      }
      case kindOf<HrtimerExpireEntry>:
        callback(row, BracketKind::HrtimerCallback,
                 number(store_.as<HrtimerExpireEntry>(row).hrtimer));
        break;
      case kindOf<HrtimerExpireExit>:
        leave(row, BracketKind::HrtimerCallback, number(store_.as<HrtimerExpireExit>(row).hrtimer));
        break;
      case kindOf<TimerExpireEntry>:
        callback(row, BracketKind::WheelCallback, number(store_.as<TimerExpireEntry>(row).timer));
        break;
      case kindOf<TimerExpireExit>:
        leave(row, BracketKind::WheelCallback, number(store_.as<TimerExpireExit>(row).timer));
        break;
      case kindOf<SchedSwitch>:
        switched(row);
        break;
      case kindOf<CpuIdle>:
        idle(row, store_.as<CpuIdle>(row).state != idleExit);
        break;
      default:
        break;
    }
  }

  static bool isHard(BracketKind kind) {
    return kind == BracketKind::Interrupt || kind == BracketKind::TimerInterrupt;
  }

  /// Those from place d on are over, and were not seen to end.
  void drop(std::size_t d) {
    for (std::size_t i = d; i < open_.size(); ++i) {
      made_.nested[open_[i].at].flags |= Bracket::EndNotSeen;
    }
    open_.resize(d);
  }

  /// Numbers of different sources must not meet: irq 3 is not vector 3. Addresses are above.
  static u64 key(u64 source, s32 value) { return (source << 32U) | static_cast<u32>(value); }

  Bracket& enter(Row row, BracketKind kind, u64 key) {
    // None of these can interrupt itself: the exit of the one before is missing.
    for (std::size_t d = 0; d < open_.size(); ++d) {
      if (open_[d].key != key || made_.nested[open_[d].at].kind != kind) continue;
      drop(d);
      break;
    }
    Bracket made;
    made.entry = row;
    made.kind = kind;
    made.outer = outerFor(kind);
    const auto at = static_cast<u32>(made_.nested.size());
    open_.push_back({at, key, task()});
    fresh_ = false;
    return made_.nested.emplace_back(made);
  }

  Bracket* leave(Row row, BracketKind kind, u64 key) {
    for (std::size_t d = open_.size(); d > 0; --d) {
      const Open& open = open_[d - 1];
      if (open.key != key) continue;
      Bracket& bracket = made_.nested[open.at];
      const BracketKind is = bracket.kind;
      const bool same =
          is == kind || (is == BracketKind::TimerInterrupt && kind == BracketKind::Interrupt);
      if (!same) continue;
      drop(d);
      bracket.exit = row;
      open_.pop_back();
      return nullptr;
    }
    if (!fresh_) return nullptr;
    Bracket made;
    made.exit = row;
    made.kind = kind;
    return &made_.nested.emplace_back(made);
  }

  void callback(Row row, BracketKind kind, u64 timer) {
    const bool soft = kind == BracketKind::WheelCallback || !store_.context(row).hardIrq();
    if (!soft && !inHardInterrupt()) {
      enter(row, BracketKind::TimerInterrupt, key(5, 0)).flags = Bracket::Inferred;
      inferredOpen_ = true;
    }
    Bracket& made = enter(row, kind, timer);
    made.span = spanEndingAt(row);
    if (made.outer == Bracket::none) return;
    Bracket& outer = made_.nested[made.outer];
    ++outer.callbacks;
    if (!soft && outer.kind == BracketKind::Interrupt) {
      outer.kind = BracketKind::TimerInterrupt;
      if (store_.kind(outer.entry) == kindOf<IrqHandlerEntry>) {
        timerIrqs_.push_back(store_.as<IrqHandlerEntry>(outer.entry).irq);
      }
    }
  }

  void switched(Row row) {
    if (!made_.tasks.empty() && made_.tasks.back().exit == noRow &&
        !made_.tasks.back().has(Bracket::EndNotSeen)) {
      made_.tasks.back().exit = row;
    }
    Bracket& made = made_.tasks.emplace_back();
    made.kind = BracketKind::Task;
    made.entry = row;
    // Only softirqs and what runs in them can be preempted.
    std::erase_if(open_, [&](const Open& open) {
      if (!isHard(made_.nested[open.at].kind)) return false;
      made_.nested[open.at].flags |= Bracket::EndNotSeen;
      return true;
    });
  }

  void idle(Row row, bool in) {
    Bracket* last = made_.idles.empty() ? nullptr : &made_.idles.back();
    const bool isOpen = last && last->exit == noRow && !last->has(Bracket::EndNotSeen);
    if (!in) {
      if (isOpen) {
        last->exit = row;
      } else if (fresh_ && made_.idles.empty()) {
        Bracket& made = made_.idles.emplace_back();
        made.kind = BracketKind::Idle;
        made.exit = row;
      }
      return;
    }
    if (isOpen) last->flags |= Bracket::EndNotSeen;
    Bracket& made = made_.idles.emplace_back();
    made.kind = BracketKind::Idle;
    made.entry = row;
  }

  /// Events were lost: nothing that was open is known to have stayed so.
  void cut() {
    drop(0);
    inferredOpen_ = false;
    for (auto* list : {&made_.tasks, &made_.idles}) {
      if (!list->empty() && list->back().exit == noRow) list->back().flags |= Bracket::EndNotSeen;
    }
    raised_.fill(noRow);
    fresh_ = true;
  }

  void endInferred() {
    inferredOpen_ = false;
    for (std::size_t d = open_.size(); d > 0; --d) {
      Bracket& bracket = made_.nested[open_[d - 1].at];
      if (!bracket.has(Bracket::Inferred)) continue;
      drop(d);
      bracket.exit = before_;
      open_.pop_back();
      return;
    }
  }

  [[nodiscard]] bool inHardInterrupt() const {
    return std::ranges::any_of(
        open_, [&](const Open& open) { return isHard(made_.nested[open.at].kind); });
  }

  [[nodiscard]] u32 task() const {
    return made_.tasks.empty() ? Bracket::none : static_cast<u32>(made_.tasks.size() - 1);
  }

  /// The innermost open one that this can run in: not a softirq of a task that is preempted.
  [[nodiscard]] u32 outerFor(BracketKind kind) const {
    for (std::size_t d = open_.size(); d > 0; --d) {
      const Open& open = open_[d - 1];
      const Bracket& bracket = made_.nested[open.at];
      if (kind == BracketKind::WheelCallback && bracket.kind != BracketKind::Softirq) continue;
      const bool resumes = open.task == task() || sameTask(open.task);
      if (resumes || isHard(bracket.kind)) return open.at;
    }
    return Bracket::none;
  }

  [[nodiscard]] bool sameTask(u32 then) const {
    if (then == Bracket::none || made_.tasks.empty()) return false;
    return store_.as<SchedSwitch>(made_.tasks[then].entry).next.pid ==
           store_.as<SchedSwitch>(made_.tasks.back().entry).next.pid;
  }

  SpanId spanEndingAt(Row row) {
    const auto& order = tables_.endOrder;
    const auto endOf = [&](SpanId id) { return tables_.spans[number(id)].ended; };
    while (nextEnd_ < order.size() && endOf(order[nextEnd_]) < row) ++nextEnd_;
    for (std::size_t i = nextEnd_; i < order.size() && endOf(order[i]) == row; ++i) {
      if (tables_.spans[number(order[i])].end == SpanEnd::Expired) return order[i];
    }
    return SpanId{~u32{0}};
  }

  /// An interrupt line that ran timers once is the timer's.
  void nameTimerInterrupts() {
    std::ranges::sort(timerIrqs_);
    timerIrqs_.erase(std::ranges::unique(timerIrqs_).begin(), timerIrqs_.end());
    if (timerIrqs_.empty()) return;
    for (Bracket& bracket : made_.nested) {
      if (bracket.kind != BracketKind::Interrupt || bracket.entry == noRow) continue;
      if (store_.kind(bracket.entry) != kindOf<IrqHandlerEntry>) continue;
      if (std::ranges::binary_search(timerIrqs_, store_.as<IrqHandlerEntry>(bracket.entry).irq)) {
        bracket.kind = BracketKind::TimerInterrupt;
      }
    }
  }

  const EventStore& store_;
  const ReplayTables& tables_;
  u32 stream_;
  CpuBrackets made_;
  std::vector<Open> open_;
  std::array<Row, softirqVectors> raised_{};
  std::vector<Row> gaps_;
  std::size_t nextGap_ = 0, nextEnd_ = 0;
  std::vector<s32> timerIrqs_;
  Row before_ = noRow;
  bool fresh_ =
      true;  ///< an exit without entry may belong to one before the first row, or in a gap
  bool inferredOpen_ = false;
};

/// The last of brackets with entries in order that began at or before `row`.
const Bracket* lastBegun(const std::vector<Bracket>& brackets, Row row) {
  const auto startOf = [](const Bracket& b) { return b.entry != noRow ? b.entry : b.exit; };
  const auto after = std::ranges::upper_bound(brackets, row, {}, startOf);
  return after == brackets.begin() ? nullptr : &*(after - 1);
}

bool isOpenAt(const Bracket& bracket, Row row) {
  if (bracket.entry == noRow || bracket.entry > row) return false;
  if (bracket.exit == noRow) return !bracket.has(Bracket::EndNotSeen);
  return row < bracket.exit;
}

}  // namespace

u32 CpuBrackets::innermostAt(Row row) const {
  const Bracket* last = lastBegun(nested, row);
  if (!last) return Bracket::none;
  auto at = static_cast<u32>(last - nested.data());
  while (at != Bracket::none && !isOpenAt(nested[at], row)) at = nested[at].outer;
  return at;
}

const Bracket* CpuBrackets::at(Row row, BracketKind kind) const {
  for (u32 at = innermostAt(row); at != Bracket::none; at = nested[at].outer) {
    if (nested[at].kind == kind) return &nested[at];
  }
  return nullptr;
}

const Bracket* CpuBrackets::taskAt(Row row) const {
  const Bracket* last = lastBegun(tasks, row);
  return last && isOpenAt(*last, row) ? last : nullptr;
}

const Bracket* CpuBrackets::idleAt(Row row) const {
  const Bracket* last = lastBegun(idles, row);
  return last && isOpenAt(*last, row) ? last : nullptr;
}

std::vector<CpuBrackets> bracketsOf(const EventStore& store, const ReplayTables& tables,
                                    int threads) {
  std::vector<CpuBrackets> made(store.streams().size());
  parallelFor(static_cast<u32>(made.size()), threads, [&](u32 stream, int /*worker*/) {
    made[stream] = BracketWalk(store, tables, stream).run();
  });
  return made;
}

}  // namespace tickscope
