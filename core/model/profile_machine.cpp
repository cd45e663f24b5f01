// SPDX-License-Identifier: GPL-3.0-or-later
// Learns how the traced machine was set up: resolution, NO_HZ, real time, who runs softirqs, skewed ticks.
#include <set>

#include "core/model/profile_sources.h"

namespace tickscope {

namespace {

using enum EvidenceClass;

/// Least number of observations for what shows in many places.
constexpr u64 enough = 20;

/// "6.1.0-55-rt-amd64", "5.10.0-rt17", "4.18.0-305.rt7.72.el8".
bool namesRt(std::string_view release) {
  for (std::size_t at = release.find("rt"); at != std::string_view::npos;
       at = release.find("rt", at + 1)) {
    const char before = at == 0 ? 'x' : release[at - 1];
    const char after = at + 2 < release.size() ? release[at + 2] : '-';
    const bool ends = after == '-' || after == '.' || (after >= '0' && after <= '9');
    if ((before == '-' || before == '.') && ends) return true;
  }
  return false;
}

class MachineLearner {
 public:
  MachineLearner(KernelProfile& profile, const ProfileSources& from)
      : profile_(profile), from_(from) {}

  void learn() {
    learnHighRes();
    learnTickFunction();
    learnNoHz();
    learnNoHzFull();
    learnRt();
    learnSoftirqThread();
    learnThreadIrqs();
    learnSkew();
  }

 private:
  void learnHighRes() {
    Fact<bool>& fact = profile_.highRes;
    if (from_.dump) {
      u32 on = 0;
      u32 off = 0;
      for (const ListedCpu& cpu : from_.dump->cpus) {
        for (const ListedValue& value : cpu.values) {
          if (value.name == ".hres_active" || value.name == "hres_active") {
            ++(value.value.starts_with("1") ? on : off);
          }
        }
      }
      if ((on == 0) != (off == 0))
        setFact(fact, on != 0, trust::listing, Listing,
                fmt::format("timer_list: hres_active is {} on {} CPUs", on ? 1 : 0, on + off));
    }
    const u64 arms = from_.habits.sum(&CpuHabits::tickArms);
    const u64 ticks = from_.habits.sum(&CpuHabits::ticks);
    if (arms + ticks > 0) {
      seeFact(fact, true, arms + ticks,
              fmt::format("the tick is an hrtimer: {} expiries, {} starts", ticks, arms));
      return;
    }
    u64 passes = 0;
    bool onGrid = true;
    for (const CpuHabits& cpu : from_.habits.cpus) {
      passes += cpu.passes;
      onGrid = onGrid && (cpu.passes == 0 || cpu.passesOnGrid);
    }
    constexpr u64 least = 50;
    if (onGrid && passes > least) {
      seeFact(fact, false, passes,
              fmt::format("hrtimers expired at tick boundaries only, {} times", passes));
    }
  }

  void learnTickFunction() {
    using enum TickFunction;
    Candidates<TickFunction> tick(FactKind::Property);
    if (from_.symbol("tick_sched_timer")) {
      tick.only(Symbol, {TickSchedTimer}, "tick_sched_timer exists (up to 6.8)");
    } else if (from_.symbol("tick_nohz_handler")) {
      tick.only(Symbol, {TickNohzHandler}, "tick_nohz_handler is the only tick function (6.9)");
    }
    if (from_.habits.schedTimerStarts > 0) {
      tick.seen(
          TickSchedTimer, from_.habits.schedTimerStarts,
          fmt::format("tick_sched_timer was started {} times", from_.habits.schedTimerStarts));
    } else if (from_.habits.nohzHandlerStarts > 0) {
      tick.seen(
          TickNohzHandler, from_.habits.nohzHandlerStarts,
          fmt::format("tick_nohz_handler was started {} times", from_.habits.nohzHandlerStarts));
    }
    if (from_.release)
      tick.release(from_.since(6, 9) ? TickNohzHandler : TickSchedTimer, from_.releaseWords());
    profile_.tickFunction = tick.weigh();
  }

  /// Values of that name of all CPUs in the listing, with or without the dot that the kernel prints before it.
  [[nodiscard]] std::set<std::string> listed(std::string_view name) const {
    std::set<std::string> values;
    if (!from_.dump) return values;
    for (const ListedCpu& cpu : from_.dump->cpus) {
      for (const ListedValue& value : cpu.values) {
        std::string_view own = value.name;
        if (own.starts_with('.')) own.remove_prefix(1);
        if (own == name) values.insert(value.value);
      }
    }
    return values;
  }

