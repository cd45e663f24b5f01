// SPDX-License-Identifier: GPL-3.0-or-later
// A CPU's state as the panel draws it: numbers in words, timers in buckets, trees with a shape.
#pragma once

#include <QString>
#include <array>
#include <vector>

#include "core/trace/recording.h"
#include "views/panels/state_source.h"

namespace tickscope {

/// A name and its value; what is not known has the word and the reason as its value.
struct StateFact {
  QString name, value;
  bool known = true;
};

struct WheelTimerView {
  Known<u16> bucket;  ///< 64 * level + slot; empty: not known
  QString callback;   ///< the task for callbacks that only wake one
  QString toClk;      ///< "in 3 j", "240 j overdue", "unknown"
  QString expires, bucketExpiry, armedBy, address;
  bool overdue = false;  ///< the base has passed its bucket
  Known<Row> armed;
};

/// A wheel base. Hands and marks are places of buckets.
struct WheelView {
  QString title, summary;
  u8 depth = 9;
  bool levels = true;
  Known<u32> hz;
  Known<u64> clk;
  Known<u16>
      nextBucket;  ///< where next_expiry stands; empty: unknown, or in no bucket of a known timer
  u64 overdue = 0;
  std::vector<StateFact> facts;
  std::vector<WheelTimerView> timers;  ///< by bucket expiry; the first ones of very many
  u64 moreTimers = 0;                  ///< that are in the buckets but not in the list
  std::array<u32, 576> inBucket{}, overdueInBucket{};  ///< timers of each bucket
};

struct TreeNodeView {
  QString callback;
  QString
      due;  ///< "+299.2 µs" from the instant on; the time of the base where the instant is not known
  QString expires, softExpires, armedBy, address;
  Known<s64> fromSoft, toHard;  ///< ns from the instant on
  u32 depth = 0;
  s32 parent = -1;  ///< place in TreeView::nodes; -1: the root, or its parent is not drawn
  bool red = false;
  bool soft = false;  ///< expires in the softirq
  Known<Row> armed;
};

/// A clock base with timers.
struct TreeView {
  QString title, summary;
  std::vector<TreeNodeView> nodes;  ///< by expiry; the first ones of a large tree
  u64 more = 0;                     ///< later ones that are not drawn
  u64 timesUnknown = 0;             ///< armed, but nobody knows for when
};

struct CpuView {
  Cpu cpu{};
  std::vector<WheelView> wheel;
  std::vector<TreeView> trees;
  std::vector<StateFact> facts;  ///< expires_next and what else there is one of
  QString blind;                 ///< a sentence; empty: nothing covers this CPU here
};

/// Trees with more timers show so many, those that expire first.
inline constexpr std::size_t mostNodes = 200;
/// Lists of wheel timers show so many.
inline constexpr std::size_t mostWheelTimers = 2000;

/// The CPU as it is drawn; empty when the state has no such CPU.
[[nodiscard]] Known<CpuView> viewOf(const StateSource& source, const SystemState& state, Cpu cpu,
                                    const Recording& recording, const Buffer& buffer);

/// `+299.2 µs`, `−1.162 ms`: short, for a column that is read at a glance.
[[nodiscard]] QString shortDifference(s64 ns);
/// `4 ms`, `2.2 min`: what a bucket of a level spans; in jiffies (`8 j`) without HZ.
[[nodiscard]] QString granuleText(u8 level, Known<u32> hz);
/// `L0:47`
[[nodiscard]] QString bucketName(Known<u16> bucket);

}  // namespace tickscope
