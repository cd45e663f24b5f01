// SPDX-License-Identifier: GPL-3.0-or-later
// F16: what moving wake-ups of tasks without real-time priority into softirq would save.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/findings/burst_waits.h"
#include "core/findings/detector.h"
#include "core/findings/figure_text.h"
#include "core/model/kernel_numbers.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::Suspended, BlindSpotKind::CpuOffline});

/// What raising HRTIMER costs the interrupt; assumed.
constexpr s64 raiseNs = 1'000;
constexpr std::size_t victimsShown = 12;

/// A figure before, and the bounds that it would have.
struct WhatIf {
  s64 old = 0, least = 0, most = 0;
};

class WhatIfSoftirq final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>&) override {
    all_ = expiryBatchesOf(material);
    Judged judged;
    judged.judgedNs = material.judgedNs(blindKinds);
    for (const ExpiryBatch& batch : all_.batches) {
      if (!batch.hard || batch.exit == noRow) continue;
      ++judged.opportunities;
      if (!isBurst(material, all_, batch)) continue;
      Note note;
      for (u32 i = 0; i < batch.callbacks; ++i) {
        if (isMovable(material, all_.callbacks[batch.firstCallback + i])) note.moved.push_back(i);
      }
      if (note.moved.empty()) continue;
      replay(material, batch, note);
      // A wake or two that save next to nothing are no reason to move them.
      if (note.moved.size() < material.thresholds.count(Limit::BurstCallbacks) &&
          note.interrupt.old - note.interrupt.most < material.scaled(Limit::RtDelay)) {
        continue;
      }
      if (material.isBlind(batch.cpu, batch.entry, batch.exit, blindKinds)) {
        ++judged.dropped;
        continue;
      }
      Instance& made = judged.instances.emplace_back();
      made.when = {material.time(batch.entry), material.time(batch.exit)};
      made.cpu = batch.cpu;
      made.causeKey = number(batch.cpu);
      made.magnitude = note.interrupt.old - note.interrupt.most;
      const BatchCallback& first = all_.callbacks[batch.firstCallback + note.moved.front()];
      const BatchCallback& last = all_.callbacks[batch.firstCallback + note.moved.back()];
      made.evidence = {batch.entry, first.entry, last.exit, batch.exit};
      if (first.hasSpan()) made.timer = material.span(first.span).timer;
      made.detail = static_cast<u32>(notes_.size());
      notes_.push_back(std::move(note));
    }
    return only(std::move(judged));
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    finding.grade = Grade::S4;
    finding.confidence =
        Confidence(Proof::A, "times of callbacks are in the trace; bounds, no estimate");
    finding.what = "hard interrupt shorter by at least";
    finding.unit = "ns";
    Histogram moved, before, least, most, added;
    std::map<Pid, Victims> victims;
    for (const Instance& instance : cluster.instances) {
      const Note& note = notes_[instance.detail];
      moved.add(static_cast<s64>(note.moved.size()));
      before.add(note.interrupt.old);
      least.add(note.interrupt.least);
      most.add(note.interrupt.most);
      added.add(note.addedNs);
      for (const Victim& victim : note.victims) victims[victim.pid].add(victim);
    }
    const s64 waits = softWait(material, finding);
    finding.title.words(
        "{} on CPU{} would take at most {} instead of {} with wakes of normal tasks in softirq",
        countWords(finding.count, "timer interrupt", "timer interrupts"),
        number(cluster.instances.front().cpu), nsWords(most.greatest().value_or(0)),
        nsWords(before.greatest().value_or(0)));
    finding.claim.words(
        "Had up to {} of tasks without real-time priority run in softirq, {} on CPU{} would have "
        "lasted {} to {} at most instead of {} (a raise of {} is assumed).",
        countWords(static_cast<u64>(moved.greatest().value_or(0)), "wake-up", "wake-ups"),
        countWords(finding.count, "hard interrupt", "hard interrupts"),
        number(cluster.instances.front().cpu), nsWords(least.greatest().value_or(0)),
        nsWords(most.greatest().value_or(0)), nsWords(before.greatest().value_or(0)),
        nsWords(raiseNs));
    const Victims* worst = nullptr;
    for (const auto& [pid, one] : victims) {
      if (!worst || one.old.greatest().value_or(0) > worst->old.greatest().value_or(0))
        worst = &one;
    }
    if (worst) {
      finding.claim.words(" The longest wait of ").task(material.events.text(worst->comm));
      finding.claim.words(
          " from its timer to the end of the interrupt would have been at most {} instead of {}.",
          nsWords(worst->most.greatest().value_or(0)), nsWords(worst->old.greatest().value_or(0)));
    } else {
      finding.claim.words(" No real-time task waited for them here.");
    }
    finding.claim.words(
        " The moved wake-ups come later by up to {} of callbacks that now run before them{}. What "
        "follows from another order of tasks is not claimed.",
        nsWords(added.greatest().value_or(0)),
        waits > 0 ? fmt::format(" and by the softirq's wait, {} in the median", nsWords(waits))
                  : "");
    finding.predicted.words("{} to {} a hard interrupt", nsWords(least.greatest().value_or(0)),
                            nsWords(most.greatest().value_or(0)));
    finding.observed.words("{} at most", nsWords(before.greatest().value_or(0)));
    finding.disproof.words(
        "a wake-up among the moved that a task with real-time priority waits for");
    finding.counterEvidence.push_back(
        {"K1", CounterEvidence::Result::Absent,
         Sentence("only time between entry and exit of callbacks is moved")});
    finding.counterEvidence.push_back(
        {"K4", CounterEvidence::Result::Absent,
         Sentence("only time between entry and exit of callbacks is moved")});
    finding.upstream = {"U36"};
    for (const Instance& instance : finding.worst) {
      const Note& note = notes_[instance.detail];
      finding.evidence.push_back({instance.evidence[0], {}});
      Sentence from;
      from.words("the first of {} that would move",
                 countWords(note.moved.size(), "callback", "callbacks"));
      finding.evidence.push_back({instance.evidence[1], std::move(from)});
      if (instance.evidence[2] != noRow) {
        finding.evidence.push_back({instance.evidence[2], Sentence("end of the last of them")});
      }
      Sentence end;
      end.words("{} after entry; {} to {} without them", nsWords(note.interrupt.old),
                nsWords(note.interrupt.least), nsWords(note.interrupt.most));
      finding.evidence.push_back({instance.evidence[3], std::move(end)});
    }
    finding.tables.push_back(table(material, victims));
  }

 private:
  struct Victim {
    Pid pid{};
    StringId comm{};
    s32 prio = 0;
    WhatIf wait;
  };
  struct Victims {
    StringId comm{};
    s32 prio = 0;
    Histogram old, least, most;
    void add(const Victim& victim) {
      comm = victim.comm;
      prio = victim.prio;
      old.add(victim.wait.old);
      least.add(victim.wait.least);
      most.add(victim.wait.most);
    }
  };
  struct Note {
    std::vector<u32> moved;  ///< places in the batch
    WhatIf interrupt;
    s64 addedNs = 0;  ///< the longest time of callbacks that stay behind a moved one
    std::vector<Victim> victims;
  };

  [[nodiscard]] bool isMovable(const Material& material, const BatchCallback& callback) const {
    const auto wakes = all_.wakesOf(callback);
    if (callback.tick || wakes.empty() || callback.exit == noRow) return false;
    if (std::ranges::any_of(wakes, [](const TimerWake& w) { return isRealTime(w.prio); })) {
      return false;
    }
    const auto [at, isNew] = onlyWakes_.try_emplace(callback.function, false);
    if (isNew) at->second = onlyWakes(material, callback.function);
    return at->second;
  }

  /// Without what of the moved callbacks lies between two rows; both bounds.
  [[nodiscard]] WhatIf without(const Material& material, const ExpiryBatch& batch,
                               const std::vector<u32>& moved, Row from, Row to) const {
    WhatIf made;
    made.old = material.nsBetween(from, to).value_or(0);
    s64 whole = 0, callbacks = 0;
    for (const u32 i : moved) {
      const BatchCallback& callback = all_.callbacks[batch.firstCallback + i];
      const Row next = i + 1 < batch.callbacks ? all_.callbacks[batch.firstCallback + i + 1].entry
                                               : callback.exit;
      const auto overlap = [&](Row end) {
        const Row begin = std::max(callback.entry, from), until = std::min(end, to);
        return begin < until ? material.nsBetween(begin, until).value_or(0) : s64{0};
      };
      whole += overlap(next);
      callbacks += overlap(callback.exit);
    }
    made.least = made.old - whole;
    // Moving what is shorter than the raise would cost.
    made.most = std::min(made.old, made.old - callbacks + raiseNs);
    return made;
  }

  void replay(const Material& material, const ExpiryBatch& batch, Note& note) const {
    note.interrupt = without(material, batch, note.moved, batch.entry, batch.exit);
    for (const BurstWait& wait : burstWaitsOf(material, all_, batch)) {
      if (wait.elsewhere) continue;
      Row from = batch.entry;
      if (wait.position > 0) {
        const BatchCallback& own = all_.callbacks[batch.firstCallback + wait.position - 1];
        if (own.hasSpan()) {
          if (const auto due = material.dueTime(material.span(own.span));
              due && due->value > material.time(from)) {
            const Row row = material.rowAtOrAfter(batch.cpu, due->value);
            if (row != noRow) from = std::min(row, own.entry);
          }
        }
      }
      note.victims.push_back(
          {wait.pid, wait.comm, wait.prio, without(material, batch, note.moved, from, batch.exit)});
    }
    const auto first = note.moved.front();
    for (u32 i = first + 1; i < batch.callbacks; ++i) {
      if (std::ranges::binary_search(note.moved, i)) continue;
      const BatchCallback& stays = all_.callbacks[batch.firstCallback + i];
      note.addedNs += material.nsBetween(stays.entry, stays.exit).value_or(0);
    }
  }

  /// HRTIMER's median wait from raise to entry on those CPUs, ns; 0: not seen.
  static s64 softWait(const Material& material, const Finding& finding) {
    Histogram waits;
    for (const CpuBrackets& cpu : material.brackets) {
      if (!std::ranges::binary_search(finding.cpus, cpu.cpu)) continue;
      for (const Bracket& bracket : cpu.nested) {
        if (bracket.kind != BracketKind::Softirq || bracket.vector != hrtimerVector) continue;
        if (const auto ns = material.nsBetween(bracket.raised, bracket.entry)) waits.add(*ns);
      }
    }
    return waits.percentile(0.5).value_or(0);
  }

  static Table table(const Material& material, const std::map<Pid, Victims>& victims) {
    Table made;
    made.title = "Waits of real-time tasks to the end of the interrupt";
    made.columns = {{"task", ""},          {"pid", ""},           {"interrupts", ""},
                    {"p50", "us"},         {"most", "us"},        {"p50 at least", "us"},
                    {"p50 at most", "us"}, {"most at most", "us"}};
    std::vector<std::pair<Pid, const Victims*>> rows;
    for (const auto& [pid, one] : victims) rows.emplace_back(pid, &one);
    std::ranges::stable_sort(rows, std::ranges::greater{}, [](const auto& row) {
      return row.second->old.greatest().value_or(0);
    });
    if (rows.size() > victimsShown) rows.resize(victimsShown);
    for (const auto& [pid, one] : rows) {
      Sentence task, number;
      task.task(material.events.text(one->comm));
      number.pid(pid);
      made.rows.push_back({task, number, static_cast<s64>(one->old.count()),
                           usFigure(one->old.percentile(0.5)), usFigure(one->old.greatest()),
                           usFigure(one->least.percentile(0.5)),
                           usFigure(one->most.percentile(0.5)), usFigure(one->most.greatest())});
    }
    return made;
  }

  ExpiryBatches all_;
  mutable std::map<Address, bool> onlyWakes_;
  std::vector<Note> notes_;
};

}  // namespace

extern const DetectorInfo f16WhatIfSoftirq;
constinit const DetectorInfo f16WhatIfSoftirq{
    .id = "F16",
    .name = "what-if-softirq",
    .line = "what moving wakeups of non-RT tasks to softirq would save",
    .needs = {Needs{Need::H, Need::S}},
    .record = "storm",
    .byTimeAlone = "",
    .make = makeDetector<WhatIfSoftirq>,
};

}  // namespace tickscope
