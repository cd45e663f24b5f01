// SPDX-License-Identifier: GPL-3.0-or-later
// What to record for a question: the words of "not judged", the start page and `record` alike.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope {

struct RecordingAdvice {
  std::string_view key;       ///< "stall"
  std::string_view question;  ///< "Does a CPU miss its timers?"
  std::string_view findings;  ///< "F03 F04 F05 F10 F15 F20 F22 F23"
  std::string_view events;    ///< names that trace-cmd -e takes, parted by blanks
  bool programming = false;   ///< tick_program_event by the function tracer
};

/// One for each question; the last one, "all", has the events of all.
std::span<const RecordingAdvice> recordingAdvice();
/// nullptr: there is no such key.
const RecordingAdvice* recordingAdvice(std::string_view key);

/// One line: `trace-cmd record -C mono -b KB -o trace.dat -e ... sleep SECONDS`.
std::string recordCommand(const RecordingAdvice& advice, u32 kbPerCpu, u32 seconds);

}  // namespace tickscope
