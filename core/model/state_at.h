// SPDX-License-Identifier: GPL-3.0-or-later
// The reference state at any row, from the tables of a replay that is over.
#pragma once

#include "core/model/replay_tables.h"
#include "core/trace/event_store.h"

namespace tickscope {

/// The state after the event of `row`: nearest checkpoint, the spans since, and the step lines. Timers that were armed
/// before the recording and are seen only later are in it, with unknown times. Precondition: row < store.size().
SystemState stateAt(const ReplayTables& tables, const EventStore& store, Row row);

/// The next row after / last row before `row` at which the state of that CPU changed (a span began or ended there, or
/// a scalar moved); noRow: none.
Row nextChange(const ReplayTables& tables, Cpu cpu, Row row);
Row previousChange(const ReplayTables& tables, Cpu cpu, Row row);

/// How a span shows in a state.
StateTimer stateTimerOf(const ReplayTables& tables, const EventStore& store, SpanId id);
/// Orders of the kernel's lists: wheel timers by bucket expiry, level descending, last armed first; hrtimers by
/// expires, then insertion.
void sortAsKernel(CpuState& cpu);

}  // namespace tickscope
