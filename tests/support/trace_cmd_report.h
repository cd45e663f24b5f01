// SPDX-License-Identifier: GPL-3.0-or-later
// What `trace-cmd report -R -t` says of a file: fields by the format's table, times in ns.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope::support {

bool hasTraceCmd();

/// The lines as they are.
std::vector<std::string> reportLines(const std::string& path);

/// A line of the report taken apart.
struct ReportEvent {
  std::string buffer;  ///< empty: the top buffer
  std::string comm;    ///< with the blanks in front that the column has
  s32 pid{};
  u32 cpu{};
  u64 time{};  ///< ns, or the bare number of other clocks
  std::string name;
  std::string body;  ///< `field=value field=value`; lines of continued text joined by '\n'
  std::string line;  ///< the first line, for messages
};

/// `CPU:1 [2156 EVENTS DROPPED]`.
struct ReportLoss {
  u32 cpu{};
  std::optional<u64> count;  ///< empty: the line has no number
  u64 before{};              ///< number of events that were printed before it
};

/// Reads the report while trace-cmd writes it.
class TraceCmdReport {
 public:
  /// `buffers`: names of the instances, which widen the first column.
  TraceCmdReport(const std::string& path, const std::vector<std::string>& buffers);
  ~TraceCmdReport();
  TraceCmdReport(const TraceCmdReport&) = delete;
  TraceCmdReport& operator=(const TraceCmdReport&) = delete;

  /// False at the end.
  bool next(ReportEvent&);
  /// Those that were met so far.
  [[nodiscard]] const std::vector<ReportLoss>& losses() const { return losses_; }

 private:
  struct Pipe;
  bool nextLine(std::string&);
  bool takeApart(const std::string& line, ReportEvent&) const;
  bool takeLoss(const std::string& line);

  std::unique_ptr<Pipe> pipe_;
  std::size_t prefix_ = 0;
  std::optional<ReportEvent> ahead_;
  std::vector<ReportLoss> losses_;
  u64 events_ = 0;
};

}  // namespace tickscope::support
