// SPDX-License-Identifier: GPL-3.0-or-later
// Turns evidence into facts: which kernels have which format, symbol and habit.
#include "core/model/profile_learner.h"

#include "core/model/profile_sources.h"

namespace tickscope {

namespace {

using enum EvidenceClass;

constexpr const char* wasArmedWords = "hrtimer_start has was_armed (7.1 and stable of 2026)";

class RuleLearner {
 public:
  RuleLearner(KernelProfile& profile, const ProfileSources& from)
      : profile_(profile),
        from_(from),
        expiresRemotely_(!lacks(from.formats.bucketExpiry) && from.symbol("timer_expire_remote")) {}

  void learn() {
    learnDepth();
    learnWheel();
    learnBases();
    learnForward();
    learnNext();
    learnRaise();
    learnWheelTrace();
    learnHrtimerRule();
    learnHrtimerTrace();
    learnClampBug();
  }

 private:
  void learnDepth() {
    Fact<u8>& depth = profile_.depth;
    const bool given = from_.user.hz.expected.has_value();
    if (const Known<u32> hz = given ? from_.user.hz.expected : profile_.hz.expected) {
      setFact(depth, static_cast<u8>(*hz <= 100 ? 8 : 9), given ? 1.0 : profile_.hz.confidence,
              given ? User : Behaviour, fmt::format("HZ is {}", *hz));
    }
    if (has(from_.formats.flags) && from_.habits.wheelMaxIndex >= 512 &&
        from_.habits.wheelMaxIndex < 576) {
      seeFact(depth, u8{9}, from_.habits.wheelStarts,
              fmt::format("a bucket index of {}", from_.habits.wheelMaxIndex));
    }
  }

  void learnWheel() {
    using enum WheelKind;
    Candidates<WheelKind> wheel(FactKind::Rule);
    if (has(from_.formats.baseclk))
      wheel.only(Format, {Levels}, "timer_expire_entry has baseclk (5.2)");
    if (has(from_.formats.bucketExpiry))
      wheel.only(Format, {Levels}, "timer_start has bucket_expiry (6.8)");
    if (has(from_.formats.wasArmed)) wheel.only(Format, {Levels}, wasArmedWords);
    if (lacks(from_.formats.flags))
      wheel.only(Format, {Cascade}, "timer_start has no flags (before 4.2)");
    // A list of symbols is long, and a name that it lacks is looked for to its end.
    for (const char* const name : {"calc_wheel_index", "collect_expired_timers"}) {
      if (!has(from_.formats.baseclk) && from_.symbol(name)) {
        wheel.only(Symbol, {Levels}, fmt::format("{} exists (4.8)", name));
        break;
      }
    }
    if (from_.release) wheel.release(from_.since(4, 8) ? Levels : Cascade, from_.releaseWords());
    if (has(from_.formats.flags) && from_.habits.wheelIndexed > 0 &&
        from_.habits.wheelMaxIndex < 576) {
      wheel.seen(Levels, from_.habits.wheelIndexed,
                 fmt::format("{} of {} timer_start rows carry a bucket index",
                             from_.habits.wheelIndexed, from_.habits.wheelStarts));
    }
    profile_.wheel = wheel.weigh();
  }

  void learnBases() {
    using enum WheelBases;
    Candidates<WheelBases> bases(FactKind::Rule);
    if (from_.formats.migration)
      bases.only(Format, {LocalGlobalDef}, "events of timer_migration exist (6.9)");
    if (lacks(from_.formats.bucketExpiry))
      bases.exclude(Format, {LocalGlobalDef}, "timer_start has no bucket_expiry (before 6.8)");
    if (from_.formats.tickStop) {
      bases.exclude(Format, {One}, "tick_stop exists: built with NO_HZ_COMMON");
    } else if (from_.formats.wholeGroup) {
      bases.only(Format, {One}, "no tick_stop among the timer events: built without NO_HZ_COMMON");
    }
    if (!from_.formats.tickStop && !from_.formats.wholeGroup && from_.symbol("tick_nohz_irq_exit"))
      bases.exclude(Symbol, {One}, "tick_nohz_irq_exit exists: built with NO_HZ_COMMON");
    if (expiresRemotely_) bases.only(Symbol, {LocalGlobalDef}, "timer_expire_remote exists (6.9)");
    // Without NO_HZ_COMMON there is one base in every version.
    if (from_.since(6, 9)) {
      bases.since({LocalGlobalDef, One}, from_.releaseWords());
    } else if (from_.release) {
      bases.until({One, StdDef}, from_.releaseWords());
    }
    if (from_.release) bases.until({StdDef, LocalGlobalDef}, "");
    profile_.bases = bases.weigh();
  }

