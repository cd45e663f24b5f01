// SPDX-License-Identifier: GPL-3.0-or-later
// What a damaged copy of a recording still holds, compared with the whole one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/trace/recording.h"
#include "tests/support/trace_dat_writer.h"

namespace tickscope::support {

/// The events of a healthy file by CPU, in recorded order.
class Control {
 public:
  explicit Control(const Recording& whole) : events_(eventsByCpu(whole)) {}

  [[nodiscard]] u64 rows() const;
  [[nodiscard]] u64 rows(u32 cpu) const;
  static u64 rowsOf(const Recording&);

  /// Each CPU holds the first of its events and nothing else. Empty: so it is.
  [[nodiscard]] std::string differenceOfPrefix(const Recording& found) const;
  /// The CPUs but `cpu` hold what they did.
  [[nodiscard]] std::string differenceOfOthers(const Recording& found, u32 cpu) const;
  /// The CPUs but `cpu`, and the pages of `cpu` but `page` of `file`, hold what they did.
  [[nodiscard]] std::string differenceElsewhere(const Recording& found, u32 cpu, u32 page,
                                                const DatFile& file) const;

 private:
  struct Event {
    s64 time;
    u32 pid;
    u16 id;
    u8 flags, preempt;
    bool operator==(const Event&) const = default;
  };
  using ByCpu = std::map<u32, std::vector<Event>>;
  static ByCpu eventsByCpu(const Recording&);
  [[nodiscard]] const std::vector<Event>& of(u32 cpu) const;

  ByCpu events_;
};

/// Data records on a page.
u64 eventsOn(const Page&);

/// An entry of severity loss or worse has an example with its place in the file.
bool saysWhereDamage(const ImportLog&);

}  // namespace tickscope::support
