// SPDX-License-Identifier: GPL-3.0-or-later
// Tolerant parsers of the texts beside the events: task names, kernel strings, symbols (reading-traces 1.6).
#pragma once

#include <string>
#include <string_view>

#include "core/trace/import_log.h"
#include "core/trace/metadata.h"

namespace tickscope::trace_dat {

/// Lines `pid comm`; `offset`: where the text stands in the input, for the log.
void addTaskNames(std::string_view text, u64 offset, Metadata& metadata, ImportLog& log);

/// Lines `0xaddress : "text"`.
void addPrintkFormats(std::string_view text, u64 offset, Metadata& metadata, ImportLog& log);

/// kallsyms text, kept as it is: the first one with an address that is not zero.
void addSymbols(std::string text, Metadata& metadata);

/// The choice in `local global [mono]`, or the one word there is; empty: neither.
std::string chosenClock(std::string_view text);

/// One kernel text per_cpu/cpuN/stats.
CpuStatistics parseStatistics(std::string_view text);
/// Empty: the text has no `now ts` line, or it is zero; else whether it has a decimal point, as only clocks of nanoseconds have.
Known<bool> nowHasPoint(std::string_view statistics);

/// Kernel release and machine out of `uname -a`.
void setUname(std::string_view text, Metadata& metadata);

/// Without NUL and blanks at the end.
std::string_view trimmedEnd(std::string_view text);

}  // namespace tickscope::trace_dat