  void learnForward() {
    using enum ForwardRule;
    Candidates<ForwardRule> forward(FactKind::Rule);
    if (has(from_.formats.bucketExpiry))
      forward.only(Format, {F2}, "timer_start has bucket_expiry (6.8)");
    if (has(from_.formats.wasArmed)) forward.only(Format, {F2}, wasArmedWords);
    if (has(from_.formats.baseclk))
      forward.exclude(Format, {F0}, "timer_expire_entry has baseclk (5.2)");
    if (from_.release)
      forward.release(from_.since(5, 9) ? F2 : from_.since(4, 13) ? F1 : F0, from_.releaseWords());
    profile_.forward = forward.weigh();
  }

  void learnNext() {
    using enum NextRule;
    Candidates<NextRule> next(FactKind::Rule);
    if (has(from_.formats.bucketExpiry))
      next.only(Format, {NX1}, "timer_start has bucket_expiry (6.8)");
    if (has(from_.formats.wasArmed)) next.only(Format, {NX1}, wasArmedWords);
    if (from_.release) next.release(from_.since(5, 9) ? NX1 : NX0, from_.releaseWords());
    profile_.next = next.weigh();
  }

  void learnRaise() {
    using enum RaiseRule;
    Candidates<RaiseRule> raise(FactKind::Rule);
    if (from_.formats.migration) raise.only(Format, {SR3}, "events of timer_migration exist (6.9)");
    if (has(from_.formats.bucketExpiry))
      raise.only(Format, {SR2, SR3}, "timer_start has bucket_expiry (6.8)");
    if (lacks(from_.formats.bucketExpiry))
      raise.exclude(Format, {SR3}, "timer_start has no bucket_expiry (before 6.8)");
    if (has(from_.formats.wasArmed)) raise.only(Format, {SR2, SR3}, wasArmedWords);
    if (has(from_.formats.baseclk))
      raise.exclude(Format, {SR0}, "timer_expire_entry has baseclk (5.2)");
    if (expiresRemotely_) raise.only(Symbol, {SR3}, "timer_expire_remote exists (6.9)");
    if (from_.release) {
      raise.release(from_.since(6, 9)   ? SR3
                    : from_.since(5, 9) ? SR2
                    : from_.since(4, 8) ? SR1
                                        : SR0,
                    from_.releaseWords());
    }
    seeRaise(raise);
    profile_.raise = raise.weigh();
  }

  void seeRaise(Candidates<RaiseRule>& raise) {
    using enum RaiseRule;
    constexpr u64 least = 20;
    const u64 ticks = from_.habits.sum(&CpuHabits::ticks);
    const u64 raised = from_.habits.sum(&CpuHabits::raisedTicks);
    const u64 runs = from_.habits.sum(&CpuHabits::timerRuns);
    const u64 empty = from_.habits.sum(&CpuHabits::emptyRuns);
    const bool recorded =
        from_.records(kindOf<SoftirqRaise>) || from_.records(kindOf<SoftirqEntry>);
    // Where nothing was ever raised, a filter may have kept it out.
    if (ticks < least || !recorded || raised + runs == 0) return;
    std::string why = fmt::format(
        "TIMER was raised in {} of {} ticks, {} of its {} runs expired nothing although no timer "
        "was deleted",
        raised, ticks, empty, runs);
    if (raised * 10 >= ticks * 8 && runs >= least && empty * 10 >= runs * 8) {
      const bool levels = profile_.wheel.expected == WheelKind::Levels;
      raise.seen(levels ? SR1 : SR0, ticks, std::move(why));
    } else if (raised * 10 <= ticks * 3) {
      const bool migrates = profile_.bases.expected == WheelBases::LocalGlobalDef;
      raise.seen(migrates ? SR3 : SR2, ticks, std::move(why));
    }
  }

