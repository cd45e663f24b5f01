// SPDX-License-Identifier: GPL-3.0-or-later
// Calls of tick_program_event: which operation each belongs to, and whether their number is the predicted one.
#include <algorithm>

#include "core/model/replay.h"
#include "core/model/replay_now.h"

namespace tickscope {

namespace {

/// A call this near to one operation and ten times as far from the other is taken as its own (ns).
constexpr s64 nearNs = 2'000;
/// Calls come a few us from their operation, if the machine was not stopped between.
constexpr s64 farNs = 20'000;
/// Interrupts one after the other with passes that nothing explains, from which on they are judged.
constexpr u32 strangeInSeries = 4;

bool near(s64 one, s64 other) {
  return one >= 0 && one < nearNs && other > 10 * std::max<s64>(one, 1);
}

}  // namespace

void Replay::beginInterrupt(CpuNow& cpu, Row row) {
  if (cpu.inTimerInterrupt) return;
  closeOperation(cpu);
  if (cpu.softirq == hrtimerVector && !cpu.softPassEnded && !cpu.softCallbackRuns &&
      !softPassGoesOn(cpu, row)) {
    // Interrupts are on in the soft pass only while a callback runs: this one came behind its end.
    endOfHrtimerSoftirq(cpu, row);
    cpu.softPassEnded = true;
  }
  cpu.inTimerInterrupt = true;
  cpu.interruptRow = row;
  cpu.passNow.reset();
  cpu.retries = 0;
  cpu.strangePass = false;
  cpu.raisedInInterrupt = false;
  cpu.softirqNextBefore = cpu.hrtimers.scalars(rule_).softirqExpiresNext;
  Operation operation;
  operation.kind = OperationKind::Interrupt;
  operation.row = row;
  cpu.interrupt = operation;
  beginPass(cpu, row);
}

void Replay::beginPass(CpuNow& cpu, Row row) {
  if (cpu.interrupt && cpu.interrupt->enqueueSeen > 0) ++cpu.retries;
  refreshFloor(cpu, row);
  cpu.hrtimers.beginInterrupt({});
  cpu.interruptTold = true;
  cpu.passOpen = true;
  cpu.expiriesInPass = 0;
  cpu.lastExpires = {};
  recordLines(cpu, row);
}

void Replay::endPass(CpuNow& cpu, Row row, Known<MonoTime> value) {
  if (!cpu.inTimerInterrupt) beginInterrupt(cpu, row);
  const bool further = !cpu.passOpen;
  if (further) {
    // A pass that left no row: the device refused a time that had come. Three are made, then the hang delay.
    const auto now = in_.clocks.mono(store_.time(row), cpu.cpu);
    const Known<MonoTime> next = cpu.hrtimers.scalars(rule_).expiresNext;
    if (cpu.interrupt && cpu.retries == 2 && cpu.interrupt->enqueueSeen == 3) {
      ++cpu.retries;
      cpu.hrtimers.hang();
    } else if (now && next && *next <= now->value + now->error &&
               !wallClockNear(cpu, MonoTime{0})) {
      ++cpu.retries;
    } else if (cpu.interrupt && cpu.interrupt->enqueueSeen < 4) {
      cpu.strangePass = true;
    }
    cpu.hrtimers.beginInterrupt({});
  }
  refreshFloor(cpu, row);
  // Whoever is first now must not have been due in this pass (I16).
  if (cpu.passNow && cpu.highRes && !further && hrtimersComplete_ && !in_.filtered) {
    for (const ClockBase base :
         {ClockBase::Mono, ClockBase::Real, ClockBase::Boot, ClockBase::Tai}) {
      const HrtimerTree& tree = cpu.hrtimers.tree(base);
      const Known<TreeNode> first = tree.first();
      if (!first) continue;
      ArmedSpan& span = tables_.spans[number(tree[*first].span)];
      if (!span.secondKnown || span.armed == noRow || span.armed >= cpu.interruptRow ||
          span.has(ArmedSpan::Resynced) || isUncertain(span, row)) {
        continue;
      }
      const Known<MonoTime> soft = monoOf(span.second, base, row);
      if (!soft) continue;
      Known<bool> notDue = *soft > *cpu.passNow;
      // Whether a wall clock has been set since its last reading only the next one tells.
      if (base != ClockBase::Mono && in_.clocks.epochs(base).back().last < row) notDue.reset();
      judge(16, notDue, BlindSpotKind::ClockNotAnchored);
      if (notDue == false) {
        differs(DiscrepancyKind::Lost, row, cpu, span.timer, soft->value, cpu.passNow->value);
        span.flags |= ArmedSpan::Resynced;  // once a life
      }
    }
  }
  const CallsByRule calls = cpu.hrtimers.endInterrupt();
  if (cpu.interrupt) {
    if (!further || cpu.interrupt->enqueueSeen == 0) cpu.interrupt->predicted = calls;
    ++cpu.interrupt->enqueueSeen;
  }
  cpu.passOpen = false;
  programmed(cpu, row, value);
  recordLines(cpu, row);
}

void Replay::endInterrupt(CpuNow& cpu, Row row) {
  closeOperation(cpu);
  cpu.inTimerInterrupt = false;
  const bool traced = callsTraced_ || callsByProbe_;
  if (cpu.passOpen) {
    refreshFloor(cpu, row);
    const CallsByRule calls = cpu.hrtimers.endInterrupt();
    if (cpu.interrupt && cpu.interrupt->enqueueSeen == 0) cpu.interrupt->predicted = calls;
    cpu.passOpen = false;
    // Without its call nothing tells whether the pass was the last.
    for (const ClockBase base :
         {ClockBase::Mono, ClockBase::Real, ClockBase::Boot, ClockBase::Tai}) {
      if (!cpu.passNow || cpu.hrtimers.tree(base).empty()) continue;
      judge(16, {}, cpu.highRes ? BlindSpotKind::ProgrammingNotTraced : BlindSpotKind::NotHighRes);
    }
  }
  if (raisesTraced_ && cpu.highRes && hrtimersComplete_ && !in_.filtered) {
    // vec 8 is raised when and only when `now` has reached softirq_expires_next (I25).
    Known<bool> right;
    if (cpu.softirqNextBefore && cpu.warm && !cpu.comingUp && cpu.retries == 0) {
      const MonoTime next = *cpu.softirqNextBefore;
      if (cpu.passNow) {
        right = cpu.raisedInInterrupt == (*cpu.passNow >= next);
      } else {
        // Without an expiry `now` lies between the entry and the row that follows.
        const auto to = in_.clocks.mono(
            store_.time(cpu.raisedInInterrupt ? cpu.raiseRow : cpu.interruptRow), cpu.cpu);
        if (to && cpu.raisedInInterrupt && next > to->value + to->error) right = false;
        if (to && !cpu.raisedInInterrupt && next <= to->value) right = false;
        if (to && !right)
          right = cpu.raisedInInterrupt != (next > to->value) ? Known<bool>{true} : Known<bool>{};
      }
      const bool wallClock = !cpu.hrtimers.tree(ClockBase::RealSoft).empty() ||
                             !cpu.hrtimers.tree(ClockBase::TaiSoft).empty();
      if (right == false && (wallClock || next >= cpu.hrtimers.floor())) right.reset();
    }
    judge(25, right);
    if (right == false) {
      differs(DiscrepancyKind::RaiseRule, cpu.interruptRow, cpu, {}, cpu.softirqNextBefore->value,
              cpu.passNow ? Known<s64>(cpu.passNow->value) : Known<s64>{});
    }
  }
  if (cpu.interrupt && cpu.highRes) {
    Operation& operation = *cpu.interrupt;
    for (OperationCalls& calls : operation.predicted) {
      calls.enqueue.least = static_cast<u8>(calls.enqueue.least + cpu.retries);
      calls.enqueue.most = static_cast<u8>(calls.enqueue.most + cpu.retries);
    }
    // A device may refuse a time that is near; time and again it is a fault.
    cpu.strangeInterrupts = cpu.strangePass ? cpu.strangeInterrupts + 1 : 0;
    if (cpu.strangePass && cpu.strangeInterrupts < strangeInSeries) {
      operation.blind = true;
      operation.why = BlindSpotKind::OutsideModel;
    }
    if (cpu.comingUp && operation.enqueueSeen == 0) {
      // The first interrupts still are those of the low resolution tick.
      operation.blind = true;
      operation.why = BlindSpotKind::NotHighRes;
    }
    cpu.comingUp = cpu.comingUp && operation.enqueueSeen == 0;
    if (rule_ >= HrtimerRule::R4) {
      operation.blind = true;
      operation.why = BlindSpotKind::DeferredRearm;
    }
    if (traced) judgeOperation(cpu, operation);
  }
  cpu.interrupt.reset();
  if (!cpu.warm && cpu.warmFrom == noRow) cpu.warmFrom = row;
  cpu.warm = true;
  recordLines(cpu, row);
}

void Replay::call(CpuNow& cpu, Row row, CallSite site, Known<MonoTime> value) {
  if (value) cpu.programmed = value;
  switch (site) {
    case CallSite::Other:
      return;
    case CallSite::Interrupt:
      closeOperation(cpu);
      endPass(cpu, row, value);
      return;
    case CallSite::Softirq:
      ++cpu.softirqEndCalls;
      return;
    case CallSite::Retrigger:
      closeOperation(cpu);
      retriggered(cpu, row);
      if (value) cpu.hrtimers.learnExpiresNext(*value);
      recordLines(cpu, row);
      return;
    default:
      break;
  }
  if (site == CallSite::Unknown && cpu.inTimerInterrupt &&
      (!cpu.operation || rule_ != HrtimerRule::R2)) {
    // Only the generation R2 programs for a start inside the interrupt.
    closeOperation(cpu);
    endPass(cpu, row, value);
    return;
  }
  if (!cpu.operation && cpu.softirq == hrtimerVector && !cpu.inTimerInterrupt &&
      (site == CallSite::StartOrSoftirq || site == CallSite::Unknown)) {
    ++cpu.softirqEndCalls;
    return;
  }
  cpu.waiting.push_back({row, site, value});
}

u32 Replay::leadingCalls(CpuNow& cpu, Row row, bool takesLeading, bool& unclear) {
  u32 leading = 0;
  unclear = false;
  for (std::size_t i = 0; takesLeading && i < cpu.waiting.size(); ++i) {
    const CpuNow::Waiting& call = cpu.waiting[i];
    bool mine = call.site == CallSite::Removal;
    if (call.site == CallSite::StartOrRemoval || call.site == CallSite::Unknown) {
      if (!cpu.operation || restartsVisible_) {
        mine = true;
      } else if (cpu.operation->kind == OperationKind::Cancel) {
        mine = true;  // with was_armed a cancel prints after its calls
      } else if (call.site == CallSite::StartOrRemoval &&
                 cpu.operation->kind == OperationKind::Start) {
        mine = true;  // a new timer is programmed by hrtimer_reprogram
      } else if (i > 0) {
        mine = true;  // an enqueue programs at most once
      } else {
        const s64 behind = (store_.time(call.row) - store_.time(cpu.operation->row)).value;
        const s64 ahead = (store_.time(row) - store_.time(call.row)).value;
        // The value tells whose call it is when expires_next is known.
        const Known<MonoTime> next = cpu.hrtimers.scalars(rule_).expiresNext;
        const bool decided = call.value && next;
        if (!decided && behind > farNs && ahead > farNs) {
          // Far from both: it belongs to either.
          cpu.operation->blind = unclear = true;
          cpu.operation->why = BlindSpotKind::ProgrammingNotTraced;
        }
        mine = decided ? *call.value != *next : near(ahead, behind) && !near(behind, ahead);
      }
    }
    if (!mine) continue;
    // Calls come in order: all behind the first leading one lead as well.
    leading = static_cast<u32>(cpu.waiting.size() - i);
    cpu.waiting.resize(i);
    break;
  }
  closeOperation(cpu);
  return leading;
}

void Replay::retriggered(CpuNow& cpu, Row row) {
  Operation operation;
  operation.kind = OperationKind::Retrigger;
  operation.row = row;
  operation.predicted = cpu.hrtimers.retrigger();
  operation.enqueueSeen = 1;
  judgeOperation(cpu, operation);
}

void Replay::closeOperation(CpuNow& cpu) {
  if (!cpu.operation) {
    for (const CpuNow::Waiting& call : cpu.waiting) {
      if (call.site == CallSite::StartOrRemoval && store_.context(call.row).hardIrq()) {
        // hrtimer_force_reprogram from an interrupt of another CPU: retrigger_next_event inlined.
        retriggered(cpu, call.row);
      }
      if (call.value) cpu.hrtimers.learnExpiresNext(*call.value);
    }
    cpu.waiting.clear();
    return;
  }
  Operation operation = *cpu.operation;
  cpu.operation.reset();
  operation.enqueueSeen += static_cast<u32>(cpu.waiting.size());
  if (!cpu.waiting.empty()) {
    programmed(cpu, cpu.waiting.back().row, cpu.waiting.back().value);
    recordLines(cpu, cpu.waiting.back().row);
  }
  cpu.waiting.clear();
  judgeOperation(cpu, operation);
}

void Replay::programmed(CpuNow& cpu, Row row, Known<MonoTime> value) {
  if (!value || !hrtimersComplete_) {
    judge(22, {}, BlindSpotKind::NotRecorded);
  } else if (in_.filtered) {
    judge(22, {}, BlindSpotKind::Filtered);
  } else if (!cpu.warm) {
    judge(22, {}, BlindSpotKind::BeforeEvidence);
  } else if (cpu.hrtimers.hanging()) {
    judge(22, {}, BlindSpotKind::Hang);
  } else {
    MonoTime least = cpu.hrtimers.first(false);
    if (!cpu.hrtimers.softirqActivated()) least = std::min(least, cpu.hrtimers.first(true));
    const bool inTime = *value <= least;
    judge(22, inTime);
    if (!inTime) {
      differs(DiscrepancyKind::ProgrammedTooLate, row, cpu, {}, least.value, value->value);
      // Whether expires_next is as late as the device or only the device was told wrong, no row says.
      cpu.hrtimers.forgetScalars();
      return;
    }
  }
  if (value) cpu.hrtimers.learnExpiresNext(*value);
}

void Replay::judgeOperation(CpuNow& cpu, const Operation& operation) {
  Known<bool> outcome;
  BlindSpotKind why = BlindSpotKind::BeforeEvidence;
  const u32 seen = operation.removalSeen + operation.enqueueSeen;
  const Calls expected = operation.predicted[number(rule_)].sum();
  if (!callsTraced_ && !callsByProbe_) {
    why = BlindSpotKind::ProgrammingNotTraced;
  } else if (!cpu.highRes) {
    why = BlindSpotKind::NotHighRes;
  } else if (!hrtimersComplete_ || in_.filtered) {
    why = in_.filtered ? BlindSpotKind::Filtered : BlindSpotKind::NotRecorded;
  } else if (operation.blind) {
    why = operation.why;
  } else if (!ruleKnown_) {
    why = BlindSpotKind::FieldMissing;
  } else if (!cpu.warm && operation.kind != OperationKind::Interrupt) {
    why = BlindSpotKind::BeforeEvidence;
    if (!expected.admits(seen)) ++tables_.warmUp[number(DiscrepancyKind::CallCount)];
  } else if (expected.known() || !expected.admits(seen)) {
    outcome = expected.admits(seen);
    if (!*outcome && operation.wallClock) {
      // A clock that was set, and perhaps set back, leaves no row: the timer lay elsewhere then.
      outcome.reset();
      why = BlindSpotKind::ClockNotAnchored;
    }
  }
  if (!callsTraced_ && !callsByProbe_) {
    judge(22, {}, cpu.highRes ? BlindSpotKind::ProgrammingNotTraced : BlindSpotKind::NotHighRes);
  }
  tables_.ratios.programming.add(outcome);
  Known<bool> asObserved = outcome;
  if (const auto seenRule = in_.profile.hrtimer.observed; seenRule && outcome) {
    const Calls calls = operation.predicted[number(*seenRule)].sum();
    asObserved.reset();
    if (calls.known() || !calls.admits(seen)) asObserved = calls.admits(seen);
  }
  tables_.ratios.asObserved.add(asObserved);
  judge(21, outcome, why);
  if (callsTraced_ || callsByProbe_) {
    OperationCount count;
    count.row = operation.row;
    if (operation.timer) count.timer = *operation.timer;
    count.kind = operation.kind;
    count.removalSeen = static_cast<u8>(std::min<u32>(operation.removalSeen, 255));
    count.enqueueSeen = static_cast<u8>(std::min<u32>(operation.enqueueSeen, 255));
    count.least = expected.least;
    count.most = expected.most;
    count.flags = operation.standing;
    if (outcome) count.flags |= OperationCount::Judged;
    count.why = why;
    tables_.operations.push_back(count);
  }
  if (outcome == false) {
    differs(DiscrepancyKind::CallCount, operation.row, cpu, operation.timer, expected.most, seen);
  }
  if (operation.blind || operation.wallClock || !cpu.warm || !cpu.highRes || !hrtimersComplete_ ||
      in_.filtered || (!callsTraced_ && !callsByProbe_)) {
    return;
  }
  // What tells the generations apart: operations for which they differ.
  std::array<bool, hrtimerRuleCount> predicts{};
  Known<Calls> first;
  bool differ = false;
  for (std::size_t r = 0; r < hrtimerRuleCount; ++r) {
    const Calls calls = operation.predicted[r].sum();
    predicts[r] = in_.rules[r] && calls.known();
    if (!predicts[r]) continue;
    differ = differ || (first && *first != calls);
    first = calls;
  }
  for (std::size_t r = 0; differ && r < hrtimerRuleCount; ++r) {
    if (!predicts[r]) continue;
    RuleFit& fit = tables_.ruleFit;
    ++(operation.predicted[r].sum().admits(seen) ? fit.fits : fit.misses)[r];
  }
}

bool Replay::softPassGoesOn(const CpuNow& cpu, Row row) const {
  const auto rows = store_.rowsOfStream(store_.streamOf(row));
  for (u32 at = cpu.place; at < rows.size(); ++at) {
    if (store_.context(rows[at]).hardIrq()) continue;
    const EventKind kind = store_.kind(rows[at]);
    if (kind == kindOf<HrtimerExpireEntry>) return true;
    if (kind == kindOf<SoftirqExit> || kind == kindOf<SchedSwitch>) return false;
  }
  return false;
}

void Replay::endOfHrtimerSoftirq(CpuNow& cpu, Row row) {
  if (cpu.softirq != hrtimerVector) return;  // its entry was before the recording
  if (cpu.softPassEnded) return;
  closeOperation(cpu);
  refreshFloor(cpu, row);
  Operation operation;
  operation.kind = OperationKind::SoftirqEnd;
  operation.row = row;
  operation.predicted = cpu.hrtimers.endSoftirq();
  cpu.softirqTold = softirqsTold();
  operation.enqueueSeen = cpu.softirqEndCalls;
  cpu.softirqEndCalls = 0;
  judgeOperation(cpu, operation);
  recordLines(cpu, row);
}

}  // namespace tickscope
