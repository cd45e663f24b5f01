// SPDX-License-Identifier: GPL-3.0-or-later
// The primitives of hrtimer.c on expires_next, softirq_expires_next and the first timers, by generation of rules.
#include "core/model/hrtimer_world.h"

namespace tickscope {

namespace {

constexpr s64 infinite = never.value;

Bounds exactly(s64 value) { return {value, value}; }

void join(World& into, const World& from) {
  into.e = {std::min(into.e.least, from.e.least), std::max(into.e.most, from.e.most)};
  into.se = {std::min(into.se.least, from.se.least), std::max(into.se.most, from.se.most)};
  if (into.nt != from.nt) into.nt = {Pointed::To::Any};
  if (into.snt != from.snt) into.snt = {Pointed::To::Any};
}

}  // namespace

void Worlds::add(const World& world) {
  for (World& have : *this) {
    if (have.nt == world.nt) {
      join(have, world);
      return;
    }
  }
  if (count_ < worlds_.size()) {
    worlds_[count_++] = world;
    return;
  }
  join(worlds_.back(), world);
}

s64 Primitives::leastUnseen(bool soft) const {
  if (ground.floor == infinite || ground.inInterrupt || ground.staleOffsets || !ground.highRes) {
    return ground.floor;
  }
  if (soft && (ground.softirqActivated || (rule <= HrtimerRule::R0 && ground.softBeforeNext))) {
    return ground.floor;
  }
  return std::max(ground.floor, world.e.least);
}

bool Primitives::before(Bounds& a, Bounds& b) {
  if (a.most < b.least) return true;
  if (a.least >= b.most) return false;
  if (answers.next()) {
    b.least = std::max(b.least, a.least + 1);
    a.most = std::min(a.most, b.most - 1);
    return true;
  }
  b.most = std::min(b.most, a.most);
  a.least = std::max(a.least, b.least);
  return false;
}

bool Primitives::equal(const Bounds& computed) {
  Bounds& e = world.e;
  if (computed.most < e.least || e.most < computed.least) return false;
  if (computed.known() && e.known()) return true;
  if (!answers.next()) return false;
  e = {std::max(e.least, computed.least), std::min(e.most, computed.most)};
  return true;
}

Bounds Primitives::update(const Firsts& firsts, bool force) {
  const bool soft = rule != HrtimerRule::RP && !ground.softirqActivated;
  const s64 unseenHard = leastUnseen(false);
  const s64 unseenSoft = soft ? leastUnseen(true) : infinite;
  const s64 unseen = std::min(unseenHard, unseenSoft);
  const bool softFirst =
      soft && (rule == HrtimerRule::R0 ? firsts.soft <= firsts.hard && firsts.soft != infinite
                                       : firsts.soft < firsts.hard);
  const s64 first = softFirst ? firsts.soft : firsts.hard;

  const bool unseenFirst = unseen != infinite && first >= unseen && answers.next();
  // Behind `first` when that one is first.
  const s64 softFrom = unseenFirst ? unseenSoft : std::max(unseenSoft, first);
  const bool softSure = firsts.soft < softFrom || unseenSoft == infinite;
  if (soft) world.snt = softSure ? firsts.softTimer : Pointed{Pointed::To::Any};
  if (soft && rule >= HrtimerRule::R1) {
    world.se =
        softSure ? exactly(firsts.soft) : Bounds{std::min(softFrom, firsts.soft), firsts.soft};
  }
  Bounds e = exactly(first);
  if (unseenFirst) {
    e = {unseen, first};
    world.nt = {Pointed::To::Unseen};
  } else if (first == infinite) {
    world.nt = {Pointed::To::None};
  } else {
    world.nt = softFirst ? firsts.softTimer : firsts.hardTimer;
  }
  if (rule == HrtimerRule::R0 && force) {
    if (unseenFirst ? soft && answers.next() : softFirst) world.se = e;
  }
  return e;
}

u8 Primitives::force(const Firsts& firsts, bool skipEqual) {
  if (rule == HrtimerRule::RP && !ground.highRes) return 0;
  const Bounds e = update(firsts, true);
  if (skipEqual && equal(e)) return 0;
  world.e = e;
  return ground.hang || !ground.highRes ? 0 : 1;
}

bool Primitives::reprogramSoft(Pointed timer, Bounds& x) {
  if (ground.softirqActivated || rule == HrtimerRule::RP) return false;
  if (!before(x, world.se)) return false;
  world.snt = timer;
  world.se = x;
  return before(x, world.e);
}

u8 Primitives::reprogram(Pointed timer, Bounds x, bool soft, bool owner) {
  if (rule == HrtimerRule::RP && (soft || !ground.highRes)) return 0;
  if (soft && !reprogramSoft(timer, x)) return 0;
  if (!owner || !before(x, world.e) || ground.inInterrupt) return 0;
  world.nt = timer;
  world.e = x;
  return ground.hang || !ground.highRes ? 0 : 1;
}

bool Primitives::isNext(SpanId timer, Known<s64> x, bool unseen) {
  switch (world.nt.to) {
    case Pointed::To::None:
      return false;
    case Pointed::To::Span:
      return world.nt.span == timer;
    case Pointed::To::Unseen:
      if (!unseen || !answers.next()) return false;
      world.nt = {Pointed::To::Span, timer};
      return true;
    case Pointed::To::Any:
      break;
  }
  // next_timer and expires_next are set together: a queued timer that is next is due at E, unless stale.
  const bool atE =
      x && !ground.inInterrupt && !ground.staleNext && !ground.staleOffsets && ground.highRes;
  if (atE && !world.e.holds(*x)) return false;
  if (!answers.next()) return false;
  if (atE) world.e = exactly(*x);
  world.nt = {Pointed::To::Span, timer};
  return true;
}

}  // namespace tickscope
