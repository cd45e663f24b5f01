// SPDX-License-Identifier: GPL-3.0-or-later
// The event store: what goes in comes out, in one order, whatever the pieces and pools.
#include "core/trace/store_builder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace tickscope {
namespace {

template <class P>
EventType typeOf(std::string name, u32 has = ~0U) {
  return {kindOf<P>, 1, "timer", std::move(name), has, storedLayout<P>(has)};
}

/// A store of hrtimer_cancel rows with the given times per stream, cut into pieces of `pieceSize`.
class StoreOf {
 public:
  StoreOf(std::vector<std::vector<u64>> times, std::size_t pieceSize, bool ownPools) {
    types_.push_back(typeOf<HrtimerCancel>("hrtimer_cancel"));
    StoreParts parts;
    parts.types = types_;
    parts.arenas.push_back(std::make_shared<EventArena>());
    auto pools = std::make_shared<Pools>();
    std::vector<std::unique_ptr<Pools>> piecePools;
    for (std::size_t s = 0; s < times.size(); ++s) {
      StreamPieces stream{static_cast<Cpu>(s), false, {}};
      for (std::size_t from = 0; from < times[s].size() || from == 0; from += pieceSize) {
        if (ownPools) piecePools.push_back(std::make_unique<Pools>());
        StreamPiece piece(*parts.arenas[0], ownPools ? *piecePools.back() : *pools, types_);
        for (std::size_t i = from; i < std::min(from + pieceSize, times[s].size()); ++i) {
          const bool added =
              piece.append(TraceTime{static_cast<s64>(times[s][i])}, static_cast<Pid>(s), Context{},
                           0, HrtimerCancel{addressOf(s, i)});
          EXPECT_TRUE(added);
        }
        piece.close();
        stream.pieces.push_back(std::move(piece));
      }
      parts.streams.push_back(std::move(stream));
    }
    Progress progress;
    auto store = ownPools ? assemble(std::move(parts), std::move(piecePools), 2, progress)
                          : assemble(std::move(parts), pools, progress);
    EXPECT_TRUE(store.has_value());
    if (store) store_ = std::move(*store);
  }
  /// Few addresses, so that pools repeat them.
  static Address addressOf(std::size_t stream, std::size_t i) {
    return static_cast<Address>(0xffff888000000000U + stream * 3 + i % 7);
  }
  const EventStore& operator*() const { return store_; }
  const EventStore* operator->() const { return &store_; }

 private:
  std::vector<EventType> types_;
  EventStore store_;
};

/// The order by definition: smallest running maximum first, ties to the lower stream.
std::vector<std::pair<std::size_t, std::size_t>> orderByDefinition(
    const std::vector<std::vector<u64>>& times) {
  struct Item {
    u64 key;
    std::size_t stream, place;
  };
  std::vector<Item> items;
  for (std::size_t s = 0; s < times.size(); ++s) {
    u64 key = 0;
    for (std::size_t i = 0; i < times[s].size(); ++i) {
      key = std::max(key, times[s][i]);
      items.push_back({key, s, i});
    }
  }
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return a.key != b.key ? a.key < b.key : a.stream < b.stream;
  });
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (const Item& item : items) order.emplace_back(item.stream, item.place);
  return order;
}

std::vector<std::vector<u64>> someTimes(std::size_t streams, std::size_t most) {
  std::vector<std::vector<u64>> times(streams);
  u64 seed = streams * 7919 + most;
  for (auto& stream : times) {
    u64 t = 1000;
    for (std::size_t i = 0; i < most; ++i) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      const u64 step = (seed >> 33U) % 5;
      t = step == 4 && t > 20 ? t - (seed >> 50U) % 20 : t + step;
      stream.push_back(t);
    }
  }
  return times;
}

TEST(StoreBuilder, KeepsEachCpusOrderAndMergesByRunningMaximum) {
  for (const std::size_t streams : {1U, 2U, 5U, 40U}) {
    const auto times = someTimes(streams, 700);
    for (const bool ownPools : {false, true}) {
      const StoreOf store(times, 300, ownPools);
      const auto expected = orderByDefinition(times);
      ASSERT_EQ(store->size(), expected.size());
      for (u32 r = 0; r < store->size(); ++r) {
        const auto row = static_cast<Row>(r);
        const auto [stream, place] = expected[r];
        ASSERT_EQ(store->streamOf(row), stream) << "row " << r << " of " << streams << " streams";
        ASSERT_EQ(store->placeInStream(row), place) << "row " << r;
        ASSERT_EQ(static_cast<u64>(store->time(row).value), times[stream][place]);
        ASSERT_EQ(store->as<HrtimerCancel>(row).hrtimer, StoreOf::addressOf(stream, place));
        ASSERT_EQ(store->rowsOfStream(static_cast<u32>(stream))[place], row);
      }
    }
  }
}

