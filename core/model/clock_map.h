// SPDX-License-Identifier: GPL-3.0-or-later
// How the recording's clock, CLOCK_MONOTONIC, the other clock bases and jiffies go together, with error bounds.
#pragma once

#include <vector>

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

/// Which lane a map follows: identity, one line for all CPUs, or a line a CPU (trace clock `local`).
class ClockMap {
 public:
  /// Learns the map from one pass over the buffer. HZ comes out of it too (candidates with evidence).
  static ClockMap fit(const Buffer& buffer, Known<u8> wordBits);

  /// Empty: no anchors, a step region (B10), a clock without rate between anchors.
  [[nodiscard]] Known<Bounded<MonoTime>> mono(TraceTime t, Cpu cpu) const;
  /// The trace time at which the monotonic clock read `t`, for `--at mono:`.
  [[nodiscard]] Known<Bounded<TraceTime>> trace(MonoTime t, Cpu cpu) const;
  /// base - mono in force at a row; Mono: 0. Empty: not seen.
  [[nodiscard]] Known<s64> offset(ClockBase base, Row at) const;
  [[nodiscard]] Known<JiffyRange> jiffies(MonoTime t) const;
  /// Mono of "jiffies became j" (earliest); needs HZ and phase.
  [[nodiscard]] Known<MonoTime> monoOf(u64 jiffies) const;

  struct HzResult {
    u32 hz;
    double confidence;
    std::string evidence;  ///< a clause for a person
    bool contradicted = false;
  };
  [[nodiscard]] Known<HzResult> hz() const { return hz_; }
  [[nodiscard]] static s64 tickNs(u32 hz) { return (1'000'000'000 + hz / 2) / hz; }

  /// What selfcheck prints: how the map was made and how well it fits.
  struct Fit {
    std::string kind;    ///< "identity", "line", "line a CPU", "none"
    Known<double> rate;  ///< mono ns a trace unit
    Known<s64> offset;
    u32 anchors = 0;
    Known<Ns> leastResidual, medianResidual, worstResidual, halfWidth;
    u32 steps = 0;
    std::vector<std::string> notes;
  };
  [[nodiscard]] const Fit& fitted() const { return fitted_; }

 private:
  Known<HzResult> hz_;
  Fit fitted_;
};

}  // namespace tickscope
