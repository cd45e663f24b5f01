// SPDX-License-Identifier: GPL-3.0-or-later
// Words, times and numbers of trace scripts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope::support {

using Words = std::vector<std::string>;
/// Those of a line, without its comment.
Words wordsOf(std::string_view line);

/// "300us", "1.5", "-2ms" in ns; a figure without unit counts `plain` ns. Throws std::runtime_error.
s64 nsOf(std::string_view text, double plain);
/// Decimal or 0x. Throws std::runtime_error.
u64 numberOf(std::string_view text);
/// Names of vectors, modes and flags joined by `|`, or a number. Throws std::runtime_error.
u64 namedOf(std::string_view text);

}  // namespace tickscope::support
