// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings made of hrtimer_cancel events without a file: any number of rows, CPUs, losses and buffers.
#pragma once

#include <memory>
#include <vector>

#include "core/trace/recording.h"
#include "core/trace/store_builder.h"

namespace tickscope::support {

/// Makes one buffer. CPUs are given in ascending order, the events of each in recorded order.
class BufferMaker {
 public:
  BufferMaker();
  /// What follows belongs to this CPU.
  BufferMaker& cpu(u16 number);
  BufferMaker& event(s64 time, s32 pid = 0);
  /// `count` events, the first at `from`, each `step` later than the one before.
  BufferMaker& events(u32 count, s64 from, s64 step);
  BufferMaker& loss(Known<u64> count);
  /// Throws std::runtime_error when the store cannot be made. Leaves the maker empty.
  [[nodiscard]] Buffer finish(std::string name = "");

 private:
  StoreParts parts_;
  std::shared_ptr<Pools> pools_;
};

/// A recording of these buffers, with names for the pids 1 to 9 ("task-1"...).
[[nodiscard]] std::shared_ptr<Recording> madeRecording(std::vector<Buffer> buffers);
[[nodiscard]] std::shared_ptr<Recording> madeRecording(Buffer buffer);

}  // namespace tickscope::support
