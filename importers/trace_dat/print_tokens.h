// SPDX-License-Identifier: GPL-3.0-or-later
// The words of a print format: `"timer=%p", REC->timer` (reading-traces 3.5, G1 and G3).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace tickscope::trace_dat {

struct PrintToken {
  enum class Is : u8 { End, Text, Number, Name, Sign };
  Is is = Is::End;
  std::string text;  ///< a string without quotes and escapes; a name; a sign such as `->` or `<<`
  u64 number = 0;    ///< of a Number
  bool isUnsigned = false;  ///< suffix u
  bool isJoined = false;    ///< a Text of several strings
  bool isHex = false;       ///< also octal: may become unsigned without a suffix
  u8 longs = 0;             ///< how many l in the suffix

  [[nodiscard]] bool isSign(std::string_view sign) const { return is == Is::Sign && text == sign; }
  [[nodiscard]] bool isName(std::string_view name) const { return is == Is::Name && text == name; }
};

/// Largest print format that is looked at, bytes; the largest real one has 5.7 KB.
inline constexpr std::size_t largestPrintFormat = 16U << 10U;
inline constexpr std::size_t mostPrintTokens = 4'000;

/// The words with an End behind them; neighbouring strings are joined, as in C. Errors: Unsupported
/// with the reason (too long, no printable ASCII, a string without an end, an unknown escape, more
/// than 4,000 words).
Result<std::vector<PrintToken>> printTokens(std::string_view text);

}  // namespace tickscope::trace_dat
