// SPDX-License-Identifier: GPL-3.0-or-later
// The order of the stages.
#include "core/analysis.h"

#include <algorithm>

#include "core/findings/judge.h"
#include "core/model/promptness.h"
#include "core/model/replay.h"
#include "core/model/seed_evidence.h"

namespace tickscope {

namespace {

/// Rules show early; behaviour at the end of a long recording adds nothing to them.
constexpr u32 learningRows = 500'000;

RuleSet allRules() { return RuleSet().set(); }

struct Learned {
  RuleFit fit;
  bool filtered = false;
  Hindsight hindsight;
};

/// Replays the beginning under all rules. Its tables are gone before the replay of all rows makes its own.
Result<Learned> learn(const Analysis& analysis, const TimerListDump* seed, Progress& progress) {
  const Buffer& buffer = analysis.opened();
  const u32 learning = std::min(buffer.events.size(), learningRows);
  progress.begin("Kernel rules", learning);
  Replay learner({.recording = *analysis.recording,
                  .buffer = buffer,
                  .profile = analysis.profile,
                  .clocks = analysis.clocks,
                  .seed = seed,
                  .rules = allRules(),
                  .lastRow = learning});
  const auto learned = learner.run(progress);
  if (!learned) return tl::unexpected(learned.error());
  // Expiries, cancels and restarts of timers that no row armed: a filter was at work, or events are missing without a
  // mark (B05). Kernel faults lose timers, but do not run timers that nobody armed.
  const auto contradictions = [&](DiscrepancyKind kind) {
    return std::ranges::count(learned->discrepancies, kind, &Discrepancy::kind);
  };
  const auto unlike = static_cast<u64>(contradictions(DiscrepancyKind::ExpiredWhileIdle) +
                                       contradictions(DiscrepancyKind::CancelledWhileIdle) +
                                       contradictions(DiscrepancyKind::StartedWhileArmed) +
                                       contradictions(DiscrepancyKind::WasArmedDiffers));
  const bool filtered = unlike > 2 && unlike * 50 > learned->spans.size();
  return Learned{learned->ruleFit, filtered, learner.takeHindsight()};
}

}  // namespace

Result<Analysis> analyse(std::shared_ptr<const Recording> recording, const AnalysisOptions& options,
                         Progress& progress) {
  Analysis analysis;
  analysis.recording = std::move(recording);
  analysis.buffer = options.buffer;
  analysis.timerList = options.timerList;
  const Buffer& buffer = analysis.opened();
  const EventStore& events = buffer.events;
  const auto wordBits = static_cast<u8>(analysis.recording->metadata.wordSize * 8);

  progress.begin("Kernel profile", 0);
  analysis.clocks = ClockMap::fit(buffer, wordBits);
  if (!progress.advance(0)) return fail(Error::Kind::Cancelled, "Cancelled.");
  analysis.profile = learnProfile(*analysis.recording, buffer, options.overrides,
                                  analysis.clocks.hz(), options.timerList.get());

  TimerListDump armedBefore;
  if (options.timerList && options.timerList->now && !events.empty()) {
    const Row first{0};
    const auto begin = analysis.clocks.mono(events.time(first), events.cpu(first));
    if (begin && *options.timerList->now <= begin->value + begin->error) {
      armedBefore = stillArmed(*options.timerList, *analysis.recording, buffer, analysis.clocks);
      analysis.seeded = listsTimers(armedBefore);
    }
  }
  const TimerListDump* seed = analysis.seeded ? &armedBefore : nullptr;

  const auto learned = learn(analysis, seed, progress);
  if (!learned) return tl::unexpected(learned.error());
  analysis.filtered = learned->filtered;
  Observed observed;
  observed.fits = learned->fit.fits;
  observed.misses = learned->fit.misses;
  observe(analysis.profile, observed);

  progress.begin("Reference model", events.size());
  Replay replay({.recording = *analysis.recording,
                 .buffer = buffer,
                 .profile = analysis.profile,
                 .clocks = analysis.clocks,
                 .seed = seed,
                 .filtered = analysis.filtered,
                 .hindsight = &learned->hindsight});
  auto tables = replay.run(progress);
  if (!tables) return tl::unexpected(tables.error());
  analysis.tables = std::move(*tables);
  analysis.tables.ruleFit = learned->fit;
  return analysis;
}

SystemState stateAt(const Analysis& analysis, Row row) {
  return stateAt(analysis.tables, analysis.events(), row);
}

double recordedSeconds(const Analysis& analysis) {
  const EventStore& events = analysis.events();
  if (events.empty()) return 0;
  const Row first{0}, last{events.size() - 1};
  const auto begin = analysis.clocks.mono(events.time(first), events.cpu(first));
  const auto end = analysis.clocks.mono(events.time(last), events.cpu(last));
  if (!begin || !end) return 0;
  return static_cast<double>((end->value - begin->value).value) / 1e9;
}

Activity activityOf(const Analysis& analysis, int threads) {
  return activityOf(*analysis.recording, analysis.opened(), analysis.tables, analysis.clocks,
                    threads);
}

InvariantCounts invariantsOf(const Analysis& analysis, const Activity& activity) {
  InvariantCounts counts = analysis.tables.invariants;
  countPromptness({.recording = *analysis.recording,
                   .buffer = analysis.opened(),
                   .tables = analysis.tables,
                   .clocks = analysis.clocks,
                   .profile = analysis.profile,
                   .activity = activity,
                   .filtered = analysis.filtered},
                  counts);
  return counts;
}

Material materialOf(const Analysis& analysis, const Activity& activity,
                    const Thresholds& thresholds) {
  return Material({.recording = *analysis.recording,
                   .buffer = analysis.opened(),
                   .clocks = analysis.clocks,
                   .profile = analysis.profile,
                   .tables = analysis.tables,
                   .activity = activity,
                   .thresholds = thresholds,
                   .filtered = analysis.filtered});
}

Result<Findings> findingsOf(const Analysis& analysis, const Activity& activity,
                            const Thresholds& thresholds, int threads, Progress& progress) {
  return judge(materialOf(analysis, activity, thresholds), threads, progress);
}

}  // namespace tickscope
