// SPDX-License-Identifier: GPL-3.0-or-later
// What `info` says of an input, as text and as JSON.
#pragma once

#include "app/cli/output.h"
#include "app/load.h"
#include "core/model/kernel_profile.h"
#include "core/trace/buffer_summary.h"

namespace tickscope {

/// A recording and what was counted of the buffer that is looked at; `buffer` is its place.
struct RecordingFacts {
  const Opened* opened;
  u32 buffer;
  BufferSummary summary;
  bool narrowed;                 ///< the counts are those of a selection
  Known<KernelProfile> profile;  ///< learned without a replay; empty: no buffer
};

void printInfo(const RecordingFacts& facts, Output& out);
void printInfoJson(const RecordingFacts& facts, Output& out);
void printTimerListInfo(const Opened& opened, Output& out);
void printTimerListInfoJson(const Opened& opened, Output& out);

/// CPU numbers as a list of ranges: "0-3,5".
std::string cpuListText(const std::vector<u32>& sorted);
/// CPUs of a buffer that have events, sorted.
std::vector<u32> cpusWithEvents(const Buffer& buffer);

}  // namespace tickscope
