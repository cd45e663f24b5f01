// SPDX-License-Identifier: GPL-3.0-or-later
// The least that any import has to do: unpack, step over the records, write the rows' bytes.
#pragma once

#include <string>

#include "core/base/quantity.h"

namespace tickscope::bench {

struct FloorResult {
  u64 events = 0;
  u64 written = 0;  ///< bytes
};

/// One thread. Unpacks every chunk with one reused context (plain files: reads blocks of 256 KiB),
/// follows the time from record header to record header, and writes `bytesPerEvent` (8..64) bytes
/// an event to fresh memory. Little-endian 64-bit files only; throws std::runtime_error.
FloorResult importFloor(const std::string& path, u32 bytesPerEvent);

}  // namespace tickscope::bench
