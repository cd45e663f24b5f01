// SPDX-License-Identifier: GPL-3.0-or-later
// What header_page and header_event say about pages and records (reading-traces 2.1).
#pragma once

#include <string_view>

#include "importers/trace_dat/container.h"

namespace tickscope::trace_dat {

struct HeaderPage {
  u8 commitSize = 8;
  u32 commitOffset = 8;
  u32 dataOffset = 16;
  u32 dataSize = 0;  ///< bytes of records in a full page
};

/// Empty: the text cannot be used (a field is missing, twice in one place, or has an impossible size).
Known<HeaderPage> parseHeaderPage(std::string_view text);

enum class HeaderEvent : u8 {
  Usual,   ///< 5 bits of type, 27 of time, types as since 2.6.31
  Odd,     ///< says something else, or nothing
  Ancient  ///< the records of kernels before 2.6.31
};
HeaderEvent judgeHeaderEvent(std::string_view text);

/// The layout of a kernel with this word (4 or 8), for files that do not say.
RingLayout usualLayout(u8 word, bool bigEndian, bool swap);

}  // namespace tickscope::trace_dat