RC_GTEST_PROP(StoreBuilder, MergesAnyTimesByDefinition, (std::vector<std::vector<u8>> small)) {
  RC_PRE(!small.empty());
  std::vector<std::vector<u64>> times;
  for (const auto& stream : small) times.emplace_back(stream.begin(), stream.end());
  const StoreOf store(times, 3, true);
  const auto expected = orderByDefinition(times);
  RC_ASSERT(store->size() == expected.size());
  for (u32 r = 0; r < store->size(); ++r) {
    RC_ASSERT(store->streamOf(static_cast<Row>(r)) == expected[r].first);
    RC_ASSERT(store->placeInStream(static_cast<Row>(r)) == expected[r].second);
  }
}

TEST(StoreBuilder, CountsBackwardStepsWithTheirSize) {
  const StoreOf store({{100, 50, 60, 200}}, 100, false);
  ASSERT_EQ(store->backwardSteps().size(), 1U);
  EXPECT_EQ(number(store->backwardSteps()[0].row), 1U);
  EXPECT_EQ(store->backwardSteps()[0].by.value, 50);
}

TEST(StoreBuilder, FindsTheFirstRowAtATime) {
  const StoreOf store({{10, 20, 30}, {15, 20}}, 100, false);
  EXPECT_EQ(store->lowerBound({0}), 0U);
  EXPECT_EQ(store->lowerBound({11}), 1U);
  EXPECT_EQ(store->lowerBound({20}), 2U);
  EXPECT_EQ(store->lowerBound({31}), 5U);
}

TEST(StoreBuilder, StoresEveryKindOfMemberAndLeavesOutWhatIsNotRecorded) {
  std::vector<EventType> types{
      typeOf<SchedSwitch>("sched_switch"), typeOf<TimerStart>("timer_start", 0b110111),
      typeOf<IrqHandlerEntry>("irq_handler_entry"), typeOf<HrtimerStart>("hrtimer_start")};
  EXPECT_LT(types[1].layout.size, storedLayout<TimerStart>(~0U).size);
  StoreParts parts;
  parts.types = types;
  parts.arenas.push_back(std::make_shared<EventArena>());
  auto pools = std::make_shared<Pools>();
  StreamPiece piece(*parts.arenas[0], *pools, types);
  const auto name = [&](std::string_view text) {
    return static_cast<StringId>(pools->strings.intern(text));
  };
  const Context context{0x09, 0x21};
  ASSERT_TRUE(piece.append(
      {5}, Pid{72}, context, 0,
      SchedSwitch{{name("sh"), Pid{72}, 120}, 0x402, {name("ktimers/1"), Pid{-7}, -1}}));
  ASSERT_TRUE(piece.append({6}, Pid{0}, {}, 1,
                           TimerStart{Address{1}, Address{2}, {3}, {4}, {5}, 0x480000}));
  ASSERT_TRUE(piece.append({7}, Pid{0}, {}, 2, IrqHandlerEntry{-3, name("arch_timer")}));
  ASSERT_TRUE(piece.append({8}, Pid{0}, {}, 3,
                           HrtimerStart{Address{~0U}, Address{9}, {-5}, {-6}, 0xb, true}));
  piece.close();
  parts.streams.push_back({Cpu{3}, true, {}});
  parts.streams[0].pieces.push_back(std::move(piece));
  Progress progress;
  const auto store = assemble(std::move(parts), pools, progress);
  ASSERT_TRUE(store.has_value());
  const auto s = store->as<SchedSwitch>(Row{0});
  EXPECT_EQ(store->text(s.prev.comm), "sh");
  EXPECT_EQ(s.prev.pid, Pid{72});
  EXPECT_EQ(s.prev.prio, 120);
  EXPECT_EQ(s.prevState, 0x402);
  EXPECT_EQ(store->text(s.next.comm), "ktimers/1");
  EXPECT_EQ(s.next.pid, Pid{-7});
  EXPECT_EQ(s.next.prio, -1);
  EXPECT_EQ(store->context(Row{0}), context);
  EXPECT_EQ(store->pid(Row{0}), Pid{72});
  EXPECT_EQ(store->cpu(Row{0}), Cpu{3});
  const auto t = store->as<TimerStart>(Row{1});
  EXPECT_EQ(t.timer, Address{1});
  EXPECT_EQ(t.expires, Jiffies{3});
  EXPECT_EQ(t.bucketExpiry, Jiffies{0}) << "not recorded";
  EXPECT_FALSE(store->type(Row{1}).recorded(3));
  EXPECT_EQ(t.now, Jiffies{5});
  EXPECT_EQ(t.flags, 0x480000U);
  const auto i = store->as<IrqHandlerEntry>(Row{2});
  EXPECT_EQ(i.irq, -3);
  EXPECT_EQ(store->text(i.name), "arch_timer");
  const auto h = store->as<HrtimerStart>(Row{3});
  EXPECT_EQ(h.expires, BaseTime{-5});
  EXPECT_EQ(h.softexpires, BaseTime{-6});
  EXPECT_EQ(h.mode, 0xbU);
  EXPECT_TRUE(h.wasArmed);
}

