// SPDX-License-Identifier: GPL-3.0-or-later
// F02: TIMER softirqs raised on ticks with nothing to expire, in series that no removed timer explains.
#include <algorithm>
#include <array>

#include "core/findings/detector.h"
#include "core/findings/wheel_runs.h"
#include "core/model/kernel_numbers.h"
#include "core/model/wheel_model.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet relevant =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::CpuOffline, BlindSpotKind::Filtered,
                BlindSpotKind::Suspended, BlindSpotKind::CpuInferred});
/// The migration hierarchy (6.9) asks for runs that nothing in the recording explains; healthy kernels: up to 4 in
/// series.
constexpr u32 runsBesideHierarchy = 32;
/// By rule and threaded: a thread that takes this share of a CPU is a cost.
constexpr double costlyShare = 0.005;
constexpr s32 firstNormalPrio = 100;
constexpr u32 rowsToWake = 64;

/// An empty run that was counted.
struct Empty {
  Row raised = noRow, entry = noRow, exit = noRow;
  Known<s64> nextDue;  // jiffies to the first pending bucket
  bool threaded = false, woken = false;
  s64 added = 0;        // ns of a turn of the thread that had nothing else to do
  s64 displacedRt = 0;  // ns that a realtime task waited for that turn
};

bool isSoftirqThread(std::string_view comm) {
  return comm.starts_with("ksoftirqd/") || comm.starts_with("ktimers/") ||
         comm.starts_with("ktimersoftd/");
}

bool raisesAlways(RaiseRule rule) { return rule == RaiseRule::SR0 || rule == RaiseRule::SR1; }

