// SPDX-License-Identifier: GPL-3.0-or-later
// F13: what wakes idle CPUs, by cause.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/findings/detector.h"
#include "core/findings/figure_text.h"
#include "core/findings/timer_series.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::CpuOffline, BlindSpotKind::Suspended});
/// TIMER_SOFTIRQ and HRTIMER_SOFTIRQ (interrupt.h).
constexpr u8 timerSoftirq = 1, hrtimerSoftirq = 8;
/// A cause is worth S3 from this share of the time on that CPUs are awake for it.
constexpr double awakeShare = 0.01;

class IdleWakeups final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>&) override {
    const TimerUsers users(material);
    users_ = users.users();
    periodic_.resize(users_.size());
    for (const TimerSeries& series : users.series()) {
      if (series.expired.size() < TimerUsers::leastExpiries) continue;
      if (periodOf(stepsOf(material, series))) periodic_[series.user] = true;
    }
    Judged judged{.judgedNs = material.judgedNs(blindKinds), .instances = {}};
    for (const CpuBrackets& cpu : material.brackets) walk(material, users, cpu, judged);
    s64 longest = 0;
    for (const CpuBrackets& cpu : material.brackets) {
      longest = std::max(longest, material.judgedNs(cpu.cpu, blindKinds));
    }
    seconds_ = static_cast<double>(longest) / 1e9;
    std::erase_if(judged.instances, [&](const Instance& instance) {
      return !isOften(causes_[static_cast<u32>(instance.causeKey)]);
    });
    return only(std::move(judged));
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    const TimerUser& user = users_[cluster.causeKey];
    const Cause& cause = causes_.at(static_cast<u32>(cluster.causeKey));
    const std::string name = material.callback(user.function);
    const bool periodic = periodic_[cluster.causeKey];
    const double awake = seconds_ > 0 ? static_cast<double>(cause.awakeNs) / 1e9 / seconds_ : 0;
    const double rate = cause.shares / seconds_;
    // What is armed as hrtimer asks for its time; only a wheel timer can be told to wait for others.
    const bool costly = periodic && !user.hrtimer && !cause.deferrable && cause.tasksWoken == 0 &&
                        awake >= awakeShare && !material.baseline.slow;
    finding.grade = costly ? Grade::S3 : Grade::S4;
    finding.confidence = Confidence(Proof::A, "the interrupt that ended idle is in the trace");
    finding.what = "idle before it for";
    finding.unit = "ns";
    finding.title.symbol(name)
        .words(" armed ")
        .append(ownerWords(material, user))
        .words(" woke idle CPUs {:.4g} times a second", rate);
    finding.claim.words("CPUs left idle {} times; the callback ", finding.opportunities)
        .symbol(name)
        .words(" armed ")
        .append(ownerWords(material, user))
        .words(" had part in {} of them, {:.4g} when what woke together is shared out, {:.4g}/s",
               finding.count, cause.shares, rate);
    finding.claim.words(
        ". The CPUs were awake for it for {} ({:.3g} % of the time) until they were "
        "idle again or another task ran.",
        nsWords(cause.awakeNs), 100 * awake);
    if (user.hrtimer) {
      finding.claim.words(" It is an hrtimer, which asks for its time.");
    } else if (cause.deferrable) {
      finding.claim.words(" It is deferrable: other causes woke with it.");
    } else if (cause.tasksWoken == 0) {
      finding.claim.words(" The callback itself woke no task.");
    }
    finding.predicted.words("at most {:.4g} wakes of idle a second by one cause",
                            material.thresholds[Limit::IdleRate]);
    finding.observed.words("{:.4g}/s on {} CPU{}", rate, finding.cpus.size(),
                           finding.cpus.size() == 1 ? "" : "s");
    finding.disproof.words("another interrupt between the CPU's idle entry and the callback's");
    finding.counterEvidence.push_back(
        {"K5", CounterEvidence::Result::Absent,
         Sentence("interrupts of tracing itself run no timer callback")});
    finding.counterEvidence.push_back(
        {"K12", CounterEvidence::Result::Absent,
         Sentence(cause.deferrable ? "deferrable timers do not wake a CPU by themselves"
                                   : "the timer is not deferrable")});
    if (user.hrtimer) {
      finding.advice.emplace_back("slack, where a later expiry does no harm");
    } else if (!cause.deferrable) {
      finding.advice.emplace_back(
          "a deferrable timer, where a later expiry does no harm and nothing waits for it");
    }
    for (const Instance& instance : finding.worst) {
      Sentence idle;
      idle.words("idle for {}", nsWords(instance.magnitude));
      if (instance.evidence[0] != noRow) finding.evidence.push_back({instance.evidence[0], idle});
      finding.evidence.push_back({instance.evidence[1], Sentence("woke it")});
    }
    finding.tables.push_back(causesTable());
  }

 private:
  struct Cause {
    double shares = 0;
    u64 tasksWoken = 0;  ///< inside its callbacks
    s64 awakeNs = 0;
    bool deferrable = false;
  };
  /// What woke a CPU, other than a timer's callback.
  struct Others {
    u64 tick = 0, timerEmpty = 0, ipi = 0, device = 0, unrecorded = 0, unknown = 0, all = 0;
    double timers = 0;
  };
  struct Part {
    u32 user = 0;
    SpanId span{};
    Row entry{}, exit{};
  };

  [[nodiscard]] bool isOften(const Cause& cause) const {
    return seconds_ > 0 && cause.shares >= limit_ * seconds_;
  }

  void walk(const Material& material, const TimerUsers& users, const CpuBrackets& cpu,
            Judged& judged) {
    limit_ = material.thresholds[Limit::IdleRate];
    Others& others = others_[cpu.cpu];
    std::size_t at = 0, task = 0;
    for (std::size_t i = 0; i < cpu.idles.size(); ++i) {
      const Bracket& idle = cpu.idles[i];
      if (idle.exit == noRow) continue;
      const Row entry = idle.entry != noRow ? idle.entry : idle.exit;
      if (material.isBlind(cpu.cpu, entry, idle.exit, blindKinds)) {
        ++judged.dropped;
        continue;
      }
      ++judged.opportunities;
      ++others.all;
      // Up to the next idle, or to the switch to another task: then the CPU is busy with what was woken.
      Row until = i + 1 < cpu.idles.size() && cpu.idles[i + 1].entry != noRow
                      ? cpu.idles[i + 1].entry
                      : noRow;
      while (task < cpu.tasks.size() && cpu.tasks[task].entry < entry) ++task;
      std::size_t next = task;
      while (next < cpu.tasks.size() && cpu.tasks[next].entry < idle.exit) ++next;
      if (next < cpu.tasks.size()) until = std::min(until, cpu.tasks[next].entry);
      while (at < cpu.nested.size() && startOf(cpu.nested[at]) < entry) ++at;
      wakeOf(material, users, cpu, idle, at, until, others, judged);
    }
  }

  static Row startOf(const Bracket& bracket) {
    return bracket.entry != noRow ? bracket.entry : bracket.exit;
  }

  void wakeOf(const Material& material, const TimerUsers& users, const CpuBrackets& cpu,
              const Bracket& idle, std::size_t at, Row until, Others& others, Judged& judged) {
    // In a guest that halts the interrupt stands before the row of the exit, on other machines directly behind it.
    const Bracket* first = nullptr;
    std::size_t place = at;
    for (; place < cpu.nested.size() && startOf(cpu.nested[place]) < until; ++place) {
      const Bracket& bracket = cpu.nested[place];
      const bool hard =
          bracket.kind == BracketKind::TimerInterrupt || bracket.kind == BracketKind::Interrupt;
      if (hard && bracket.entry != noRow) {
        first = &bracket;
        break;
      }
      if (bracket.outer == Bracket::none && bracket.entry > idle.exit) break;
    }
    if (!first) {
      // A wake in hard interrupt context without its interrupt: its vector is not recorded.
      const Row before = material.previous(idle.exit);
      const bool hard = before != noRow && material.events.context(before).hardIrq();
      ++(hard ? others.unrecorded : others.unknown);
      return;
    }
    if (first->kind == BracketKind::Interrupt) {
      const EventKind kind = material.events.kind(first->entry);
      ++(kind == kindOf<IrqHandlerEntry> ? others.device : others.ipi);
      return;
    }
    std::vector<Part> parts;
    bool tick = false;
    const Row end = first->exit != noRow ? first->exit : until;
    for (std::size_t i = place + 1; i < cpu.nested.size(); ++i) {
      const Bracket& bracket = cpu.nested[i];
      const Row from = startOf(bracket);
      if (from >= until && from > end) break;
      if (bracket.kind == BracketKind::HrtimerCallback && from < end) {
        add(material, users, bracket, parts, tick);
      }
      if (bracket.kind == BracketKind::Softirq && bracket.entry != noRow &&
          (bracket.vector == timerSoftirq || bracket.vector == hrtimerSoftirq) &&
          bracket.raised != noRow && bracket.raised > first->entry && bracket.raised < end) {
        for (std::size_t j = i + 1; j < cpu.nested.size(); ++j) {
          const Bracket& inner = cpu.nested[j];
          if (bracket.exit != noRow && startOf(inner) > bracket.exit) break;
          if (inner.outer != i) continue;
          if (inner.kind == BracketKind::HrtimerCallback ||
              inner.kind == BracketKind::WheelCallback) {
            add(material, users, inner, parts, tick);
          }
        }
      }
    }
    if (parts.empty()) {
      ++(tick ? others.tick : others.timerEmpty);
      return;
    }
    others.timers += 1;
    const s64 slept =
        idle.entry != noRow ? material.nsBetween(idle.entry, first->entry).value_or(0) : 0;
    const s64 awake = until != noRow ? material.nsBetween(first->entry, until).value_or(0) : 0;
    const double share = 1 / static_cast<double>(parts.size());
    std::vector<u32> seen;
    for (const Part& part : parts) {
      Cause& cause = causes_[part.user];
      cause.shares += share;
      cause.awakeNs += static_cast<s64>(static_cast<double>(awake) * share);
      cause.deferrable |= material.span(part.span).has(ArmedSpan::Deferrable);
      cause.tasksWoken += wakes(material, part);
      if (std::ranges::find(seen, part.user) != seen.end()) continue;
      seen.push_back(part.user);
      Instance& instance = judged.instances.emplace_back();
      instance.when = {material.time(idle.entry != noRow ? idle.entry : first->entry),
                       material.time(part.entry)};
      instance.cpu = cpu.cpu;
      instance.causeKey = part.user;
      instance.magnitude = slept;
      instance.evidence = {idle.entry, part.entry, idle.exit, noRow};
      instance.timer = material.span(part.span).timer;
    }
  }

  static void add(const Material& material, const TimerUsers& users, const Bracket& callback,
                  std::vector<Part>& parts, bool& tick) {
    if (callback.entry == noRow || !callback.hasSpan()) return;
    if (material.isTick(material.span(callback.span))) {
      tick = true;
      return;
    }
    parts.push_back({users.userOf(callback.span), callback.span, callback.entry, callback.exit});
  }

  /// The first wake inside the callback, looked for in the few rows behind its entry.
  static u64 wakes(const Material& material, const Part& part) {
    Row row = material.next(part.entry);
    for (int i = 0; i < 8 && row != noRow && row < part.exit; ++i) {
      const EventKind kind = material.events.kind(row);
      if (kind == kindOf<SchedWaking> || kind == kindOf<SchedWakeup>) return 1;
      row = material.next(row);
    }
    return 0;
  }

  [[nodiscard]] Table causesTable() const {
    Table table;
    table.title = "What woke idle CPUs";
    table.columns = {{"CPU", ""},
                     {"exits of idle", ""},
                     {"timers", ""},
                     {"tick only", ""},
                     {"timer interrupt without expiry", ""},
                     {"IPI", ""},
                     {"device", ""},
                     {"interrupt that is not recorded", ""},
                     {"not known", ""}};
    for (const auto& [cpu, of] : others_) {
      table.rows.push_back({s64{number(cpu)}, static_cast<s64>(of.all), static_cast<s64>(of.timers),
                            static_cast<s64>(of.tick), static_cast<s64>(of.timerEmpty),
                            static_cast<s64>(of.ipi), static_cast<s64>(of.device),
                            static_cast<s64>(of.unrecorded), static_cast<s64>(of.unknown)});
    }
    return table;
  }

  std::vector<TimerUser> users_;
  std::vector<bool> periodic_;
  std::map<u32, Cause> causes_;
  std::map<Cpu, Others> others_;
  double seconds_ = 0, limit_ = 0;
};

}  // namespace

extern const DetectorInfo f13IdleWakeups;
constinit const DetectorInfo f13IdleWakeups{
    .id = "F13",
    .name = "idle-wakeups",
    .line = "what wakes idle CPUs, by cause",
    .needs = {Needs{Need::C, Need::H}, Needs{Need::C, Need::W}},
    .record = "idle-wakeups",
    .byTimeAlone = "",
    .make = makeDetector<IdleWakeups>,
};

}  // namespace tickscope
