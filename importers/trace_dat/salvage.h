// SPDX-License-Identifier: GPL-3.0-or-later
// Finds pages where no table says that they are, and the CPU that wrote them (reading-traces 1.10).
#pragma once

#include <vector>

#include "importers/trace_dat/chunk_codec.h"
#include "importers/trace_dat/reading.h"

namespace tickscope::trace_dat {

/// What records of a file can be: tells pages from other bytes, and a page's CPU.
class RecordFacts {
 public:
  explicit RecordFacts(const std::vector<FormatText>& formats);

  /// Whole page, or the beginning of one when the input ends in it: a header that a kernel can
  /// write, and records of known events up to exactly where it says.
  [[nodiscard]] bool plausiblePage(Bytes page, const RingLayout& ring, u32 pageSize) const;

  /// The CPUs that the records of a page name: idle tasks that run on it, idle states of it.
  void cpusNamed(Bytes page, const RingLayout& ring, u32 pageSize, std::vector<u32>& cpus) const;

 private:
  struct Place {
    u32 offset = 0, size = 0;
  };
  struct TaskPlace {
    Place comm, pid;
  };
  [[nodiscard]] Known<u32> idOf(const u8* record, u32 length, bool swap) const;

  std::vector<bool> known_;
  bool any_ = false;
  Place type_{0, 2};
  u32 idleId_ = 0, switchId_ = 0;
  Place idleCpu_;
  std::vector<TaskPlace> tasks_;
};

/// Pages that lie together and belong to one CPU.
struct FoundRun {
  std::vector<Block> blocks;
  u64 pages = 0;
  Known<u32> cpu;  ///< proved by the records; empty: not
};

/// Plain pages at multiples of the page size in [from, to). Empty and no error: there are none.
std::vector<FoundRun> scanPages(Reading& reading, const RecordFacts& facts, u64 from, u64 to,
                                u32 pageSize);

/// Packed pages in [from, to), by the marks of their codec.
std::vector<FoundRun> scanChunks(Reading& reading, const RecordFacts& facts, u64 from, u64 to,
                                 u32 pageSize);

/// The CPU that the first pages of these blocks name; empty: they name none, or several.
Known<u32> provenCpu(const ByteSource& source, const std::vector<Block>& blocks,
                     const RecordFacts& facts, const RingLayout& ring, u32 pageSize);

}  // namespace tickscope::trace_dat
