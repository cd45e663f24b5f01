// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a file that list headers and event formats, alike in both versions (reading-traces 1.2).
#pragma once

#include "importers/trace_dat/reading.h"
#include "importers/trace_dat/source_cursor.h"

namespace tickscope::trace_dat {

/// Each reads its part from the cursor on and leaves it behind the part. False: the part ends too
/// early or its sizes cannot be true; what could be read is there and the log says so.
bool readHeaders(Reading& reading, SourceCursor& cursor);
bool readFtraceFormats(Reading& reading, SourceCursor& cursor);
bool readEventFormats(Reading& reading, SourceCursor& cursor);
bool readKallsyms(Reading& reading, SourceCursor& cursor);
bool readPrintk(Reading& reading, SourceCursor& cursor);
bool readCmdlines(Reading& reading, SourceCursor& cursor);

}  // namespace tickscope::trace_dat
