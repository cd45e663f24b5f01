// SPDX-License-Identifier: GPL-3.0-or-later
// What later rows tell of earlier ones: where a timer was queued, and which timers were armed before the recording.
#pragma once

#include <span>
#include <vector>

#include "core/model/wheel_geometry.h"
#include "core/trace/event_store.h"

namespace tickscope {

/// A timer is a fact from its arm on, but `hrtimer_start` names no CPU and the recording begins with timers already
/// queued. Where they expire tells it afterwards. One scan over the rows of hrtimers before the replay.
class Hindsight {
 public:
  Hindsight(const EventStore& store, const WheelGeometry& geometry);

  /// The CPU on which the n-th hrtimer_start of the recording (in row order) expired; noCpu: it did not.
  [[nodiscard]] Cpu expiryCpu(u32 start) const { return expiryCpu_[start]; }
  /// No hrtimer from before the recording that is still unseen at `row` can be due on that CPU before this (ns mono);
  /// the lowest number when nothing is known. Rows must not go back.
  [[nodiscard]] MonoTime floor(std::size_t cpuIndex, Row row);
  /// The same of wheel timers: no bucket of an unseen one is due before these jiffies. Empty: nothing is known.
  [[nodiscard]] Known<u64> wheelFloor(std::size_t cpuIndex, Row row);
  /// Rows may begin anew.
  void rewind() {
    for (OfCpu& cpu : cpus_) cpu.next = cpu.nextWheel = 0;
  }

 private:
  struct Unseen {
    Row seen;     ///< its first row
    MonoTime lo;  ///< not due before
  };
  struct UnseenWheel {
    Row seen;
    Known<u64> from;
  };
  struct OfCpu {
    std::vector<Unseen> unseen;  ///< ascending by row; lo holds the least from here to the end
    std::size_t next = 0;
    std::vector<UnseenWheel> wheel;
    std::size_t nextWheel = 0;
  };
  std::vector<Cpu> expiryCpu_;
  std::vector<OfCpu> cpus_;
};

/// The losses of a store by the row behind them; those that no row follows come last.
std::vector<Loss> lossesByRow(const EventStore& store);
/// The CPUs of a store, ascending, each once; and the place of a CPU among them.
std::vector<Cpu> cpusOf(const EventStore& store);
std::size_t indexOf(std::span<const Cpu> cpus, Cpu cpu);

}  // namespace tickscope
