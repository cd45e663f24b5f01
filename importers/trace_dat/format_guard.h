// SPDX-License-Identifier: GPL-3.0-or-later
// Which formats and records may be given to libtraceevent, whose parser and printer trust what they
// read (reading-traces 3.4 and 3.5).
#pragma once

#include <string>
#include <vector>

#include "core/base/byte_reader.h"
#include "importers/trace_dat/format_text.h"

namespace tickscope::trace_dat {

/// Empty: the format may pass. Else why not: G1 to G5 of reading-traces 3.5, and what the library
/// prints wrongly: it regroups operations, computes in 64 bits and without signs, and has its own
/// form of pointers.
Known<std::string> whyRefused(const EventFormat& format);

/// The format's text made anew from our table; only the print format is as written. Precondition:
/// not refused.
std::string rebuiltFormat(const EventFormat& format);

/// G6: the record covers every fixed field, dynamic fields lie in it behind the common ones,
/// strings end in NUL.
bool recordFits(const EventFormat& format, Bytes record, bool swap);

}  // namespace tickscope::trace_dat
