// SPDX-License-Identifier: GPL-3.0-or-later
// The filter language, compiled for one buffer: which rows does `cpu==2 && event=~"hrtimer"` name?
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/trace/filter_syntax.h"
#include "core/trace/recording.h"

namespace tickscope {

/// `field op value` with == (or =) != < <= > >= =~ !~, joined by && || ! ( ); `!` binds closest,
/// then &&, then ||.
///
/// Fields: `row`, `time` (as printed: seconds for clocks of nanoseconds, or with a unit), `cpu`,
/// `pid`, `tgid`, `comm`, `event` (its name, or system:name), `timer` (a wheel timer, hrtimer or
/// alarm), `callback` (the function of a timer), each field of an event by its format name, and
/// EVENT.FIELD for that of one event where the name alone means something else
/// (`sched_waking.pid`). Numbers: decimal, 0x, or nanoseconds with ns us ms s. Addresses also as
/// the kernel prints pointers (8 or 16 hexadecimal digits), or by symbol. Regular expressions are
/// RE2's, search anywhere in the text and mind upper and lower case. A word by itself searches the
/// event's name and text as printed. A row without the field does not match, whatever the operator.
///
/// Keeps what it learned of strings, symbols and tasks: one thread at a time; copies are
/// independent.
class Filter {
 public:
  /// `recording` and `buffer` (one of its buffers) must outlive the filter. Errors have their place
  /// in `text`.
  static tl::expected<Filter, FilterError> compile(std::string_view text,
                                                   const Recording& recording,
                                                   const Buffer& buffer);

  [[nodiscard]] bool matches(Row row);
  /// The matching rows of [from, to), ascending; at most `most`. Error: Cancelled.
  Result<std::vector<Row>> rows(u32 from, u32 to, u32 most, Progress& progress);

  /// All names that can stand before an operator, sorted; for completion.
  static std::vector<std::string> fieldNames(const Recording& recording, const Buffer& buffer);

  Filter(const Filter&);
  Filter& operator=(const Filter&);
  Filter(Filter&&) noexcept;
  Filter& operator=(Filter&&) noexcept;
  ~Filter();

 private:
  struct Program;
  explicit Filter(std::unique_ptr<Program>);
  std::unique_ptr<Program> program_;
};

}  // namespace tickscope
