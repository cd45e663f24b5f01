// SPDX-License-Identifier: GPL-3.0-or-later
// What the parts of the container reader share while they read one file.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "importers/trace_dat/container.h"
#include "importers/trace_dat/file_header.h"
#include "importers/trace_dat/ring_layout.h"

namespace tickscope::trace_dat {

/// Bytes of the input that have been read as something: nothing is read twice, so that the work
/// stays in proportion to the file whatever its tables say.
class Claims {
 public:
  struct Span {
    u64 from, to;
  };
  /// The parts of [from, to) that nobody has claimed, ascending.
  [[nodiscard]] std::vector<Span> freeIn(u64 from, u64 to) const;
  [[nodiscard]] bool isFree(u64 from, u64 to) const;
  /// Up to where bytes are free from `from` on, at most `to`; `from` itself when it is claimed.
  [[nodiscard]] u64 freeUpTo(u64 from, u64 to) const;
  void claim(u64 from, u64 to);

 private:
  std::map<u64, u64> taken_;  // from -> to, apart from each other
};

/// A row of a table: where the pages of a CPU are said to lie. Not checked.
struct StreamRow {
  u32 cpu = 0;
  u64 offset = 0, size = 0;
  u64 at = 0;             ///< where the row stands
  bool inferred = false;  ///< the CPU number is a guess
};

/// A buffer as the file's tables give it.
struct BufferTable {
  std::string name;
  BufferClock clock;
  u32 pageSize = 0;  ///< as claimed; 0: not claimed
  u64 pageSizeAt = 0;
  std::vector<StreamRow> rows;
  Known<bool> packed;  ///< by the section's flag; empty: no flag to be found
  u64 dataFrom = 0;    ///< where data of this buffer can lie
  u64 dataTo = 0;
  bool damaged = false;      ///< rows are missing or impossible: search the data for more
  bool foundByWalk = false;  ///< not through the chain of options
};

/// The state of one reading.
struct Reading {
  Reading(const ByteSource& input, ImportLog& irregularities, Progress& how, FileHeader prologue)
      : source(input), log(irregularities), progress(how), header(std::move(prologue)) {}

  const ByteSource& source;
  ImportLog& log;
  Progress& progress;
  FileHeader header;
  Container out;

  u64 unpackLeft = 0;  ///< bytes that packed data may still unpack to
  Known<HeaderPage> headerPage;
  bool ringDoubtful =
      false;             ///< header_page or header_event is missing or odd: pages must confirm it
  bool ancient = false;  ///< header_event is of a kernel before 2.6.31: its records are not read
  Known<std::string> traceClock;  ///< TRACECLOCK, as written
  u64 traceClockAt = 0;
  Known<u32> cpuCount;                                           ///< CPUCOUNT
  std::map<std::string, std::vector<CpuStatistics>> statistics;  ///< by buffer
  std::string statisticsOf;  ///< buffer of the CPUSTAT options that follow
  std::vector<BufferTable> tables;
  Claims claims;
  u32 searches = 0;    ///< how often a place behind a wrong size was searched for
  u32 alignments = 0;  ///< how often pages were looked for beside a wrong offset

  [[nodiscard]] u64 size() const { return source.size(); }
  void note(Counter counter, u64 offset, std::string detail = {}, u64 amount = 0) {
    log.note(counter, {offset, {}, std::move(detail)}, amount);
  }
};

/// Bodies of the two versions: fill formats, metadata, tables. Errors: Damaged, Unsupported, Cancelled.
Result<void> readVersion6(Reading& reading);
Result<void> readVersion7(Reading& reading);

}  // namespace tickscope::trace_dat