  void learnNoHz() {
    using enum NoHz;
    Candidates<NoHz> noHz(FactKind::Property);
    const TimerFormats& formats = from_.formats;
    if (!formats.tickStop && formats.wholeGroup)
      noHz.only(Format, {Off}, "no tick_stop among the timer events: built without NO_HZ_COMMON");
    std::set<std::string> modes = listed("nohz_mode");
    modes.merge(listed("nohz"));
    if (modes == std::set<std::string>{"0"})
      noHz.only(Listing, {Off}, "timer_list: the tick of no CPU can stop");
    const u64 byIdle = from_.habits.sum(&CpuHabits::stopsByIdle);
    const u64 full =
        from_.habits.sum(&CpuHabits::stopsByTask) + from_.habits.sum(&CpuHabits::stopsRefused);
    const u64 windows = from_.habits.sum(&CpuHabits::idleWindows);
    if (full > 0) {
      noHz.seen(Full, full, fmt::format("{} tick_stop rows of busy CPUs", full));
    } else if (byIdle > 0) {
      noHz.seen(Idle, byIdle, fmt::format("the tick stopped {} times, always in idle", byIdle));
    } else if (windows >= enough && from_.habits.sum(&CpuHabits::tickSkips) == 0) {
      noHz.seen(Off, windows,
                fmt::format("{} stretches of 6 ticks passed in idle, none left out", windows));
    }
    profile_.noHz = noHz.weigh();
  }

  void learnNoHzFull() {
    Fact<CpuList>& fact = profile_.noHzFull;
    const NoHz mode = profile_.noHz.judged().value_or(NoHz::Full);
    if (mode == NoHz::Off) {
      setFact(fact, {}, profile_.noHz.confidence, Behaviour, "nohz is off");
      return;
    }
    if (!from_.records(kindOf<TickStop>)) return;
    CpuList cpus;
    u64 least = 0;
    bool all = !from_.habits.cpus.empty();
    for (const CpuHabits& cpu : from_.habits.cpus) {
      const u64 full = cpu.stopsByTask + cpu.stopsRefused;
      if (full > 0) cpus.push_back(cpu.cpu);
      // A busy CPU of the list asks on each interrupt whether its tick may stop, and says why not.
      const u64 proof = full > 0 ? full : cpu.taskTicks;
      all = all && proof > 0;
      least = least == 0 ? proof : std::min(least, proof);
    }
    if (cpus.empty() && !all) return;
    std::sort(cpus.begin(), cpus.end());
    seeFact(fact, cpus, all ? least : 1,
            cpus.empty() ? "ticks in tasks with no word of tick_stop, on every CPU"
                         : fmt::format("tick_stop rows of busy CPUs on {}", valueText(cpus)));
  }

  void learnRt() {
    Fact<bool>& rt = profile_.rt;
    const Metadata& metadata = from_.recording.metadata;
    const auto says = [&](std::string_view word) {
      return metadata.uname.find(word) != std::string::npos;
    };
    if (says("PREEMPT_RT") || says("PREEMPT RT") || namesRt(metadata.release)) {
      setFact(rt, true, trust::listing, Listing, fmt::format("uname: {}", metadata.uname));
    } else if (says(" SMP ") && metadata.uname.find('#') != std::string::npos) {
      setFact(rt, false, trust::listing, Listing, "uname has no PREEMPT_RT");
    } else if (from_.symbol("rt_spin_lock")) {
      setFact(rt, true, trust::symbol, Symbol, "rt_spin_lock exists");
    } else if (from_.symbol("_raw_read_lock") || from_.symbol("_raw_write_lock")) {
      setFact(rt, false, trust::symbol, Symbol, "rwlocks that spin exist");
    } else if (from_.habits.runners.ktimersoftd > 0) {
      setFact(rt, true, trust::listing, Listing, "tasks ktimersoftd/N run softirqs");
    } else if (from_.habits.runners.ktimers > 0 && from_.release && !from_.since(6, 13)) {
      setFact(rt, true, trust::listing, Listing, "tasks ktimers/N run softirqs (before 6.13)");
    }
    seeRt(rt);
  }

