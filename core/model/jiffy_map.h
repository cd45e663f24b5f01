// SPDX-License-Identifier: GPL-3.0-or-later
// HZ, the phase of jiffies against the monotonic clock, and the way between the two.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/model/clock_scan.h"

namespace tickscope {

/// A value of jiffies that an event showed, and when at the earliest and latest.
struct JiffyPoint {
  s64 stamp;            ///< trace units
  Known<s64> mono;      ///< ns
  s64 error = 0;        ///< ns, of mono
  Known<s64> notAfter;  ///< ns: the monotonic clock had not passed this
  u64 jiffies;          ///< as recorded
};

/// What the trace's clock tells of time passed, where no anchors do.
enum class StampUnit : u8 { None, Nanoseconds, TenMs };

class JiffyMap {
 public:
  struct HzResult {
    u32 hz;
    double confidence;
    std::string evidence;  ///< a clause for a person
    bool contradicted = false;
  };
  struct Range {
    u64 earliest, latest;
  };

  JiffyMap() = default;
  /// `points` in the order of rows.
  static JiffyMap fit(std::span<const JiffyPoint> points, std::span<const ArmGroup> arms,
                      StampUnit unit, Known<u8> wordBits);

  [[nodiscard]] const Known<HzResult>& hz() const { return hz_; }
  /// Jiffies at a monotonic time, unwrapped.
  [[nodiscard]] Known<Range> at(MonoTime t) const;
  /// When jiffies became `jiffies` (as recorded or unwrapped), if nobody was late.
  [[nodiscard]] Known<MonoTime> monoOf(u64 jiffies) const;
  /// Of a recorded value; 64-bit kernels: itself.
  [[nodiscard]] u64 unwrapped(u64 recorded) const;
  /// An unwrapped value as the kernel's own jiffies: 32 bits of it where they wrap.
  [[nodiscard]] u64 recorded(u64 whole) const { return wraps_ ? whole & 0xffff'ffffU : whole; }
  /// P: jiffies become J at P + J * TICK_NSEC, with unwrapped J.
  [[nodiscard]] Known<s64> phase() const { return phase_; }
  /// P lies on the grid of the tick, not just below the earliest reading.
  [[nodiscard]] bool onGrid() const { return onGrid_; }
  /// Most jiffies by which a reading lagged behind the clock.
  [[nodiscard]] u64 worstLag() const { return worstLag_; }
  /// The tick's callback: its arms lie on the grid.
  [[nodiscard]] Known<Address> tickFunction() const { return tickFunction_; }
  [[nodiscard]] static s64 tickNs(u32 hz) { return (1'000'000'000 + hz / 2) / hz; }

 private:
  friend class JiffyFit;
  struct Seen {
    s64 mono;     ///< not before / not after
    u64 jiffies;  ///< greatest so far / least from here on
  };
  Known<HzResult> hz_;
  Known<s64> phase_;
  bool onGrid_ = false;
  u64 worstLag_ = 0;
  Known<Address> tickFunction_;
  bool wraps_ = false;
  u64 reference_ = 0;  ///< an unwrapped value inside the recording
  std::vector<Seen> reached_, notYet_;
};

}  // namespace tickscope
