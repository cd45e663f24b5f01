// SPDX-License-Identifier: GPL-3.0-or-later
// F01: hrtimers of one due time that wake many tasks or idle CPUs at once.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "core/findings/burst_waits.h"
#include "core/findings/detector.h"
#include "core/findings/figure_text.h"
#include "core/findings/time_grid.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::Suspended, BlindSpotKind::CpuOffline});

/// Fewer instants are no storm but a note.
constexpr u64 fewInstants = 5;
/// The rate of wakes is that of the second around.
constexpr s64 aroundNs = 500'000'000;
/// So many windows to each side are next to it: enough to hold two instants of the grids seen (up to 10 ms).
constexpr s64 nearWindows = 50;
/// A share of a CPU's time from which on it is harm.
constexpr double harmfulDuty = 0.01;
constexpr std::size_t tasksShown = 10;

/// P(X >= count) for a Poisson variable of that mean.
double chanceOf(u64 count, double mean) {
  if (count == 0) return 1;
  if (mean <= 0) return 0;
  // The first term of the tail by logarithms, the others from it.
  double term = std::exp(static_cast<double>(count) * std::log(mean) - mean -
                         std::lgamma(static_cast<double>(count) + 1));
  double sum = 0;
  for (u64 k = count; k < count + 1000; ++k) {
    sum += term;
    term *= mean / static_cast<double>(k + 1);
    if (term < sum * 1e-12) break;
  }
  return std::min(sum, 1.0);
}

