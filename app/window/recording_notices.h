// SPDX-License-Identifier: GPL-3.0-or-later
// What must be seen at once of a recording: damage of the file and events that the kernel lost.
#pragma once

#include <vector>

#include "app/window/notice_bar.h"
#include "core/base/result.h"
#include "core/trace/recording.h"

namespace tickscope {

/// At most one of each level, errors first; none for a healthy recording.
[[nodiscard]] std::vector<Notice> noticesOf(const Recording& recording, u32 buffer);
[[nodiscard]] Notice noticeOf(const Error& error);

struct LossTotal {
  u64 events = 0;  ///< of gaps whose size is known
  u32 gaps = 0;
  u32 unknownGaps = 0;  ///< of these, gaps whose size the kernel did not say
};
[[nodiscard]] LossTotal lossesOf(const EventStore& events);
/// `0 events lost`, `2,163 events lost`, `at least 12 events lost`.
[[nodiscard]] QString lossWords(const LossTotal& total);

}  // namespace tickscope