  void learnWheelTrace() {
    using enum WheelTrace;
    Candidates<WheelTrace> trace(FactKind::Rule);
    if (has(from_.formats.bucketExpiry))
      trace.only(Format, {WT3}, "timer_start has bucket_expiry (6.8)");
    if (lacks(from_.formats.bucketExpiry))
      trace.exclude(Format, {WT3}, "timer_start has no bucket_expiry");
    if (has(from_.formats.baseclk))
      trace.only(Format, {WT2, WT3}, "timer_expire_entry has baseclk (5.2)");
    if (lacks(from_.formats.baseclk))
      trace.only(Format, {WT0, WT1}, "timer_expire_entry has no baseclk (before 5.2)");
    if (from_.release) {
      trace.release(from_.since(6, 8)    ? WT3
                    : from_.since(5, 2)  ? WT2
                    : from_.since(4, 15) ? WT1
                                         : WT0,
                    from_.releaseWords());
    }
    // Of indices that are stale one in 64 fits by chance.
    if (has(from_.formats.flags) && from_.habits.wheelStarts >= 10 &&
        from_.habits.wheelFits * 100 >= from_.habits.wheelStarts * 90) {
      trace.seen(has(from_.formats.bucketExpiry) ? WT3 : WT2, from_.habits.wheelFits,
                 fmt::format("{} of {} bucket indices are those of their expiry",
                             from_.habits.wheelFits, from_.habits.wheelStarts));
    }
    profile_.wheelTrace = trace.weigh();
  }

  void learnHrtimerRule() {
    using enum HrtimerRule;
    Candidates<HrtimerRule> rule(FactKind::Rule);
    if (has(from_.formats.mode)) rule.exclude(Format, {RP}, "hrtimer_start has mode (4.16)");
    if (lacks(from_.formats.mode))
      rule.only(Format, {RP}, "hrtimer_start has no mode (before 4.16)");
    if (has(from_.formats.wasArmed)) rule.only(Format, {R3, R4, R5}, wasArmedWords);
    if (lacks(from_.formats.wasArmed))
      rule.exclude(Format, {R3, R4, R5}, "hrtimer_start has no was_armed");
    if (from_.formats.startExpired) {
      rule.only(Format, {R5}, "hrtimer_start_expired exists");
    } else if (from_.formats.rearm) {
      rule.only(Format, {R4, R5}, "hrtimer_rearm exists (7.1)");
    } else if (from_.formats.wholeGroup) {
      rule.exclude(Format, {R4, R5}, "no hrtimer_rearm among the timer events");
    }
    if (from_.formats.rearm && from_.formats.wholeGroup && !from_.formats.startExpired)
      rule.exclude(Format, {R5}, "no hrtimer_start_expired among the timer events");
    if (from_.symbol("hrtimer_update_next_event"))
      rule.exclude(Symbol, {RP, R0}, "hrtimer_update_next_event exists (5.12 and stable)");
    if (from_.release) {
      rule.release(from_.since(7, 1)    ? R4
                   : from_.since(5, 15) ? R2
                   : from_.since(5, 12) ? R1
                   : from_.since(4, 16) ? R0
                                        : RP,
                   from_.releaseWords());
    }
    if (from_.release && !from_.since(7, 1))
      rule.until({RP, R0, R1, R2, R3}, fmt::format("{} is before 7.1", from_.releaseWords()));
    profile_.hrtimer = rule.weigh();
  }

