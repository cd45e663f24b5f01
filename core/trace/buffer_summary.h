// SPDX-License-Identifier: GPL-3.0-or-later
// Counts of a buffer for people: events by type and CPU, what was lost, from when to when.
#pragma once

#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/trace/recording.h"
#include "core/trace/row_selection.h"

namespace tickscope {

struct CpuSummary {
  Cpu cpu{};
  bool inferred = false;  ///< the number was guessed while salvaging
  u64 events = 0;
  Known<TraceTime> first, last;  ///< of its selected events, lowest and highest
  u64 lost = 0;                  ///< events that the kernel counted as lost within the recording
  u32 gaps = 0, gapsOfUnknownSize = 0;
  u32 backwardSteps = 0;
  TraceDelta largestBackwardStep{};
  Known<u64> overrun, dropped,
      commitOverrun;  ///< the kernel's statistics; not of the selection but of the whole
};

struct TypeSummary {
  std::string system, name;
  u64 events = 0;
  std::vector<u64> perCpu;  ///< as BufferSummary::cpus
};

struct BufferSummary {
  u64 events = 0;
  std::vector<CpuSummary> cpus;    ///< with events, losses or statistics; by number
  std::vector<TypeSummary> types;  ///< that occur; most events first, then by name
  Known<TraceTime> first, last;
  u64 lost = 0;
  u32 gaps = 0, gapsOfUnknownSize = 0;
  u32 backwardSteps = 0;
};

/// Losses and backward steps count when their row is selected; a gap at the end of a CPU when the
/// selection reaches the last row. Error: Cancelled.
Result<BufferSummary> summarise(const Buffer& buffer, const RowSelection& selection,
                                Progress& progress);

}  // namespace tickscope
