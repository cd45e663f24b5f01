// SPDX-License-Identifier: GPL-3.0-or-later
// hrtimer_*: what they do to the trees (hrtimer.c, 4.16+; older kernels have the hard trees only).
#include <algorithm>

#include "core/model/replay.h"
#include "core/model/replay_now.h"

namespace tickscope {

namespace {

/// TRACE_FLAG_NEED_RESCHED and TRACE_FLAG_PREEMPT_RESCHED.
constexpr u8 needReschedFlags = 0x24;
/// A timer that shall not expire: KTIME_MAX, or near it after an offset was taken off.
constexpr s64 leastNever = 8'000'000'000'000'000'000;

bool isWallClock(ClockBase base) {
  return hardOf(base) == ClockBase::Real || hardOf(base) == ClockBase::Tai;
}

ClockBase clockOf(s32 clockid) {
  switch (clockid) {
    case 0:
    case 8:
      return ClockBase::Real;
    case 7:
    case 9:
      return ClockBase::Boot;
    case 11:
      return ClockBase::Tai;
    default:
      return ClockBase::Mono;
  }
}

}  // namespace

void Replay::init(Row row, Address address, s32 clockid, u32 mode) {
  const TimerNow& before = this->timer(TimerClass::Hrtimer, address);
  if (isTick(tables_.timers[number(before.id)].function)) tickMadeAnew(row);
  TimerNow& timer = initialised(TimerClass::Hrtimer, address, row);
  // A relative timer of CLOCK_REALTIME is one of CLOCK_MONOTONIC (__hrtimer_init).
  ClockBase base = clockOf(clockid);
  if (base == ClockBase::Real && (mode & relativeMode)) base = ClockBase::Mono;
  const bool rt = in_.profile.rt.expected.value_or(false);
  if ((mode & softMode) || (rt && !(mode & hardMode))) base = softOf(base);
  tables_.timers[number(timer.id)].base = base;
}

ClockBase Replay::baseOf(const HrtimerStart& event, const TimerNow& timer, bool& guessed) const {
  const ModelTimer& model = tables_.timers[number(timer.id)];
  ClockBase base = ClockBase::Mono;
  guessed = false;
  if (model.base) {
    base = hardOf(*model.base);
    guessed = model.baseGuessed;
  } else if (event.expires.value >= leastWallTime && event.expires.value < leastNever) {
    base = ClockBase::Real;
  } else {
    guessed = true;
  }
  if (!modeRecorded_) return base;
  const bool rt = in_.profile.rt.expected.value_or(false);
  const bool soft = rt ? !(event.mode & hardMode) : (event.mode & softMode) != 0;
  return soft ? softOf(base) : base;
}

Known<Replay::MonoRange> Replay::monoRangeOf(s64 expires, ClockBase base, Row row) const {
  const auto at = [&](s64 offset) {
    return expires >= leastNever ? never : MonoTime{std::max<s64>(0, expires - offset)};
  };
  if (hardOf(base) == ClockBase::Mono) return MonoRange{at(0), at(0), at(0)};
  const auto& epochs = in_.clocks.epochs(base);
  if (epochs.empty()) return {};
  std::size_t next = 0;  // the first epoch that begins behind the row
  while (next < epochs.size() && epochs[next].first <= row) ++next;
  const s64 before = epochs[next == 0 ? 0 : next - 1].offset;
  if (next == 0 || next == epochs.size() || row <= epochs[next - 1].last) {
    return MonoRange{at(before), at(before), at(before)};
  }
  const s64 after = epochs[next].offset;
  return MonoRange{at(std::max(before, after)), at(std::min(before, after)), at(before)};
}

Known<MonoTime> Replay::monoOf(s64 expires, ClockBase base, Row row) const {
  const auto range = monoRangeOf(expires, base, row);
  if (!range || range->least != range->most) return {};
  return range->least;
}

bool Replay::wallClockNear(const CpuNow& cpu, MonoTime x) const {
  const MonoTime until = std::max(x, cpu.hrtimers.scalars(rule_).expiresNext.value_or(never));
  for (const ClockBase base :
       {ClockBase::Real, ClockBase::Tai, ClockBase::RealSoft, ClockBase::TaiSoft}) {
    const HrtimerTree& tree = cpu.hrtimers.tree(base);
    if (const auto first = tree.first(); first && tree[*first].x <= until) return true;
  }
  return false;
}

Cpu Replay::ownerOf(CpuNow& cpu, Row row, const HrtimerStart& event, u32 startNumber,
                    const TimerNow& timer, bool& inferred) const {
  inferred = false;
  if (modeRecorded_ && (event.mode & pinnedMode)) return cpu.cpu;
  if (timer.running == cpu.cpu) return cpu.cpu;  // a running callback's timer stays
  if (cpus_.size() == 1 && in_.recording.metadata.possibleCpus.value_or(1) == 1) return cpu.cpu;
  const HrtimerScalars& scalars = cpu.hrtimers.scalars(rule_);
  if (rule_ >= HrtimerRule::R2 && timer.span && scalars.nextTimer == timer.span &&
      cpu.hrtimers.queued(*timer.span)) {
    return cpu.cpu;  // a restarted first timer stays
  }
  // get_nohz_timer_target: a housekeeping CPU that is not idle keeps the timer.
  const bool idle = number(store_.pid(row)) == 0;
  const bool noHz = in_.profile.noHz.expected.value_or(NoHz::Idle) != NoHz::Off;
  bool housekeeping = true;
  if (in_.profile.noHz.expected == NoHz::Full) {
    const Known<CpuList>& list = in_.profile.noHzFull.expected;
    housekeeping = list && !std::ranges::binary_search(*list, cpu.cpu);
  }
  if ((!idle && housekeeping) || !noHz) return cpu.cpu;
  inferred = true;
  return hindsight_.expiryCpu(startNumber);
}

void Replay::refreshFloor(CpuNow& cpu, Row row) {
  MonoTime floor = hindsight_.floor(cpu.index, row);
  for (const SpanId id : unplaced_) {
    const ArmedSpan& span = tables_.spans[number(id)];
    const auto x = monoRangeOf(span.expires, span.clockBase(), row);
    floor = std::min(floor, x ? x->least : MonoTime{std::numeric_limits<s64>::min()});
  }
  for (const SpanId id : unsure_) {
    const ArmedSpan& span = tables_.spans[number(id)];
    if (span.owner != cpu.cpu) continue;
    floor = std::min(floor, monoRangeOf(span.expires, span.clockBase(), row)->least);
  }
  cpu.hrtimers.setFloor(floor);
}

void Replay::removed(Row row, TimerNow& timer) {
  const ArmedSpan& span = tables_.spans[number(*timer.span)];
  CpuNow* owner = span.owner == noCpu ? nullptr : cpuNow(span.owner);
  if (!owner) return;
  if (tables_.timers[number(span.timer)].of == TimerClass::Wheel) {
    owner->wheel[span.base].disarm(*timer.span);
  } else if (owner->hrtimers.queued(*timer.span)) {
    owner->hrtimers.cancelRemote(*timer.span);
  }
  recordLines(*owner, row);
}

void Replay::apply(CpuNow& cpu, Row row, const HrtimerStart& event, u32 startNumber) {
  TimerNow& timer = this->timer(TimerClass::Hrtimer, event.hrtimer, row);
  if (!timer.span && !timer.known && event.wasArmed) {
    if (const auto seeded = takeSeed(nullptr, event.function, {})) {
      adopt(timer, *seeded, event.hrtimer);
    }
  }
  const Context context = store_.context(row);
  const bool byCallback =
      (context.hardIrq() ? cpu.lastExitHard : cpu.lastExitSoft) == event.hrtimer &&
      !event.wasArmed && (!modeRecorded_ || event.mode == 0) &&
      (context.hardIrq() || context.softIrq());
  if (!byCallback && timer.everStarted && !timer.span) {
    // Another callback while nothing is armed: another user of the address.
    const ModelTimer& model = tables_.timers[number(timer.id)];
    if (model.function != event.function && model.function != Address{}) {
      timer.id = static_cast<TimerId>(tables_.timers.size());
      ModelTimer made{};
      made.of = TimerClass::Hrtimer;
      made.address = event.hrtimer;
      tables_.timers.push_back(made);
    }
  }
  bool guessed = false;
  ClockBase base = baseOf(event, timer, guessed);
  ModelTimer& model = tables_.timers[number(timer.id)];
  if (byCallback && model.base) base = *model.base;
  if (byCallback && !model.base && !context.hardIrq()) base = softOf(base);
  model.function = event.function;
  if (!byCallback || !model.base) {
    model.base = base;
    model.baseGuessed = guessed;
  }
  const Known<MonoRange> range = monoRangeOf(event.expires.value, base, row);
  Known<MonoTime> x;
  if (range) x = range->asBefore;

  // What was armed before, against what the row says of it.
  const bool uncertain = timer.span && isUncertain(tables_.spans[number(*timer.span)], row);
  Known<bool> armedRight;
  if (wasArmedRecorded_ && timer.known && !uncertain) {
    armedRight = timer.span.has_value() == event.wasArmed;
    if (!*armedRight && excused(timer, row)) {
      armedRight.reset();
    } else if (!*armedRight) {
      differs(DiscrepancyKind::WasArmedDiffers, row, cpu, timer.id, timer.span.has_value(),
              event.wasArmed);
    }
  }
  if (wasArmedRecorded_) {
    tables_.ratios.wasArmed.add(armedRight);
    judge(19, armedRight, uncertain ? BlindSpotKind::LostEvents : BlindSpotKind::BeforeEvidence);
  }
  const bool announced = cpu.restartAnnounced == event.hrtimer;
  cpu.restartAnnounced.reset();
  if (restartsVisible_ && !wasArmedRecorded_ && timer.span && !announced && timer.known &&
      !uncertain && !excused(timer, row)) {
    differs(DiscrepancyKind::StartedWhileArmed, row, cpu, timer.id);
    judge(20, false);
  } else if (!wasArmedRecorded_) {
    judge(20, timer.known ? Known<bool>{true} : Known<bool>{});
  } else {
    judge(20, armedRight);
  }
  const bool restart = wasArmedRecorded_ ? event.wasArmed : announced;

  bool unclear = false;
  const u32 leading = byCallback ? 0 : leadingCalls(cpu, row, restart, unclear);
  Operation operation;
  operation.blind = unclear;
  operation.why = BlindSpotKind::ProgrammingNotTraced;
  operation.removalSeen = leading;
  operation.kind = restart ? OperationKind::Restart : OperationKind::Start;
  operation.row = row;
  operation.timer = timer.id;
  operation.wallClock = isWallClock(base) || wallClockNear(cpu, x.value_or(never));
  const auto blindBecause = [&](BlindSpotKind why) {
    if (!operation.blind) operation.why = why;
    operation.blind = true;
  };

  ArmedSpan span;
  span.timer = timer.id;
  span.armed = row;
  span.expires = event.expires.value;
  span.second = event.softexpires.value;
  span.base = number(base);
  bool inferred = false;
  span.owner = byCallback ? cpu.cpu : ownerOf(cpu, row, event, startNumber, timer, inferred);
  if (!x) span.owner = noCpu;
  if (inferred && span.owner != noCpu) span.flags |= ArmedSpan::OwnerInferred;
  if (byCallback) span.flags |= ArmedSpan::Restart;

  refreshFloor(cpu, row);
  // The old life of the timer.
  const Known<SpanId> old = timer.span;
  Known<SpanId> here;  // it was queued on this CPU
  if (old) {
    const ArmedSpan& before = tables_.spans[number(*old)];
    if (uncertain || before.owner == noCpu) {
      blindBecause(uncertain ? BlindSpotKind::LostEvents : BlindSpotKind::OwnerUnknown);
    } else if (before.owner == cpu.cpu && cpu.hrtimers.queued(*old)) {
      here = old;
    }
    if (!here) removed(row, timer);
  } else if (restart) {
    blindBecause(BlindSpotKind::BeforeEvidence);
    if (wasArmedRecorded_) {
      expiredFromBefore(timer, row, SpanEnd::Restarted, number(base), noCpu);
    }
  }
  if (old) timer.lastSpan = old;
  const Known<BaseTime> lastExpires = timer.lastExpires;
  if (old) close(*old, row, restart ? SpanEnd::Restarted : SpanEnd::Unknown);
  const SpanId id = open(span);
  if (range && range->least != range->most) {
    unsure_.push_back(id);
    blindBecause(BlindSpotKind::ClockNotAnchored);
  }
  timer.span = id;
  timer.known = hrtimersComplete_;
  timer.everStarted = true;
  timer.lastExpires = event.expires;

  CpuNow* owner = span.owner == noCpu ? nullptr : cpuNow(span.owner);
  if (byCallback) {
    if (lastExpires) {
      // With slack the callback may have run before its hard expiry, and forwards nothing then.
      const bool ranEarly = timer.ranAt && *timer.ranAt < *lastExpires;
      judge(27, event.expires > *lastExpires || ranEarly);
      if (const auto hz = in_.profile.hz.judged(); hz && isTick(event.function)) {
        judge(13, (event.expires - *lastExpires).value % ClockMap::tickNs(*hz) == 0);
      }
    }
    if (here) cpu.hrtimers.cancelRemote(*here);
    if (x) cpu.hrtimers.enqueueRestart(id, base, *x, event.expires);
    tables_.ratios.arms.add(wasArmedRecorded_ ? armedRight : Known<bool>{timer.known});
    if (!owner) unplaced_.push_back(id);
    recordLines(cpu, row);
    return;
  }
  if (x) {
    HrtimerModel::Start start{};
    start.span = id;
    start.armed = here.has_value();
    if (here) {
      start.was = here;
    } else if (timer.lastSpan && tables_.spans[number(*timer.lastSpan)].owner == cpu.cpu) {
      start.was = timer.lastSpan;
    }
    start.base = base;
    start.x = *x;
    start.expires = event.expires;
    start.lazy = event.mode & lazyMode;
    start.callbackRuns = timer.running == cpu.cpu;
    if (!owner) {
      start.owner.reset();
    } else {
      start.owner = owner == &cpu;
    }
    if (here) operation.standing = standingOf(cpu, *here, tables_.spans[number(*here)].clockBase());
    operation.predicted = cpu.hrtimers.start(start);
    if (owner && owner != &cpu) {
      owner->hrtimers.enqueueRemote(id, base, *x, event.expires);
      recordLines(*owner, row);
    }
  } else {
    if (here) cpu.hrtimers.cancelRemote(*here);
    blindBecause(BlindSpotKind::ClockNotAnchored);
  }
  if (!owner) {
    unplaced_.push_back(id);
    operation.why = BlindSpotKind::OwnerUnknown;
  }
  Known<bool> judgedArm = armedRight;
  if (!wasArmedRecorded_) judgedArm = !old || announced;
  tables_.ratios.arms.add(judgedArm);
  if (cpu.inTimerInterrupt && !cpu.passOpen) blindBecause(BlindSpotKind::ContextNotVisible);
  cpu.operation = operation;
  recordLines(cpu, row);
}

u8 Replay::standingOf(const CpuNow& cpu, SpanId span, ClockBase base) const {
  u8 standing = 0;
  if (const Known<SpanId> next = cpu.hrtimers.scalars(rule_).nextTimer) {
    standing = *next == span ? OperationCount::First : OperationCount::NotFirst;
  }
  const HrtimerTree& tree = cpu.hrtimers.tree(base);
  if (const Known<TreeNode> first = tree.first(); first && tree[*first].span == span) {
    standing |= OperationCount::FirstInBase;
  }
  return standing;
}

Replay::CancelMeaning Replay::meaningOf(Row row, Address timer) const {
  if (!restartsVisible_) return CancelMeaning::Cancel;
  const auto rows = store_.rowsOfStream(store_.streamOf(row));
  for (u32 at = store_.placeInStream(row) + 1; at < rows.size(); ++at) {
    const Row next = rows[at];
    if (transparent_[store_.typeIndex(next)]) continue;
    if (store_.kind(next) == kindOf<HrtimerStart> &&
        store_.as<HrtimerStart>(next).hrtimer == timer) {
      // The idle loop restarts its tick by cancel and start on its way out (tick_nohz_restart).
      const bool idleTick =
          isTick(store_.as<HrtimerStart>(next).function) && number(store_.pid(next)) == 0 &&
          (store_.context(next).flags & needReschedFlags) && !store_.context(next).hardIrq();
      return idleTick ? CancelMeaning::Cancel : CancelMeaning::Restart;
    }
    if (store_.kind(next) == kindOf<HrtimerExpireEntry> &&
        store_.as<HrtimerExpireEntry>(next).hrtimer == timer) {
      return CancelMeaning::Expiry;
    }
    return CancelMeaning::Cancel;
  }
  return CancelMeaning::Cancel;
}

void Replay::apply(CpuNow& cpu, Row row, const HrtimerCancel& event) {
  TimerNow& timer = this->timer(TimerClass::Hrtimer, event.hrtimer, row);
  const CancelMeaning meaning = meaningOf(row, event.hrtimer);
  if (meaning == CancelMeaning::Expiry) {
    announced(timer, row);  // hrtimer_expire_entry does the rest
    return;
  }
  if (meaning == CancelMeaning::Restart) {
    closeOperation(cpu);
    cpu.restartAnnounced = event.hrtimer;
    if (!timer.span && !timer.known) {
      expiredFromBefore(timer, row, SpanEnd::Restarted, 0, noCpu);
    }
    announced(timer, row);  // hrtimer_start does the rest
    return;
  }
  Operation operation;
  operation.removalSeen = leadingCalls(cpu, row, !restartsVisible_, operation.blind);
  operation.why = BlindSpotKind::ProgrammingNotTraced;
  operation.kind = OperationKind::Cancel;
  operation.row = row;
  operation.timer = timer.id;
  refreshFloor(cpu, row);
  operation.wallClock = wallClockNear(cpu, MonoTime{0});
  if (!timer.span) {
    if (timer.known && !excused(timer, row)) {
      differs(DiscrepancyKind::CancelledWhileIdle, row, cpu, timer.id);
    } else {
      expiredFromBefore(timer, row, SpanEnd::Cancelled, 0, noCpu);
    }
    operation.blind = true;
    operation.why = BlindSpotKind::BeforeEvidence;
  } else {
    ArmedSpan& span = tables_.spans[number(*timer.span)];
    const bool uncertain = isUncertain(span, row);
    if (!uncertain && span.owner == cpu.cpu && cpu.hrtimers.queued(*timer.span)) {
      operation.predicted = cpu.hrtimers.cancel(*timer.span);
    } else if (span.owner == noCpu || uncertain) {
      removed(row, timer);
      operation.blind = true;
      operation.why = span.owner == noCpu ? BlindSpotKind::OwnerUnknown : BlindSpotKind::LostEvents;
    } else {
      removed(row, timer);  // of another CPU: nothing is programmed here
    }
    close(*timer.span, row, SpanEnd::Cancelled);
    timer.lastSpan = timer.span;
    timer.span.reset();
  }
  timer.known = hrtimersComplete_;
  cpu.operation = operation;
  recordLines(cpu, row);
}

void Replay::apply(CpuNow& cpu, Row row, const HrtimerExpireEntry& event) {
  closeOperation(cpu);
  TimerNow& timer = this->timer(TimerClass::Hrtimer, event.hrtimer, row);
  const Context context = store_.context(row);
  const bool hard = context.hardIrq();
  if (!timer.span && !timer.known) {
    if (const auto seeded = takeSeed(&cpu, event.function, event.now.value)) {
      adopt(timer, *seeded, event.hrtimer);
    }
  }
  ModelTimer& model = tables_.timers[number(timer.id)];
  model.function = event.function;
  if (!model.base) {
    ClockBase base = event.now.value >= leastWallTime ? ClockBase::Real : ClockBase::Mono;
    model.base = hard ? base : softOf(base);
    model.baseGuessed = true;
  }
  const bool uncertain = timer.span && isUncertain(tables_.spans[number(*timer.span)], row);
  const ClockBase base = timer.span ? tables_.spans[number(*timer.span)].clockBase() : *model.base;
  const Known<MonoTime> monoNow = monoOf(event.now.value, base, row);

  // Passes.
  if (hard) {
    if (!cpu.inTimerInterrupt) beginInterrupt(cpu, row);
    if (!cpu.passOpen) beginPass(cpu, row);
    if (monoNow && cpu.passNow != monoNow) {
      if (hardOf(base) == ClockBase::Mono || !cpu.passNow) {
        if (hardOf(base) == ClockBase::Mono) {
          const bool forward = *monoNow >= cpu.lastPass;
          judge(28, forward);
          if (!forward) {
            differs(DiscrepancyKind::TimeBackward, row, cpu, timer.id, cpu.lastPass.value,
                    monoNow->value);
          }
        }
        cpu.passNow = monoNow;
        cpu.lastPass = *monoNow;
        cpu.lastExpires = {};
      }
    }
    ++cpu.expiriesInPass;
  } else if (cpu.softNow != event.now && hardOf(base) == ClockBase::Mono) {
    cpu.softNow = event.now;
    cpu.lastExpires = {};
  }
  if (!hard) cpu.softCallbackRuns = true;
  if (monoNow && hardOf(base) == ClockBase::Mono) {
    // `now` was read before the row was written (I17).
    if (const auto mono = in_.clocks.mono(store_.time(row), cpu.cpu)) {
      const bool inside = monoNow->value <= mono->value.value + mono->error.value;
      judge(17, inside);
      if (!inside) {
        differs(DiscrepancyKind::NowOutsideInterrupt, row, cpu, timer.id, mono->value.value,
                monoNow->value);
      }
    } else {
      judge(17, {}, BlindSpotKind::ClockNotAnchored);
    }
  }
  // Context (I18). Low resolution: all run from the tick.
  if (cpu.highRes && in_.profile.rt.expected) {
    judge(18, isSoft(base) ? !hard : hard);
  } else {
    judge(18, {}, cpu.highRes ? BlindSpotKind::SoftOrHardUnknown : BlindSpotKind::NotHighRes);
  }

  if (!timer.span) {
    expiredUnarmed(cpu, row, timer, number(base));
    tables_.ratios.softExpires.add({});
    judge(14, {});
  } else {
    const SpanId id = *timer.span;
    ArmedSpan& span = tables_.spans[number(id)];
    tables_.ratios.matched.add(uncertain ? Known<bool>{} : Known<bool>{true});
    Known<bool> notEarly;
    if (span.secondKnown && !uncertain) notEarly = event.now.value >= span.second;
    judge(14, notEarly, uncertain ? BlindSpotKind::LostEvents : BlindSpotKind::BeforeEvidence);
    tables_.ratios.softExpires.add(notEarly);
    tables_.ratios.expiries.add(notEarly);
    if (notEarly == false) {
      differs(DiscrepancyKind::BeforeSoftExpires, row, cpu, timer.id, span.second, event.now.value);
    }
    // Order within the pass and base (I15); a timer armed during the pass comes when it comes.
    if (span.expiryKnown && !uncertain) {
      Known<s64>& last = cpu.lastExpires[number(base)];
      const bool armedInPass = hard ? span.armed != noRow && span.armed >= cpu.interruptRow
                                    : span.armed != noRow && span.armed >= cpu.softirqRow;
      if (!armedInPass) {
        Known<bool> ordered = !last || span.expires >= *last;
        // A timer taken for one of CLOCK_MONOTONIC may be of CLOCK_BOOTTIME, which runs behind it.
        if (!*ordered && (in_.filtered || !hrtimersComplete_ || model.baseGuessed)) ordered.reset();
        judge(15, ordered,
              model.baseGuessed ? BlindSpotKind::BaseUnknown : BlindSpotKind::NotRecorded);
        if (ordered == false) {
          differs(DiscrepancyKind::Order, row, cpu, timer.id, *last, span.expires);
        }
        last = span.expires;
      }
    }
    if (span.owner == noCpu) {
      std::erase(unplaced_, id);
      span.owner = cpu.cpu;
      span.flags |= ArmedSpan::OwnerInferred;
    } else if (span.owner != cpu.cpu) {
      if (!uncertain) {
        differs(DiscrepancyKind::WrongCpu, row, cpu, timer.id, number(span.owner), number(cpu.cpu));
      }
      removed(row, timer);
    } else if (cpu.hrtimers.queued(id)) {
      cpu.hrtimers.expire(id);
    }
    close(id, row, SpanEnd::Expired);
    timer.span.reset();
    timer.lastSpan = id;
  }
  timer.known = hrtimersComplete_;
  timer.ranAt = event.now;
  timer.running = cpu.cpu;
  recordLines(cpu, row);
}

void Replay::apply(CpuNow& cpu, Row row, const HrtimerExpireExit& event) {
  closeOperation(cpu);
  TimerNow& timer = this->timer(TimerClass::Hrtimer, event.hrtimer, row);
  if (timer.running && *timer.running != cpu.cpu) {
    differs(DiscrepancyKind::UnbalancedBracket, row, cpu, timer.id);
  }
  timer.running.reset();
  if (!timer.span) timer.known = hrtimersComplete_;
  if (store_.context(row).hardIrq()) {
    cpu.lastExitHard = event.hrtimer;
  } else {
    cpu.lastExitSoft = event.hrtimer;
    cpu.softCallbackRuns = false;
  }
}

void Replay::apply(Row row, const HrtimerStartExpired& event) {
  TimerNow& timer = this->timer(TimerClass::Hrtimer, event.hrtimer, row);
  if (!timer.span) return;
  removed(row, timer);
  close(*timer.span, row, SpanEnd::ExpiredAtStart);
  timer.span.reset();
}

}  // namespace tickscope