  /// PREEMPT_RT takes sleepers of tasks without a real-time class to the softirq and marks the others HARD, and leaves
  /// softirqs of interrupts to threads (kernel/time/hrtimer.c and kernel/softirq.c, 5.15+ and the patches before).
  void seeRt(Fact<bool>& rt) const {
    const Habits& habits = from_.habits;
    const bool modes = has(from_.formats.mode) && habits.sleeperStarts > 0;
    const u64 plain = modes ? habits.sleepersInInterrupt : 0;
    if (modes && habits.sleeperStartsHard > 0) {
      seeFact(rt, true, habits.sleeperStartsHard,
              fmt::format("{} starts of hrtimer_wakeup are HARD", habits.sleeperStartsHard));
    } else if (modes && habits.sleepersInSoftirq > 0 && habits.sleeperStartsSoft == 0) {
      seeFact(rt, true, habits.sleepersInSoftirq,
              fmt::format("{} sleepers that were not started as SOFT expired in the softirq",
                          habits.sleepersInSoftirq));
    } else if (habits.runners.idle + plain > 0) {
      seeFact(rt, false, habits.runners.idle + plain,
              fmt::format("{} timer softirqs ran on the way out of an interrupt, {} sleepers that "
                          "were not started as HARD expired in one",
                          habits.runners.idle, plain));
    }
  }

  void learnSoftirqThread() {
    using enum SoftirqThread;
    Candidates<SoftirqThread> thread(FactKind::Property);
    const SoftirqRunners& runners = from_.habits.runners;
    const bool rt = profile_.rt.judged().value_or(false);
    const u64 direct = runners.idle + runners.other;
    const u64 threads = runners.inThreads();
    if (rt && from_.symbol("raise_ktimers_thread"))
      thread.only(Symbol, {Ktimers}, "raise_ktimers_thread exists, and the kernel is PREEMPT_RT");
    std::string why = fmt::format(
        "timer softirqs ran {} times in ktimers, {} in ktimersoftd, {} in ksoftirqd, {} elsewhere",
        runners.ktimers, runners.ktimersoftd, runners.ksoftirqd, direct);
    const SoftirqThread most = runners.ktimers > 0       ? Ktimers
                               : runners.ktimersoftd > 0 ? Ktimersoftd
                                                         : Ksoftirqd;
    if (most != Ksoftirqd || (threads > 0 && threads >= direct * 9)) {
      thread.seen(most, threads, std::move(why));
    } else if (direct > 0 && direct >= threads) {
      thread.seen(None, direct, std::move(why));
    }
    profile_.softirqThread = thread.weigh();
  }

  void learnThreadIrqs() {
    Fact<bool>& fact = profile_.threadIrqs;
    if (profile_.rt.judged() == true) {
      setFact(fact, true, profile_.rt.confidence, Behaviour, "PREEMPT_RT threads all interrupts");
      return;
    }
    const SoftirqRunners& runners = from_.habits.runners;
    // In the idle task a softirq runs on the way out of an interrupt, which forced threads forbid.
    if (runners.idle > 0) {
      seeFact(fact, false, runners.idle,
              fmt::format("{} softirqs ran on the way out of an interrupt", runners.idle));
    } else if (profile_.softirqThread.observed &&
               *profile_.softirqThread.observed != SoftirqThread::None) {
      seeFact(fact, true, runners.inThreads(), "interrupts leave softirqs to threads");
    }
  }

  void learnSkew() {
    Fact<bool>& skew = profile_.skew;
    const Known<u32> hz = from_.user.hz.expected ? from_.user.hz.expected : profile_.hz.judged();
    const Known<u32> possible = from_.recording.metadata.possibleCpus;
    if (!hz) return;
    const s64 tickNs = (1'000'000'000 + *hz / 2) / *hz;
    Known<s64> first;
    Cpu firstCpu{};
    bool same = true;
    bool skewed = possible && *possible > 0;
    u64 arms = 0;
    u32 cpus = 0;
    for (const CpuHabits& cpu : from_.habits.cpus) {
      if (!cpu.tickPhase) {
        // Ticks without one phase say nothing of how they lie to each other.
        if (cpu.tickArms > 0) return;
        continue;
      }
      ++cpus;
      arms += cpu.tickArms;
      if (!first) {
        first = cpu.tickPhase;
        firstCpu = cpu.cpu;
        continue;
      }
      const s64 apart = *cpu.tickPhase - *first;
      same = same && apart == 0;
      if (skewed) {
        const s64 step = tickNs / 2 / *possible;
        const s64 expected = (number(cpu.cpu) - number(firstCpu)) * step;
        skewed = ((apart - expected) % tickNs + tickNs) % tickNs <= 1;
      }
    }
    if (cpus < 2) return;
    if (same) {
      seeFact(skew, false, arms, fmt::format("the ticks of {} CPUs lie at one phase", cpus));
    } else if (skewed) {
      seeFact(skew, true, arms,
              fmt::format("the ticks of {} CPUs are half a tick over all CPUs apart", cpus));
    }
  }

  KernelProfile& profile_;
  const ProfileSources& from_;
};

}  // namespace

void learnMachine(KernelProfile& profile, const ProfileSources& sources) {
  MachineLearner(profile, sources).learn();
}

}  // namespace tickscope
