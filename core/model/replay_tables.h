// SPDX-License-Identifier: GPL-3.0-or-later
// What one replay leaves behind: spans, steps of the scalars, discrepancies, blind spots, counts, checkpoints.
#pragma once

#include <limits>
#include <vector>

#include "core/model/blind_spot.h"
#include "core/model/discrepancy.h"
#include "core/model/kernel_profile.h"
#include "core/model/system_state.h"

namespace tickscope {

/// A value that changes at rows: what it was at any of them by bisection. 12 bytes a step.
class StepLine {
 public:
  /// Rows must not go back. A second value for a row replaces the first.
  void set(Row row, Known<s64> value) {
    const s64 stored = value.value_or(unknown);
    if (stored != last_) [[unlikely]]
      change(row, stored);
  }
  /// In force after the event of that row; empty: unknown.
  [[nodiscard]] Known<s64> at(Row row) const;
  /// The first row after / the last row before `row` at which it changed; noRow: none.
  [[nodiscard]] Row nextChange(Row row) const;
  [[nodiscard]] Row previousChange(Row row) const;
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  /// Gives back the room for steps to come.
  void trim() {
    rows_.shrink_to_fit();
    values_.shrink_to_fit();
  }
  [[nodiscard]] u64 bytes() const {
    return rows_.capacity() * sizeof(Row) + values_.capacity() * sizeof(s64);
  }

 private:
  static constexpr s64 unknown = std::numeric_limits<s64>::min();
  void change(Row row, s64 stored);
  s64 last_ = unknown;  // most values that are set are the one in force: no look into the columns
  std::vector<Row> rows_;
  std::vector<s64> values_;
};

struct CpuLines {
  Cpu cpu{};
  std::array<StepLine, wheelBaseCount> clk, nextExpiry;  ///< jiffies
  StepLine expiresNext, softirqExpiresNext, programmed;  ///< ns mono
  StepLine context;                                      ///< bits of CpuBit
  StepLine timers;  ///< how many spans of this CPU have begun or ended: moves with each
};
enum CpuBit : u8 {
  CpuOnline = 1,
  CpuInInterrupt = 2,
  CpuSoftirqActivated = 4,
  CpuInterruptTold = 8,  ///< without it CpuInInterrupt says nothing
  CpuSoftirqTold = 16    ///< the same of CpuSoftirqActivated
};

/// Spans that are open after the event of a row.
struct Checkpoint {
  Row row{};
  u32 first = 0, count = 0;  ///< of ReplayTables::openSpans
};

/// held / judged / all of one kind of check.
struct Ratio {
  u64 held = 0, judged = 0, all = 0;
  void add(Known<bool> outcome) {
    ++all;
    if (outcome) {
      ++judged;
      held += *outcome;
    }
  }
  bool operator==(const Ratio&) const = default;
};

struct CheckRatios {
  Ratio wheelIndex;    ///< timer_start: the index comes out of the formula for an admissible clk
  Ratio bucketExpiry;  ///< bucket expiry from the index alone equals the recorded one
  Ratio baseClk;       ///< expiry at the time of its bucket
  Ratio programming;   ///< operations with the predicted number of programming calls
  Ratio asObserved;   ///< the same under the generation of rules that the kernel was seen to follow
  Ratio wasArmed;     ///< was_armed as the model says
  Ratio softExpires;  ///< no hrtimer before its softexpires
  Ratio arms, expiries;  ///< judged after warm-up, by any of the above
  Ratio matched;         ///< expiries of a timer that the model has armed
};

enum class OperationKind : u8 { Start, Restart, Cancel, Interrupt, SoftirqEnd, Retrigger };

/// An operation on hrtimers and the programming calls that were counted to it.
struct OperationCount {
  enum Flag : u8 {
    Judged = 1,       ///< the number of calls is exact and the rule tells how many there should be
    First = 2,        ///< a restart of the timer that the device was programmed for (next_timer)
    NotFirst = 4,     ///< it was another; neither: not known
    FirstInBase = 8,  ///< of its own clock base
  };
  Row row{};  ///< the operation's own event
  TimerId timer{~u32{0}};
  OperationKind kind{};
  u8 removalSeen = 0, enqueueSeen = 0;  ///< calls before and behind the event
  u8 least = 0, most = 0;               ///< calls by the rule that is judged by
  u8 flags = 0;
  BlindSpotKind why{};  ///< not judged because of it; without meaning when judged

  [[nodiscard]] bool has(Flag flag) const { return flags & flag; }
  [[nodiscard]] u32 seen() const { return u32{removalSeen} + enqueueSeen; }
};

/// How the programming calls fit each generation of rules, from operations in which the rules differ.
struct RuleFit {
  std::array<u64, hrtimerRuleCount> fits{}, misses{};
};

struct ReplayTables {
  std::vector<ModelTimer> timers;
  std::vector<ArmedSpan>
      spans;  ///< by `armed`, those from before the recording where they were first seen
  std::vector<SpanId> beforeRecording;  ///< spans without arm, by leftAt()
  std::vector<SpanId> endOrder;         ///< spans that ended, by the row of their end
  /// Where programming calls are recorded: those of a CPU in their order.
  std::vector<OperationCount> operations;
  std::vector<CpuLines> cpus;  ///< ascending
  std::vector<Discrepancy> discrepancies;
  std::array<u64, discrepancyKindCount> warmUp{};  ///< discrepancies before CPU or timer were known
  std::vector<BlindSpot> blindSpots;
  InvariantCounts invariants{};
  CheckRatios ratios;
  RuleFit ruleFit;
  std::vector<Checkpoint> checkpoints;
  std::vector<SpanId> openSpans;
  u8 wheelBases = 1;

  /// Gives back the room for rows to come.
  void trim();
  [[nodiscard]] u64 checkpointBytes() const {
    return checkpoints.capacity() * sizeof(Checkpoint) + openSpans.capacity() * sizeof(SpanId);
  }
};

}  // namespace tickscope
