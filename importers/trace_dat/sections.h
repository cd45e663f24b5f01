// SPDX-License-Identifier: GPL-3.0-or-later
// The sections of version 7: the chain of options, and the walk from section to section (reading-traces 1.3).
#pragma once

#include "importers/trace_dat/options.h"

namespace tickscope::trace_dat {

struct Section {
  u16 id = 0;
  bool packed = false;
  u32 name = 0;     ///< index into the strings; ~0: none
  u64 at = 0;       ///< of its header
  u64 data = 0;     ///< of what follows the header
  u64 size = 0;     ///< as stated
  u64 present = 0;  ///< bytes of it that are there
};

/// Reads the header at `offset`; empty: there are no 16 bytes.
Known<Section> readSectionHeader(const Reading& reading, u64 offset);

/// By its flag, and by what stands in it.
bool isPacked(const Reading& reading, const Section& section);

/// The content of a packed section that is not page data. Empty: it cannot be had; the log says why.
Known<ByteSource> sectionContent(Reading& reading, const Section& section);

}  // namespace tickscope::trace_dat
