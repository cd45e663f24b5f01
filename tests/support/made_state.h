// SPDX-License-Identifier: GPL-3.0-or-later
// A made state of two CPUs for tests of the state panel: a wheel with overdue timers, a tree, unknown values.
#pragma once

#include "views/panels/state_source.h"

namespace tickscope::support {

inline StateTimer wheelTimer(u32 span, s64 expires, s64 bucketExpiry, u16 bucket, u32 armedRow) {
  StateTimer timer;
  timer.span = SpanId{span};
  timer.address = Address{0xffff888000300000 + span * 0x100};
  timer.function = Address{0xffffffff81000000};
  timer.expires = expires;
  timer.second = bucketExpiry;
  timer.bucketIndex = bucket;
  timer.armedRow = Row{armedRow};
  return timer;
}

inline StateTimer hrtimer(u32 span, s64 softExpires, s64 expires, u32 armedRow) {
  StateTimer timer;
  timer.span = SpanId{span};
  timer.address = Address{0xffff888000400000 + span * 0x100};
  timer.function = Address{0xffffffff82000000};
  timer.expires = expires;
  timer.second = softExpires;
  timer.armedRow = Row{armedRow};
  timer.armedBy = Pid{2};
  return timer;
}

/// Jiffies as in a kernel shortly before its 32 bits are full.
inline constexpr u64 clkNow = 4'294'893'996;

/// CPU0 has nothing but unknown values; CPU1 a wheel base with five timers, two of them overdue, and eleven hrtimers.
inline SystemState madeState(Row row) {
  SystemState state;
  state.row = row;
  state.time = {1000 + static_cast<s64>(number(row)) * 100};
  CpuState blind;
  blind.cpu = Cpu{0};
  blind.wheel.resize(1);
  blind.unknown = {BlindSpotKind::LostEvents, BlindSpotKind::ProgrammingNotTraced};
  state.cpus.push_back(blind);

  CpuState cpu;
  cpu.cpu = Cpu{1};
  WheelBaseState base;
  base.clk = clkNow;
  base.nextExpiry = clkNow + 3;
  const auto due = [](s64 ahead) { return static_cast<s64>(clkNow) + ahead; };
  base.timers = {wheelTimer(1, due(-241), due(-240), 60, 3),
                 wheelTimer(2, due(-69), due(-68), 40, 4), wheelTimer(3, due(2), due(3), 47, 5),
                 wheelTimer(4, due(4), due(5), 49, 6), wheelTimer(5, due(4), due(5), 49, 7)};
  cpu.wheel.push_back(base);
  auto& mono = cpu.hrtimers[number(ClockBase::Mono)];
  for (u32 i = 0; i < 11; ++i) {
    const s64 expires = state.time.value + 1'162'000 + s64{i} * 1'200'000;
    mono.push_back(hrtimer(20 + (i * 7) % 11, i == 7 ? state.time.value - 5 : expires - i * 50,
                           expires, 8 + i));
  }
  cpu.expiresNext = MonoTime{9'508'000'000};
  cpu.softirqExpiresNext = never;
  state.cpus.push_back(cpu);
  return state;
}

inline StateSource madeSource() {
  StateSource source;
  source.stateAt = madeState;
  source.mono = [](Row row) { return Known<MonoTime>(MonoTime{madeState(row).time.value}); };
  source.offset = [](ClockBase, Row) { return Known<s64>(); };
  // Every tenth row changes something.
  source.previousChange = [](Cpu, Row row) {
    return number(row) < 10 ? Known<Row>() : Known<Row>(Row{(number(row) - 1) / 10 * 10});
  };
  source.nextChange = [](Cpu, Row row) {
    return number(row) >= 90 ? Known<Row>() : Known<Row>(Row{(number(row) / 10 + 1) * 10});
  };
  source.hz = 250;
  return source;
}

}  // namespace tickscope::support