class EmptySoftirq final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    const auto reject = [&](std::string_view why) {
      NotJudged item;
      item.why.words("{}", why);
      notJudged.push_back(std::move(item));
      return std::vector<Judged>{};
    };
    const Fact<RaiseRule>& fact = material.profile.raise;
    if (!fact.expected && !fact.observed) {
      return reject("when this kernel raises the TIMER softirq is not known");
    }
    rule_ = fact.expected ? *fact.expected : *fact.observed;
    if (material.filtered) return reject("events of some timers were left out");
    if (!records<TimerCancel>(material)) {
      return reject("timer_cancel is not recorded: a timer that was removed explains an empty run");
    }
    raisesRecorded_ = records<SoftirqRaise>(material);
    const WheelRules rules = wheelRulesOf(material.profile);
    runs_ = WheelRuns(material, rules.geometry);
    Judged judged;
    judged.judgedNs = material.judgedNs(relevant);
    removals_.resize(runs_.cpus().size());
    ticks_.resize(runs_.cpus().size());
    gather(material);
    for (std::size_t cpu = 0; cpu < runs_.cpus().size(); ++cpu) {
      judgeCpu(material, rules.geometry, cpu, judged);
    }
    return only(std::move(judged));
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override;

 private:
  template <class P>
  static bool records(const Material& material) {
    const EventStore& store = material.events;
    for (u16 type = 0; type < store.types().size(); ++type) {
      if (store.types()[type].kind != kindOf<P>) continue;
      for (u32 stream = 0; stream < store.streams().size(); ++stream) {
        if (store.count(type, stream)) return true;
      }
    }
    return false;
  }

  /// A timer that left the wheel without running: next_expiry may be its bucket until a run reaches it.
  struct Removal {
    Row row;
    Known<u64> bucket;
  };

  /// Ticks and removals of each CPU.
  void gather(const Material& material) {
    const auto& cpus = runs_.cpus();
    const auto placeOf = [&](Cpu cpu) {
      return static_cast<std::size_t>(std::ranges::find(cpus, cpu, &WheelRuns::OfCpu::cpu) -
                                      cpus.begin());
    };
    for (const SpanId id : material.tables.endOrder) {
      const ArmedSpan& span = material.span(id);
      if (material.isHrtimer(span)) {
        if (span.end != SpanEnd::Expired || !material.isTick(span)) continue;
        const std::size_t at = placeOf(material.events.cpu(span.ended));
        if (at < cpus.size()) ticks_[at].push_back(span.ended);
        continue;
      }
      if (span.end == SpanEnd::Expired) continue;
      Removal removal{span.ended, {}};
      if (span.secondKnown) removal.bucket = static_cast<u64>(span.second);
      for (std::size_t at = 0; at < cpus.size(); ++at) {
        if (span.owner == noCpu || span.owner == cpus[at].cpu) removals_[at].push_back(removal);
      }
    }
    for (const BlindSpot& spot : material.tables.blindSpots) {
      if (spot.kind != BlindSpotKind::LostEvents) continue;
      for (auto& removals : removals_) removals.push_back({spot.from, {}});
    }
    for (std::size_t at = 0; at < cpus.size(); ++at) {
      std::ranges::stable_sort(removals_[at], {}, &Removal::row);
      // Without high resolution the tick is no hrtimer.
      if (!ticks_[at].empty()) continue;
      const CpuBrackets* const brackets = material.bracketsOf(cpus[at].cpu);
      for (const Bracket& bracket : brackets->nested) {
        if (bracket.kind == BracketKind::TimerInterrupt && bracket.entry != noRow) {
          ticks_[at].push_back(bracket.entry);
        }
      }
    }
  }

  void judgeCpu(const Material& material, const WheelGeometry& g, std::size_t at, Judged& judged) {
    const WheelRuns::OfCpu& cpu = runs_.cpus()[at];
    const CpuBrackets& brackets = *material.bracketsOf(cpu.cpu);
    std::vector<u32> empty;  // places in cpu.runs
    std::vector<Known<u64>> live;
    auto removal = removals_[at].begin();
    u32 series = 0;  // empty runs that nothing explains, one behind the other
    const bool hierarchy = rule_ == RaiseRule::SR3 && material.profile.noHz.judged() != NoHz::Off &&
                           !material.recorded.has(Need::M);
    for (u32 i = 0; i < cpu.runs.size(); ++i) {
      const WheelRuns::Run& run = cpu.runs[i];
      const Bracket& bracket = brackets.nested[run.bracket];
      for (; removal != removals_[at].end() && removal->row <= run.entry; ++removal) {
        live.push_back(removal->bucket);
      }
      const auto jiffies = latestJiffies(material, g, run);
      const auto reached = std::erase_if(live, [&](const Known<u64>& bucket) {
        return !bucket || !jiffies || !g.before(*jiffies, *bucket);
      });
      if (material.isBlind(cpu.cpu, run.entry, run.exit, relevant)) {
        judged.dropped += bracket.callbacks == 0;
        continue;
      }
      ++judged.opportunities;
      if (bracket.callbacks > 0) {
        endSeries(hierarchy, series, empty);
        continue;
      }
      const Bracket* const before = i > 0 ? &brackets.nested[cpu.runs[i - 1].bracket] : nullptr;
      const bool explained = !raisesAlways(rule_) && (reached > 0 || isRepeated(bracket, before) ||
                                                      handlesOthers(material, run));
      if (explained) {
        endSeries(hierarchy, series, empty);
        continue;
      }
      ++series;
      empty.push_back(i);
    }
    endSeries(hierarchy, series, empty);
    keepSeries(material, at, empty, judged);
  }

  /// Jiffies that a run can have seen at most.
  [[nodiscard]] Known<u64> latestJiffies(const Material& material, const WheelGeometry& g,
                                         const WheelRuns::Run& run) const {
    Known<u64> latest = runs_.printedAfter(run.exit);
    const auto mono = material.mono(run.exit);
    if (const auto range = mono ? material.clocks.jiffies(*mono) : Known<JiffyRange>{}) {
      const u64 clock = g.wrap(range->latest);
      latest = latest ? g.earlier(*latest, clock) : clock;
    }
    return latest;
  }

  /// The raise was taken already: a tick came between the pending word and the entry, or inside the run before.
  [[nodiscard]] bool isRepeated(const Bracket& run, const Bracket* before) const {
    if (!raisesRecorded_) return false;
    if (!before) return false;
    if (run.raised == noRow) return true;
    return before->callbacks > 0 && run.raised >= before->entry && run.raised <= before->exit;
  }

  /// A word of the migration hierarchy inside the run: it looked after other CPUs.
  static bool handlesOthers(const Material& material, const WheelRuns::Run& run) {
    if (!material.recorded.has(Need::M)) return false;
    for (Row row = material.next(run.entry); row != noRow && row < run.exit;
         row = material.next(row)) {
      switch (material.events.kind(row)) {
        case kindOf<TmigrHandleRemote>:
        case kindOf<TmigrHandleRemoteCpu>:
        case kindOf<TmigrUpdateEvents>:
          return true;
        default:
          break;
      }
    }
    return false;
  }

  /// Where the hierarchy may have asked, short series prove nothing.
  static void endSeries(bool hierarchy, u32& series, std::vector<u32>& empty) {
    if (hierarchy && series < runsBesideHierarchy) empty.resize(empty.size() - series);
    series = 0;
  }

  /// Those in stretches of ticks of which enough had one.
  void keepSeries(const Material& material, std::size_t at, const std::vector<u32>& empty,
                  Judged& judged) {
    const WheelRuns::OfCpu& cpu = runs_.cpus()[at];
    const auto& ticks = ticks_[at];
    const auto window = static_cast<std::size_t>(material.thresholds.count(Limit::TickwakeTicks));
    const double enough = material.thresholds[Limit::TickwakeShare] * static_cast<double>(window);
    if (window == 0 || ticks.size() < window || static_cast<double>(empty.size()) < enough) return;
    const auto tickOf = [&](u32 i) {
      const auto after = std::ranges::upper_bound(ticks, cpu.runs[i].entry);
      return after == ticks.begin() ? std::size_t{0}
                                    : static_cast<std::size_t>(after - ticks.begin() - 1);
    };
    std::vector<bool> hit(ticks.size()), kept(ticks.size());
    for (const u32 i : empty) hit[tickOf(i)] = true;
    // A tick is kept if a stretch around it, long enough, holds enough of them: by the sums of hit - share.
    const double share = material.thresholds[Limit::TickwakeShare];
    std::vector<double> before(ticks.size() + 1), most(ticks.size() + 1);
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      before[i + 1] = before[i] + (hit[i] ? 1.0 : 0.0) - share;
    }
    most[ticks.size()] = before[ticks.size()];
    for (std::size_t i = ticks.size(); i-- > 0;) most[i] = std::max(most[i + 1], before[i]);
    for (std::size_t begin = 0, done = 0; begin + window <= ticks.size(); ++begin) {
      if (most[begin + window] < before[begin]) continue;
      // The last sum that is not below: those behind it never rise again.
      const auto below =
          std::ranges::partition_point(most, [&](double sum) { return sum >= before[begin]; });
      const auto end = static_cast<std::size_t>(below - most.begin() - 1);
      for (done = std::max(done, begin); done < end; ++done) kept[done] = true;
    }
    u64 ticksKept = 0;
    for (const bool one : kept) ticksKept += one;
    ticksSeen_ += ticksKept;
    const CpuBrackets& brackets = *material.bracketsOf(cpu.cpu);
    for (const u32 i : empty) {
      if (!kept[tickOf(i)]) continue;
      const Bracket& bracket = brackets.nested[cpu.runs[i].bracket];
      Empty one{bracket.raised, bracket.entry, bracket.exit, {}, false, false, 0, 0};
      one.nextDue = nextDueAt(material, cpu.cpu, bracket.entry);
      threadCost(material, brackets, cpu.runs[i].bracket, one);
      Instance& made = judged.instances.emplace_back();
      made.when = {material.time(bracket.entry), material.time(bracket.exit)};
      made.cpu = cpu.cpu;
      made.causeKey = number(rule_);
      made.magnitude = material.nsBetween(bracket.entry, bracket.exit).value_or(0);
      made.evidence = {bracket.raised, bracket.entry, bracket.exit, noRow};
      made.detail = static_cast<u32>(empties_.size());
      empties_.push_back(one);
    }
  }

  static Known<s64> nextDueAt(const Material& material, Cpu cpu, Row row) {
    const CpuLines* const lines = material.linesOf(cpu);
    const auto mono = material.mono(row);
    const auto jiffies = mono ? material.clocks.jiffies(*mono) : Known<JiffyRange>{};
    if (!lines || !jiffies) return {};
    Known<s64> least;
    for (u8 base = 0; base < material.tables.wheelBases; ++base) {
      // One base: LOCAL; two: STD and DEF.
      const u8 at =
          material.tables.wheelBases == 2 && base == 1 ? number(WheelBaseKind::Def) : base;
      const auto next = lines->nextExpiry[at].at(row);
      if (next) least = least ? std::min(*least, *next) : *next;
    }
    if (!least) return {};
    return static_cast<s64>(material.clocks.unwrapped(static_cast<u64>(*least)) - jiffies->latest);
  }

  static void threadCost(const Material& material, const CpuBrackets& brackets, u32 at,
                         Empty& one) {
    const Pid pid = material.events.pid(one.entry);
    if (pid == Pid{0} || !isSoftirqThread(material.text.comm(pid))) return;
    one.threaded = true;
    Row row = one.entry;
    for (u32 i = 0; i < rowsToWake && row != noRow && one.raised != noRow && row > one.raised;
         ++i) {
      const EventKind kind = material.events.kind(row);
      one.woken =
          one.woken ||
          (kind == kindOf<SchedWaking> && material.events.as<SchedWaking>(row).task.pid == pid) ||
          (kind == kindOf<SchedWakeup> && material.events.as<SchedWakeup>(row).task.pid == pid);
      row = material.previous(row);
    }
    const Bracket* const turn = brackets.taskAt(one.entry);
    if (!turn || !turn->whole()) return;
    // What else it did in that turn it would have run for anyway.
    for (u32 i = at; i-- > 0;) {
      if (brackets.nested[i].entry == noRow || brackets.nested[i].entry < turn->entry) break;
      if (brackets.nested[i].kind == BracketKind::Softirq) return;
    }
    for (u32 i = at + 1; i < brackets.nested.size(); ++i) {
      if (brackets.nested[i].entry == noRow || brackets.nested[i].entry > turn->exit) break;
      if (brackets.nested[i].kind == BracketKind::Softirq) return;
    }
    one.added = material.nsBetween(turn->entry, turn->exit).value_or(0);
    if (material.events.kind(turn->entry) != kindOf<SchedSwitch>) return;
    const auto event = material.events.as<SchedSwitch>(turn->entry);
    constexpr s64 stateBits = 0xff;  // above them stands whether it was preempted
    if ((event.prevState & stateBits) == 0 && event.prev.pid != Pid{0} &&
        event.prev.prio < firstNormalPrio) {
      one.displacedRt = one.added;
    }
  }

  RaiseRule rule_{};
  WheelRuns runs_;
  bool raisesRecorded_ = false;
  std::vector<std::vector<Removal>> removals_;  // by place of the CPU in runs_
  std::vector<std::vector<Row>> ticks_;
  std::vector<Empty> empties_;
  u64 ticksSeen_ = 0;
};

