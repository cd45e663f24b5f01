// SPDX-License-Identifier: GPL-3.0-or-later
// A point of a recording as people write it: T of --at, --from and --to.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/trace/recording.h"

namespace tickscope {

struct Point {
  enum class Of : u8 {
    AtRow,      ///< event:ROW
    AtTime,     ///< 12.345678901, 50ms; a bare number where the clock does not count seconds
    AtMono,     ///< mono:12.345678901
    AtJiffies,  ///< jiffies:4294900000
  };
  Of of{};
  u64 value{};  ///< row, trace units, ns, jiffies
};

/// `unit`: that of the buffer's clock; `otherClocks`: mono: and jiffies: are among what is allowed. Error: Usage, with
/// what is allowed.
Result<Point> readPoint(std::string_view option, const std::string& text, ClockUnit unit,
                        bool otherClocks);

}  // namespace tickscope
