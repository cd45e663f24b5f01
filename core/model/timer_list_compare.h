// SPDX-License-Identifier: GPL-3.0-or-later
// Compares a /proc/timer_list dump with the hrtimers that the model has armed while it was printed.
#pragma once

#include <string>
#include <vector>

#include "core/model/clock_map.h"
#include "core/model/replay_tables.h"
#include "core/trace/recording.h"
#include "core/trace/timer_list_dump.h"

namespace tickscope {

/// A timer that is not the same on both sides.
struct ListedDifference {
  enum class Kind : u8 { Different, OnlyListed, OnlyModel };
  Kind kind{};
  /// Armed, or idle, in the model from the dump's `now` to the end of its printing, so that the dump had to show it:
  /// a discrepancy (X18). False: not judged, for the reason `why`.
  bool judged = false;
  Cpu cpu{};                      ///< of the dump's line; OnlyModel: the owner
  u32 base = 0;                   ///< clock base, as the dump numbers them
  std::string pointer, function;  ///< as the dump prints them
  Known<BaseTime> listedSoft, listedHard, modelSoft, modelHard;
  Known<SpanId> span;
  std::string_view why;  ///< a clause, when not judged
};

struct BaseAgreement {
  Cpu cpu{};
  u32 base = 0;
  u32 listed = 0;  ///< lines of the dump
  u32 agree = 0;   ///< of them in the model with CPU, base, function, expires and softexpires
  u32 different = 0, missing = 0,
      extra = 0;  ///< judged: other values, only in the dump, only in the model
  u32 notJudged = 0;
};

struct ExpiresNextAgreement {
  Cpu cpu{};
  Known<MonoTime> listed, model;  ///< of the model at the dump's `now`
  Known<bool> agrees;  ///< empty: one of them is unknown, or the model's moved while it was printed
};

struct TimerListComparison {
  enum class Taken : u8 {
    Unknown,  ///< the dump does not say when, or the recording's clock cannot be compared
    Before,
    During,
    After
  };
  Taken taken = Taken::Unknown;
  Row row{};  ///< last row at or before `now`; meaningless when Unknown or Before
  std::vector<BaseAgreement> bases;  ///< with lines or timers
  std::vector<ListedDifference> differences;
  std::vector<ExpiresNextAgreement> expiresNext;

  [[nodiscard]] u32 agreeing() const;
  [[nodiscard]] u32 violations() const;  ///< X18
  [[nodiscard]] u32 notJudged() const;
};

/// The kernel prints a dump timer by timer, so it is no snapshot: a line agrees with any timer that was armed so at
/// some time between `now` and `printing` later (timer_list.c holds the base's lock only for a timer).
TimerListComparison compareTimerList(const Recording& recording, const Buffer& buffer,
                                     const ReplayTables& tables, const ClockMap& clocks,
                                     const TimerListDump& dump);

/// Printing takes some milliseconds under emulation; nothing in a dump tells when it ended.
inline constexpr Ns printingTime{50'000'000};

}  // namespace tickscope
