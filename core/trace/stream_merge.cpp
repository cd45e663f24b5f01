// SPDX-License-Identifier: GPL-3.0-or-later
// A merge by runs: the stream with the smallest key gives events until the next smallest key is reached.
#include "core/trace/stream_merge.h"

#include <algorithm>
#include <functional>

namespace tickscope {
namespace {

constexpr u64 exhausted = ~u64{0};

/// The next event of a stream.
class Head {
 public:
  Head(const MergeInput& input, std::vector<u32>& backward) : input_(&input), backward_(&backward) {
    enterGroup();
    if (!done()) key_ = last_ = group_->time[0];
  }
  [[nodiscard]] u64 key() const { return key_; }
  [[nodiscard]] bool done() const { return !group_; }

  /// Gives events while their key is below `limit`, or equal to it if `ties`; at least one. Returns the next row.
  u32 give(u64 limit, bool ties, u32 row, u32* order, Row* rowOf) {
    do {
      const u32 slotBase = (input_->firstGroup + groupIndex_) << groupShift;
      const u64* const time = group_->time;
      u32 at = at_;
      u64 key = key_;
      for (;;) {
        order[row] = slotBase | at;
        rowOf[position_++] = static_cast<Row>(row++);
        if (++at == end_) break;
        const u64 t = time[at];
        if (t < last_) backward_->push_back(position_);
        last_ = t;
        key = std::max(key, t);
        if (!(key < limit || (ties && key == limit))) break;
      }
      at_ = at;
      key_ = key;
      if (at == end_) {
        ++groupIndex_;
        enterGroup();
        if (done()) return row;
        const u64 t = group_->time[0];
        if (t < last_) backward_->push_back(position_);
        last_ = t;
        key_ = std::max(key_, t);
      }
    } while (key_ < limit || (ties && key_ == limit));
    return row;
  }

 private:
  void enterGroup() {
    at_ = 0;
    // A piece may end with an empty group only when it has no events at all.
    while (groupIndex_ < input_->groups.size()) {
      const u32 next = groupIndex_ + 1 < input_->groups.size() ? input_->groupFirst[groupIndex_ + 1]
                                                               : input_->first + input_->count;
      end_ = next - input_->groupFirst[groupIndex_];
      if (end_) {
        group_ = input_->groups[groupIndex_];
        position_ = input_->groupFirst[groupIndex_];
        return;
      }
      ++groupIndex_;
    }
    group_ = nullptr;
    key_ = exhausted;
  }

  const MergeInput* input_;
  std::vector<u32>* backward_;
  const EventGroup* group_ = nullptr;
  u32 groupIndex_ = 0;
  u32 at_ = 0, end_ = 0;
  u32 position_ = 0;
  u64 key_ = exhausted, last_ = 0;
};

}  // namespace

bool mergeStreams(std::span<const MergeInput> inputs, std::span<u32> order, std::span<Row> rowOf,
                  std::vector<u32>& backward, Progress& progress) {
  std::vector<Head> heads;
  heads.reserve(inputs.size());
  for (const MergeInput& input : inputs) heads.emplace_back(input, backward);

  // Heads by (key, stream); the front one is the next to give. Few streams: insertion into a sorted list costs less
  // than a heap. Many streams: a binary heap.
  std::vector<u32> live;
  for (u32 i = 0; i < heads.size(); ++i) {
    if (!heads[i].done()) live.push_back(i);
  }
  const auto before = [&](u32 a, u32 b) {
    return heads[a].key() != heads[b].key() ? heads[a].key() < heads[b].key() : a < b;
  };
  constexpr u32 pollRows = 1U << 16U;
  u32 row = 0;
  u32 polled = 0;
  const auto poll = [&] {
    if (row - polled < pollRows) return true;
    const bool goOn = progress.advance(row - polled);
    polled = row;
    return goOn;
  };
  const auto giveRun = [&](u32 first, u32 second) {
    Head& head = heads[first];
    row = second == first
              ? head.give(exhausted, true, row, order.data(), rowOf.data())
              : head.give(heads[second].key(), first < second, row, order.data(), rowOf.data());
  };
  constexpr std::size_t few = 16;
  std::sort(live.begin(), live.end(), before);
  if (live.size() > few) {
    const auto after = [&](u32 a, u32 b) { return before(b, a); };
    std::make_heap(live.begin(), live.end(), after);
    while (live.size() > few) {
      std::pop_heap(live.begin(), live.end(), after);
      giveRun(live.back(), live.front());
      if (heads[live.back()].done()) {
        live.pop_back();
      } else {
        std::push_heap(live.begin(), live.end(), after);
      }
      if (!poll()) return false;
    }
    std::sort(live.begin(), live.end(), before);
  }
  while (!live.empty()) {
    giveRun(live[0], live.size() > 1 ? live[1] : live[0]);
    if (heads[live[0]].done()) {
      live.erase(live.begin());
    } else {
      const u32 moved = live[0];
      std::size_t to = 0;
      while (to + 1 < live.size() && before(live[to + 1], moved)) {
        live[to] = live[to + 1];
        ++to;
      }
      live[to] = moved;
    }
    if (!poll()) return false;
  }
  return progress.advance(row - polled);
}

}  // namespace tickscope
