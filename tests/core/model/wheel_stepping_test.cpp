// SPDX-License-Identifier: GPL-3.0-or-later
// The wheel model against a wheel that steps bucket by bucket: same buckets, same expiries, same next_expiry.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/model/wheel_model.h"
#include "tests/support/wheel_by_stepping.h"

namespace tickscope {
namespace {

enum class Fields { All, NoBucketExpiry, None };

struct Case {
  std::string name;
  WheelRules rules;
  u64 start = 0;
  bool deferrable = false;
  bool fromBefore = false;  ///< timers were pending before the model was asked
  Fields fields = Fields::All;
};

struct Figures {
  u64 arms = 0, explained = 0, bucketsKnown = 0, expiries = 0, judgedBuckets = 0, judgedOrder = 0,
      clkKnown = 0, nextKnown = 0, nextAsked = 0;
};

/// One wheel of either kind, the slow one driven at random, the model told what a trace would tell.
class Duel {
 public:
  Duel(const Case& setup, u64 seed)
      : setup_(setup),
        random_(seed),
        jiffies_(setup.start),
        slow_(setup.rules, setup.start, !setup.deferrable,
              [this](const support::WheelEvent& event) { on(event); }),
        model_(setup.rules) {
    if (setup.fromBefore) {
      for (int i = 0; i < 20; ++i) slow_.modify(timer(), someExpiry(), jiffies_);
    } else {
      model_.reset(setup.start);
    }
    told_ = true;
  }

  void play(u64 expiries) {
    while (figures.expiries < expiries && mismatches.size() < 5) step();
  }

  Figures figures;
  std::vector<std::string> mismatches;

 private:
  u64 draw(u64 below) { return random_() % below; }
  u32 timer() { return static_cast<u32>(draw(60)); }
  u64 someExpiry() {
    switch (draw(16)) {
      case 0:
        return jiffies_ - draw(40);
      case 1:
        return jiffies_ + draw(u64{1} << draw(31));
      case 2:
      case 3:
        return jiffies_ + draw(6000);
      case 4:
      case 5:
        return jiffies_ + draw(600);
      default:
        return jiffies_ + draw(80);
    }
  }

  void step() {
    switch (draw(12)) {
      case 0:
        slow_.cancel(timer());
        break;
      case 1:
        sleep();
        break;
      case 2:
      case 3:
      case 4:
        tick(draw(20) == 0);
        break;
      case 5:
        // The idle path looked and the CPU did not sleep: no event.
        slow_.idle(jiffies_);
        slow_.leaveIdle();
        break;
      default:
        slow_.modify(timer(), someExpiry(), jiffies_);
    }
  }

  void tick(bool late) {
    advance(late ? draw(7) + 1 : 1);
    const bool raised = setup_.rules.next == NextRule::NX0 || slow_.due(jiffies_);
    if (raised && draw(16) != 0) run();
    if (!raised && draw(4) == 0) model_.nothingDue(jiffies_);
  }

  void advance(u64 by) { jiffies_ = setup_.rules.geometry.wrap(jiffies_ + by); }

  void run() {
    slow_.run(jiffies_);
    const std::vector<SpanId> lost = model_.endOfRun(jiffies_);
    if (!lost.empty()) fail("lost at the end of a run", number(lost.front()), 0);
    checkNext();
  }

  void sleep() {
    if (slow_.due(jiffies_)) run();
    const bool stops = slow_.idle(jiffies_);
    const Known<u64> brute = slow_.bruteMinimum();
    if (brute && *brute != slow_.nextExpiry()) {
      fail("next_expiry of the slow wheel", slow_.nextExpiry(), *brute);
    }
    if (!stops) {
      slow_.leaveIdle();
      return;
    }
    if (!setup_.deferrable) model_.idle(jiffies_);
    checkNext();
    const u64 left = setup_.rules.geometry.wrap(slow_.nextExpiry() - jiffies_);
    advance(std::min(left, draw(u64{1} << draw(16))));
    if (draw(3) == 0) slow_.modify(timer(), someExpiry(), jiffies_);
    slow_.leaveIdle();
    if (slow_.due(jiffies_)) run();
  }

