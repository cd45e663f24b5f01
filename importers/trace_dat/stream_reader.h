// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a run of blocks of one CPU into a piece of the store.
#pragma once

#include <atomic>

#include "core/base/progress.h"
#include "core/trace/store_builder.h"
#include "importers/trace_dat/container.h"
#include "importers/trace_dat/field_binding.h"

namespace tickscope::trace_dat {

/// What all pieces of an import share.
struct StreamContext {
  const ByteSource& source;
  const Binding& binding;
  const Metadata& metadata;
  u32 pageSize;
  Progress& progress;
  std::atomic<u64>& storedBytes;  ///< of all pieces so far
  u64 maxMemory;
};

/// Blocks [first, last) of a stream; `blockNumber` is the number of blocks[0] in the table that RawRef::block means.
struct StreamRun {
  Cpu cpu;
  std::span<const Block> blocks;
  u32 blockNumber;
};

enum class RunEnd : u8 { Done, Cancelled, MemoryLimit };

/// Appends the run's events. What is damaged is noted and stepped over: a page never costs another one anything.
RunEnd readRun(const StreamContext& context, const StreamRun& run, BlockReader& blocks,
               StreamPiece& piece, EventArena& arena, ImportLog& log);

}  // namespace tickscope::trace_dat
