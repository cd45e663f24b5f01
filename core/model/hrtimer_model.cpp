// SPDX-License-Identifier: GPL-3.0-or-later
// Operations on the hrtimer trees of one CPU, and the programming calls they cost under each generation of rules.
#include "core/model/hrtimer_model.h"

namespace tickscope {

namespace {

Bounds exactly(MonoTime x) { return {x.value, x.value}; }

void cover(Calls& range, u8 calls, bool isFirst) {
  range.least = isFirst ? calls : std::min(range.least, calls);
  range.most = isFirst ? calls : std::max(range.most, calls);
}

/// What an operation finds: the same for all rules.
struct StartSite {
  const HrtimerModel::Start& op;
  bool taken = false;        ///< the old span was in a tree here and was taken out
  bool wasLeftmost = false;  ///< of its tree
  Known<s64> oldX;           ///< where it was queued
  bool unseen = false;       ///< the old span may be queued here, unknown to the trees
  bool soft = false;
  bool leftmost = false;  ///< the new span is (would be) leftmost of its tree
  Firsts without, with;   ///< first timers after removal, after enqueue
};

/// start(t), 4.1, with the timer queued here (`owner`) or elsewhere.
void startIn(Primitives& on, const StartSite& site, bool owner, u8& removal, u8& enqueue) {
  const HrtimerModel::Start& op = site.op;
  const bool mayBeHere = op.was && op.wasOnThisCpu;
  const bool armedHere = site.taken || (op.armed && site.unseen);
  const bool isNext = mayBeHere && on.isNext(*op.was, site.oldX, site.unseen);
  const HrtimerRule rule = on.rule;

  const auto enqueueNew = [&] {
    if (!owner || !site.leftmost) return;
    // Only R0 leaves SE behind an unseen soft timer that is left of the new one.
    if (site.soft && rule == HrtimerRule::R0 && on.ground.floor <= op.x.value &&
        on.ground.floor != never.value && !on.ground.softirqActivated && on.answers.next()) {
      return;
    }
    enqueue = on.reprogram({Pointed::To::Span, op.span}, exactly(op.x), site.soft, true);
  };

  if (rule <= HrtimerRule::R1) {
    if (armedHere && isNext) removal = on.force(site.without, true);
    enqueueNew();
    return;
  }
  if (rule <= HrtimerRule::R3) {
    const bool inPlace = owner && isNext && op.online;
    if (armedHere && isNext && !inPlace) removal = on.force(site.without, true);
    if (rule == HrtimerRule::R3 && on.ground.inInterrupt) return;
    if (inPlace) {
      enqueue = on.force(site.with, true);
    } else if (op.online) {
      enqueueNew();
    }
    return;
  }
  const bool keep = owner && mayBeHere;
  if (!keep && armedHere && isNext && !op.lazy && !on.ground.inInterrupt &&
      (site.wasLeftmost || !site.taken)) {
    removal = on.force(site.without, true);
  }
  if (on.ground.inInterrupt) return;
  if (op.expiredAtStart) {
    if (isNext) enqueue = on.force(site.without, true);
  } else if (!keep || !isNext) {
    if (op.online) enqueueNew();
  } else {
    Bounds x = exactly(op.x);
    // A lazy timer that moves to E or later leaves the device where it is.
    if (!op.lazy || on.before(x, on.world.e)) enqueue = on.force(site.with, true);
  }
}

}  // namespace

HrtimerModel::HrtimerModel(RuleSet rules) : rules_(rules) {
  firstX_.fill(never.value);
  forgetScalars();
}

template <class Operation>
CallsByRule HrtimerModel::forAllRules(Operation operation) {
  CallsByRule all{};
  for (std::size_t r = 0; r < hrtimerRuleCount; ++r) {
    if (!rules_[r]) continue;
    OperationCalls& calls = all[r];
    Worlds& worlds = worlds_[r];
    if (worlds.single()) {
      // Nearly always: one world, and nothing in it is open.
      Answers answers;
      World next = *worlds.begin();
      Primitives primitives{static_cast<HrtimerRule>(r), ground_, next, answers};
      u8 removal = 0, enqueue = 0;
      operation(primitives, removal, enqueue);
      if (!answers.asked()) {
        *worlds.begin() = next;
        calls.removal = {removal, removal};
        calls.enqueue = {enqueue, enqueue};
        continue;
      }
    }
    calls = inEveryWorld(static_cast<HrtimerRule>(r), operation);
  }
  return all;
}

template <class Operation>
OperationCalls HrtimerModel::inEveryWorld(HrtimerRule rule, Operation operation) {
  OperationCalls calls;
  Calls both;
  Worlds made;
  bool isFirst = true;
  for (const World& world : worlds_[number(rule)]) {
    Answers answers;
    do {
      World next = world;
      Primitives primitives{rule, ground_, next, answers};
      u8 removal = 0, enqueue = 0;
      operation(primitives, removal, enqueue);
      cover(calls.removal, removal, isFirst);
      cover(calls.enqueue, enqueue, isFirst);
      cover(both, static_cast<u8>(removal + enqueue), isFirst);
      isFirst = false;
      made.add(next);
    } while (answers.turn());
  }
  worlds_[number(rule)] = made;
  calls.leastMore = static_cast<u8>(both.least - calls.removal.least - calls.enqueue.least);
  calls.mostLess = static_cast<u8>(calls.removal.most + calls.enqueue.most - both.most);
  return calls;
}

void HrtimerModel::refreshFirst(ClockBase base) {
  const HrtimerTree& tree = trees_[number(base)];
  if (const Known<TreeNode> first = tree.first()) {
    firstX_[number(base)] = tree[*first].x.value;
    firstSpan_[number(base)] = tree[*first].span;
  } else {
    firstX_[number(base)] = never.value;
  }
}

Firsts HrtimerModel::firsts() const {
  Firsts found;
  for (std::size_t base = 0; base < clockBaseCount; ++base) {
    s64& least = base < 4 ? found.hard : found.soft;
    if (firstX_[base] >= least) continue;
    least = firstX_[base];
    (base < 4 ? found.hardTimer : found.softTimer) = firstOf(base);
  }
  return found;
}

MonoTime HrtimerModel::first(bool soft) const {
  const Firsts found = firsts();
  return MonoTime{soft ? found.soft : found.hard};
}

void HrtimerModel::insert(SpanId span, ClockBase base, MonoTime x, BaseTime expires) {
  const auto [place, isNew] = places_.insert({number(span), {}});
  if (!isNew) {
    const Place old = place->second;
    trees_[number(old.base)].erase(old.node);
    refreshFirst(old.base);
  }
  const TreeNode node = trees_[number(base)].insert(span, x, expires);
  place.value() = {base, node};
  if (trees_[number(base)].isFirst(node)) refreshFirst(base);
}

auto HrtimerModel::take(SpanId span) -> Known<Removed> {
  const auto place = places_.find(number(span));
  if (place == places_.end()) return {};
  const auto [base, node] = place->second;
  HrtimerTree& tree = trees_[number(base)];
  const Removed removed{tree[node].x.value, tree.isFirst(node)};
  tree.erase(node);
  places_.erase(place);
  if (removed.leftmost) refreshFirst(base);
  return removed;
}

CallsByRule HrtimerModel::start(const Start& op) {
  StartSite site{.op = op, .oldX = {}, .without = {}, .with = {}};
  if (op.was) {
    if (const Known<Removed> old = take(*op.was)) {
      site.taken = true;
      site.wasLeftmost = old->leftmost;
      site.oldX = old->x;
    } else {
      site.unseen = op.unseen || op.armed;
    }
  }
  site.soft = isSoft(op.base);
  site.without = site.with = firsts();
  const bool queues = op.owner != false && !op.expiredAtStart;
  if (queues) {
    const HrtimerTree& tree = trees_[number(op.base)];
    const Known<TreeNode> first = tree.first();
    site.leftmost = !first || op.expires < tree[*first].expires;
    if (op.owner) {
      insert(op.span, op.base, op.x, op.expires);
      site.with = firsts();
    } else {
      s64& least = site.soft ? site.with.soft : site.with.hard;
      if (op.x.value < least) {
        least = op.x.value;
        (site.soft ? site.with.softTimer : site.with.hardTimer) = {Pointed::To::Span, op.span};
      }
    }
  }
  const CallsByRule calls = forAllRules([&](Primitives& on, u8& removal, u8& enqueue) {
    const bool owner = op.owner ? *op.owner : on.answers.next();
    startIn(on, site, owner, removal, enqueue);
  });
  if (queues && !op.owner) setFloor(MonoTime{std::min(ground_.floor, op.x.value)});
  return calls;
}

void HrtimerModel::enqueueRemote(SpanId span, ClockBase base, MonoTime x, BaseTime expires) {
  insert(span, base, x, expires);
  const HrtimerTree& tree = trees_[number(base)];
  if (!isSoft(base) || tree[*tree.first()].span != span) return;
  forAllRules([&](Primitives& on, u8&, u8&) {
    on.reprogram({Pointed::To::Span, span}, exactly(x), true, false);
  });
}

void HrtimerModel::enqueueRestart(SpanId span, ClockBase base, MonoTime x, BaseTime expires) {
  insert(span, base, x, expires);
}

CallsByRule HrtimerModel::cancel(SpanId span, bool lazy) {
  const Known<Removed> old = take(span);
  const Known<s64> x = old ? Known<s64>{old->x} : Known<s64>{};
  const Firsts rest = firsts();
  return forAllRules([&](Primitives& on, u8& removal, u8&) {
    if (!on.isNext(span, x, !old)) return;
    if (on.rule >= HrtimerRule::R4) {
      if (lazy || on.ground.inInterrupt || (old && !old->leftmost)) return;
    }
    removal = on.force(rest, true);
  });
}

void HrtimerModel::cancelRemote(SpanId span) {
  take(span);
  ground_.staleNext = true;
}

void HrtimerModel::expire(SpanId span) {
  take(span);
  if (!ground_.inInterrupt) ground_.staleNext = true;
}

HrtimerModel::Interrupt HrtimerModel::beginInterrupt(Known<MonoTime> now) {
  Interrupt begun;
  for (std::size_t r = 0; r < hrtimerRuleCount; ++r) {
    if (!rules_[r]) continue;
    bool some = false, all = true;
    for (const World& world : worlds_[r]) {
      some = some || (now && now->value >= world.se.least);
      all = all && now && now->value >= world.se.most;
    }
    if (now && some == all) begun.raises[r] = all;
    if (static_cast<HrtimerRule>(r) == HrtimerRule::RP) begun.raises[r] = false;
    for (World& world : worlds_[r]) world.e = exactly(never);
  }
  ground_.inInterrupt = true;
  return begun;
}

CallsByRule HrtimerModel::endInterrupt(bool retried) {
  const Firsts all = firsts();
  const CallsByRule calls = forAllRules([&](Primitives& on, u8&, u8& enqueue) {
    on.world.e = on.update(all, false);
    enqueue = !on.ground.highRes || (retried && on.rule >= HrtimerRule::R4) ? 0 : 1;
  });
  ground_.inInterrupt = ground_.hang = false;
  allComputed();
  return calls;
}

/// E and next_timer were made anew from all trees that count.
void HrtimerModel::allComputed() {
  ground_.staleNext = ground_.staleOffsets = false;
  if (!ground_.softirqActivated) ground_.softBeforeNext = false;
}

void HrtimerModel::softirqRaised() {
  ground_.softirqActivated = true;
  for (Worlds& worlds : worlds_) {
    for (World& world : worlds) world.se = exactly(never);
  }
}

CallsByRule HrtimerModel::endSoftirq() {
  ground_.softirqActivated = false;
  const Firsts all = firsts();
  return forAllRules([&](Primitives& on, u8&, u8& enqueue) {
    if (on.rule == HrtimerRule::RP) return;
    // While the softirq was activated soft timers could be queued before E: only the floor bounds them.
    const s64 floor = on.ground.floor;
    if (floor != never.value && all.soft >= floor && on.answers.next()) {
      on.world.snt = {Pointed::To::Unseen};
      enqueue = on.reprogram({Pointed::To::Unseen}, {floor, all.soft}, true, true);
      return;
    }
    on.world.snt = all.softTimer;
    if (all.soft == never.value) return;
    enqueue = on.reprogram(all.softTimer, {all.soft, all.soft}, true, true);
  });
}

CallsByRule HrtimerModel::retrigger() {
  const Firsts all = firsts();
  const CallsByRule calls =
      forAllRules([&](Primitives& on, u8&, u8& enqueue) { enqueue = on.force(all, false); });
  allComputed();
  return calls;
}

CallsByRule HrtimerModel::hang() {
  ground_.hang = true;
  return forAllRules([](Primitives& on, u8&, u8& enqueue) {
    enqueue = on.rule >= HrtimerRule::R4 || !on.ground.highRes ? 0 : 1;
  });
}

void HrtimerModel::learnExpiresNext(MonoTime value) {
  for (std::size_t r = 0; r < hrtimerRuleCount; ++r) {
    if (!rules_[r]) continue;
    Worlds made;
    for (World world : worlds_[r]) {
      if (!world.e.holds(value.value)) continue;
      world.e = exactly(value);
      made.add(world);
    }
    // The call contradicts the model: it is right, and who is first is open.
    if (made.empty()) made.add({.e = exactly(value), .se = {}, .nt = {}, .snt = {}});
    worlds_[r] = made;
  }
  if (!ground_.softirqActivated && !ground_.inInterrupt) {
    ground_.floor = std::max(ground_.floor, value.value);
  }
}

void HrtimerModel::forgetScalars() {
  ground_.softBeforeNext = true;
  for (Worlds& worlds : worlds_) {
    worlds.clear();
    worlds.add({});
  }
}

std::vector<SpanId> HrtimerModel::takeAll() {
  std::vector<SpanId> all;
  all.reserve(places_.size());
  for (HrtimerTree& tree : trees_) {
    tree.forEach([&](const HrtimerTree::Timer& timer) { all.push_back(timer.span); });
    tree.clear();
  }
  places_.clear();
  firstX_.fill(never.value);
  forgetScalars();
  return all;
}

void HrtimerModel::shift(ClockBase base, s64 offsetChange) {
  trees_[number(base)].shift(Ns{offsetChange});
  refreshFirst(base);
  ground_.staleOffsets = true;
  if (offsetChange > 0 && ground_.floor != never.value) {
    ground_.floor = std::max<s64>(0, ground_.floor - offsetChange);
  }
}

HrtimerScalars HrtimerModel::scalarsOf(const Worlds& worlds) {
  World joined = *worlds.begin();
  for (const World& world : worlds) {
    joined.e = {std::min(joined.e.least, world.e.least), std::max(joined.e.most, world.e.most)};
    joined.se = {std::min(joined.se.least, world.se.least),
                 std::max(joined.se.most, world.se.most)};
    if (world.nt != joined.nt) joined.nt = {Pointed::To::Any};
    if (world.snt != joined.snt) joined.snt = {Pointed::To::Any};
  }
  return scalarsOf(joined);
}

}  // namespace tickscope