  void checkNext() {
    ++figures.nextAsked;
    const Known<u64> next = model_.nextExpiry();
    if (!next) return;
    ++figures.nextKnown;
    if (*next != slow_.nextExpiry()) fail("next_expiry", *next, slow_.nextExpiry());
    if (slow_.bruteMinimum() != next)
      fail("brute minimum", *next, slow_.bruteMinimum().value_or(0));
  }

  void checkClk() {
    if (const Known<u64> clk = model_.clk()) {
      ++figures.clkKnown;
      if (*clk != slow_.clk()) fail("clk", *clk, slow_.clk());
    }
    if (const auto range = model_.clkRange()) {
      const WheelGeometry& g = setup_.rules.geometry;
      if (g.before(slow_.clk(), range->least)) fail("least clk", range->least, slow_.clk());
      if (g.before(range->most, slow_.clk())) fail("most clk", range->most, slow_.clk());
    }
  }

  void on(const support::WheelEvent& event) {
    if (!told_) return;
    switch (event.kind) {
      case support::WheelEvent::Kind::Start:
        return started(event);
      case support::WheelEvent::Kind::Cancel:
        if (const auto span = take(event.timer)) {
          if (!model_.disarm(*span)) fail("cancelled timer is not pending", event.timer, 0);
        }
        return;
      case support::WheelEvent::Kind::Expire:
        return expired(event);
    }
  }

  void started(const support::WheelEvent& event) {
    const SpanId span = static_cast<SpanId>(nextSpan_++);
    spans_[event.timer] = span;
    RecordedArm arm{.expires = event.expires, .now = event.now, .index = {}, .bucketExpiry = {}};
    if (setup_.fields != Fields::None) arm.index = event.index;
    if (setup_.fields == Fields::All) arm.bucketExpiry = event.bucketExpiry;
    const ArmResult result = model_.arm(span, arm, setup_.deferrable);
    ++figures.arms;
    const std::string what =
        fmt::format("arm at {} for {} in {}", event.now, event.expires, event.index);
    if (result.explained) {
      if (!*result.explained) fail(what + " not explained", result.lag ? result.lag->least : 0, 0);
      ++figures.explained;
    }
    if (result.bucket) {
      ++figures.bucketsKnown;
      if (result.bucket->index != event.index) fail(what, result.bucket->index, event.index);
      if (result.bucket->expiry != event.bucketExpiry) {
        fail(what + " bucket expiry", result.bucket->expiry, event.bucketExpiry);
      }
    }
    checkClk();
  }

  void expired(const support::WheelEvent& event) {
    ++figures.expiries;
    const Known<SpanId> span = take(event.timer);
    const WheelModel::Expiry expiry = model_.expire(span, jiffies_, event.baseclk);
    if (expiry.atItsBucket) {
      ++figures.judgedBuckets;
      if (!*expiry.atItsBucket) fail("not at its bucket", event.timer, event.baseclk);
    }
    if (expiry.inOrder) {
      ++figures.judgedOrder;
      if (!*expiry.inOrder) fail("out of order", event.timer, event.baseclk);
    }
    if (!expiry.lost.empty()) fail("lost", number(expiry.lost.front()), event.baseclk);
    checkClk();
    // What a callback does.
    if (draw(2) == 0) slow_.modify(event.timer, someExpiry(), jiffies_);
    if (draw(8) == 0) slow_.modify(timer(), someExpiry(), jiffies_);
    if (draw(8) == 0) slow_.cancel(timer());
  }

  Known<SpanId> take(u32 timer) {
    const auto found = spans_.find(timer);
    if (found == spans_.end()) return {};
    const SpanId span = found->second;
    spans_.erase(found);
    return span;
  }

