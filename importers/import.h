// SPDX-License-Identifier: GPL-3.0-or-later
// From bytes to a recording: the only header of the importers that others include (with byte_source.h).
#pragma once

#include <span>

#include "core/base/progress.h"
#include "core/trace/recording.h"
#include "core/trace/timer_list_dump.h"
#include "importers/byte_source.h"

namespace tickscope {

struct ImportOptions {
  int threads = 1;
  Known<u64>
      maxMemory;  ///< bytes of rows; empty: 4 x plain page bytes + 64 MiB (reading-traces 1.9)
  Known<u64> maxUnpack;  ///< bytes that packed data may unpack to; empty: 64 x file size + 64 MiB
};

enum class InputKind : u8 { TraceDat, RawPages, TimerList, Unknown };
/// By content, never by suffix.
InputKind sniff(const ByteSource& source);

/// Opens a trace.dat. Whatever can be saved of a damaged file is; what was lost is in the log. The source is kept (by
/// a shared handle) to read again what is not decoded. Errors: NotATrace, Damaged (nothing can be saved), Unsupported,
/// TooLarge, Cancelled; with the place in the input.
Result<Recording> importTrace(const ByteSource& source, const ImportOptions& options,
                              Progress& progress);

/// A killed recorder's raw ring buffer pages, a CPU each (CPU from `.cpuN`, `-cpuN` or `cpuN.raw` in the name, else inferred), read with the formats of a
/// trace.dat of the same kernel.
Result<Recording> importRawPages(std::span<const ByteSource> cpus, const ByteSource& formatsFrom,
                                 const ImportOptions& options, Progress& progress);

/// A /proc/timer_list dump.
Result<TimerListDump> importTimerList(const ByteSource& source);

}  // namespace tickscope
