// SPDX-License-Identifier: GPL-3.0-or-later
// What a wheel base makes of arms, expiries and runs, and which clk each arm proves.
#include "core/model/wheel_model.h"

#include <algorithm>
#include <bit>

namespace tickscope {
namespace {

/// A timer from before the recording may be due, and then clk stays behind: up to the first of these behind
/// jiffies + 1 that is taken for granted, up to the second for possible. A base that is due runs within few jiffies.
constexpr u64 likelyLag = 9, possibleLag = 33;
/// Any lag, within half of what 32 bits tell apart.
constexpr u64 anyLag = u64{1} << 30U;

}  // namespace

WheelRules wheelRulesOf(const KernelProfile& profile) {
  WheelRules rules;
  rules.geometry.wordBits = profile.wordBits.expected.value_or(64);
  rules.geometry.depth = profile.depth.expected.value_or(9);
  rules.geometry.clampBug = profile.clampBug.expected.value_or(false);
  rules.kind = profile.wheel.expected.value_or(WheelKind::Levels);
  rules.forward = profile.forward.expected.value_or(ForwardRule::F2);
  rules.next = profile.next.expected.value_or(NextRule::NX1);
  return rules;
}

WheelModel::Admissible WheelModel::admissible(u64 now, bool deferrable) const {
  const WheelGeometry& g = geometry();
  const auto lagTo = [&](u64 latest, u64 clk) {
    return static_cast<u64>(std::max<s64>(g.distance(latest, clk), 0));
  };
  Admissible clk;
  clk.latest = g.wrap(now + 1);
  if (clkLow_) clk.latest = g.later(clk.latest, *clkLow_);
  const u64 floor = clkLow_ ? lagTo(clk.latest, *clkLow_) : anyLag;

  // clk is ahead of jiffies only after a run in the same jiffy. One of an empty bucket shows only where softirqs are
  // recorded, but needs a next_expiry at or before now.
  const bool emptyRun =
      rules_.next == NextRule::NX0 || !complete_ || (kept_ && !g.before(now, *kept_));
  const bool ahead = floor == 0 || (!runsSeen_ && emptyRun) || (last_ && last_->at.latest == now) ||
                     (ranEnd_ && *ranEnd_ == now);
  clk.nearest = ahead ? 0 : 1;

  const bool free = rules_.forward == ForwardRule::F0 ||
                    (rules_.forward == ForwardRule::F1 && (deferrable || !idleSinceRun_));
  if (free) {
    clk.sure = floor;
    return clk;
  }
  u64 lag = rules_.forward == ForwardRule::F2 ? 1 : 2;
  if (kept_ && !g.before(now, *kept_)) lag = std::max(lag, lagTo(clk.latest, *kept_));
  if (!complete_) {
    u64 unknown = floor;
    if (dueLow_) unknown = std::min(unknown, lagTo(clk.latest, *dueLow_));
    lag = std::max(lag, std::min(unknown, likelyLag));
    // Deferrable timers may stay due for as long as the CPU sleeps.
    clk.perhaps = deferrable ? unknown : std::min(unknown, possibleLag);
    clk.further = !dueLow_ && !clkLow_;
  }
  clk.sure = std::min(lag, floor);
  clk.perhaps = std::max(clk.perhaps, clk.sure);
  return clk;
}

ArmResult WheelModel::judge(const RecordedArm& recorded, const Admissible& clk) const {
  const WheelGeometry& g = geometry();
  ArmResult result;
  if (!recorded.index) {
    // Without an index the bucket is known when every clk in question gives the same one.
    const Bucket late = bucketFor(g, g.wrap(clk.latest - clk.nearest), recorded.expires);
    const Bucket early = bucketFor(g, g.wrap(clk.latest - clk.sure), recorded.expires);
    if (late == early) result.bucket = late;
    return result;
  }
  const u16 index = *recorded.index;
  const auto lagUpTo = [&](u64 limit) -> Known<ClkLag> {
    const Known<ClkLag> lag = impliedLag(g, index, recorded.expires, clk.latest, limit);
    if (!lag || !recorded.bucketExpiry) return lag;
    // An expiry in the past lies at clk itself; else every clk of the range gives one bucket expiry.
    const u64 own = bucketFor(g, *recorded.bucketExpiry, recorded.expires).expiry;
    const u64 least = bucketFor(g, g.wrap(clk.latest - lag->least), recorded.expires).expiry;
    if (*recorded.bucketExpiry == least) return lag;
    const u64 ownLag = static_cast<u64>(g.distance(clk.latest, *recorded.bucketExpiry));
    if (*recorded.bucketExpiry == own && ownLag <= limit) return ClkLag{ownLag, ownLag};
    return {};
  };
  // jiffies may advance between the forward and the tracepoint: one more than the rule says is healthy.
  Known<ClkLag> lag = lagUpTo(clk.sure);
  if (!lag) lag = lagUpTo(std::max<u64>(clk.sure, 2));
  if (lag) {
    result.explained = true;
  } else if (!lagUpTo(clk.perhaps) && !(clk.further && lagUpTo(anyLag))) {
    result.explained = false;
    result.lag = impliedLag(g, index, recorded.expires, recorded.now);
  }
  if (recorded.bucketExpiry) {
    result.bucket = Bucket{.index = index,
                           .expiry = *recorded.bucketExpiry,
                           .clamped = !g.before(recorded.expires, *recorded.bucketExpiry)};
  } else if (lag) {
    result.bucket = bucketFor(g, g.wrap(clk.latest - lag->least), recorded.expires);
  } else {
    // Whatever put it there, the base takes a bucket at its turn.
    Known<u64> expiry = bucketExpiryOf(g, index, recorded.expires, recorded.now);
    if (!expiry) expiry = nextTurnOf(g, index, recorded.now);
    if (expiry) {
      result.bucket = Bucket{
          .index = index, .expiry = *expiry, .clamped = !g.before(recorded.expires, *expiry)};
    }
  }
  return result;
}

void WheelModel::learn(const RecordedArm& recorded, const Admissible& clk,
                       const ArmResult& result) {
  const WheelGeometry& g = geometry();
  const u64 limit = result.explained.value_or(false) ? clk.sure : anyLag;
  Known<ClkLag> lag = ClkLag{0, clk.further ? anyLag : std::max(clk.sure, clk.perhaps)};
  if (recorded.index) {
    lag = impliedLag(g, *recorded.index, recorded.expires, clk.latest, limit);
    if (!lag) lag = impliedLag(g, *recorded.index, recorded.expires, clk.latest, anyLag);
  }
  if (!lag) {
    clkHigh_.reset();
    return;
  }
  lag->least = std::min(std::max(lag->least, clk.nearest), lag->most);
  raise(clkLow_, g.wrap(clk.latest - lag->most));
  clkHigh_ = g.wrap(clk.latest - lag->least);
}

ArmResult WheelModel::arm(SpanId span, const RecordedArm& recorded, bool deferrable) {
  changed_ = true;
  disarm(span);
  if (rules_.kind == WheelKind::Cascade) return armCascade(span, recorded);
  const WheelGeometry& g = geometry();
  const Admissible clk = admissible(recorded.now, deferrable);
  ArmResult result = judge(recorded, clk);
  learn(recorded, clk, result);
  if (rules_.next == NextRule::NX0 && clkLow_) {
    // Without the check of 5.8 clk could go back to an expiry in the past.
    clkLow_ = g.earlier(*clkLow_, recorded.expires);
  }
  insert(span, recorded.expires, result.bucket, true);
  if (result.bucket) {
    const u64 next = rules_.next == NextRule::NX0
                         ? g.earlier(recorded.expires, result.bucket->expiry)
                         : result.bucket->expiry;
    kept_ = kept_ ? g.earlier(*kept_, next) : next;
  } else {
    hide(recorded, clk);
  }
  return result;
}

/// A timer in a bucket that is not known acts like one from before the recording.
void WheelModel::hide(const RecordedArm& recorded, const Admissible& clk) {
  const WheelGeometry& g = geometry();
  const u64 earliest = g.before(recorded.now, recorded.expires)
                           ? g.wrap(recorded.expires + 1)
                           : g.wrap(clk.latest - std::max(clk.sure, clk.perhaps));
  if (complete_) {
    dueLow_ = earliest;
  } else if (dueLow_) {
    dueLow_ = g.earlier(*dueLow_, earliest);
  }
  complete_ = false;
}

/// The slot of a timer is that of its expiry, or of timer_jiffies, at most one ahead of jiffies, if it is past.
ArmResult WheelModel::armCascade(SpanId span, const RecordedArm& recorded) {
  const WheelGeometry& g = geometry();
  const u64 latest = g.wrap(recorded.now + 1);
  const bool exact = g.before(recorded.now, recorded.expires);
  const u64 due = exact ? g.wrap(recorded.expires) : latest;
  const Bucket place{.index = static_cast<u16>(due % bucketCount), .expiry = due};
  insert(span, recorded.expires, place, exact);
  kept_ = kept_ ? g.earlier(*kept_, due) : due;
  return {};
}

bool WheelModel::disarm(SpanId span) {
  const auto found = placeOf_.find(span);
  if (found == placeOf_.end()) return false;
  changed_ = true;
  remove(found->second);
  return true;
}

/// baseclk is printed as clk - 1, read anew for each level of one bucket time: when a callback of a higher level armed a
/// timer after jiffies had advanced, clk was forwarded and the lower levels print a later time (up to 6.12).
WheelModel::RunTime WheelModel::runTime(const Node& node, u64 now, u64 baseclk) const {
  const WheelGeometry& g = geometry();
  const bool mayBeForwarded = rules_.kind == WheelKind::Levels && g.before(baseclk, now);
  if (!mayBeForwarded) return {baseclk, baseclk};
  if (!node.pending.placed || node.pending.uncertain) {
    if (last_ && g.before(last_->at.latest, baseclk)) return {last_->at.earliest, baseclk};
    return {baseclk, baseclk};
  }
  const u64 due = node.pending.bucket.expiry;
  if (!g.before(due, baseclk)) return {baseclk, baseclk};
  if (!last_ || g.before(last_->at.latest, due)) {
    // A higher level ran before it, if it was of timers from before the recording.
    return complete_ ? RunTime{baseclk, baseclk} : RunTime{due, baseclk};
  }
  if (g.before(due, last_->at.earliest)) return {baseclk, baseclk};
  const u8 level = node.pending.bucket.level();
  const bool sameRun =
      !last_->known || level < last_->level || (level == last_->level && last_->printed == baseclk);
  return sameRun ? RunTime{due, due} : RunTime{baseclk, baseclk};
}

WheelModel::Expiry WheelModel::expire(Known<SpanId> span, u64 now, Known<u64> baseclk) {
  changed_ = true;
  const WheelGeometry& g = geometry();
  Expiry expiry;
  const bool cascade = rules_.kind == WheelKind::Cascade;
  const auto found = span ? placeOf_.find(*span) : placeOf_.end();
  const bool known = found != placeOf_.end();
  Node node;
  node.pending.placed = false;
  if (known) {
    node = nodes_[found->second];
    remove(found->second);
  }
  const Pending& timer = node.pending;
  const u64 due = timer.bucket.expiry;
  const bool certain = timer.placed && node.exact && !timer.uncertain;

  Known<RunTime> at;
  if (baseclk) {
    at = runTime(node, now, *baseclk);
  } else if (certain && !g.before(now, due)) {
    at = RunTime{due, due};
  }
  if (cascade) {
    if (known) expiry.atItsBucket = !g.before(now, timer.expires);
  } else if (timer.placed && !baseclk) {
    if (certain) expiry.atItsBucket = !g.before(now, due);
  } else if (timer.placed) {
    if (*baseclk == due || at->earliest == at->latest) {
      expiry.atItsBucket = *baseclk == due || at->latest == due;
    }
    if (timer.uncertain && expiry.atItsBucket == false) expiry.atItsBucket.reset();
  }
  if (!at) return expiry;

  const Last here{.at = *at,
                  .printed = baseclk.value_or(at->latest),
                  .level = timer.bucket.level(),
                  .order = timer.order,
                  .known = certain && !cascade && at->earliest == due};
  bool another = true;
  if (last_) {
    another = last_->at.latest != at->latest && last_->at.earliest != at->earliest;
    if (g.before(at->latest, last_->at.earliest)) {
      expiry.inOrder = false;
    } else if (g.before(last_->at.latest, at->earliest)) {
      expiry.inOrder = true;
    } else if (here.known && last_->known) {
      expiry.inOrder =
          here.level != last_->level ? here.level < last_->level : here.order < last_->order;
    }
  }
  if (!last_ || !g.before(at->latest, last_->at.earliest)) last_ = here;
  idleSinceRun_ = false;
  passed(at->earliest, expiry.lost);

  const u64 after = g.wrap(baseclk.value_or(at->latest) + 1);
  raise(clkLow_, after);
  raise(dueLow_, after);
  if (clkHigh_) clkHigh_ = g.later(*clkHigh_, after);
  if (!clkHigh_ || another) clkHigh_ = *clkLow_;
  if (another) kept_ = leastAfter(at->latest);
  return expiry;
}

std::vector<SpanId> WheelModel::endOfRun(u64 now) {
  changed_ = true;
  const WheelGeometry& g = geometry();
  std::vector<SpanId> lost;
  if (first_ && !g.before(now, *first_)) {
    forEachDue(now, [&](u32 place) {
      Node& node = nodes_[place];
      // Armed while the base was running it may have come too late for this run.
      if (!node.outlived) {
        node.outlived = true;
        return;
      }
      lose(place, lost);
    });
    refreshFirst();
  }
  if (!complete_ || !kept_ || !g.before(now, *kept_)) {
    // An empty run of a bucket whose timers are gone may have moved clk, unseen.
    if (clkHigh_) clkHigh_ = g.later(*clkHigh_, g.wrap(now + 1));
  }
  if (rules_.next == NextRule::NX0) {
    raise(clkLow_, g.wrap(now + 1));
    clkHigh_ = clkLow_;
    kept_ = first_;
  } else if (kept_ && !g.before(now, *kept_)) {
    kept_ = last_ ? leastAfter(last_->at.latest) : first_;
  }
  raise(dueLow_, g.wrap(now + 1));
  unseenDeleted_ = false;
  ranEnd_ = now;
  runsSeen_ = true;
  idleSinceRun_ = false;
  return lost;
}

void WheelModel::nothingDue(u64 now) {
  changed_ = true;
  raise(dueLow_, geometry().wrap(now + 1));
  if (kept_ && !geometry().before(now, *kept_)) kept_ = leastAfter(now);
}

void WheelModel::idle(u64 now) {
  changed_ = true;
  const WheelGeometry& g = geometry();
  kept_ = first_;
  idleSinceRun_ = true;
  raise(dueLow_, g.wrap(now + 1));
  if (kept_ && !g.before(now, *kept_)) return;
  raise(clkLow_, g.wrap(now));
  if (clkHigh_) clkHigh_ = g.later(*clkHigh_, *clkLow_);
}

void WheelModel::forgetClk() {
  changed_ = true;
  complete_ = false;
  idleSinceRun_ = false;
  clkHigh_.reset();
  dueLow_.reset();
  ranEnd_.reset();
  if (last_) last_->known = false;
  for (const auto& [span, place] : placeOf_) nodes_[place].pending.uncertain = true;
}

void WheelModel::reset(Known<u64> now) {
  *this = WheelModel(rules_);
  complete_ = true;
  if (!now) return;
  clkLow_ = clkHigh_ = geometry().wrap(*now);
}

Known<u64> WheelModel::clk() const {
  return clkLow_ && clkLow_ == clkHigh_ ? clkLow_ : Known<u64>{};
}

Known<WheelModel::ClkRange> WheelModel::clkRange() const {
  if (!clkLow_ || !clkHigh_ || geometry().before(*clkHigh_, *clkLow_)) return {};
  return ClkRange{*clkLow_, *clkHigh_};
}

Known<u64> WheelModel::nextExpiry() const {
  // The idle path recomputes without a word: after a removal both values are possible.
  if (rules_.next == NextRule::NX0) return {};
  if (!complete_) {
    const bool knownFirst = first_ && unseenFrom_ && !geometry().before(*unseenFrom_, *first_);
    if (!knownFirst || unseenDeleted_) return {};
  }
  const Known<u64> exact = last_ ? leastAfter(last_->at.latest) : first_;
  return kept_ == exact ? kept_ : Known<u64>{};
}

const WheelModel::Pending* WheelModel::find(SpanId span) const {
  const auto found = placeOf_.find(span);
  return found == placeOf_.end() ? nullptr : &nodes_[found->second].pending;
}

void WheelModel::collect(u64 now, std::vector<SpanId>& due) const {
  std::vector<u32> places;
  forEachDue(now, [&](u32 place) { places.push_back(place); });
  std::sort(places.begin(), places.end(), [&](u32 a, u32 b) {
    const Pending& left = nodes_[a].pending;
    const Pending& right = nodes_[b].pending;
    if (left.bucket.expiry != right.bucket.expiry) {
      return geometry().before(left.bucket.expiry, right.bucket.expiry);
    }
    if (rules_.kind == WheelKind::Levels && left.bucket.level() != right.bucket.level()) {
      return left.bucket.level() > right.bucket.level();
    }
    return left.order > right.order;
  });
  for (const u32 place : places) due.push_back(nodes_[place].span);
}

void WheelModel::raise(Known<u64>& low, u64 value) const {
  low = low ? geometry().later(*low, value) : value;
}

/// Every timer whose bucket time the base must have run before it came to `baseclk`.
void WheelModel::passed(u64 baseclk, std::vector<SpanId>& lost) {
  if (!first_ || !geometry().before(*first_, baseclk)) return;
  forEachDue(geometry().wrap(baseclk - 1), [&](u32 place) { lose(place, lost); });
  refreshFirst();
}

void WheelModel::lose(u32 place, std::vector<SpanId>& lost) {
  Node& node = nodes_[place];
  unlink(place);
  node.pending.lost = true;
  // Of a timer from before lost events nobody knows whether it is pending at all.
  if (!node.pending.uncertain) lost.push_back(node.span);
}

void WheelModel::insert(SpanId span, u64 expires, const Known<Bucket>& bucket, bool exact) {
  u32 place;
  if (free_.empty()) {
    place = static_cast<u32>(nodes_.size());
    nodes_.emplace_back();
  } else {
    place = free_.back();
    free_.pop_back();
  }
  Node& node = nodes_[place];
  node = Node{};
  node.span = span;
  node.exact = exact;
  node.pending.expires = expires;
  node.pending.order = order_++;
  node.pending.placed = bucket && bucket->index < bucketCount;
  if (bucket) node.pending.bucket = *bucket;
  placeOf_[span] = place;
  if (node.pending.placed) link(place);
}

void WheelModel::remove(u32 place) {
  const bool wasFirst =
      nodes_[place].linked && first_ && nodes_[place].pending.bucket.expiry == *first_;
  if (nodes_[place].linked) unlink(place);
  placeOf_.erase(nodes_[place].span);
  free_.push_back(place);
  const List& list = lists_[nodes_[place].pending.bucket.index % bucketCount];
  if (wasFirst && (list.head == none || list.expiry != *first_)) refreshFirst();
}

void WheelModel::link(u32 place) {
  Node& node = nodes_[place];
  const u16 index = node.pending.bucket.index;
  const u64 expiry = node.pending.bucket.expiry;
  List& list = lists_[index];
  if (list.head == none) {
    list.expiry = expiry;
    list.mixed = false;
    used_[index / 64U] |= u64{1} << (index % 64U);
  } else {
    nodes_[list.head].before = place;
    if (list.expiry != expiry) list.mixed = true;
    list.expiry = geometry().earlier(list.expiry, expiry);
  }
  node.after = list.head;
  node.before = none;
  node.linked = true;
  list.head = place;
  first_ = first_ ? geometry().earlier(*first_, expiry) : expiry;
}

void WheelModel::unlink(u32 place) {
  Node& node = nodes_[place];
  const u16 index = node.pending.bucket.index;
  List& list = lists_[index];
  if (node.before == none) {
    list.head = node.after;
  } else {
    nodes_[node.before].after = node.after;
  }
  if (node.after != none) nodes_[node.after].before = node.before;
  node.linked = false;
  if (list.head == none) {
    used_[index / 64U] &= ~(u64{1} << (index % 64U));
    return;
  }
  if (!list.mixed) return;
  list.expiry = nodes_[list.head].pending.bucket.expiry;
  list.mixed = false;
  for (u32 at = nodes_[list.head].after; at != none; at = nodes_[at].after) {
    const u64 expiry = nodes_[at].pending.bucket.expiry;
    list.mixed = list.mixed || expiry != list.expiry;
    list.expiry = geometry().earlier(list.expiry, expiry);
  }
}

template <class F>
void WheelModel::forEachUsed(F&& f) const {
  for (u32 word = 0; word < used_.size(); ++word) {
    for (u64 bits = used_[word]; bits != 0; bits &= bits - 1) {
      f(lists_[word * 64U + static_cast<u32>(std::countr_zero(bits))]);
    }
  }
}

/// Calls f(place) for every linked timer with a bucket time at or before `now`; f may unlink it.
template <class F>
void WheelModel::forEachDue(u64 now, F&& f) const {
  forEachUsed([&](const List& list) {
    if (geometry().before(now, list.expiry)) return;
    for (u32 at = list.head; at != none;) {
      const u32 next = nodes_[at].after;
      if (!geometry().before(now, nodes_[at].pending.bucket.expiry)) f(at);
      at = next;
    }
  });
}

void WheelModel::refreshFirst() {
  first_.reset();
  forEachUsed([&](const List& list) {
    first_ = first_ ? geometry().earlier(*first_, list.expiry) : list.expiry;
  });
}

/// What next_expiry is computed to after `baseclk` was taken: its own timers are off the wheel by then.
Known<u64> WheelModel::leastAfter(u64 baseclk) const {
  Known<u64> least;
  const auto consider = [&](u64 expiry) {
    if (!geometry().before(baseclk, expiry)) return;
    least = least ? geometry().earlier(*least, expiry) : expiry;
  };
  forEachUsed([&](const List& list) {
    if (!list.mixed) {
      consider(list.expiry);
      return;
    }
    for (u32 at = list.head; at != none; at = nodes_[at].after) {
      consider(nodes_[at].pending.bucket.expiry);
    }
  });
  return least;
}

}  // namespace tickscope
