// SPDX-License-Identifier: GPL-3.0-or-later
// Order, shape and copies of a tree of hrtimers.
#include "core/model/hrtimer_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tickscope {
namespace {

TreeNode add(HrtimerTree& tree, u32 span, s64 expires, s64 offset = 0) {
  return tree.insert(SpanId{span}, MonoTime{std::max<s64>(0, expires - offset)}, BaseTime{expires});
}

std::string spansOf(const HrtimerTree& tree) {
  std::string all;
  tree.forEach([&](const HrtimerTree::Timer& timer) {
    all += fmt::format("{}{}", all.empty() ? "" : " ", number(timer.span));
  });
  return all;
}

/// What breaks the red-black rules, or empty. Says how many nodes were reached.
std::string faultsOf(const HrtimerTree& tree, std::size_t& reached) {
  std::string faults;
  reached = 0;
  const auto blackHeight = [&](auto&& self, Known<TreeNode> node, bool parentRed) -> int {
    if (!node) return 1;
    ++reached;
    const HrtimerTree::Shape shape = tree.shape(*node);
    const u32 span = number(tree[*node].span);
    if (shape.red && parentRed) faults += fmt::format("red {} below red\n", span);
    if (shape.left && tree[*shape.left].expires > tree[*node].expires) {
      faults += fmt::format("left of {} is later\n", span);
    }
    if (shape.right && tree[*shape.right].expires < tree[*node].expires) {
      faults += fmt::format("right of {} is earlier\n", span);
    }
    const int left = self(self, shape.left, shape.red);
    const int right = self(self, shape.right, shape.red);
    if (left != right)
      faults += fmt::format("black heights {} and {} below {}\n", left, right, span);
    return left + (shape.red ? 0 : 1);
  };
  if (tree.root() && tree.shape(*tree.root()).red) faults += "the root is red\n";
  blackHeight(blackHeight, tree.root(), false);
  return faults;
}

TEST(HrtimerTree, OrdersByExpiryAndPutsEqualOnesBehindEachOther) {
  HrtimerTree tree;
  EXPECT_TRUE(tree.empty());
  EXPECT_FALSE(tree.first());
  add(tree, 1, 30);
  const TreeNode second = add(tree, 2, 10);
  add(tree, 3, 30);
  add(tree, 4, 10);
  add(tree, 5, 20);
  EXPECT_EQ(spansOf(tree), "2 4 5 1 3");
  EXPECT_TRUE(tree.isFirst(second));
  tree.erase(second);
  add(tree, 6, 10);
  EXPECT_EQ(spansOf(tree), "4 6 5 1 3") << "a restarted timer goes behind its equals";
  EXPECT_EQ(tree.size(), 5U);
}

TEST(HrtimerTree, CopyIsATreeOfItsOwn) {
  HrtimerTree tree;
  std::vector<TreeNode> nodes;
  for (u32 i = 0; i < 100; ++i) nodes.push_back(add(tree, i, (i * 37) % 100));
  HrtimerTree copy = tree;
  for (u32 i = 0; i < 100; i += 2) tree.erase(nodes[i]);
  const std::string whole = spansOf(copy);
  EXPECT_EQ(copy.size(), 100U);
  EXPECT_EQ(tree.size(), 50U);
  copy.erase(nodes[1]);  // nodes keep their names in copies
  EXPECT_EQ(copy.size(), 99U);
  EXPECT_EQ(spansOf(copy).find(" 1 "), std::string::npos) << spansOf(copy);
  EXPECT_NE(whole, spansOf(tree));
  const HrtimerTree moved = std::move(copy);
  EXPECT_EQ(moved.size(), 99U);
  EXPECT_EQ(number(moved[*moved.first()].span), 0U);
}

TEST(HrtimerTree, ShapeCanBeDrawnParentsFirst) {
  HrtimerTree tree;
  for (u32 i = 1; i <= 3; ++i) add(tree, i, i * 10);
  std::string drawn;
  tree.forEachNode([&](TreeNode, const HrtimerTree::Timer& timer, const HrtimerTree::Shape& shape,
                       u32 depth) {
    drawn +=
        fmt::format("{}{}{} ", std::string(depth, '.'), number(timer.span), shape.red ? "r" : "b");
  });
  EXPECT_EQ(drawn, "2b .1r .3r ");
}

TEST(HrtimerTree, StaysBalancedUnderRandomInsertionAndRemoval) {
  constexpr u32 seed = 7;
  std::mt19937 random(seed);
  HrtimerTree tree;
  struct Entry {
    s64 expires;
    u32 span;
    TreeNode node;
  };
  std::vector<Entry> entries;  // sorted, equal ones by insertion
  for (u32 i = 0; i < 5000; ++i) {
    if (!entries.empty() && random() % 5 < 2) {
      const auto at = entries.begin() + static_cast<s64>(random() % entries.size());
      tree.erase(at->node);
      entries.erase(at);
    } else {
      const s64 expires = random() % 64;
      const auto at = std::upper_bound(entries.begin(), entries.end(), expires,
                                       [](s64 key, const Entry& e) { return key < e.expires; });
      entries.insert(at, {expires, i, add(tree, i, expires)});
    }
    ASSERT_EQ(tree.first() ? number(tree[*tree.first()].span) : ~0U,
              entries.empty() ? ~0U : entries.front().span)
        << "seed " << seed << ", step " << i;
    if (i % 50 != 0) continue;
    std::string want;
    for (const Entry& entry : entries)
      want += fmt::format("{}{}", want.empty() ? "" : " ", entry.span);
    ASSERT_EQ(spansOf(tree), want) << "seed " << seed << ", step " << i;
    std::size_t reached = 0;
    ASSERT_EQ(faultsOf(tree, reached), "") << "seed " << seed << ", step " << i;
    ASSERT_EQ(reached, entries.size());
  }
}

TEST(HrtimerTree, ReusesPlacesOfRemovedTimers) {
  HrtimerTree tree;
  const TreeNode first = add(tree, 1, 10);
  add(tree, 2, 20);
  tree.erase(first);
  EXPECT_EQ(add(tree, 3, 5), first);
  tree.clear();
  EXPECT_TRUE(tree.empty());
  EXPECT_FALSE(tree.root());
  add(tree, 4, 1);
  EXPECT_EQ(spansOf(tree), "4");
}

TEST(HrtimerTree, ClockStepMovesEveryTimerAndRestoresClampedOnes) {
  HrtimerTree tree;
  const TreeNode past = add(tree, 1, 400, 1000);  // clamped: x = 0
  const TreeNode later = add(tree, 2, 1500, 1000);
  EXPECT_EQ(tree[past].x, MonoTime{0});
  tree.shift(Ns{-700});  // the clock was set back: its timers are due later
  EXPECT_EQ(tree[past].x, MonoTime{100});
  EXPECT_EQ(tree[later].x, MonoTime{1200});
  tree.shift(Ns{1300});
  EXPECT_EQ(tree[past].x, MonoTime{0});
  EXPECT_EQ(tree[later].x, MonoTime{0});
  tree.shift(Ns{-600});
  EXPECT_EQ(tree[later].x, MonoTime{500});
}

}  // namespace
}  // namespace tickscope
