// SPDX-License-Identifier: GPL-3.0-or-later
// From the tables of a file, checked against each other and the bytes, to streams of pages.
#pragma once

#include <set>

#include "importers/trace_dat/reading.h"
#include "importers/trace_dat/salvage.h"

namespace tickscope::trace_dat {

/// Decides how pages lie (reading.out.ring, the page size of each table), by the pages where the
/// claims differ or are missing. Errors: Damaged (no page size), Unsupported (records before 2.6.31).
Result<void> settleLayout(Reading& reading, const RecordFacts& facts);

/// Fills reading.out.buffers from reading.tables and from what lies beside them in the file.
void buildStreams(Reading& reading, const RecordFacts& facts);

/// Numbers for runs of pages whose CPU no table tells, in their order: those proved, those that a
/// table lost (`lost`), else ascending ones that are not `taken`.
std::vector<u32> numbersFor(const std::vector<FoundRun>& runs, const std::vector<u32>& lost,
                            const std::set<u32>& taken);

}  // namespace tickscope::trace_dat
