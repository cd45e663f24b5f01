// SPDX-License-Identifier: GPL-3.0-or-later
// The pass over the rows: which CPU, what context, which event.
#include "core/model/replay.h"

#include <algorithm>

#include "core/model/due_time.h"
#include "core/model/recorded_field.h"
#include "core/model/replay_now.h"
#include "core/model/state_at.h"

namespace tickscope {

namespace {

RuleSet withExpected(RuleSet rules, HrtimerRule expected) {
  rules.set(number(expected));
  return rules;
}

}  // namespace

Replay::Replay(const ReplayInput& input)
    : in_(input),
      store_(input.buffer.events),
      hindsight_(input.hindsight
                     ? *input.hindsight
                     : Hindsight(input.buffer.events, wheelRulesOf(input.profile).geometry)),
      callSites_(*input.recording.metadata.symbols),
      rule_(input.profile.hrtimer.expected.value_or(HrtimerRule::R3)),
      ruleKnown_(input.profile.hrtimer.judged().has_value()),
      wheelRules_(wheelRulesOf(input.profile)),
      restartsVisible_(input.profile.hrtimerTrace.expected.value_or(HrtimerTrace::HT2) !=
                       HrtimerTrace::HT2) {
  in_.rules = withExpected(in_.rules, rule_);
  if (in_.profile.hrtimer.observed) {
    in_.rules = withExpected(in_.rules, *in_.profile.hrtimer.observed);
  }
  wasArmedRecorded_ = recordsField<HrtimerStart>(store_, placeOf<HrtimerStart>("was_armed"));
  modeRecorded_ = recordsField<HrtimerStart>(store_, placeOf<HrtimerStart>("mode"));
  callsTraced_ = hasRows(kindOf<ProgramEvent>);
  callsByProbe_ = !callsTraced_ && hasRows(kindOf<ProgramEventProbe>);
  softirqsTraced_ = hasRows(kindOf<SoftirqEntry>) && hasRows(kindOf<SoftirqExit>);
  raisesTraced_ = hasRows(kindOf<SoftirqRaise>);
  // Whatever takes a timer off the wheel prints timer_cancel, its expiry too.
  wheelComplete_ = hasRows(kindOf<TimerStart>) && hasRows(kindOf<TimerCancel>);
  wheelExpiriesTold_ = wheelComplete_ && showsWheelExpiries();
  // A short recording may have no cancel; whoever records the wheel's records the whole group.
  hrtimersComplete_ = hasRows(kindOf<HrtimerStart>) && hasRows(kindOf<HrtimerExpireEntry>) &&
                      (hasRows(kindOf<HrtimerCancel>) || hasRows(kindOf<TimerCancel>));
  tickFunctions_ = tickFunctionsOf(input.recording, input.clocks);
  findClockSteps();
  for (u32 stream = 0; stream < store_.streams().size(); ++stream) {
    const auto rows = store_.rowsOfStream(stream);
    if (rows.empty()) continue;
    coverage_.push_back({rows.front(), rows.back()});
  }
  // Stamps of 10 ms say nothing of the order between CPUs.
  orderKnown_ = store_.streams().size() == 1 || input.buffer.clock.unit != ClockUnit::Jiffies100Hz;
  if (const auto possible = input.recording.metadata.possibleCpus;
      possible && *possible > coverage_.size()) {
    coverage_.push_back({noRow, Row{0}});
  }
  cpuNumbers_ = cpusOf(store_);
  for (const Stream& stream : store_.streams()) {
    cpuOfStream_.push_back(indexOf(cpuNumbers_, stream.cpu));
  }
  for (std::size_t i = 0; i < cpuNumbers_.size(); ++i) {
    cpus_.push_back(std::make_unique<CpuNow>(cpuNumbers_[i], i, wheelRules_, in_.rules));
    cpus_.back()->highRes = input.profile.highRes.expected.value_or(true);
    cpus_.back()->hrtimers.setHighRes(cpus_.back()->highRes);
    tables_.cpus.emplace_back().cpu = cpuNumbers_[i];
  }
  switch (input.profile.bases.expected.value_or(WheelBases::StdDef)) {
    case WheelBases::One:
      tables_.wheelBases = 1;
      break;
    case WheelBases::StdDef:
      tables_.wheelBases = 2;
      break;
    case WheelBases::LocalGlobalDef:
      tables_.wheelBases = 3;
      break;
  }
  for (const EventType& type : store_.types()) {
    const bool call = type.kind == kindOf<ProgramEvent> || type.kind == kindOf<ProgramEventProbe> ||
                      type.kind == kindOf<ProgramEventReturn> || type.kind == kindOf<Function> ||
                      type.kind == kindOf<FuncRepeats> || type.kind == kindOf<FuncgraphEntry> ||
                      type.kind == kindOf<FuncgraphExit> || type.kind == kindOf<HrtimerRearm>;
    transparent_.push_back(call || type.name == "kernel_stack" || type.name == "user_stack");
  }
  losses_ = lossesByRow(store_);
  for (const Loss& loss : losses_) {
    // One before a CPU's first row is no gap: its rows begin there.
    if (!loss.from) continue;
    gaps_.push_back({Row{store_.lowerBound(*loss.from)}, loss.next.value_or(noRow)});
  }
  // Nearly every span begins with a start.
  u64 starts = 0;
  for (u16 type = 0; type < store_.types().size(); ++type) {
    const EventKind kind = store_.types()[type].kind;
    if (kind != kindOf<TimerStart> && kind != kindOf<HrtimerStart>) continue;
    for (u32 stream = 0; stream < store_.streams().size(); ++stream) {
      starts += store_.count(type, stream);
    }
  }
  starts += starts / 64;
  tables_.spans.reserve(starts);
  placeInOpen_.reserve(starts);
  findDeaths();
  if (input.seed) seed(*input.seed);
}

Replay::~Replay() = default;

bool Replay::showsWheelExpiries() const {
  if (hasRows(kindOf<TimerExpireEntry>)) return true;
  // An expiry prints timer_cancel in the softirq first: without one there nothing expired.
  for (u32 r = 0; r < store_.size(); ++r) {
    const Row row{r};
    if (store_.kind(row) == kindOf<TimerCancel> && store_.context(row).softIrq()) return false;
  }
  return softirqsTraced_;
}

Result<ReplayTables> Replay::run(Progress& progress) {
  const u32 end = std::min(store_.size(), in_.lastRow);
  constexpr u32 slice = 8192;  // well below 10 ms
  for (u32 from = 0; from < end; from += slice) {
    const u32 to = std::min(end, from + slice);
    for (u32 r = from; r < to; ++r) step(Row{r});
    if (!progress.advance(to - from)) {
      return fail(Error::Kind::Cancelled, "Cancelled.");
    }
  }
  return finish();
}

void Replay::step(Row row) {
  now_ = row;
  while (nextLoss_ < losses_.size()) {
    const Loss& loss = losses_[nextLoss_];
    if (!loss.next || *loss.next > row) break;
    ++nextLoss_;
    if (CpuNow* cpu = cpuNow(loss.cpu)) lost(*cpu, row);
  }
  if (nextClockStep_ < clockSteps_.size()) clockSteps(row);
  CpuNow& cpu = *cpus_[cpuOfStream_[store_.streamOf(row)]];
  cpu.place = store_.placeInStream(row);
  if (!cpu.online) cameUp(cpu, row);
  const EventKind kind = store_.kind(row);
  const bool opaque = !transparent_[store_.typeIndex(row)];
  if (opaque) {
    // Only a row of the same irqs-off section can still call for the operation before it.
    if (cpu.operation && kind != kindOf<HrtimerStart> && kind != kindOf<HrtimerCancel>) {
      closeOperation(cpu);
    }
    if (cpu.inTimerInterrupt && !store_.context(row).hardIrq() && kind != kindOf<LocalTimerExit>) {
      endInterrupt(cpu, row);
    }
  }
  if (!cpu.interruptTold && !store_.context(row).hardIrq()) {
    cpu.interruptTold = true;
    recordLines(cpu, row);
  }
  rowOfCpu(cpu, row, kind);
  if (opaque && kind != kindOf<HrtimerExpireExit>) {
    cpu.lastExitHard.reset();
    if (cpu.lastExitSoft && !store_.context(row).hardIrq()) cpu.lastExitSoft.reset();
  }
  while (nextDeath_ < deaths_.size() && deaths_[nextDeath_].last <= row) {
    if (CpuNow* dead = cpuNow(deaths_[nextDeath_].cpu)) died(*dead, row);
    ++nextDeath_;
  }
  if (number(row) >= nextCheckpoint_) checkpoint(row);
}

void Replay::rowOfCpu(CpuNow& cpu, Row row, EventKind kind) {
  switch (kind) {
    case kindOf<TimerInit>:
      initialised(TimerClass::Wheel, store_.as<TimerInit>(row).timer, row);
      break;
    case kindOf<TimerStart>:
      apply(cpu, row, store_.as<TimerStart>(row));
      break;
    case kindOf<TimerCancel>:
      apply(cpu, row, store_.as<TimerCancel>(row));
      break;
    case kindOf<TimerExpireEntry>:
      apply(cpu, row, store_.as<TimerExpireEntry>(row));
      break;
    case kindOf<TimerExpireExit>:
      apply(cpu, row, store_.as<TimerExpireExit>(row));
      break;
    case kindOf<HrtimerInit>: {
      const auto event = store_.as<HrtimerInit>(row);
      init(row, event.hrtimer, event.clockid, event.mode);
      break;
    }
    case kindOf<HrtimerSetup>: {
      const auto event = store_.as<HrtimerSetup>(row);
      init(row, event.hrtimer, event.clockid, event.mode);
      break;
    }
    case kindOf<HrtimerStart>:
      apply(cpu, row, store_.as<HrtimerStart>(row), starts_++);
      break;
    case kindOf<HrtimerCancel>:
      apply(cpu, row, store_.as<HrtimerCancel>(row));
      break;
    case kindOf<HrtimerExpireEntry>:
      apply(cpu, row, store_.as<HrtimerExpireEntry>(row));
      break;
    case kindOf<HrtimerExpireExit>:
      apply(cpu, row, store_.as<HrtimerExpireExit>(row));
      break;
    case kindOf<HrtimerStartExpired>:
      apply(row, store_.as<HrtimerStartExpired>(row));
      break;
    case kindOf<ProgramEvent>:
      call(cpu, row, callSites_.of(store_.as<ProgramEvent>(row).parentIp), {});
      break;
    case kindOf<ProgramEventProbe>: {
      const MonoTime value{store_.as<ProgramEventProbe>(row).expires};
      if (callsByProbe_) {
        call(cpu, row, CallSite::Unknown, value);
      } else {
        cpu.programmed = value;
      }
      recordLines(cpu, row);
      break;
    }
    case kindOf<LocalTimerEntry>:
      beginInterrupt(cpu, row);
      break;
    case kindOf<LocalTimerExit>:
      if (cpu.inTimerInterrupt) endInterrupt(cpu, row);
      break;
    case kindOf<SoftirqRaise>:
      if (cpu.softirq == timerVector && store_.as<SoftirqRaise>(row).vec == timerVector) {
        cpu.raisedInRun = true;  // the run that goes on may serve it
      }
      if (store_.as<SoftirqRaise>(row).vec == hrtimerVector) {
        if (!cpu.inTimerInterrupt && store_.context(row).hardIrq()) {
          beginInterrupt(cpu, row);
        } else if (cpu.inTimerInterrupt && (!cpu.passOpen || cpu.expiriesInPass > 0)) {
          // A pass raises before it runs timers: this is a further one, as the next time had come already.
          if (cpu.passOpen) {
            cpu.hrtimers.endInterrupt();
            ++cpu.retries;
          }
          beginPass(cpu, row);
        }
        cpu.hrtimers.softirqRaised();
        cpu.softirqTold = softirqsTold();
        if (!cpu.raisedInInterrupt) cpu.raiseRow = row;
        cpu.raisedInInterrupt = true;
        recordLines(cpu, row);
      }
      break;
    case kindOf<SoftirqEntry>:
      cpu.softirq = static_cast<u8>(store_.as<SoftirqEntry>(row).vec);
      cpu.softirqRow = row;
      cpu.softirqEndCalls = 0;
      cpu.softPassEnded = false;
      cpu.softCallbackRuns = false;
      cpu.wheelExpiriesInRun = 0;
      cpu.softNow.reset();
      break;
    case kindOf<SoftirqExit>: {
      const u32 vec = store_.as<SoftirqExit>(row).vec;
      if (vec == hrtimerVector) endOfHrtimerSoftirq(cpu, row);
      if (vec == timerVector) endOfTimerSoftirq(cpu, row);
      cpu.softirq = noVector;
      break;
    }
    case kindOf<CpuIdle>:
      if (store_.as<CpuIdle>(row).state != idleExit) wentIdle(cpu, row);
      break;
    case kindOf<TickStop>:
      if (store_.as<TickStop>(row).success != 0) {
        wentIdle(cpu, row);
        if (const auto mono = in_.clocks.mono(store_.time(row), cpu.cpu)) {
          if (const auto jiffies = in_.clocks.jiffies(*mono)) {
            const u64 latest = wheelRules_.geometry.wrap(jiffies->latest);
            cpu.wheel[number(WheelBaseKind::LocalOrStd)].idle(latest);
            cpu.wheel[number(WheelBaseKind::Global)].idle(latest);
            recordLines(cpu, row);
          }
        }
      }
      break;
    default:
      break;
  }
}

bool Replay::softirqsTold() const { return raisesTraced_ && softirqsTraced_; }

/// A CPU goes idle when nothing can run, so no softirq waits for its thread. Under RT one may wait for a lock.
void Replay::wentIdle(CpuNow& cpu, Row row) {
  const bool rt = in_.profile.rt.expected.value_or(true);
  if (cpu.softirqTold || rt || !softirqsTold()) return;
  cpu.softirqTold = true;
  recordLines(cpu, row);
}

bool Replay::gapBetween(Row after, Row row) const {
  return std::ranges::any_of(
      gaps_, [&](const Gap& gap) { return gap.from <= row && (after == noRow || gap.to > after); });
}

bool Replay::isUncertain(const ArmedSpan& span, Row row) const {
  return span.has(ArmedSpan::Uncertain) || (!gaps_.empty() && gapBetween(span.armed, row));
}

bool Replay::excused(const TimerNow& timer, Row row) const {
  if (!orderKnown_ || in_.filtered) return true;
  // What is missing in a gap may be of any timer.
  if (!gaps_.empty() && gapBetween(timer.rowBefore, row)) return true;
  // A CPU without rows over part of the time may have held what is missing.
  for (const Coverage& cpu : coverage_) {
    if (cpu.first > timer.rowBefore || cpu.last < row) return true;
  }
  return false;
}

bool Replay::isTick(Address function) const {
  return std::ranges::find(tickFunctions_, function) != tickFunctions_.end();
}

void Replay::findClockSteps() {
  for (const ClockBase base : {ClockBase::Real, ClockBase::Boot, ClockBase::Tai}) {
    const auto& epochs = in_.clocks.epochs(base);
    for (std::size_t i = 1; i < epochs.size(); ++i) {
      const s64 change = epochs[i].offset - epochs[i - 1].offset;
      clockSteps_.push_back({Row{number(epochs[i - 1].last) + 1}, base, false, change});
      clockSteps_.push_back({epochs[i].first, base, true, change});
    }
  }
  std::ranges::stable_sort(clockSteps_, {}, &ClockStep::row);
}

void Replay::clockSteps(Row row) {
  for (; nextClockStep_ < clockSteps_.size() && clockSteps_[nextClockStep_].row <= row;
       ++nextClockStep_) {
    const ClockStep& step = clockSteps_[nextClockStep_];
    const auto ofBase = [&](SpanId id) {
      const ArmedSpan& span = tables_.spans[number(id)];
      return tables_.timers[number(span.timer)].of == TimerClass::Hrtimer &&
             hardOf(span.clockBase()) == step.base;
    };
    if (!step.known) {
      for (const SpanId id : open_) {
        if (ofBase(id)) unsure_.push_back(id);
      }
      continue;
    }
    std::erase_if(unsure_, ofBase);
    for (auto& cpu : cpus_) {
      cpu->hrtimers.shift(step.base, step.change);
      cpu->hrtimers.shift(softOf(step.base), step.change);
    }
  }
}

Replay::CpuNow* Replay::cpuNow(Cpu cpu) {
  const std::size_t at = indexOf(cpuNumbers_, cpu);
  return at < cpuNumbers_.size() && cpuNumbers_[at] == cpu ? cpus_[at].get() : nullptr;
}

Replay::TimerNow& Replay::timer(TimerClass of, Address address) {
  const bool wheel = of == TimerClass::Wheel;
  auto& pool = wheel ? wheelAddresses_ : hrtimerAddresses_;
  auto& timers = wheel ? wheelTimers_ : hrtimers_;
  const u32 id = pool.intern(static_cast<u64>(address));
  if (id == timers.size()) {
    timers.emplace_back().id = static_cast<TimerId>(tables_.timers.size());
    ModelTimer& made = tables_.timers.emplace_back();
    made.of = of;
    made.address = address;
  }
  return timers[id];
}

Replay::TimerNow& Replay::timer(TimerClass of, Address address, Row row) {
  TimerNow& now = timer(of, address);
  if (now.lastRow == noRow) now.lastRow = row;
  now.rowBefore = now.lastRow;
  now.lastRow = row;
  return now;
}

Replay::TimerNow& Replay::initialised(TimerClass of, Address address, Row row) {
  TimerNow& now = timer(of, address, row);
  ModelTimer& model = tables_.timers[number(now.id)];
  const bool first = !model.init && model.function == Address{} && !now.span;
  if (now.span) {
    // An on-stack timer whose end was lost looks the same: only a live timer is a contradiction (B14).
    removed(row, now);
    close(*now.span, row, SpanEnd::ReInitialised);
    now.span.reset();
  }
  if (!first) {
    now.id = static_cast<TimerId>(tables_.timers.size());
    ModelTimer& made = tables_.timers.emplace_back();
    made.of = of;
    made.address = address;
  }
  tables_.timers[number(now.id)].init = row;
  now.known = of == TimerClass::Wheel ? wheelComplete_ : hrtimersComplete_;
  now.lastSpan.reset();
  now.running.reset();
  return now;
}

SpanId Replay::open(ArmedSpan span) {
  const auto id = static_cast<SpanId>(tables_.spans.size());
  tables_.spans.push_back(span);
  placeInOpen_.push_back(static_cast<u32>(open_.size()));
  open_.push_back(id);
  if (now_ != noRow) countChange(span.owner, now_);
  return id;
}

void Replay::countChange(Cpu owner, Row row) {
  if (owner == noCpu) return;
  const std::size_t at = indexOf(cpuNumbers_, owner);
  if (at >= cpuNumbers_.size() || cpuNumbers_[at] != owner) return;
  tables_.cpus[at].timers.set(row, ++cpus_[at]->changes);
}

void Replay::close(SpanId id, Row row, SpanEnd end) {
  ArmedSpan& span = tables_.spans[number(id)];
  span.ended = row;
  span.end = end;
  const u32 place = placeInOpen_[number(id)];
  open_[place] = open_.back();
  placeInOpen_[number(open_[place])] = place;
  open_.pop_back();
  tables_.endOrder.push_back(id);
  if (span.owner == noCpu) std::erase(unplaced_, id);
  if (!unsure_.empty()) std::erase(unsure_, id);
  if (span.left == noRow) countChange(span.owner, row);
}

void Replay::announced(TimerNow& timer, Row row) {
  timer.announced = row;
  if (!timer.span) return;
  ArmedSpan& span = tables_.spans[number(*timer.span)];
  span.left = row;
  countChange(span.owner, row);
}

void Replay::expiredFromBefore(const TimerNow& timer, Row row, SpanEnd end, u8 base, Cpu owner) {
  const auto id = static_cast<SpanId>(tables_.spans.size());
  ArmedSpan& span = tables_.spans.emplace_back();
  placeInOpen_.push_back(0);
  span.timer = timer.id;
  span.ended = row;
  if (timer.announced == timer.rowBefore) span.left = timer.announced;
  span.end = end;
  span.base = base;
  span.owner = owner;
  span.expiryKnown = span.secondKnown = false;
  tables_.endOrder.push_back(id);
  // After a gap it may as well have been armed in it.
  if (nextLoss_ == 0) tables_.beforeRecording.push_back(id);
}

void Replay::expiredUnarmed(CpuNow& cpu, Row row, const TimerNow& timer, u8 base) {
  Known<bool> matched;
  if (timer.known && !excused(timer, row)) {
    differs(DiscrepancyKind::ExpiredWhileIdle, row, cpu, timer.id);
    matched = false;
  } else {
    expiredFromBefore(timer, row, SpanEnd::Expired, base, cpu.cpu);
  }
  tables_.ratios.matched.add(matched);
  tables_.ratios.expiries.add(matched);
}

void Replay::differs(DiscrepancyKind kind, Row row, const CpuNow& cpu, Known<TimerId> timer,
                     Known<s64> model, Known<s64> trace) {
  tables_.discrepancies.push_back({kind, row, cpu.cpu, timer, model, trace});
}

void Replay::judge(std::size_t invariant, Known<bool> outcome, BlindSpotKind why) {
  InvariantCount& count = tables_.invariants[invariant];
  if (!outcome) {
    ++count.notJudged;
    ++count.why[number(why)];
  } else if (*outcome) {
    ++count.held;
  } else {
    ++count.violated;
  }
}

void Replay::lost(CpuNow& cpu, Row row) {
  if (cpu.operation) {
    cpu.operation->blind = true;
    cpu.operation->why = BlindSpotKind::LostEvents;
  }
  closeOperation(cpu);
  cpu.waiting.clear();
  cpu.interrupt.reset();
  cpu.inTimerInterrupt = false;
  cpu.passOpen = false;
  cpu.softirq = noVector;
  cpu.warm = false;
  cpu.lastExitHard.reset();
  cpu.lastExitSoft.reset();
  cpu.softCallbackRuns = false;
  cpu.restartAnnounced.reset();
  const auto forget = [&](std::vector<TimerNow>& timers) {
    for (TimerNow& timer : timers) {
      if (timer.running == cpu.cpu) timer.running.reset();
      if (!timer.span) {
        // Whoever was last seen on that CPU may have been armed in the gap; which one cannot be told.
        timer.known = false;
        continue;
      }
      ArmedSpan& span = tables_.spans[number(*timer.span)];
      if (span.owner != cpu.cpu && span.owner != noCpu) continue;
      removed(row, timer);
      span.flags |= ArmedSpan::Uncertain;
      timer.known = false;
    }
  };
  forget(wheelTimers_);
  forget(hrtimers_);
  cpu.hrtimers.forgetScalars();
  cpu.forgetContext();
  for (WheelModel& base : cpu.wheel) base.forgetClk();
  // A timer may have been made anew in the gap, on another clock, soft instead of hard.
  for (const TimerNow& timer : hrtimers_) {
    if (!timer.span) tables_.timers[number(timer.id)].base.reset();
  }
  const Loss& loss = losses_[nextLoss_ - 1];
  Row from = row;
  if (loss.from) from = Row{std::min(number(row), store_.lowerBound(*loss.from))};
  tables_.blindSpots.push_back({BlindSpotKind::LostEvents, cpu.cpu, from, row});
  recordLines(cpu, row);
}

}  // namespace tickscope
