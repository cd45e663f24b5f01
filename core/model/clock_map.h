// SPDX-License-Identifier: GPL-3.0-or-later
// How the recorded clock, CLOCK_MONOTONIC, the other bases and jiffies go together, with bounds.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/model/clock_fit.h"
#include "core/model/jiffy_map.h"
#include "core/model/kernel_profile.h"
#include "core/model/model_ids.h"
#include "core/trace/recording.h"

namespace tickscope {

/// |truth - value| <= error.
template <class T>
struct Bounded {
  T value;
  Ns error;
};
struct JiffyRange {
  u64 earliest, latest;  ///< unwrapped to 64 bits
};

/// Which lane a map follows: identity, one line for all CPUs, or a line a CPU (trace clock
/// `local`).
class ClockMap {
 public:
  /// Learns the map from one pass over the buffer. HZ comes out of it too (candidates with
  /// evidence).
  static ClockMap fit(const Buffer& buffer, Known<u8> wordBits);

  /// Empty: no anchors, a step region (B10), a clock without rate between anchors.
  [[nodiscard]] Known<Bounded<MonoTime>> mono(TraceTime t, Cpu cpu) const;
  /// The trace time at which the monotonic clock read `t`, for `--at mono:`. The error is in trace
  /// units.
  [[nodiscard]] Known<Bounded<TraceTime>> trace(MonoTime t, Cpu cpu) const;
  /// base - mono in force at a row; Mono: 0. Empty: not seen, or between two epochs.
  [[nodiscard]] Known<s64> offset(ClockBase base, Row at) const;
  /// The same with its error: 0 where two bases expired in one pass.
  [[nodiscard]] Known<Bounded<s64>> boundedOffset(ClockBase base, Row at) const;
  [[nodiscard]] Known<JiffyRange> jiffies(MonoTime t) const;
  [[nodiscard]] Known<JiffyRange> jiffies(const Bounded<MonoTime>& t) const;
  /// Mono of "jiffies became j" (earliest); needs HZ and phase. `jiffies` as recorded or unwrapped.
  [[nodiscard]] Known<MonoTime> monoOf(u64 jiffies) const { return jiffyMap_.monoOf(jiffies); }
  /// Of a recorded value of a 32-bit kernel; of others: itself.
  [[nodiscard]] u64 unwrapped(u64 jiffies) const { return jiffyMap_.unwrapped(jiffies); }

  /// The other way: as events and a person see it.
  [[nodiscard]] u64 recordedJiffies(u64 whole) const { return jiffyMap_.recorded(whole); }

  using HzResult = JiffyMap::HzResult;
  [[nodiscard]] Known<HzResult> hz() const { return jiffyMap_.hz(); }
  [[nodiscard]] static s64 tickNs(u32 hz) { return JiffyMap::tickNs(hz); }
  [[nodiscard]] const JiffyMap& jiffyMap() const { return jiffyMap_; }

  /// What selfcheck prints: how the map was made and how well it fits.
  struct Fit {
    std::string kind;    ///< "identity", "constant offset", "line", "line a CPU", "units of 10 ms",
                         ///< "between anchors", "none"
    Known<double> rate;  ///< mono ns a trace unit
    Known<s64> offset;   ///< mono at trace time 0, if the rate is 1
    u32 anchors = 0;
    Known<Ns> leastResidual, medianResidual, worstResidual, halfWidth;
    u32 steps = 0;
    std::vector<std::string> notes;
  };
  [[nodiscard]] const Fit& fitted() const { return fitted_; }

  /// One base keeps one offset over these rows.
  struct Epoch {
    Row first, last;  ///< of the readings that show it
    s64 offset;       ///< base - mono, ns
    s64 error;        ///< ns
    u32 readings;
  };
  /// Epochs of a base in the order of rows; a second one means a clock that was set, or a suspend
  /// (BOOT).
  [[nodiscard]] const std::vector<Epoch>& epochs(ClockBase base) const {
    return epochs_[number(hardOf(base))];
  }
  /// Trace times without a map: from the last anchor before a step to the first after it (B10).
  [[nodiscard]] std::vector<TimeSpan> blindSpans() const;

 private:
  friend class MapFit;
  enum class Way : u8 { None, Identity, Pieces, Between };
  /// Monotonic time read at a place in the order of events, for clocks that only count.
  struct Place {
    s64 stamp, now;
  };
  struct OneCpu {
    Cpu cpu;
    std::vector<ClockPiece> pieces;
  };

  [[nodiscard]] const std::vector<ClockPiece>* piecesOf(Cpu cpu) const;
  [[nodiscard]] Known<Bounded<MonoTime>> between(TraceTime t) const;

  Way way_ = Way::None;
  s64 resolution_ = 0;              ///< ns that stamps are rounded to, half of it
  std::vector<ClockPiece> common_;  ///< for all CPUs, or for those without their own
  std::vector<OneCpu> own_;         ///< ascending
  std::vector<Place> reached_, notYet_;
  std::array<std::vector<Epoch>, 4> epochs_;
  JiffyMap jiffyMap_;
  Fit fitted_;
};

}  // namespace tickscope
