// SPDX-License-Identifier: GPL-3.0-or-later
// Adds up gaps.
#include "core/findings/dead_time.h"

namespace tickscope {

s64 deadNs(const Material& material, Row from, Row to) {
  if (from == noRow || to == noRow || from >= to) return 0;
  const CpuBrackets& cpu = material.bracketsOf(from);
  const s64 silence = material.ticksToNs(Limit::Silence);
  constexpr s64 usualTick = 4'000'000;
  const s64 inInterrupt = material.tickNs().value_or(usualTick) / 4;
  s64 dead = 0;
  Row before = from;
  while (before < to) {
    const Row after = material.next(before);
    if (after == noRow || after > to) break;
    const s64 gap = material.nsBetween(before, after).value_or(0);
    if (gap > inInterrupt) {
      const u32 at = cpu.innermostAt(before);
      const bool bare = at != Bracket::none && cpu.nested[at].kind == BracketKind::TimerInterrupt &&
                        cpu.nested[at].exit != noRow && cpu.nested[at].exit >= after;
      if (bare || (gap > silence && !cpu.idleAt(before))) dead += gap;
    }
    before = after;
  }
  return dead;
}

}  // namespace tickscope