void EmptySoftirq::describe(const Material& material, const Cluster& cluster,
                            Finding& finding) const {
  u64 threaded = 0, woken = 0, turns = 0, known = 0;
  s64 added = 0, displaced = 0;
  std::array<s64, 5> due{};  // 0 and less, up to 7, up to 63, more, unknown
  std::vector<std::pair<Cpu, std::array<s64, 4>>> perCpu;  // runs, in the thread, woken, turns
  std::string thread;
  for (const Instance& instance : cluster.instances) {
    const Empty& one = empties_[instance.detail];
    threaded += one.threaded;
    woken += one.woken;
    turns += one.added > 0;
    added += one.added;
    displaced = std::max(displaced, one.displacedRt);
    known += one.nextDue.has_value();
    ++due[!one.nextDue        ? 4
          : *one.nextDue <= 0 ? 0
          : *one.nextDue < 8  ? 1
          : *one.nextDue < 64 ? 2
                              : 3];
    if (one.threaded && thread.empty()) thread = material.text.comm(material.events.pid(one.entry));
    auto at = std::ranges::find(perCpu, instance.cpu, &std::pair<Cpu, std::array<s64, 4>>::first);
    if (at == perCpu.end()) at = perCpu.insert(at, {instance.cpu, {}});
    ++at->second[0];
    at->second[1] += one.threaded;
    at->second[2] += one.woken;
    at->second[3] += one.added > 0;
  }
  std::ranges::sort(perCpu);
  const Fact<RaiseRule>& fact = material.profile.raise;
  const bool byRule = raisesAlways(rule_);
  const double share =
      finding.judgedNs > 0 ? static_cast<double>(added) / static_cast<double>(finding.judgedNs) : 0;
  if (!byRule) {
    finding.grade = Grade::S2;
  } else if (2 * threaded < finding.count) {
    finding.grade = Grade::S4;
  } else {
    const bool costly = share >= costlyShare || displaced >= material.scaled(Limit::RtDelay);
    finding.grade = costly ? Grade::S2 : Grade::S3;
  }
  finding.confidence = Confidence(Proof::B, "every TIMER softirq and every removal is recorded");
  finding.confidence.times(fact.expected ? fact.confidence : fact.seenConfidence, "raise rule");
  finding.what = "softirq ran for";
  finding.unit = "ns";
  finding.title.words("{} of {} TIMER softirqs ran without a timer to expire", finding.count,
                      finding.opportunities);
  if (2 * threaded >= finding.count) {
    finding.title.words(" and woke ").task(thread.substr(0, thread.find('/')));
  }
  finding.claim.words("On {} ticks in series, {} TIMER softirqs ran and expired nothing",
                      ticksSeen_, finding.count);
  if (byRule) {
    finding.claim.words(".");
  } else {
    finding.claim.words(", though no timer had been due or removed since the run before.");
  }
  if (threaded > 0) {
    finding.claim.words(" {} of them ran in a softirq thread, {} after it was woken for them",
                        threaded, woken);
    if (turns > 0) {
      finding.claim.words(
          "; {} of its turns did nothing else and took {:.4g} ms, {:.2g} % of the "
          "judged time",
          turns, static_cast<double>(added) / 1e6, 100 * share);
    }
    finding.claim.words(".");
  }
  if (displaced > 0) {
    finding.claim.words(" A realtime task waited up to {:.4g} us for such a turn.",
                        static_cast<double>(displaced) / 1e3);
  }
  finding.predicted.words("rule {}: a tick raises TIMER {}", valueText(rule_),
                          rule_ == RaiseRule::SR0   ? "always (before 4.8)"
                          : rule_ == RaiseRule::SR1 ? "when jiffies reach base->clk, in effect "
                                                      "always (4.8 to 5.8)"
                          : rule_ == RaiseRule::SR2
                              ? "when jiffies reach next_expiry of a base (5.9)"
                              : "when jiffies reach next_expiry of a base, or the migration "
                                "hierarchy asks (6.9)");
  finding.observed.words("{} empty of {} runs", finding.count, finding.opportunities);
  if (fact.observed && *fact.observed != rule_) {
    finding.observed.words("; the kernel was seen to raise as under {}", valueText(*fact.observed));
  }
  finding.disproof.words(
      "a timer_cancel on any CPU, of a timer of one of these CPUs, for each of "
      "these runs");
  using enum CounterEvidence::Result;
  finding.counterEvidence.push_back(
      {"K3", Excluded,
       Sentence("runs in gaps of the recording are left out; timers removed in a gap or before the "
                "recording explain one empty run of a base each")});
  if (rule_ == RaiseRule::SR3) {
    finding.counterEvidence.push_back(
        {"K15", Excluded,
         Sentence(material.recorded.has(Need::M)
                      ? "runs with events of the migration hierarchy inside are left out"
                  : material.profile.noHz.judged() == NoHz::Off
                      ? "the tick never stops: no CPU looks after another"
                      : "series of fewer than 32 empty runs are left out: the hierarchy asks for "
                        "single ones")});
  } else {
    finding.counterEvidence.push_back(
        {"K15", Absent, Sentence("each CPU runs its own bases before 6.9")});
  }
  finding.upstream = {"U09"};
  if (material.profile.rt.expected.value_or(false)) finding.upstream.emplace_back("U10");
  Table cpus;
  cpus.title = "Empty TIMER softirqs by CPU";
  cpus.columns = {{"CPU", ""},
                  {"empty runs", ""},
                  {"in a thread", ""},
                  {"woken for it", ""},
                  {"turns for it alone", ""}};
  for (const auto& [cpu, counts] : perCpu) {
    cpus.rows.push_back({s64{number(cpu)}, counts[0], counts[1], counts[2], counts[3]});
  }
  finding.tables.push_back(std::move(cpus));
  if (known > 0) {
    Table next;
    next.title = "Next due bucket at the empty run (of the model)";
    next.columns = {{"jiffies ahead", ""}, {"runs", ""}};
    constexpr std::array<std::string_view, 5> names{"0", "1 to 7", "8 to 63", "64 and more",
                                                    "unknown"};
    for (std::size_t i = 0; i < due.size(); ++i) {
      if (due[i] > 0) next.rows.push_back({Sentence(std::string(names[i])), due[i]});
    }
    finding.tables.push_back(std::move(next));
  }
  for (const Instance& instance : finding.worst) {
    const Empty& one = empties_[instance.detail];
    if (one.raised != noRow) finding.evidence.push_back({one.raised, Sentence("raised")});
    finding.evidence.push_back({one.entry, {}});
    Sentence remark;
    remark.words("nothing expired");
    if (one.nextDue && *one.nextDue > 0) remark.words(", next due {} jiffies later", *one.nextDue);
    finding.evidence.push_back({one.exit, remark});
  }
}

}  // namespace

extern const DetectorInfo f02EmptySoftirq;
constinit const DetectorInfo f02EmptySoftirq{
    .id = "F02",
    .name = "empty-softirq",
    .line = "TIMER softirq raised on ticks with nothing to expire",
    .needs = {Needs{Need::W, Need::Q}},
    .record = "storm",
    .byTimeAlone = "",
    .make = makeDetector<EmptySoftirq>,
};

}  // namespace tickscope
