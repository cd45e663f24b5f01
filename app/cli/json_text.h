// SPDX-License-Identifier: GPL-3.0-or-later
// Strings of a recording as JSON strings.
#pragma once

#include <string>
#include <string_view>

#include "core/trace/recording.h"

namespace tickscope {

/// Appends `text` in quotes. Control characters and bytes that are no UTF-8 are first escaped as
/// they are in text (`\n`, `\xff`), so every string is valid JSON and shows what text output shows.
void appendJsonString(std::string& out, std::string_view text);

/// ns, cycles, jiffies_100hz, events; empty: unknown, which is null.
std::string_view jsonNameOf(ClockUnit unit);

}  // namespace tickscope
