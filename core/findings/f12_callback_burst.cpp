// SPDX-License-Identifier: GPL-3.0-or-later
// F12: many timer callbacks in one hard interrupt, and real-time tasks that wait for them.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/findings/burst_waits.h"
#include "core/findings/detector.h"
#include "core/findings/figure_text.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::Suspended, BlindSpotKind::CpuOffline});

class CallbackBurst final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>&) override {
    all_ = expiryBatchesOf(material);
    Judged judged;
    judged.judgedNs = material.judgedNs(blindKinds);
    for (const ExpiryBatch& batch : all_.batches) {
      if (!batch.hard) continue;
      ++judged.opportunities;
      if (!isBurst(material, all_, batch)) continue;
      ++bursts_;
      const auto waits = burstWaitsOf(material, all_, batch);
      if (waits.empty()) continue;
      if (material.isBlind(batch.cpu, batch.entry, batch.exit, blindKinds)) {
        ++judged.dropped;
        continue;
      }
      if (isBacklog(material, batch)) {
        backlogs_ += waits.size();
        continue;
      }
      for (const BurstWait& wait : waits) add(material, batch, wait, judged);
    }
    return only(std::move(judged));
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    const Instance& worst = *std::ranges::max_element(cluster.instances, {}, &Instance::magnitude);
    const Note& note = notes_[worst.detail];
    const s64 limit = material.scaled(Limit::RtDelay);
    s64 normal = 0, other = 0;
    u64 many = 0;
    for (const Instance& instance : cluster.instances) {
      normal += notes_[instance.detail].wait.normal;
      other += notes_[instance.detail].wait.other;
      many += instance.magnitude >= limit;
    }
    const s64 most = finding.distribution.greatest().value_or(0);
    finding.grade = many > 0 ? Grade::S2 : Grade::S3;
    finding.confidence = Confidence(Proof::A, "the trace states order and times of callbacks");
    finding.what = "waited for other callbacks";
    finding.unit = "ns";
    const std::string_view comm = material.events.text(note.wait.comm);
    finding.title.task(comm).words(" waited up to {} for other timer callbacks on CPU{}: {}",
                                   nsWords(most), number(worst.cpu),
                                   countWords(finding.count, "interrupt", "interrupts"));
    finding.claim.words("RT task ").task(comm).words("-").pid(note.wait.pid);
    finding.claim.words(" (prio {})", userPrio(note.wait.prio));
    if (note.wait.position == 0) {
      finding.claim.words(" was interrupted on CPU{} for {} timer callbacks: {}.",
                          number(worst.cpu), note.callbacks, nsWords(most));
    } else {
      finding.claim.words(
          " was made runnable by callback {} of {} in one timer interrupt of CPU{} and waited for "
          "the others: {} ({} before its own callback, {} behind it).",
          note.wait.position, note.callbacks, number(worst.cpu), nsWords(most),
          nsWords(note.wait.before), nsWords(note.wait.after));
    }
    finding.claim.words(
        " That happened in {}; {} of it for callbacks that wake tasks without "
        "real-time priority, {} for others.",
        countWords(finding.count, "interrupt", "interrupts"), nsWords(normal), nsWords(other));
    if (material.profile.rt.judged() == true && normal > 0) {
      finding.claim.words(
          " A PREEMPT_RT kernel of 5.4 and later expires sleepers of such tasks in softirq.");
    }
    finding.predicted.words("at most {} in an interrupt with fewer than {} callbacks",
                            nsWords(limit), material.thresholds.count(Limit::BurstCallbacks));
    finding.observed.words("{} of {} at or above it, {} at most", many,
                           countWords(finding.count, "wait", "waits"), nsWords(most));
    finding.disproof.words("a switch to the task before the interrupt's last callback");
    finding.counterEvidence.push_back(
        {"K1", backlogs_ ? CounterEvidence::Result::Excluded : CounterEvidence::Result::Absent,
         Sentence(backlogs_ ? fmt::format("{} behind a late interrupt left out: its callbacks were "
                                          "due at different times",
                                          countWords(backlogs_, "wait", "waits"))
                            : std::string("no burst is a backlog: callbacks due over a time longer "
                                          "than storm.window"))});
    finding.counterEvidence.push_back(
        {"K4", CounterEvidence::Result::Absent,
         Sentence("the time is that between events of this CPU inside one interrupt")});
    finding.upstream = {"U36"};
    for (const Instance& instance : finding.worst) {
      const Note& one = notes_[instance.detail];
      Sentence begin;
      begin.words("interrupt with {} callbacks", one.callbacks);
      finding.evidence.push_back({instance.evidence[0], std::move(begin)});
      if (instance.evidence[1] != noRow) {
        Sentence woken;
        woken.words("callback {}: ", one.wait.position)
            .task(material.events.text(one.wait.comm))
            .words(" is made runnable");
        finding.evidence.push_back({instance.evidence[1], std::move(woken)});
      }
      Sentence end;
      end.words("waited {} for the others", nsWords(instance.magnitude));
      finding.evidence.push_back({instance.evidence[2], std::move(end)});
    }
    finding.tables.push_back(table(material, cluster));
  }

 private:
  struct Note {
    BurstWait wait;
    u32 callbacks = 0;
    s64 interrupt = 0;  ///< ns
  };

  /// chrt's figure for FIFO and RR: 99 is the highest; deadline tasks are above it.
  static std::string userPrio(s32 prio) {
    return prio < 0 ? std::string("deadline") : fmt::format("{}", firstNormalPrio - 1 - prio);
  }

  /// K1: timers due at different times, run together because the interrupt was late.
  static bool isBacklogOf(std::vector<s64>& dues, s64 window, u64 least) {
    std::ranges::sort(dues);
    u64 most = 0;
    std::size_t from = 0;
    for (std::size_t to = 0; to < dues.size(); ++to) {
      while (dues[to] - dues[from] > window) ++from;
      most = std::max<u64>(most, to - from + 1);
    }
    return dues.size() >= least && most < least;
  }
  [[nodiscard]] bool isBacklog(const Material& material, const ExpiryBatch& batch) const {
    std::vector<s64> dues;
    for (const BatchCallback& callback : all_.callbacksOf(batch)) {
      if (!callback.hasSpan()) continue;
      if (const auto due = material.dueMono(material.span(callback.span))) {
        dues.push_back(due->value.value);
      }
    }
    return isBacklogOf(dues, material.thresholds.ns(Limit::StormWindow),
                       material.thresholds.count(Limit::BurstCallbacks));
  }

  void add(const Material& material, const ExpiryBatch& batch, const BurstWait& wait,
           Judged& judged) {
    if (wait.all() <= 0) return;
    Instance& made = judged.instances.emplace_back();
    made.when = {material.time(batch.entry), material.time(batch.exit)};
    made.cpu = batch.cpu;
    made.causeKey =
        (static_cast<u64>(number(batch.cpu)) << 32U) | static_cast<u32>(number(wait.pid));
    made.magnitude = wait.all();
    made.evidence[0] = batch.entry;
    made.evidence[1] = wait.wake;
    made.evidence[2] = batch.exit;
    if (wait.position > 0) {
      const BatchCallback& own = all_.callbacks[batch.firstCallback + wait.position - 1];
      if (own.hasSpan()) made.timer = material.span(own.span).timer;
    }
    made.detail = static_cast<u32>(notes_.size());
    notes_.push_back(
        {wait, batch.callbacks, material.nsBetween(batch.entry, batch.exit).value_or(0)});
  }

  [[nodiscard]] Table table(const Material& material, const Cluster& cluster) const {
    Histogram waits, callbacks, interrupts;
    s64 normal = 0, whole = 0;
    for (const Instance& instance : cluster.instances) {
      const Note& note = notes_[instance.detail];
      waits.add(instance.magnitude);
      callbacks.add(note.callbacks);
      interrupts.add(note.interrupt);
      normal += note.wait.normal;
      whole += note.wait.all();
    }
    const Note& note = notes_[cluster.instances.front().detail];
    Table made;
    made.title = "Waits of the task in bursts";
    made.columns = {{"task", ""},          {"pid", ""},
                    {"prio", ""},          {"interrupts", ""},
                    {"callbacks p50", ""}, {"interrupt most", "us"},
                    {"wait least", "us"},  {"wait p50", "us"},
                    {"wait most", "us"},   {"for normal tasks", "%"}};
    Sentence task, pid;
    task.task(material.events.text(note.wait.comm));
    pid.pid(note.wait.pid);
    made.rows.push_back(
        {task, pid, Sentence(userPrio(note.wait.prio)), static_cast<s64>(cluster.instances.size()),
         callbacks.percentile(0.5).value_or(0), usFigure(interrupts.greatest()),
         usFigure(waits.least()), usFigure(waits.percentile(0.5)), usFigure(waits.greatest()),
         Figure{whole > 0 ? 100.0 * static_cast<double>(normal) / static_cast<double>(whole) : 0,
                1}});
    return made;
  }

  ExpiryBatches all_;
  std::vector<Note> notes_;
  u64 bursts_ = 0, backlogs_ = 0;
};

}  // namespace

extern const DetectorInfo f12CallbackBurst;
constinit const DetectorInfo f12CallbackBurst{
    .id = "F12",
    .name = "callback-burst",
    .line = "many callbacks in one interrupt delay RT tasks",
    .needs = {Needs{Need::H, Need::S}},
    .record = "storm",
    .byTimeAlone = "*",
    .make = makeDetector<CallbackBurst>,
};

}  // namespace tickscope