  void learnHrtimerTrace() {
    using enum HrtimerTrace;
    Candidates<HrtimerTrace> trace(FactKind::Rule);
    if (has(from_.formats.wasArmed)) trace.only(Format, {HT2}, "hrtimer_start has was_armed");
    if (lacks(from_.formats.wasArmed))
      trace.only(Format, {HT0, HT1}, "hrtimer_start has no was_armed");
    if (from_.release)
      trace.release(from_.since(7, 1) ? HT2 : from_.since(7, 0) ? HT1 : HT0, from_.releaseWords());
    const u64 cancelled = from_.habits.expiriesCancelled;
    const u64 plain = from_.habits.expiries - cancelled;
    constexpr u64 least = 5;
    const bool cancelsRecorded = from_.records(kindOf<HrtimerCancel>);
    if (cancelsRecorded && cancelled >= least && cancelled >= plain * 19) {
      trace.seen(HT0, cancelled,
                 fmt::format("hrtimer_cancel came directly before {} of {} expiries", cancelled,
                             from_.habits.expiries));
    } else if (cancelsRecorded && plain >= least && plain >= cancelled * 19) {
      std::string why = fmt::format("hrtimer_cancel came directly before {} of {} expiries",
                                    cancelled, from_.habits.expiries);
      if (lacks(from_.formats.wasArmed)) {
        trace.seen(HT1, plain, std::move(why));
      } else if (has(from_.formats.wasArmed)) {
        trace.seen(HT2, plain, std::move(why));
      } else {
        trace.seenOneOf({HT1, HT2}, plain, std::move(why));
      }
    }
    profile_.hrtimerTrace = trace.weigh();
  }

  void learnClampBug() {
    Fact<bool>& bug = profile_.clampBug;
    if (has(from_.formats.bucketExpiry)) {
      setFact(bug, false, trust::format, Format,
              "timer_start has bucket_expiry (6.8; fixed in 5.8)");
    } else if (has(from_.formats.wasArmed)) {
      setFact(bug, false, trust::format, Format,
              "hrtimer_start has was_armed (stable of 2026; fixed in 2020)");
    } else if (from_.since(5, 8)) {
      setFact(bug, false, trust::oldestRule, Version, from_.releaseWords());
    } else if (from_.release) {
      // Stable kernels of July 2020 have the fix.
      setFact(bug, from_.since(4, 8), trust::exactVersion, Version, from_.releaseWords());
    }
  }

  KernelProfile& profile_;
  const ProfileSources& from_;
  bool expiresRemotely_;
};

void learnWord(Fact<u8>& word, const Metadata& metadata) {
  const auto bits = static_cast<u8>(metadata.wordSize * 8);
  if (bits != 32 && bits != 64) return;
  setFact(word, bits, trust::format, Format,
          fmt::format("the kernel's long has {} bytes", metadata.wordSize));
}

void learnHz(Fact<u32>& fact, const Known<ClockMap::HzResult>& hz) {
  if (!hz) return;
  fact.observed = hz->hz;
  fact.seenConfidence = hz->confidence;
  fact.contradicted = hz->contradicted;
  setFact(fact, hz->hz, hz->confidence, Behaviour, hz->evidence);
}

}  // namespace

KernelProfile learnProfile(const Recording& recording, const Buffer& buffer,
                           const ProfileOverrides& overrides, Known<ClockMap::HzResult> hz,
                           const TimerListDump* dump) {
  KernelProfile user;
  apply(user, overrides);
  KernelProfile profile;
  learnWord(profile.wordBits, recording.metadata);
  learnHz(profile.hz, hz);
  const Known<u32> known = user.hz.expected ? user.hz.expected : profile.hz.judged();
  const Known<s64> tick = known ? Known<s64>(ClockMap::tickNs(*known)) : Known<s64>{};
  const ProfileSources sources{recording,
                               buffer,
                               user,
                               dump,
                               formatsOf(buffer.events),
                               releaseOf(recording.metadata.release),
                               scanHabits(recording, buffer, tick)};
  RuleLearner(profile, sources).learn();
  learnMachine(profile, sources);
  apply(profile, overrides);
  return profile;
}

}  // namespace tickscope
