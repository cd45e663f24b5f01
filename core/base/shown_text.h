// SPDX-License-Identifier: GPL-3.0-or-later
// Makes bytes that nobody vouches for safe to show: names, markers and strings of a recording.
#pragma once

#include <string>
#include <string_view>

#include "core/base/quantity.h"

namespace tickscope {

/// What stays as it is although it is a control character.
enum class Breaks : u8 {
  Escape,  ///< nothing: one line, no columns
  Keep     ///< newlines and tabs
};

/// Appends `bytes` with control characters and invalid UTF-8 as `\n`, `\t`, `\r` or `\x1b`.
/// Characters that turn the direction of text are escaped byte by byte too, because they make a
/// line read as what it is not.
void appendShown(std::string& out, std::string_view bytes, Breaks breaks = Breaks::Escape);
std::string shown(std::string_view bytes, Breaks breaks = Breaks::Escape);

}  // namespace tickscope
