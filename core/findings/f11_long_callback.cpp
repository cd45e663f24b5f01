// SPDX-License-Identifier: GPL-3.0-or-later
// F11: a timer callback that runs too long, measured without what interrupted it.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/findings/detector.h"
#include "core/findings/figure_text.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::Suspended, BlindSpotKind::CpuOffline});

enum class Where : u8 { Hard, Tick, Soft };

/// What one row of tracing itself costs inside a callback, at most (ns): a stack or a line of text.
constexpr s64 tracingRowNs = 2'000;
/// So many runs of a callback, and half of them all, are its own habit.
constexpr u64 usualRuns = 3;

/// A limit is for S4 or S3; so many times it is the next grade.
struct Limits {
  s64 first = 0, next = 0;
};

class LongCallback final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    Judged judged;
    judged.judgedNs = material.judgedNs(blindKinds);
    for (const Where where : {Where::Hard, Where::Tick, Where::Soft}) {
      limits_[static_cast<u8>(where)] = limitsOf(material, where);
    }
    u64 callbacks = 0;
    for (u32 stream = 0; stream < material.brackets.size(); ++stream) {
      callbacks += walk(material, stream, judged);
    }
    leaveOutSilence(judged);
    if (callbacks > 0 && judged.opportunities == 0) {
      NotJudged item;
      item.why.words("hrtimer_expire_exit, timer_expire_exit not recorded");
      item.missing = {"timer:hrtimer_expire_exit", "timer:timer_expire_exit"};
      notJudged.push_back(std::move(item));
      return {};
    }
    return only(std::move(judged));
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    const Group& group = groups_[cluster.causeKey];
    const Limits& limits = limits_[static_cast<u8>(group.where)];
    const std::string name = material.callback(group.function);
    u64 waited = 0, interrupted = 0, above = 0;
    s64 longestWait = 0;
    s64 traced = 0;
    for (const Instance& instance : cluster.instances) {
      const Run& run = runs_[instance.detail];
      waited += run.behind;
      longestWait = std::max(longestWait, run.behind > 0 ? instance.magnitude : 0);
      interrupted += run.away > 0;
      above += instance.magnitude > limits.next;
      if (run.tracingRows * tracingRowNs >= instance.magnitude - limits.first) ++traced;
    }
    u64 attached = 0;
    for (const Explained& explained : finding.explains) attached += explained.count;
    const bool typical = isItsOwn(material, group, limits.first);
    const bool harm = waited > 0 || attached > 0;
    if (group.where == Where::Tick) {
      finding.grade = above > 0 && typical ? Grade::S3 : Grade::S4;
    } else {
      finding.grade = !typical ? Grade::S4 : above > 0 && harm ? Grade::S2 : Grade::S3;
    }
    finding.confidence = Confidence(Proof::A, "the trace states entry and exit");
    finding.what = "run time";
    finding.unit = "ns";
    const s64 most = finding.distribution.greatest().value_or(0);
    finding.title.symbol(name).words(
        " ran {} {}: {} of {} above {}", nsWords(most), placeOf(group.where), finding.count,
        countWords(group.runs.count(), "run", "runs"), nsWords(limits.first));
    finding.claim.words("{} callback ", group.hrtimer ? "hrtimer" : "wheel timer")
        .symbol(name)
        .words(" ran {} {} on {}", nsWords(most), placeOf(group.where), cpuWords(finding.cpus));
    if (group.runs.count() > 1) {
      finding.claim.words(" (median {}, ", nsWords(group.runs.percentile(0.5).value_or(0)));
      if (group.runs.count() >= 200) {
        finding.claim.words("p99 {}, ", nsWords(group.runs.percentile(0.99).value_or(0)));
      }
      finding.claim.words("{} runs)", group.runs.count());
    }
    finding.claim.words("; {} exceeded {}.", countWords(finding.count, "run", "runs"),
                        nsWords(limits.first));
    if (waited > 0) {
      finding.claim.words(" {} due before its end ran behind it.",
                          countWords(waited, "callback that was", "callbacks that were"));
    }
    if (interrupted > 0) {
      finding.claim.words(" Interrupts and other tasks within are not counted.");
    }
    finding.predicted.words("at most {} {} on this machine", nsWords(limits.first),
                            placeOf(group.where));
    finding.observed.words("{} of {}, {} at most", finding.count,
                           countWords(group.runs.count(), "run", "runs"), nsWords(most));
    finding.disproof.words("time between its entry and its exit that another event takes")
        .words("{}", group.where == Where::Soft ? ", or in which its thread did not run" : "");
    finding.counterEvidence.push_back(silence(group));
    CounterEvidence tracing{"K5", CounterEvidence::Result::Absent, {}};
    if (2 * traced >= static_cast<s64>(finding.count)) {
      tracing.result = CounterEvidence::Result::Open;
      tracing.note.words("in {} of {} runs what was traced inside costs as much as the excess",
                         traced, finding.count);
    } else {
      tracing.note.words("too few stacks, lines of text and traced functions inside to matter");
    }
    finding.counterEvidence.push_back(std::move(tracing));
    if (name == "sched_cfs_period_timer") finding.upstream = {"U42"};
    if (name == "alarmtimer_fired") finding.upstream = {"U43"};
    if (!typical) {
      finding.claim.words(
          " Other callbacks of this recording have runs as long, or it is one of few: the machine "
          "may have been away.");
    }
    for (const Instance& instance : finding.worst) {
      finding.evidence.push_back({instance.evidence[0], Sentence("begins")});
      Sentence end;
      end.words("{} later", nsWords(instance.magnitude));
      const Run& run = runs_[instance.detail];
      if (run.away > 0) end.words(", {} of interrupts and others not counted", nsWords(run.away));
      finding.evidence.push_back({instance.evidence[1], std::move(end)});
      if (instance.evidence[2] != noRow) {
        finding.evidence.push_back({instance.evidence[2], Sentence("had to wait for it")});
      }
    }
    if (group.where == Where::Soft) {
      finding.advice.emplace_back("a work item for what takes long: it can be preempted");
    } else if (group.where == Where::Hard) {
      finding.advice.emplace_back(
          "a work item or a thread for what takes long; in hard interrupt nothing else runs");
    }
    finding.tables.push_back(table(group));
  }

 private:
  struct Group {
    Address function{};
    Where where{};
    bool hrtimer = false;
    Histogram runs;  ///< ns, all of them
    u64 above = 0;   ///< the limit
    u64 silent = 0;  ///< of them, only by silence of the CPU
  };
  /// Not the machine's, which hits callbacks of all kinds.
  [[nodiscard]] bool isItsOwn(const Material& material, const Group& group, s64 limit) const {
    const u64 above = aboveOf(group.runs, limit);
    const bool few = above < material.thresholds.count(Limit::MinInstances);
    if (group.runs.percentile(0.5).value_or(0) > limit && !(few && material.baseline.slow)) {
      return true;
    }
    if (material.baseline.slow || few) return false;
    u64 others = 1, othersAbove = 1;
    for (const Group& other : groups_) {
      const bool alike = (other.where == Where::Soft) == (group.where == Where::Soft);
      if (&other == &group || !alike) continue;
      others += other.runs.count();
      othersAbove += aboveOf(other.runs, limit);
    }
    const double share = static_cast<double>(above) / static_cast<double>(group.runs.count());
    return share >= material.thresholds[Limit::BaseFactor] * static_cast<double>(othersAbove) /
                        static_cast<double>(others);
  }
  static u64 aboveOf(const Histogram& runs, s64 limit) {
    u64 above = 0;
    for (const Histogram::Bin& bin : runs.bins()) above += bin.from > limit ? bin.count : 0;
    return above;
  }

  struct Run {
    s64 silent = 0;       ///< ns without any event that may be those of a CPU that did not run
    s64 away = 0;         ///< ns of interrupts, softirqs of others and other tasks inside
    s64 tracingRows = 0;  ///< stacks, text, functions inside
    u64 behind = 0;       ///< callbacks of the same bracket that were due before its end
  };

  static std::string_view placeOf(Where where) {
    return where == Where::Soft ? "in softirq" : "in hard interrupt";
  }

  static Limits limitsOf(const Material& material, Where where) {
    // The tick's own runs would hide it, so it is measured against the scale alone.
    const Limit limit = where == Where::Hard   ? Limit::CallbackHard
                        : where == Where::Tick ? Limit::CallbackTick
                                               : Limit::CallbackSoft;
    if (where == Where::Soft) {
      const s64 ns = material.thresholds.ns(limit);
      return {ns, 5 * ns};
    }
    const s64 ns = where == Where::Hard ? material.scaled(limit, material.baseline.all.tickRun)
                                        : material.scaled(limit);
    return {ns, (where == Where::Hard ? 10 : 5) * ns};
  }

  u64 walk(const Material& material, u32 stream, Judged& judged) {
    const CpuBrackets& cpu = material.brackets[stream];
    u64 callbacks = 0;
    for (u32 at = 0; at < cpu.nested.size(); ++at) {
      const Bracket& bracket = cpu.nested[at];
      if (bracket.kind != BracketKind::HrtimerCallback &&
          bracket.kind != BracketKind::WheelCallback) {
        continue;
      }
      ++callbacks;
      if (!bracket.whole()) continue;
      const auto whole = leastNs(material, bracket);
      if (!whole) continue;
      ++judged.opportunities;
      const u32 key = groupOf(material, bracket);
      Group& group = groups_[key];
      const s64 limit = limits_[static_cast<u8>(group.where)].first;
      if (*whole <= limit) {
        group.runs.add(*whole);
        continue;
      }
      Run run;
      run.away = awayNs(material, cpu, at);
      const s64 ran = std::max<s64>(0, *whole - run.away);
      const s64 silent = ran > limit ? silentNs(material, bracket) : 0;
      group.runs.add(ran);
      if (ran <= limit) continue;
      ++group.above;
      if (material.isBlind(cpu.cpu, bracket.entry, bracket.exit, blindKinds)) {
        ++judged.dropped;
        continue;
      }
      Instance& made = judged.instances.emplace_back();
      made.when = {material.time(bracket.entry), material.time(bracket.exit)};
      made.cpu = cpu.cpu;
      made.causeKey = key;
      made.magnitude = ran;
      made.evidence[0] = bracket.entry;
      made.evidence[1] = bracket.exit;
      if (bracket.hasSpan()) made.timer = material.span(bracket.span).timer;
      made.detail = static_cast<u32>(runs_.size());
      run.silent = silent;
      run.tracingRows = tracingRows(material, bracket);
      countBehind(material, cpu, at, run, made);
      runs_.push_back(run);
    }
    return callbacks;
  }

  /// K4: where the CPU may not have run at all. That most runs of one callback are hit by it is no coincidence.
  void leaveOutSilence(Judged& judged) {
    std::erase_if(judged.instances, [&](const Instance& instance) {
      Group& group = groups_[instance.causeKey];
      const s64 limit = limits_[static_cast<u8>(group.where)].first;
      const bool usual = group.above >= usualRuns && 2 * group.above >= group.runs.count();
      if (usual || instance.magnitude - runs_[instance.detail].silent > limit) return false;
      ++group.silent;
      ++judged.dropped;
      return true;
    });
  }

  u32 groupOf(const Material& material, const Bracket& bracket) {
    Address function{};
    Where where = Where::Soft;
    const bool hrtimer = bracket.kind == BracketKind::HrtimerCallback;
    if (hrtimer) {
      function = material.events.as<HrtimerExpireEntry>(bracket.entry).function;
      if (material.events.context(bracket.entry).hardIrq()) {
        where = material.isTick(function) ? Where::Tick : Where::Hard;
      }
    } else {
      function = material.events.as<TimerExpireEntry>(bracket.entry).function;
    }
    if (function == Address{} && bracket.hasSpan()) {
      function = material.timerOf(material.span(bracket.span)).function;
    }
    const auto [at, isNew] =
        groupAt_.try_emplace(std::pair(function, where), static_cast<u32>(groups_.size()));
    if (isNew) groups_.push_back({function, where, hrtimer, {}, 0});
    return at->second;
  }

  /// How long it took at least: a clock of coarse units, or one that is mapped, errs.
  static Known<s64> leastNs(const Material& material, const Bracket& bracket) {
    const auto ns = material.nsBetween(bracket.entry, bracket.exit);
    if (!ns || material.buffer.clock.unit == ClockUnit::Nanoseconds) return ns;
    const auto begin = material.mono(bracket.entry), end = material.mono(bracket.exit);
    if (!begin || !end) return {};
    return std::max<s64>(0, *ns - begin->error.value - end->error.value);
  }

  /// What ran inside of it that is not its own: interrupts, and tasks between (threaded softirqs).
  static s64 awayNs(const Material& material, const CpuBrackets& cpu, u32 at) {
    const Bracket& callback = cpu.nested[at];
    s64 away = 0;
    Row until = callback.entry;
    for (u32 i = at + 1; i < cpu.nested.size(); ++i) {
      const Bracket& inner = cpu.nested[i];
      const Row from = inner.entry != noRow ? inner.entry : inner.exit;
      if (from >= callback.exit) break;
      // What lies inside of something that is counted already is counted with it.
      if (from < until || !inner.whole()) continue;
      until = std::min(inner.exit, callback.exit);
      away += material.nsBetween(from, until).value_or(0);
    }
    if (cpu.tasks.empty()) return away;
    // Away from the first switch of the thread that it ran in to the switch back.
    auto task = std::ranges::upper_bound(cpu.tasks, callback.entry, {}, &Bracket::entry);
    Row left = noRow;
    const Pid own = material.events.pid(callback.entry);
    for (; task != cpu.tasks.end() && task->entry < callback.exit; ++task) {
      const auto event = material.events.as<SchedSwitch>(task->entry);
      if (left == noRow && event.prev.pid == own) left = task->entry;
      if (left != noRow && event.next.pid == own) {
        // Interrupts of that time were counted above.
        away += material.nsBetween(left, task->entry).value_or(0) -
                insideNs(material, cpu, at, left, task->entry);
        left = noRow;
      }
    }
    return away;
  }

  static s64 insideNs(const Material& material, const CpuBrackets& cpu, u32 at, Row from, Row to) {
    s64 ns = 0;
    Row until = from;
    for (u32 i = at + 1; i < cpu.nested.size(); ++i) {
      const Bracket& inner = cpu.nested[i];
      const Row begin = inner.entry != noRow ? inner.entry : inner.exit;
      if (begin >= to) break;
      if (begin < until || !inner.whole()) continue;
      until = std::min(inner.exit, to);
      ns += material.nsBetween(begin, until).value_or(0);
    }
    return ns;
  }

  /// Time inside without any event for longer than vm.silence, with a tick that should have come.
  static s64 silentNs(const Material& material, const Bracket& bracket) {
    const s64 most = material.ticksToNs(Limit::Silence);
    s64 silent = 0;
    Row before = bracket.entry;
    while (before != noRow && before < bracket.exit) {
      const Row after = material.next(before);
      if (after == noRow) break;
      const s64 gap = material.nsBetween(before, after).value_or(0);
      if (gap > most) silent += gap;
      before = after;
    }
    return silent;
  }

  static s64 tracingRows(const Material& material, const Bracket& bracket) {
    s64 rows = 0;
    for (Row row = material.next(bracket.entry); row != noRow && row < bracket.exit;
         row = material.next(row)) {
      const EventKind kind = material.events.kind(row);
      rows += kind == kindOf<FuncgraphEntry> || kind == kindOf<FuncgraphExit> ||
              kind == kindOf<Print> || kind == kindOf<Function> ||
              material.events.type(row).name == "kernel_stack";
    }
    return rows;
  }

  /// Callbacks behind it in the same interrupt or softirq that were due before it ended.
  static void countBehind(const Material& material, const CpuBrackets& cpu, u32 at, Run& run,
                          Instance& made) {
    const Bracket& callback = cpu.nested[at];
    if (callback.outer == Bracket::none) return;
    const Bracket& outer = cpu.nested[callback.outer];
    for (u32 i = at + 1; i < cpu.nested.size(); ++i) {
      const Bracket& later = cpu.nested[i];
      if (later.entry == noRow) continue;
      if (outer.exit != noRow && later.entry >= outer.exit) break;
      if (later.outer != callback.outer || later.entry < callback.exit || !later.hasSpan())
        continue;
      const auto due = material.dueTime(material.span(later.span));
      if (!due || due->value > material.time(callback.exit)) continue;
      if (run.behind == 0) made.evidence[2] = later.entry;
      ++run.behind;
    }
  }

  static CounterEvidence silence(const Group& group) {
    CounterEvidence made{"K4", CounterEvidence::Result::Absent, {}};
    if (group.silent > 0) {
      made.result = CounterEvidence::Result::Excluded;
      made.note.words("{} without any event of the CPU for longer than vm.silence left out",
                      countWords(group.silent, "run", "runs"));
    } else {
      made.note.words("no other run was long only by time without any event of the CPU");
    }
    return made;
  }

  static Table table(const Group& group) {
    Table made;
    made.title = "Run time of the callback";
    made.columns = {{"runs", ""}, {"p50", "us"}, {"p90", "us"}, {"p99", "us"}, {"most", "us"}};
    const auto cell = [&](double share, u64 least) -> Cell {
      if (group.runs.count() < least) return {};
      return Figure{static_cast<double>(group.runs.percentile(share).value_or(0)) / 1e3, 1};
    };
    made.rows.push_back({static_cast<s64>(group.runs.count()), cell(0.5, 1), cell(0.9, 20),
                         cell(0.99, 200),
                         Figure{static_cast<double>(group.runs.greatest().value_or(0)) / 1e3, 1}});
    return made;
  }

  std::array<Limits, 3> limits_;
  std::map<std::pair<Address, Where>, u32> groupAt_;
  std::vector<Group> groups_;
  std::vector<Run> runs_;
};

}  // namespace

extern const DetectorInfo f11LongCallback;
constinit const DetectorInfo f11LongCallback{
    .id = "F11",
    .name = "long-callback",
    .line = "one timer callback runs too long",
    .needs = {Needs{Need::H}, Needs{Need::W}},
    .record = "storm",
    .byTimeAlone = "*",
    .make = makeDetector<LongCallback>,
};

}  // namespace tickscope
