// SPDX-License-Identifier: GPL-3.0-or-later
// Joins the tables of an analysis to what the panel asks for.
#include "app/window/analysis_state.h"

#include "core/model/wheel_model.h"

namespace tickscope {

namespace {

Known<Row> known(Row row) { return row == noRow ? Known<Row>() : Known<Row>(row); }

}  // namespace

StateSource stateSourceOf(std::shared_ptr<const Analysis> analysis) {
  StateSource source;
  const KernelProfile& profile = analysis->profile;
  source.hz = profile.hz.expected;
  const WheelRules wheel = wheelRulesOf(profile);
  source.levels = wheel.kind == WheelKind::Levels;
  source.geometry = wheel.geometry;
  const EventStore& store = analysis->events();
  if (!store.firstPossible(kindOf<ProgramEventProbe>)) {
    source.programmingUntold = store.firstPossible(kindOf<ProgramEvent>)
                                   ? "calls recorded without arguments"
                                   : reasonOf(BlindSpotKind::ProgrammingNotTraced);
  }
  source.stateAt = [analysis](Row row) { return stateAt(*analysis, row); };
  source.previousChange = [analysis](Cpu cpu, Row row) {
    return known(previousChange(analysis->tables, cpu, row));
  };
  source.nextChange = [analysis](Cpu cpu, Row row) {
    return known(nextChange(analysis->tables, cpu, row));
  };
  source.mono = [analysis](Row row) -> Known<MonoTime> {
    const EventStore& events = analysis->events();
    const auto time = analysis->clocks.mono(events.time(row), events.cpu(row));
    return time ? Known<MonoTime>(time->value) : Known<MonoTime>();
  };
  source.offset = [analysis](ClockBase base, Row row) {
    return analysis->clocks.offset(base, row);
  };
  return source;
}

}  // namespace tickscope