class WakeStorm final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>&) override {
    all_ = expiryBatchesOf(material);
    collectWakes(material);
    Judged judged;
    judged.judgedNs = material.judgedNs(blindKinds);
    std::vector<Instant> instants = instantsOf(material);
    judged.opportunities = instants.size();
    std::erase_if(instants, [&](Instant& instant) { return !isStorm(material, instant, judged); });
    keyByGrid(material, instants);
    for (Instant& instant : instants) add(material, std::move(instant), judged);
    return only(std::move(judged));
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    const Key& key = keys_[cluster.causeKey];
    Histogram wakes, tasks, idle, spans, spread;
    s64 hardNs = 0, rtMost = 0;
    u64 slack = 0;
    std::set<u32> cpus;
    for (const Instance& instance : cluster.instances) {
      const Instant& instant = storms_[instance.detail];
      wakes.add(static_cast<s64>(instant.wakes.size()));
      tasks.add(static_cast<s64>(instant.tasks));
      idle.add(static_cast<s64>(instant.idleCpus));
      spans.add(instant.lengthNs);
      spread.add(instant.spreadNs);
      hardNs += instant.hardNs;
      rtMost = std::max(rtMost, instant.rtWaitNs);
      slack += instant.early;
      for (const u32 at : instant.batches) cpus.insert(number(all_.batches[at].cpu));
    }
    const double duty = finding.judgedNs > 0 && !material.brackets.empty()
                            ? static_cast<double>(hardNs) *
                                  static_cast<double>(material.brackets.size()) /
                                  static_cast<double>(finding.judgedNs) /
                                  static_cast<double>(std::max<std::size_t>(cpus.size(), 1))
                            : 0;
    const bool rtHarm = rtMost >= material.scaled(Limit::RtDelay);
    finding.grade = finding.count < fewInstants || !key.hard ? Grade::S4
                    : rtHarm || duty >= harmfulDuty          ? Grade::S2
                                                             : Grade::S3;
    finding.confidence =
        all_.wakesRecorded
            ? Confidence(Proof::A, "the trace states wakes and times")
            : Confidence(Proof::D, "wakes are not recorded: counted by what callbacks are for");
    if (key.grid) {
      finding.confidence.times(
          static_cast<double>(key.grid->on) / static_cast<double>(key.instants),
          "share of the instants on the grid");
    }
    finding.what = "wakes in one instant";
    finding.unit = "";
    const s64 most = wakes.greatest().value_or(0);
    const std::string where = cpus.size() == 1 ? fmt::format("CPU{}", *cpus.begin())
                                               : fmt::format("{} CPUs", cpus.size());
    const std::string function = material.callback(key.function);
    finding.title.words("{} of up to {} on {}", countWords(finding.count, "instant", "instants"),
                        countWords(static_cast<u64>(most), "wake", "wakes"), where);
    if (key.grid) finding.title.words(", every {}", nsWords(key.grid->period));
    finding.title.words(", by ").symbol(function);
    if (key.grid) {
      finding.claim.words("Every {} ({}, phase {}) ", nsWords(key.grid->period),
                          clockName(key.base), nsWords(key.grid->phase));
    } else {
      finding.claim.words("{} times ", finding.count);
    }
    finding.claim.words(
        "{} of {} expire within {} in {} on {}",
        countWords(static_cast<u64>(wakes.percentile(0.5).value_or(0)), "timer", "timers"),
        countWords(static_cast<u64>(tasks.percentile(0.5).value_or(0)), "task", "tasks"),
        nsWords(spans.percentile(0.5).value_or(0)), key.hard ? "hard interrupt" : "softirq", where);
    finding.claim.words(" (median of {}, at most {}); they were due within {}.",
                        countWords(finding.count, "instant", "instants"),
                        countWords(static_cast<u64>(most), "wake", "wakes"),
                        nsWords(spread.greatest().value_or(0)));
    if (idle.greatest().value_or(0) > 0) {
      finding.claim.words(" Up to {} woken for it.", countWords(static_cast<u64>(*idle.greatest()),
                                                                "idle CPU is", "idle CPUs are"));
    }
    if (key.hard) {
      finding.claim.words(" The interrupts take {} in all, {:.2g} % of {}.", nsWords(hardNs),
                          100 * duty, cpus.size() == 1 ? "the CPU" : "these CPUs");
    } else {
      finding.claim.words(" Tasks of real-time priority can preempt this.");
    }
    if (rtMost > 0) {
      finding.claim.words(" An RT task waited {} for it.", nsWords(rtMost));
    }
    if (!all_.wakesRecorded) {
      finding.claim.words(" Wakes are counted by callbacks that do nothing else.");
    }
    gridRemarks(material, key, finding);
    finding.predicted.words(
        "by chance {:.1g} or less of such an instant, from the wakes of the second around it",
        material.thresholds[Limit::StormChance]);
    finding.observed.words("{} of {} instants with a wake", finding.count, finding.opportunities);
    finding.disproof.words("due times of these timers that differ by more than {}",
                           nsWords(material.thresholds.ns(Limit::StormWindow)));
    counter(finding, slack);
    finding.upstream = {"U36"};
    if (finding.count > 0) evidence(finding);
    finding.tables.push_back(taskTable(material, cluster));
  }

 private:
  struct Instant {
    std::vector<u32> batches;  ///< of all_
    std::vector<u32> wakes;    ///< in all_.wakes; callbacks where wakes are not recorded
    s64 at = 0;                ///< mono ns of its begin
    s64 requested = 0;         ///< what most of its timers asked for, on their own clock
    ClockBase base{};
    Address function{};
    bool hard = false;
    u64 tasks = 0, idleCpus = 0, early = 0;
    s64 hardNs = 0, lengthNs = 0, spreadNs = 0, rtWaitNs = 0;
    u32 key = 0;
  };
  struct Key {
    Known<TimeGrid> grid;
    ClockBase base{};
    Address function{};
    bool hard = false;
    u64 instants = 0;
  };
  /// A callback that woke, with when it was due.
  struct Waker {
    u32 callback, wake;
    Known<s64> due;
  };

  static std::string_view clockName(ClockBase base) {
    switch (hardOf(base)) {
      case ClockBase::Real:
        return "CLOCK_REALTIME";
      case ClockBase::Boot:
        return "CLOCK_BOOTTIME";
      case ClockBase::Tai:
        return "CLOCK_TAI";
      default:
        return "CLOCK_MONOTONIC";
    }
  }

  void collectWakes(const Material& material) {
    for (const ExpiryBatch& batch : all_.batches) {
      const auto at = material.mono(batch.entry);
      if (!at) continue;
      const u64 count = wakersOf(material, batch).size();
      for (u64 i = 0; i < count; ++i) wakeTimes_.push_back(at->value.value);
    }
    std::ranges::sort(wakeTimes_);
    if (material.events.empty()) return;
    const auto from = material.mono(Row{0}), to = material.mono(Row{material.events.size() - 1});
    recordedFrom_ = from ? from->value.value : wakeTimes_.empty() ? 0 : wakeTimes_.front();
    recordedTo_ = to ? to->value.value : wakeTimes_.empty() ? 0 : wakeTimes_.back();
  }

  std::vector<Waker> wakersOf(const Material& material, const ExpiryBatch& batch) const {
    std::vector<Waker> wakers;
    for (u32 i = 0; i < batch.callbacks; ++i) {
      const u32 at = batch.firstCallback + i;
      const BatchCallback& callback = all_.callbacks[at];
      if (callback.tick) continue;
      const bool wakes =
          all_.wakesRecorded ? callback.wakes > 0 : onlyWakesCached(material, callback.function);
      if (!wakes) continue;
      Waker waker{at, all_.wakesRecorded ? callback.firstWake : at, {}};
      if (callback.hasSpan()) {
        if (const auto due = material.dueMono(material.span(callback.span))) {
          waker.due = due->value.value;
        }
      }
      wakers.push_back(waker);
    }
    return wakers;
  }

  bool onlyWakesCached(const Material& material, Address function) const {
    const auto found = isWaker_.find(function);
    if (found != isWaker_.end()) return found->second;
    return isWaker_[function] = onlyWakes(material, function);
  }

  /// Batches of all CPUs that begin within the window of the first.
  std::vector<Instant> instantsOf(const Material& material) const {
    const s64 window = material.thresholds.ns(Limit::StormWindow);
    std::vector<Instant> instants;
    for (u32 i = 0; i < all_.batches.size(); ++i) {
      const auto at = material.mono(all_.batches[i].entry);
      if (!at || wakersOf(material, all_.batches[i]).empty()) continue;
      const bool joins = !instants.empty() && at->error.value < window &&
                         at->value.value - instants.back().at <= window &&
                         all_.batches[instants.back().batches.front()].hard == all_.batches[i].hard;
      if (!joins) {
        Instant& made = instants.emplace_back();
        made.at = at->value.value;
        made.hard = all_.batches[i].hard;
      }
      instants.back().batches.push_back(i);
    }
    return instants;
  }

  bool isStorm(const Material& material, Instant& instant, Judged& judged) {
    const s64 window = material.thresholds.ns(Limit::StormWindow);
    std::vector<Waker> wakers;
    for (const u32 at : instant.batches) {
      for (const Waker& waker : wakersOf(material, all_.batches[at])) wakers.push_back(waker);
    }
    const u64 least = material.thresholds.count(Limit::StormWakes);
    const u64 leastIdle = material.thresholds.count(Limit::StormIdle);
    if (wakers.size() < std::min(least, leastIdle)) return false;
    // Those of one due time: what slack pulled in, or what a late interrupt heaped up, is another matter.
    std::ranges::stable_sort(wakers, {}, [](const Waker& w) { return w.due.value_or(0); });
    std::size_t from = 0, best = 0, bestFrom = 0;
    for (std::size_t to = 0; to < wakers.size(); ++to) {
      if (!wakers[to].due) {
        from = to + 1;
        continue;
      }
      // Slack pulled it in; what becomes due while the others run does not count as that.
      if (*wakers[to].due > instant.at + window) {
        const auto ran = material.mono(all_.callbacks[wakers[to].callback].entry);
        instant.early += ran && *wakers[to].due > ran->value.value;
        continue;
      }
      while (*wakers[to].due - *wakers[from].due > window) ++from;
      if (to - from + 1 > best) {
        best = to - from + 1;
        bestFrom = from;
      }
    }
    const std::span<const Waker> together(wakers.data() + bestFrom, best);
    std::set<Cpu> idle;
    for (const Waker& waker : together) note(waker, instant, idle);
    instant.idleCpus = idle.size();
    if (instant.wakes.size() < least && instant.idleCpus < leastIdle) {
      if (wakers.size() >= least)
        ++(wakers.front().due && instant.early == 0 ? backlogs_ : merged_);
      return false;
    }
    // Where the load changes within the second, chance goes by the busier: that of the time next to the instant.
    const double mean =
        std::max(meanAround(instant.at, aroundNs, window, wakers.size()),
                 meanAround(instant.at, nearWindows * window, window, wakers.size()));
    if (chanceOf(instant.wakes.size(), mean) > material.thresholds[Limit::StormChance]) {
      ++chances_;
      return false;
    }
    for (const u32 at : instant.batches) {
      const ExpiryBatch& batch = all_.batches[at];
      const Row last = batch.exit != noRow ? batch.exit : batch.entry;
      if (material.isBlind(batch.cpu, batch.entry, last, blindKinds)) {
        ++judged.dropped;
        return false;
      }
    }
    measure(material, together, instant);
    return true;
  }

  void note(const Waker& waker, Instant& instant, std::set<Cpu>& idle) const {
    if (!all_.wakesRecorded) {
      instant.wakes.push_back(waker.callback);
      return;
    }
    for (const TimerWake& wake : all_.wakesOf(all_.callbacks[waker.callback])) {
      instant.wakes.push_back(static_cast<u32>(&wake - all_.wakes.data()));
      if (wake.idleTarget) idle.insert(wake.target);
    }
  }

  /// Wakes in a window by their rate within `reach` ns of the instant, without its own.
  [[nodiscard]] double meanAround(s64 at, s64 reach, s64 window, u64 own) const {
    const auto from = std::ranges::lower_bound(wakeTimes_, at - reach);
    const auto to = std::ranges::upper_bound(wakeTimes_, at + reach);
    const auto all = static_cast<u64>(to - from);
    // Near its ends the recording holds less.
    const s64 seen =
        std::max(window, std::min(at + reach, recordedTo_) - std::max(at - reach, recordedFrom_));
    return static_cast<double>(all - std::min(all, own)) * static_cast<double>(window) /
           static_cast<double>(seen);
  }

  void measure(const Material& material, std::span<const Waker> together, Instant& instant) const {
    std::set<Pid> pids;
    std::map<std::pair<s64, u8>, u64> asked;
    std::map<Address, u64> functions;
    s64 first = *together.front().due, last = first;
    for (const Waker& waker : together) {
      const BatchCallback& callback = all_.callbacks[waker.callback];
      const ArmedSpan& span = material.span(callback.span);
      first = std::min(first, *waker.due);
      last = std::max(last, *waker.due);
      ++asked[{span.secondKnown ? span.second : span.expires, number(hardOf(span.clockBase()))}];
      ++functions[callback.function];
    }
    instant.spreadNs = last - first;
    if (all_.wakesRecorded) {
      for (const u32 wake : instant.wakes) pids.insert(all_.wakes[wake].pid);
      instant.tasks = pids.size();
    } else {
      instant.tasks = together.size();
    }
    const auto most = std::ranges::max_element(asked, {}, [](const auto& a) { return a.second; });
    instant.requested = most->first.first;
    instant.base = static_cast<ClockBase>(most->first.second);
    instant.function =
        std::ranges::max_element(functions, {}, [](const auto& f) { return f.second; })->first;
    for (const u32 at : instant.batches) {
      const ExpiryBatch& batch = all_.batches[at];
      const s64 ns =
          batch.exit != noRow ? material.nsBetween(batch.entry, batch.exit).value_or(0) : 0;
      if (batch.hard) instant.hardNs += ns;
      instant.lengthNs = std::max(instant.lengthNs, ns);
      for (const BurstWait& wait : burstWaitsOf(material, all_, batch)) {
        instant.rtWaitNs = std::max(instant.rtWaitNs, wait.normal);
      }
    }
  }

  /// Those of one callback and clock, and of them those on one grid.
  void keyByGrid(const Material& material, std::vector<Instant>& instants) {
    using Alike = std::tuple<Address, ClockBase, bool>;
    std::map<Alike, std::vector<u32>> alike;
    for (u32 i = 0; i < instants.size(); ++i) {
      alike[{instants[i].function, instants[i].base, instants[i].hard}].push_back(i);
    }
    for (const auto& [of, members] : alike) {
      std::vector<s64> times;
      for (const u32 i : members) times.push_back(instants[i].requested);
      std::ranges::sort(times);
      Key key;
      std::tie(key.function, key.base, key.hard) = of;
      key.instants = members.size();
      key.grid = gridOf(times, material.thresholds.ns(Limit::StormGridTolerance),
                        material.thresholds[Limit::StormGridShare], fewInstants);
      for (const u32 i : members) instants[i].key = static_cast<u32>(keys_.size());
      keys_.push_back(key);
    }
  }

  void add(const Material& material, Instant instant, Judged& judged) {
    const ExpiryBatch* most = &all_.batches[instant.batches.front()];
    TimeSpan when{material.time(most->entry), material.time(most->entry)};
    for (const u32 at : instant.batches) {
      const ExpiryBatch& batch = all_.batches[at];
      if (batch.wakes > most->wakes) most = &batch;
      when.to = std::max(when.to, material.time(batch.exit != noRow ? batch.exit : batch.entry));
    }
    Instance& made = judged.instances.emplace_back();
    made.when = when;
    made.cpu = most->cpu;
    made.causeKey = instant.key;
    made.magnitude = static_cast<s64>(instant.wakes.size());
    made.evidence[0] = most->entry;
    made.evidence[1] = rowOf(instant.wakes.front());
    made.evidence[2] = rowOf(instant.wakes.back());
    made.evidence[3] = most->exit;
    const u32 callback =
        all_.wakesRecorded ? all_.wakes[instant.wakes.front()].callback : instant.wakes.front();
    if (all_.callbacks[callback].hasSpan()) {
      made.timer = material.span(all_.callbacks[callback].span).timer;
    }
    made.detail = static_cast<u32>(storms_.size());
    storms_.push_back(std::move(instant));
  }

  [[nodiscard]] Row rowOf(u32 wake) const {
    return all_.wakesRecorded ? all_.wakes[wake].row : all_.callbacks[wake].entry;
  }

  static void gridRemarks(const Material& material, const Key& key, Finding& finding) {
    if (!key.grid) return;
    const s64 tolerance = material.thresholds.ns(Limit::StormGridTolerance);
    const TimeGrid& grid = *key.grid;
    if (grid.phase <= tolerance || grid.period - grid.phase <= tolerance) {
      finding.claim.words(" The grid has phase 0 of {}: users round to absolute times.",
                          clockName(key.base));
      finding.advice.emplace_back("a phase of its own for each user of the period");
    }
    const auto tick = material.tickNs();
    const auto jiffy = material.clocks.monoOf(0);
    if (!tick || !jiffy || hardOf(key.base) != ClockBase::Mono || grid.period % *tick != 0) return;
    const s64 off = ((grid.phase - jiffy->value) % *tick + *tick) % *tick;
    if (off <= tolerance || *tick - off <= tolerance) {
      finding.claim.words(" It is the phase of the tick as well.");
      finding.advice.emplace_back("skew_tick=1 would spread the ticks of the CPUs");
    }
  }

  void counter(Finding& finding, u64 slack) const {
    using enum CounterEvidence::Result;
    const auto add = [&](std::string_view id, u64 count, std::string text, std::string none) {
      finding.counterEvidence.push_back(
          {id, count ? Excluded : Absent, Sentence(count ? std::move(text) : std::move(none))});
    };
    add("K1", backlogs_,
        fmt::format("{} with due times further apart than the window left out: a late interrupt",
                    countWords(backlogs_, "instant", "instants")),
        "the timers of each instant were due within the window: no backlog");
    add("K4", 0, "", "a CPU that was away does not make due times equal");
    add("K12", merged_ + slack,
        fmt::format("{} that slack pulled in before they were due not counted: that is a saving",
                    countWords(merged_ + slack, "timer or instant", "timers or instants")),
        "no timer was pulled in by its slack");
    if (chances_) {
      finding.counterEvidence.push_back(
          {"chance", Excluded,
           Sentence(fmt::format("{} as likely by the rate of wakes around left out",
                                countWords(chances_, "instant", "instants")))});
    }
  }

  void evidence(Finding& finding) const {
    for (const Instance& instance : finding.worst) {
      const Instant& instant = storms_[instance.detail];
      Sentence begin, last, end;
      begin.words("{} follow", countWords(instant.wakes.size(), "wake", "wakes"));
      finding.evidence.push_back({instance.evidence[0], std::move(begin)});
      finding.evidence.push_back({instance.evidence[1], Sentence("the first")});
      last.words("the last");
      finding.evidence.push_back({instance.evidence[2], std::move(last)});
      if (instance.evidence[3] == noRow) continue;
      end.words("after {}", nsWords(instant.lengthNs));
      finding.evidence.push_back({instance.evidence[3], std::move(end)});
    }
  }

  [[nodiscard]] Table taskTable(const Material& material, const Cluster& cluster) const {
    Table table;
    table.title = "Tasks made runnable";
    table.columns = {{"task", ""}, {"pid", ""}, {"prio", ""}, {"wakes", ""}, {"instants", "%"}};
    if (!all_.wakesRecorded) return table;
    struct Count {
      u64 wakes = 0, instants = 0;
      StringId comm{};
      s32 prio = 0;
      u32 last = ~u32{0};
    };
    std::map<Pid, Count> counts;
    for (const Instance& instance : cluster.instances) {
      for (const u32 at : storms_[instance.detail].wakes) {
        const TimerWake& wake = all_.wakes[at];
        Count& count = counts[wake.pid];
        ++count.wakes;
        count.comm = wake.comm;
        count.prio = wake.prio;
        if (count.last != instance.detail) ++count.instants;
        count.last = instance.detail;
      }
    }
    std::vector<std::pair<Pid, Count>> most(counts.begin(), counts.end());
    std::ranges::stable_sort(most, std::ranges::greater{},
                             [](const auto& c) { return c.second.wakes; });
    if (most.size() > tasksShown) most.resize(tasksShown);
    for (const auto& [pid, count] : most) {
      Sentence task, number;
      task.task(material.events.text(count.comm));
      number.pid(pid);
      table.rows.push_back({task, number, static_cast<s64>(count.prio),
                            static_cast<s64>(count.wakes),
                            Figure{100.0 * static_cast<double>(count.instants) /
                                       static_cast<double>(cluster.instances.size()),
                                   1}});
    }
    return table;
  }

  ExpiryBatches all_;
  std::vector<s64> wakeTimes_;             ///< mono ns, ascending
  s64 recordedFrom_ = 0, recordedTo_ = 0;  ///< mono ns
  mutable std::map<Address, bool> isWaker_;
  std::vector<Instant> storms_;
  std::vector<Key> keys_;
  u64 backlogs_ = 0, merged_ = 0, chances_ = 0;
};

}  // namespace

extern const DetectorInfo f01WakeStorm;
constinit const DetectorInfo f01WakeStorm{
    .id = "F01",
    .name = "wake-storm",
    .line = "timers of one due time wake many tasks or idle CPUs",
    .needs = {Needs{Need::H}},
    .record = "storm",
    .byTimeAlone = "*",
    .make = makeDetector<WakeStorm>,
};

}  // namespace tickscope
