// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the text of /proc/timer_list (kernel/time/timer_list.c).
#pragma once

#include <string_view>

#include "core/trace/timer_list_dump.h"

namespace tickscope {

/// Does the text begin as a dump does?
bool looksLikeTimerList(std::string_view beginning);

/// Each line is taken as what it looks like; those that look like nothing are counted.
TimerListDump parseTimerList(std::string_view text);

}  // namespace tickscope
