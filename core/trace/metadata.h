// SPDX-License-Identifier: GPL-3.0-or-later
// What a recording says of itself beside its events.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"
#include "core/trace/symbols.h"

namespace tickscope {

/// Names of tasks by pid, as saved when the recording ended.
class TaskNames {
 public:
  /// The first name for a pid wins.
  void add(Pid pid, std::string name) { names_.emplace(number(pid), std::move(name)); }
  /// Empty: unknown. Pid 0 is `<idle>`.
  [[nodiscard]] Known<std::string_view> of(Pid pid) const {
    if (pid == Pid{0}) return "<idle>";
    const auto found = names_.find(number(pid));
    if (found == names_.end()) return {};
    return std::string_view(found->second);
  }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::unordered_map<s32, std::string> names_;
};

/// One text of the kernel's per_cpu/cpuN/stats, read after the recorder had drained the buffer.
struct CpuStatistics {
  Cpu cpu{};
  Known<u64> overrun, dropped, commitOverrun;
  std::string text;
};

struct Metadata {
  std::string format;       ///< "trace.dat version 7"
  std::string compression;  ///< "none", "zlib", "zstd"
  std::string writer;       ///< VERSION option, for instance "3.1.6"
  std::string uname;        ///< UNAME option: system, node, release, version, machine
  std::string release;      ///< kernel release out of it; empty: not recorded
  std::string machine;      ///< machine out of it
  bool bigEndian = false;
  u8 wordSize = 8;      ///< bytes of the kernel's long: 4 or 8
  u32 pageSize = 4096;  ///< bytes of a ring buffer page (sub-buffer)
  Known<u32> possibleCpus;
  Known<s64>
      dateOffset;  ///< DATE: wall clock ns = trace time + this; kept beside the rows, never added
  Known<s64> timeOffset;  ///< OFFSET: ns to be added by who wants it; never added
  Known<u64> traceId;
  struct TscToNs {
    u32 mult, shift;
    u64 offset;  ///< a claim; not applied
  };
  Known<TscToNs> tscToNs;           ///< applied to row times at import, without the offset
  u32 eventFormats = 0;             ///< how many events have a format in the file
  bool lastBoot = false;            ///< data of a previous boot: symbols not trusted
  std::vector<std::string> guests;  ///< GUEST and TIME_SHIFT options in words
  TaskNames tasks;
  std::unordered_map<s32, s32> tgids;  ///< thread id to process id, where the recording has it
  std::shared_ptr<const Symbols> symbols = std::make_shared<const Symbols>();
  std::unordered_map<u64, std::string> printkFormats;  ///< kernel strings by address
};

}  // namespace tickscope
