// SPDX-License-Identifier: GPL-3.0-or-later
// The reference state as text: hrtimers as /proc/timer_list prints them, beneath it what no timer list shows.
#pragma once

#include <span>
#include <string>

#include "core/model/clock_map.h"
#include "core/model/kernel_profile.h"
#include "core/model/replay_tables.h"
#include "core/trace/recording.h"
#include "core/trace/timer_list_dump.h"

namespace tickscope {

/// "MONO", "TAI_SOFT"
std::string_view nameOf(ClockBase base);
/// "STD", "LOCAL", "GLOBAL", "DEF"; of the kernel's bases there are `count`.
std::string_view nameOf(WheelBaseKind kind, std::size_t count);
/// The pointer of a dump when it can be an address: not hashed, as far as digits tell. Hashes have 32 bits, so those
/// of 32-bit kernels cannot be told from addresses and are taken for hashes.
Known<Address> plainPointer(std::string_view pointer);

/// An instant whose state is looked at.
struct StateInstant {
  Row row{};                      ///< the last one before or at it
  Known<Bounded<MonoTime>> mono;  ///< of the instant, which may lie behind the row
};

/// Prints states of one analysed buffer. What is not known is the word `unknown`, never 0. The lines of hrtimers are
/// those of a dump, in its order; left out are lines of which a trace knows nothing (.base, .nr_events and the like,
/// the tick and its devices), so the same text of a dump (timerListText) differs only where the states differ.
class StateText {
 public:
  StateText(const Recording& recording, const Buffer& buffer, const KernelProfile& profile,
            const ClockMap& clocks, const ReplayTables& tables)
      : recording_(recording),
        buffer_(buffer),
        profile_(profile),
        clocks_(clocks),
        tables_(tables) {}

  /// As timerListText() of a dump taken at that instant. CPUs: those of `cpus`, sorted; all when it is empty.
  [[nodiscard]] std::string timerList(const SystemState& state, const StateInstant& at,
                                      std::span<const u32> cpus) const;
  /// The instant on all clocks, softirq_expires_next, what the device was programmed to, who armed the hrtimers,
  /// wheel bases, blind spots, and last the timers whose CPU is not known.
  [[nodiscard]] std::string rest(const SystemState& state, const StateInstant& at,
                                 std::span<const u32> cpus) const;

  /// Name of a callback as a dump prints it; empty: not seen.
  [[nodiscard]] std::string function(Address address) const;
  /// "<ffff888000311480>, "; empty when there is no address.
  [[nodiscard]] std::string pointer(Address address) const;

 private:
  void hrtimer(std::string& out, std::size_t place, const StateTimer& timer,
               Known<MonoTime> now) const;
  void wheelTimer(std::string& out, std::size_t place, const StateTimer& timer) const;
  [[nodiscard]] std::string armed(const StateTimer& timer) const;
  void cpuRest(std::string& out, const CpuState& cpu) const;
  [[nodiscard]] std::size_t bases() const;

  const Recording& recording_;
  const Buffer& buffer_;
  const KernelProfile& profile_;
  const ClockMap& clocks_;
  const ReplayTables& tables_;
};

/// A dump in the form of StateText::timerList().
std::string timerListText(const TimerListDump& dump, std::span<const u32> cpus);

}  // namespace tickscope