  void fail(const std::string& what, u64 seen, u64 expected) {
    mismatches.push_back(fmt::format("{}: {} seen {} expected {} (jiffies {}, arm {}, expiry {})",
                                     setup_.name, what, seen, expected, jiffies_, figures.arms,
                                     figures.expiries));
  }

  const Case& setup_;
  std::mt19937_64 random_;
  u64 jiffies_;
  support::WheelByStepping slow_;
  WheelModel model_;
  std::map<u32, SpanId> spans_;
  u32 nextSpan_ = 0;
  bool told_ = false;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](std::string name, ForwardRule forward, u64 start, u8 bits, u8 depth) {
    Case setup;
    setup.name = std::move(name);
    setup.rules.forward = forward;
    setup.rules.next = forward == ForwardRule::F2 ? NextRule::NX1 : NextRule::NX0;
    setup.rules.geometry.wordBits = bits;
    setup.rules.geometry.depth = depth;
    setup.start = start;
    all.push_back(setup);
  };
  const u64 boot = (u64{1} << 32U) - 1500;
  add("F2 W32 D9 over the wrap", ForwardRule::F2, boot, 32, 9);
  add("F2 W64 D9 past 2^32", ForwardRule::F2, boot, 64, 9);
  add("F2 W64 D8 over the wrap", ForwardRule::F2, ~u64{0} - 1500, 64, 8);
  add("F2 W32 D8 at 2^31", ForwardRule::F2, (u64{1} << 31U) - 1500, 32, 8);
  add("F1 W32 D9 over the wrap", ForwardRule::F1, boot, 32, 9);
  add("F1 W64 D8", ForwardRule::F1, boot, 64, 8);
  add("F0 W32 D8 over the wrap", ForwardRule::F0, boot, 32, 8);
  add("F0 W64 D9", ForwardRule::F0, boot, 64, 9);
  const std::size_t plain = all.size();
  for (std::size_t i = 0; i < plain; ++i) {
    Case setup = all[i];
    setup.fields = Fields::NoBucketExpiry;
    setup.name += ", no bucket_expiry";
    all.push_back(setup);
    setup.fromBefore = true;
    setup.name += ", timers from before";
    all.push_back(setup);
    setup = all[i];
    setup.deferrable = true;
    setup.name += ", deferrable";
    all.push_back(setup);
    setup.fields = Fields::None;
    setup.name += ", no index";
    all.push_back(setup);
    setup = all[i];
    setup.fields = Fields::None;
    setup.name += ", no index";
    all.push_back(setup);
  }
  return all;
}

TEST(WheelModel, AgreesWithAWheelThatStepsBucketByBucket) {
  u64 expiries = 0, seed = 4711;
  for (const Case& setup : cases()) {
    Duel duel(setup, ++seed);
    duel.play(3000);
    const Figures& f = duel.figures;
    fmt::print(
        "{} (seed {}): {} arms, {} explained, {} buckets known; {} expiries, {} at their bucket, "
        "{} in order; clk known {}; next_expiry {} of {}\n",
        setup.name, seed, f.arms, f.explained, f.bucketsKnown, f.expiries, f.judgedBuckets,
        f.judgedOrder, f.clkKnown, f.nextKnown, f.nextAsked);
    for (const std::string& text : duel.mismatches) ADD_FAILURE() << "seed " << seed << " " << text;
    expiries += f.expiries;
    if (setup.fields != Fields::None) {
      EXPECT_GE(f.explained * 1000, f.arms * 995) << setup.name;
      EXPECT_EQ(f.bucketsKnown, f.arms) << setup.name;
    } else if (setup.rules.forward == ForwardRule::F2 && !setup.deferrable) {
      EXPECT_GE(f.bucketsKnown * 100, f.arms * 90) << setup.name;
    }
  }
  fmt::print("{} expiries\n", expiries);
  EXPECT_GE(expiries, 100000U);
}

}  // namespace
}  // namespace tickscope
