// SPDX-License-Identifier: GPL-3.0-or-later
// The blocks of a stream: pages as they are, or the list of its packed chunks (reading-traces 1.5).
#pragma once

#include <vector>

#include "importers/trace_dat/reading.h"

namespace tickscope::trace_dat {

/// Adds `size` bytes of plain pages at `offset`, in blocks of at most 256 KiB; those that touch become one.
void appendPlain(std::vector<Block>& blocks, u64 offset, u64 size, u32 pageSize);

/// What a chunk may unpack to.
u64 largestChunk(u32 pageSize);

/// Do packed chunks begin at `offset`, behind their count?
bool chunksBeginAt(const Reading& reading, u64 offset, u64 end);

/// The next place at or behind `from` where a chunk's two sizes and packed data stand; it may be cut
/// by the end of the input.
Known<Block> findChunk(const Reading& reading, u64 from, u64 to, u32 pageSize);

/// Reads the chunks of the stream [offset, end), whose first 4 bytes are their count, and takes what they unpack to off
/// reading.unpackLeft. Returns where the last one ends.
u64 readChunks(Reading& reading, Cpu cpu, u64 offset, u64 end, u32 pageSize,
               std::vector<Block>& blocks);

}  // namespace tickscope::trace_dat
