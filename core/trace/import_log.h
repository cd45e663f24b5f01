// SPDX-License-Identifier: GPL-3.0-or-later
// What an import met that was not as it should be: named counters with a sentence and first examples.
#pragma once

#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"

namespace tickscope {

enum class Severity : u8 { Info, Loss, Damage, Error };
std::string_view nameOf(Severity);

/// The counters of reading-traces 1.11. Order is the order in which they are reported within a severity.
enum class Counter : u8 {
  // error
  LimitMemory,
  LimitInflate,
  LimitRows,
  // damage
  PageBadCommit,
  RecordOverrun,
  RecordShort,
  PagePartial,
  RangeCut,
  ChunkBad,
  ChunkShort,
  ChunkSize,
  SectionLoop,
  OptionsCut,
  Overlap,
  CpuTwice,
  HeaderBad,
  TimeBackward,
  FormatBad,
  // loss
  MissedEvents,
  MissedUnknown,
  SalvagedPages,
  CpuInferred,
  // info
  OverrunBeforeStart,
  PageZeroTail,
  EventUnknown,
  FormatTwice,
  FormatTooBig,
  PrintFormatBad,
  StringBad,
  ClockConflict,
  NoSymbols,
  BadSymbol,
  LastBoot,
  UnknownOption,
  UnknownSection,
  IgnoredOption,
  OptionBad,
  SwappedOption,
  EndianFlagWrong,
  BadCmdline,
  BadPrintk,
  TextBuffer,
  End
};
std::string_view nameOf(Counter);
Severity severityOf(Counter);

/// Where a counter was first met.
struct LogExample {
  Known<u64> offset;  ///< byte in the input
  Known<Cpu> cpu;
  std::string detail;  ///< words that name the thing; note() escapes and cuts them
};

struct LogEntry {
  Counter counter{};
  u64 count = 0;   ///< events of this kind; what is counted is in the counter's sentence
  u64 amount = 0;  ///< events or bytes lost by them, where the counter's sentence says so
  std::vector<LogExample> examples;  ///< at most three, the lowest offsets
};

/// Filled by one thread at a time, read afterwards. Logs of threads are joined with add(), in any order: the same
/// entries come out.
class ImportLog {
 public:
  void note(Counter counter, LogExample example, u64 amount = 0, u64 count = 1);
  void add(const ImportLog& other);
  /// By severity (errors first), then in order of Counter; only those that occurred.
  [[nodiscard]] std::vector<LogEntry> entries() const;
  [[nodiscard]] u64 count(Counter counter) const {
    return entries_[static_cast<std::size_t>(counter)].count;
  }
  [[nodiscard]] u64 amount(Counter counter) const {
    return entries_[static_cast<std::size_t>(counter)].amount;
  }
  /// Something was lost or damaged: `--strict` fails.
  [[nodiscard]] bool lossOrDamage() const;

 private:
  std::array<LogEntry, static_cast<std::size_t>(Counter::End)> entries_{};
};

/// The entry as a sentence for a person, with count, place and amount.
std::string sentenceOf(const LogEntry&);

}  // namespace tickscope
