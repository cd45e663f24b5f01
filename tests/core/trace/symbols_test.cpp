// SPDX-License-Identifier: GPL-3.0-or-later
// Symbols by address and by name out of kallsyms text, good and bad.
#include "core/trace/symbols.h"

#include <gtest/gtest.h>

#include <thread>

namespace tickscope {
namespace {

constexpr const char* text =
    "0000000000000000 A fixed_percpu\n"
    "ffffffff81000200 T third\n"
    "ffffffff81000000 T first\n"
    "ffffffff810000f0 t __pfx_second\n"
    "ffffffff81000100 t second\n"
    "ffffffff81000100 t second_alias\n"
    "ffffffff81000180 t $x\n"
    "ffffffffc0001000 t mod_fn\t[some_mod]\n"
    "nonsense\n"
    "ffffffff81000300 T\n"
    "ffffffff81000300 TT two\n"
    "ffffffff81000300 T fn [broken\n";

TEST(Symbols, FindsTheNearestBelow) {
  const Symbols symbols(text);
  const auto inside = symbols.at(Address{0xffffffff81000010U});
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->name, "first");
  EXPECT_EQ(inside->offset, 0x10U);
  EXPECT_EQ(inside->size, 0x100U);
  EXPECT_EQ(inside->module, "");
  const auto second = symbols.at(Address{0xffffffff81000100U});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->name, "second") << "the first of two names for one address";
  EXPECT_EQ(symbols.at(Address{0xffffffff81000190U})->name, "second") << "$x is no symbol";
}

TEST(Symbols, NamesTheModule) {
  const Symbols symbols(text);
  const auto found = symbols.at(Address{0xffffffffc0001004U});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "mod_fn");
  EXPECT_EQ(found->module, "some_mod");
  EXPECT_FALSE(found->size) << "nothing follows";
}

TEST(Symbols, GivesNothingTooFarAway) {
  const Symbols symbols(text);
  EXPECT_FALSE(symbols.at(Address{0xffffffff80ffffffU}));
  EXPECT_FALSE(symbols.at(Address{0x10}));
  EXPECT_TRUE(symbols.at(Address{0xffffffff81000200U + (1U << 20U)}));
  EXPECT_FALSE(symbols.at(Address{0xffffffff81000201U + (1U << 20U)}));
}

TEST(Symbols, CountsBadLines) {
  const Symbols symbols(text);
  EXPECT_EQ(symbols.size(), 5U);
  EXPECT_EQ(symbols.badLines(), 4U);
}

TEST(Symbols, RangeOfANameNeedsNoIndex) {
  // By address, as kernels write their lists.
  const Symbols symbols(
      "0000000000000000 A fixed_percpu\n"
      "ffffffff81000000 T first\n"
      "ffffffff81000100 t second\n"
      "ffffffff81000100 t second_alias\n"
      "ffffffff81000180 t $x\n"
      "nonsense\n"
      "ffffffff81000200 T third\n"
      "ffffffffc0001000 t mod_fn\t[some_mod]\n");
  const auto range = symbols.rangeOf("second");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->from, 0xffffffff81000100U);
  EXPECT_EQ(range->to, 0xffffffff81000200U);
  EXPECT_EQ(symbols.rangeOf("second_alias")->from, 0xffffffff81000100U);
  EXPECT_FALSE(symbols.rangeOf("secon"));
  EXPECT_FALSE(symbols.rangeOf("fixed_percpu"));
  EXPECT_FALSE(symbols.rangeOf(""));
  const auto last = symbols.rangeOf("mod_fn");
  ASSERT_TRUE(last);
  EXPECT_EQ(last->to - last->from, 1U << 20U);
}

TEST(Symbols, ZerosMeanNone) {
  const Symbols symbols("0000000000000000 T one\n0000000000000000 t two\n");
  EXPECT_EQ(symbols.size(), 0U);
  EXPECT_FALSE(symbols.at(Address{0}));
  EXPECT_FALSE(symbols.rangeOf("one"));
}

TEST(Symbols, TakesAnyBytes) {
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += static_cast<char>(i * 31);
  const Symbols noise(bytes);
  EXPECT_FALSE(noise.at(Address{5}));
  const Symbols noEnd("ffffffff81000000 T last");
  EXPECT_EQ(noEnd.size(), 1U);
  EXPECT_EQ(noEnd.at(Address{0xffffffff81000000U})->name, "last");
  EXPECT_TRUE(Symbols().empty());
  EXPECT_EQ(Symbols().size(), 0U);
}

TEST(Symbols, IsAskedByManyThreads) {
  std::string many;
  for (int i = 0; i < 20'000; ++i)
    many += "ffffffff8100" + std::to_string(1000 + i % 9000) + " t f" + std::to_string(i) + "\n";
  const Symbols symbols(many);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&symbols] { EXPECT_TRUE(symbols.at(Address{0xffffffff81001000U})); });
  }
}

}  // namespace
}  // namespace tickscope
