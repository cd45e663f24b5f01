// SPDX-License-Identifier: GPL-3.0-or-later
// The options of a trace.dat: small facts by number (reading-traces 1.4).
#pragma once

#include <vector>

#include "importers/trace_dat/reading.h"

namespace tickscope::trace_dat {

namespace option_id {
inline constexpr u16 done = 0, date = 1, cpuStatistics = 2, buffer = 3, traceClock = 4, uname = 5,
                     hook = 6, offset = 7, cpuCount = 8, version = 9, procMaps = 10, traceId = 11,
                     timeShift = 12, guest = 13, tscToNs = 14, strings = 15, headerInfo = 16,
                     ftraceEvents = 17, eventFormats = 18, kallsyms = 19, printk = 20,
                     cmdlines = 21, bufferText = 22, btf = 23, lastBoot = 24, modules = 25;
}  // namespace option_id

inline constexpr u64 largestOption = u64{64} << 20U;

struct Option {
  u16 id = 0;
  std::vector<u8> data;
  u64 at = 0;  ///< where its data stand in the input
};

/// Takes up an option that says something by itself: all but BUFFER, BUFFER TEXT and those that
/// point to sections. False: it is one of these, or unknown to this function.
bool takeOption(Reading& reading, const Option& option);

/// BUFFER of version 6: an offset and a name. Empty: cut.
struct BufferPlace6 {
  u64 offset = 0;
  std::string name;
};
Known<BufferPlace6> readBufferOption6(const Reading& reading, const Option& option);

/// BUFFER of version 7: adds a table. Rows that do not fit are noted.
void readBufferOption7(Reading& reading, const Option& option, bool foundByWalk);

/// Gives the buffers their clocks and statistics, when all options are known.
void settleClocks(Reading& reading);

}  // namespace tickscope::trace_dat
