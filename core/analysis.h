// SPDX-License-Identifier: GPL-3.0-or-later
// All that is kept of one buffer's analysis: clock map, kernel profile, replay tables. Only read once made.
#pragma once

#include <memory>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/findings/finding.h"
#include "core/findings/material.h"
#include "core/model/clock_map.h"
#include "core/model/profile_learner.h"
#include "core/model/profile_overrides.h"
#include "core/model/replay_tables.h"
#include "core/model/state_at.h"
#include "core/trace/recording.h"
#include "core/trace/timer_list_dump.h"

namespace tickscope {

struct AnalysisOptions {
  u32 buffer = 0;  ///< index of Recording::buffers
  ProfileOverrides overrides;
  std::shared_ptr<const TimerListDump>
      timerList;  ///< seeds when taken before the first row, else only compared
};

struct Analysis {
  std::shared_ptr<const Recording> recording;
  u32 buffer = 0;
  ClockMap clocks;
  KernelProfile profile;
  ReplayTables tables;
  std::shared_ptr<const TimerListDump> timerList;
  bool seeded = false;
  bool filtered = false;  ///< events of some timers seem to have been filtered out (B05)

  [[nodiscard]] const Buffer& opened() const { return recording->buffers[buffer]; }
  [[nodiscard]] const EventStore& events() const { return opened().events; }
};

/// Learns clock map and profile, replays the beginning under all rules to see which the kernel follows, then
/// replays all rows and judges by the expected rule. Cancelled when the progress says so.
/// Precondition: options.buffer is one of the recording's.
Result<Analysis> analyse(std::shared_ptr<const Recording> recording, const AnalysisOptions& options,
                         Progress& progress);

SystemState stateAt(const Analysis& analysis, Row row);

/// From the first row to the last on the monotonic clock; 0: not known.
double recordedSeconds(const Analysis& analysis);

/// Made by who asks for findings, statistics or invariants of lateness: once, for all of them.
Activity activityOf(const Analysis& analysis, int threads);

/// All invariants; those of the replay are in the tables, lateness is counted here.
InvariantCounts invariantsOf(const Analysis& analysis, const Activity& activity);

/// What detectors read; it refers to all three.
Material materialOf(const Analysis& analysis, const Activity& activity,
                    const Thresholds& thresholds);

/// Judges what the analysis shows, on the threads. Other limits need no other analysis. The same for any number of
/// threads. Cancelled when the progress says so.
Result<Findings> findingsOf(const Analysis& analysis, const Activity& activity,
                            const Thresholds& thresholds, int threads, Progress& progress);

}  // namespace tickscope
