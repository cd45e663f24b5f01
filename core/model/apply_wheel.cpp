// SPDX-License-Identifier: GPL-3.0-or-later
// timer_start, timer_cancel, timer_expire_*: what they do to the wheel base that holds the timer (timer.c, 4.8+).
#include "core/model/recorded_field.h"
#include "core/model/replay.h"
#include "core/model/replay_now.h"

namespace tickscope {

namespace {

constexpr u32 cpuMask = 0x3ffff, deferrableFlag = 1U << 19U, pinnedFlag = 1U << 20U;
constexpr u32 indexShift = 22;

/// Softirqs answer for raises of the same CPU; rows of interrupts between do not end a run.
constexpr u32 lookAhead = 512;
/// Empty TIMER runs one after the other, none explained, from which on the raise rule is taken as broken. The
/// migration hierarchy of 6.9+ asks for some that nothing in a recording explains (healthy kernels: up to 4 in series).
constexpr u32 emptyRunsInSeries = 8, emptyRunsBesideHierarchy = 32;

bool hasIndex(Known<WheelTrace> trace) {
  return trace.value_or(WheelTrace::WT2) >= WheelTrace::WT2;
}
bool hasCpu(Known<WheelTrace> trace) { return trace.value_or(WheelTrace::WT2) >= WheelTrace::WT1; }

}  // namespace

WheelBaseKind Replay::wheelBaseOf(u32 flags) const {
  if (tables_.wheelBases == 1) return WheelBaseKind::LocalOrStd;
  if (flags & deferrableFlag) return WheelBaseKind::Def;
  if (tables_.wheelBases == 3 && !(flags & pinnedFlag)) return WheelBaseKind::Global;
  return WheelBaseKind::LocalOrStd;
}

bool Replay::announcesExpiry(CpuNow& cpu, Row row, Address timer) const {
  const auto rows = store_.rowsOfStream(store_.streamOf(row));
  const bool hard = store_.context(row).hardIrq();
  for (u32 at = cpu.place + 1; at < rows.size() && at <= cpu.place + lookAhead; ++at) {
    const Row next = rows[at];
    const EventKind kind = store_.kind(next);
    if (kind == kindOf<TimerExpireEntry>) {
      if (store_.as<TimerExpireEntry>(next).timer == timer) return true;
      if (!store_.context(next).hardIrq() || hard) return false;
    }
    if (kind == kindOf<SoftirqExit> || kind == kindOf<SchedSwitch>) return false;
    if (transparent_[store_.typeIndex(next)] || store_.context(next).hardIrq()) continue;
    if (kind == kindOf<TimerStart> || kind == kindOf<TimerCancel>) return false;
  }
  return false;
}

bool Replay::startsAgain(Row row, Address timer) const {
  const auto rows = store_.rowsOfStream(store_.streamOf(row));
  for (u32 at = store_.placeInStream(row) + 1; at < rows.size(); ++at) {
    const Row next = rows[at];
    if (transparent_[store_.typeIndex(next)]) continue;
    return store_.kind(next) == kindOf<TimerStart> && store_.as<TimerStart>(next).timer == timer;
  }
  return false;
}

void Replay::apply(CpuNow& cpu, Row row, const TimerStart& event) {
  TimerNow& timer = this->timer(TimerClass::Wheel, event.timer, row);
  if (timer.span) {
    ArmedSpan& old = tables_.spans[number(*timer.span)];
    if (!isUncertain(old, row) && timer.known && !excused(timer, row)) {
      // Every detach prints timer_cancel, so the timer cannot still be pending.
      differs(DiscrepancyKind::StartedWhileArmed, row, cpu, timer.id);
    }
    removed(row, timer);
    close(*timer.span, row, SpanEnd::Unknown);
    timer.span.reset();
  }
  // A callback that changed means another user of the address (on-stack timers without init).
  ModelTimer& model = tables_.timers[number(timer.id)];
  if (model.function != event.function && model.function != Address{} && timer.everStarted) {
    timer.id = static_cast<TimerId>(tables_.timers.size());
    ModelTimer made{};
    made.of = TimerClass::Wheel;
    made.address = event.timer;
    tables_.timers.push_back(made);
  }
  tables_.timers[number(timer.id)].function = event.function;
  const Known<WheelTrace> trace = in_.profile.wheelTrace.expected;
  ArmedSpan span;
  span.timer = timer.id;
  span.armed = row;
  span.expires = event.expires.value;
  span.base = static_cast<u8>(wheelBaseOf(event.flags));
  if (event.flags & deferrableFlag) span.flags |= ArmedSpan::Deferrable;
  span.owner = hasCpu(trace) ? static_cast<Cpu>(event.flags & cpuMask) : noCpu;
  CpuNow* owner = span.owner == noCpu ? nullptr : cpuNow(span.owner);
  RecordedArm recorded;
  recorded.expires = static_cast<u64>(event.expires.value);
  recorded.now = static_cast<u64>(event.now.value);
  if (hasIndex(trace)) recorded.index = static_cast<u16>(event.flags >> indexShift);
  const EventType& type = store_.type(row);
  const bool bucketRecorded =
      trace == WheelTrace::WT3 && type.recorded(placeOf<TimerStart>("bucket_expiry"));
  if (bucketRecorded) recorded.bucketExpiry = static_cast<u64>(event.bucketExpiry.value);
  const SpanId id = open(span);
  ArmedSpan& opened = tables_.spans[number(id)];
  timer.span = id;
  timer.known = wheelComplete_;
  timer.everStarted = true;

  const WheelGeometry& geometry = wheelRules_.geometry;
  if (recorded.index && wheelRules_.kind == WheelKind::Levels) {
    const Known<u64> inferred =
        bucketExpiryOf(geometry, *recorded.index, recorded.expires, recorded.now);
    if (bucketRecorded) {
      Known<bool> same;
      if (inferred) same = geometry.wrap(*inferred) == geometry.wrap(*recorded.bucketExpiry);
      tables_.ratios.bucketExpiry.add(same);
    }
  }
  if (!owner) {
    opened.secondKnown = false;
    tables_.ratios.wheelIndex.add({});
    tables_.ratios.arms.add({});
    judge(5, {}, hasCpu(trace) ? BlindSpotKind::NotRecorded : BlindSpotKind::StaleFlags);
    return;
  }
  WheelModel& base = owner->wheel[span.base];
  const ArmResult result = base.arm(id, recorded, event.flags & deferrableFlag);
  if (result.bucket) {
    opened.second = static_cast<s64>(result.bucket->expiry);
    opened.bucketIndex = result.bucket->index;
    if (!result.bucket->clamped && geometry.distance(recorded.expires, recorded.now) > 0) {
      const s64 slack = geometry.distance(result.bucket->expiry, recorded.expires);
      judge(6, slack >= 1 &&
                   slack <= static_cast<s64>(WheelGeometry::granularity(result.bucket->level())));
    }
  }
  opened.secondKnown = result.bucket.has_value();
  tables_.ratios.wheelIndex.add(result.explained);
  tables_.ratios.arms.add(result.explained);
  judge(5, result.explained,
        recorded.index ? BlindSpotKind::BeforeEvidence : BlindSpotKind::StaleFlags);
  if (result.explained == false) {
    differs(DiscrepancyKind::BucketNotExplained, row, cpu, timer.id,
            result.lag ? Known<s64>(static_cast<s64>(result.lag->least)) : Known<s64>{},
            recorded.index ? Known<s64>(*recorded.index) : Known<s64>{});
  }
  recordLines(*owner, row);
}

void Replay::apply(CpuNow& cpu, Row row, const TimerCancel& event) {
  TimerNow& timer = this->timer(TimerClass::Wheel, event.timer, row);
  if (announcesExpiry(cpu, row, event.timer)) {
    announced(timer, row);  // timer_expire_entry does the rest
    return;
  }
  SpanEnd end = startsAgain(row, event.timer) ? SpanEnd::Restarted : SpanEnd::Cancelled;
  // Where expiries are not recorded this may be one.
  if (end == SpanEnd::Cancelled && !wheelExpiriesTold_ && store_.context(row).softIrq()) {
    end = SpanEnd::Unknown;
  }
  // next_expiry of its base may be too early from now on, up to the next run.
  for (auto& other : cpus_) {
    if (!timer.span || tables_.spans[number(*timer.span)].owner == other->cpu) {
      other->deletedSinceRun = true;
      if (!timer.span) {
        for (WheelModel& base : other->wheel) base.unseenDeleted();
      }
    }
  }
  if (!timer.span) {
    if (timer.known && !excused(timer, row)) {
      differs(DiscrepancyKind::CancelledWhileIdle, row, cpu, timer.id);
    } else {
      expiredFromBefore(timer, row, end, 0, noCpu);
    }
    timer.known = wheelComplete_;
    return;
  }
  removed(row, timer);
  close(*timer.span, row, end);
  timer.span.reset();
  timer.known = wheelComplete_;
}

void Replay::apply(CpuNow& cpu, Row row, const TimerExpireEntry& event) {
  TimerNow& timer = this->timer(TimerClass::Wheel, event.timer, row);
  ModelTimer& model = tables_.timers[number(timer.id)];
  const WheelGeometry& geometry = wheelRules_.geometry;
  const bool baseClkRecorded = store_.type(row).recorded(placeOf<TimerExpireEntry>("baseclk"));
  const u64 now = static_cast<u64>(event.now.value);
  Known<u64> baseClk;
  if (baseClkRecorded) baseClk = static_cast<u64>(event.baseclk.value);

  if (baseClk) {
    const bool inTime = !geometry.before(now, *baseClk);
    judge(2, inTime);
    if (!inTime) {
      differs(DiscrepancyKind::BaseClk, row, cpu, timer.id, event.now.value, event.baseclk.value);
    }
  }
  if (softirqsTraced_) {
    if (cpu.softirq == noVector) {
      judge(10, {}, BlindSpotKind::BeforeEvidence);
    } else {
      judge(10, cpu.softirq == timerVector);
    }
    ++cpu.wheelExpiriesInRun;
  } else {
    judge(10, {}, BlindSpotKind::ContextNotVisible);
  }
  // timer_cancel of the same timer must be near, rows of interrupts between (I09).
  if (!wheelComplete_) {
    judge(9, {}, BlindSpotKind::NotRecorded);
  } else {
    const auto rows = store_.rowsOfStream(store_.streamOf(row));
    Known<bool> announced = cpu.place == 0 ? Known<bool>{} : Known<bool>{false};
    for (u32 back = 1; back <= cpu.place && back <= lookAhead; ++back) {
      const Row before = rows[cpu.place - back];
      if (store_.kind(before) == kindOf<TimerCancel> &&
          store_.as<TimerCancel>(before).timer == event.timer) {
        announced = true;
        break;
      }
      if (store_.context(before).hardIrq() || transparent_[store_.typeIndex(before)]) continue;
      break;
    }
    judge(9, announced);
  }

  if (!timer.span) {
    expiredUnarmed(cpu, row, timer, 0);
    if (timer.known || !baseClk) {
      tables_.ratios.baseClk.add({});
      judge(1, {});
    }
    model.function = event.function;
  } else {
    const SpanId id = *timer.span;
    ArmedSpan& span = tables_.spans[number(id)];
    const bool uncertain = isUncertain(span, row);
    tables_.ratios.matched.add(uncertain ? Known<bool>{} : Known<bool>{true});
    CpuNow* owner = span.owner == noCpu ? nullptr : cpuNow(span.owner);
    Known<bool> atBucket, inOrder;
    if (owner && !uncertain) {
      // Silent mod_timer within one bucket changes `expires` only: the bucket holds (B07).
      const auto result = owner->wheel[span.base].expire(id, now, baseClk);
      atBucket = result.atItsBucket;
      inOrder = result.inOrder;
      for (const SpanId lostSpan : result.lost) {
        if (!wheelComplete_ || in_.filtered) continue;
        const ArmedSpan& other = tables_.spans[number(lostSpan)];
        if (isUncertain(other, row)) continue;
        differs(DiscrepancyKind::Lost, row, *owner, other.timer, other.second, event.now.value);
      }
      recordLines(*owner, row);
    } else {
      removed(row, timer);
    }
    if (!orderKnown_ || in_.filtered) {
      // Rows of another CPU, or some that are missing, may stand between.
      if (atBucket == false) atBucket.reset();
      if (inOrder == false) inOrder.reset();
    }
    if (owner && baseClk && !uncertain) {
      Known<u64>& last = owner->lastBaseClk[span.base];
      const bool forward = !last || !geometry.before(*baseClk, *last);
      judge(3, forward);
      if (!forward) {
        differs(DiscrepancyKind::BaseClk, row, cpu, timer.id, static_cast<s64>(*last),
                event.baseclk.value);
      }
      last = *baseClk;
    }
    tables_.ratios.baseClk.add(atBucket);
    tables_.ratios.expiries.add(atBucket);
    judge(1, atBucket, uncertain ? BlindSpotKind::LostEvents : BlindSpotKind::BeforeEvidence);
    judge(8, inOrder);
    if (atBucket == false) {
      const bool early = span.secondKnown && geometry.before(now, static_cast<u64>(span.second));
      differs(early ? DiscrepancyKind::BeforeBucket : DiscrepancyKind::BaseClk, row, cpu, timer.id,
              span.second, baseClk ? Known<s64>(event.baseclk.value) : Known<s64>{});
    }
    if (inOrder == false) differs(DiscrepancyKind::Order, row, cpu, timer.id);
    if (span.secondKnown && span.armed != noRow && !uncertain) {
      const bool clamped =
          geometry.before(static_cast<u64>(span.second), static_cast<u64>(span.expires));
      if (!clamped) {
        Known<bool> notEarly = geometry.before(static_cast<u64>(span.expires), now);
        if (!*notEarly && (!orderKnown_ || in_.filtered)) notEarly.reset();
        judge(4, notEarly);
      }
    }
    close(id, row, SpanEnd::Expired);
    timer.span.reset();
  }
  timer.known = wheelComplete_;
  judge(11, cpu.softirq == timerVector ? Known<bool>{!cpu.wheelCallback} : Known<bool>{},
        BlindSpotKind::ContextNotVisible);
  cpu.wheelCallback = true;
  timer.running = cpu.cpu;
}

void Replay::apply(CpuNow& cpu, Row row, const TimerExpireExit& event) {
  TimerNow& timer = this->timer(TimerClass::Wheel, event.timer, row);
  if (timer.running && *timer.running != cpu.cpu) {
    differs(DiscrepancyKind::UnbalancedBracket, row, cpu, timer.id);
  }
  timer.running.reset();
  cpu.wheelCallback = false;
  if (!timer.span) timer.known = wheelComplete_;
}

/// A run leaves next_expiry exact. Under SR2 the tick raises TIMER next when it is reached: then a timer is due, or was
/// and has been deleted since. Under SR3 the migration hierarchy raises as well, now and then; SR0, SR1 raise on each
/// tick.
void Replay::judgeRaise(CpuNow& cpu, Row row) {
  const bool runBefore = cpu.runSeen;
  cpu.runSeen = true;
  const bool explained = cpu.deletedSinceRun || cpu.servedBefore;
  cpu.deletedSinceRun = false;
  cpu.servedBefore = cpu.raisedInRun;
  cpu.raisedInRun = false;
  if (cpu.wheelExpiriesInRun > 0) {
    judge(12, true);
    cpu.emptyRuns = 0;
    return;
  }
  if (!wheelExpiriesTold_ || in_.filtered || !runBefore || !orderKnown_) {
    judge(12, {}, wheelExpiriesTold_ ? BlindSpotKind::BeforeEvidence : BlindSpotKind::NotRecorded);
    return;
  }
  if (explained) {
    judge(12, true);
    cpu.emptyRuns = 0;
    return;
  }
  const Known<RaiseRule> rule = in_.profile.raise.judged();
  const bool hierarchy = rule == RaiseRule::SR3;
  if (!hierarchy && rule != RaiseRule::SR2) {
    judge(12, {}, BlindSpotKind::RemoteRunNotVisible);
    return;
  }
  // Healthy kernels have such runs one at a time (a timer of the idle path, a remote deletion in flight): only a
  // series is against the rule.
  if (++cpu.emptyRuns < (hierarchy ? emptyRunsBesideHierarchy : emptyRunsInSeries)) {
    judge(12, {}, hierarchy ? BlindSpotKind::RemoteRunNotVisible : BlindSpotKind::BeforeEvidence);
    return;
  }
  judge(12, false);
  differs(DiscrepancyKind::RaiseRule, row, cpu, {}, 0, 1);
}

void Replay::endOfTimerSoftirq(CpuNow& cpu, Row row) {
  if (cpu.softirq != timerVector) return;  // its entry was before the recording
  judgeRaise(cpu, row);
  const auto mono = in_.clocks.mono(store_.time(row), cpu.cpu);
  auto jiffies = mono ? in_.clocks.jiffies(*mono) : Known<JiffyRange>{};
  if (jiffies) jiffies->earliest = wheelRules_.geometry.wrap(jiffies->earliest);
  // The run went on to jiffies as it was read last; the earliest possible one is certain.
  if (jiffies) {
    for (std::size_t kind = 0; kind < wheelBaseCount; ++kind) {
      // An idle CPU's GLOBAL base may be in the hands of another.
      if (tables_.wheelBases == 3 && static_cast<WheelBaseKind>(kind) == WheelBaseKind::Global &&
          store_.pid(row) == Pid{0}) {
        continue;
      }
      WheelModel& base = cpu.wheel[kind];
      for (const SpanId id : base.endOfRun(jiffies->earliest)) {
        if (!wheelComplete_ || in_.filtered) continue;
        const ArmedSpan& span = tables_.spans[number(id)];
        if (isUncertain(span, row)) continue;
        differs(DiscrepancyKind::Lost, row, cpu, span.timer, span.second,
                static_cast<s64>(jiffies->earliest));
      }
    }
    recordLines(cpu, row);
  }
}

}  // namespace tickscope