/// Built with sanitizers this fails when anything is copied from the null of an empty text.
TEST(StoreBuilder, StoresATaskWithoutAName) {
  const std::vector<EventType> types{typeOf<SchedSwitch>("sched_switch")};
  StoreParts parts;
  parts.types = types;
  parts.arenas.push_back(std::make_shared<EventArena>());
  auto pools = std::make_shared<Pools>();
  const auto none = static_cast<StringId>(pools->strings.intern(std::string_view{}));
  StreamPiece piece(*parts.arenas[0], *pools, types);
  ASSERT_TRUE(
      piece.append({5}, Pid{72}, {}, 0, SchedSwitch{{none, Pid{72}, 120}, 1, {none, Pid{73}, 7}}));
  piece.close();
  parts.streams.push_back({Cpu{0}, false, {}});
  parts.streams[0].pieces.push_back(std::move(piece));
  Progress progress;
  const auto store = assemble(std::move(parts), pools, progress);
  ASSERT_TRUE(store.has_value());
  const auto event = store->as<SchedSwitch>(Row{0});
  EXPECT_EQ(store->text(event.prev.comm), "");
  EXPECT_EQ(event.prev.pid, Pid{72});
  EXPECT_EQ(store->text(event.next.comm), "");
  EXPECT_EQ(event.next.prio, 7);
}

TEST(StoreBuilder, PlacesLossesBetweenTheRowsAroundThem) {
  std::vector<EventType> types{typeOf<SoftirqRaise>("softirq_raise")};
  StoreParts parts;
  parts.types = types;
  parts.arenas.push_back(std::make_shared<EventArena>());
  auto pools = std::make_shared<Pools>();
  StreamPiece piece(*parts.arenas[0], *pools, types);
  piece.loss(Known<u64>{});
  ASSERT_TRUE(piece.append({10}, Pid{0}, {}, 0, SoftirqRaise{1}));
  piece.loss(77);
  ASSERT_TRUE(piece.append({20}, Pid{0}, {}, 0, SoftirqRaise{8}));
  piece.loss(5);
  piece.close();
  parts.streams.push_back({Cpu{1}, false, {}});
  parts.streams[0].pieces.push_back(std::move(piece));
  Progress progress;
  const auto store = assemble(std::move(parts), pools, progress);
  ASSERT_TRUE(store.has_value());
  ASSERT_EQ(store->losses().size(), 3U);
  EXPECT_FALSE(store->losses()[0].from);
  EXPECT_FALSE(store->losses()[0].count);
  EXPECT_EQ(store->losses()[0].next, Row{0});
  EXPECT_EQ(store->losses()[1].count, 77U);
  EXPECT_EQ(store->losses()[1].from, TraceTime{10});
  EXPECT_EQ(store->losses()[1].to, TraceTime{20});
  EXPECT_EQ(store->losses()[2].from, TraceTime{20});
  EXPECT_FALSE(store->losses()[2].next);
}

TEST(StoreBuilder, KnowsFromWhenAKindWasRecordedOnAllCpus) {
  const StoreOf store({{10, 20}, {15}}, 100, false);
  EXPECT_EQ(store->firstPossible(kindOf<HrtimerCancel>), TraceTime{15});
  EXPECT_FALSE(store->firstPossible(kindOf<HrtimerStart>));
}

TEST(StoreBuilder, StopsWhenCancelled) {
  StoreParts parts;
  parts.types = {typeOf<SoftirqRaise>("softirq_raise")};
  Progress progress;
  progress.cancel();
  const auto store = assemble(std::move(parts), std::make_shared<Pools>(), progress);
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().kind, Error::Kind::Cancelled);
}

TEST(EventKind, NamesBelongToTheirGroups) {
  EXPECT_EQ(kindOfEvent("timer", "hrtimer_start"), kindOf<HrtimerStart>);
  EXPECT_EQ(kindOfEvent("lab", "hrtimer_start"), kindOf<Raw>) << "a probe may have any name";
  EXPECT_EQ(kindOfEvent("irq_vectors", "thermal_apic_exit"), kindOf<VectorExit>);
  EXPECT_EQ(kindOfEvent("irq_vectors", "local_timer_entry"), kindOf<LocalTimerEntry>);
  EXPECT_EQ(kindOfEvent("timer_migration", "tmigr_cpu_available"), kindOf<TmigrCpuOnline>);
  EXPECT_EQ(kindOfEvent("timer", ""), kindOf<Raw>);
}

}  // namespace
}  // namespace tickscope
