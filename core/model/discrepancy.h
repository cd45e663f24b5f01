// SPDX-License-Identifier: GPL-3.0-or-later
// Where model and trace differ, and the count of each invariant of a healthy kernel.
#pragma once

#include <array>
#include <string_view>

#include "core/model/armed_span.h"

namespace tickscope {

/// X01..X20.
enum class DiscrepancyKind : u8 {
  ExpiredWhileIdle = 1,
  CancelledWhileIdle,
  StartedWhileArmed,
  WasArmedDiffers,
  BeforeBucket,
  BeforeSoftExpires,
  BucketNotExplained,
  Lost,
  Order,
  WrongCpu,
  CallCount,
  ProgrammedTooLate,
  UnbalancedBracket,
  ArmedTwice,
  BaseClk,
  TimeBackward,
  RaiseRule,
  TimerListDiffers,
  ProfileContradiction,
  NowOutsideInterrupt
};
inline constexpr std::size_t discrepancyKindCount = 21;

struct Discrepancy {
  DiscrepancyKind kind{};
  Row at{};
  Cpu cpu{};
  Known<TimerId> timer;
  Known<s64> model, trace;  ///< what each says, in the unit of the kind
};

std::string_view codeOf(DiscrepancyKind kind);   ///< "X07"
std::string_view titleOf(DiscrepancyKind kind);  ///< "bucket that no clk explains"

/// I01..I30 by number.
inline constexpr std::size_t invariantCount = 31;
struct InvariantCount {
  u64 held = 0, violated = 0;
  u64 notJudged = 0;          ///< opportunities inside blind spots
  std::array<u64, 25> why{};  ///< notJudged by BlindSpotKind
  [[nodiscard]] u64 judged() const { return held + violated; }
  [[nodiscard]] u64 all() const { return judged() + notJudged; }
};
using InvariantCounts = std::array<InvariantCount, invariantCount>;
/// Whether anything is counted for it: all are, those that measure how late something came behind the replay
/// (promptness.h).
bool isCounted(std::size_t invariant);
/// What an invariant says, as a clause: "wheel timers run at the time of their bucket".
std::string_view invariantText(std::size_t number);

}  // namespace tickscope
