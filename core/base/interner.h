// SPDX-License-Identifier: GPL-3.0-or-later
// Small numbers for values that repeat: 64-bit keys, fixed blocks and strings, numbered by first appearance.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope {

inline u64 mixed(u64 x) {
  x *= 0x9E3779B97F4A7C15U;
  return x ^ (x >> 32U);
}

/// Keys of type K by number. Open addressing with linear probing, because a look-up stands in the hot
/// loop of the import, once or twice an event; a node-based map costs several times as much there.
template <class K, class Hash>
class Interner {
 public:
  Interner() : slots_(64, 0) {}

  u32 intern(const K& key) {
    return intern(key, [](K&) {});
  }
  /// `keep` may replace a key that is new by an equal one that lives as long as the pool.
  template <class Keep>
  u32 intern(const K& key, Keep&& keep) {
    u64 at = Hash{}(key) & (slots_.size() - 1);
    while (const u32 taken = slots_[at]) {
      if (keys_[taken - 1] == key) return taken - 1;
      at = (at + 1) & (slots_.size() - 1);
    }
    keep(keys_.emplace_back(key));
    slots_[at] = static_cast<u32>(keys_.size());
    if (keys_.size() * 2 > slots_.size()) grow();
    return static_cast<u32>(keys_.size() - 1);
  }
  [[nodiscard]] const K& operator[](u32 id) const { return keys_[id]; }
  [[nodiscard]] u32 size() const { return static_cast<u32>(keys_.size()); }
  [[nodiscard]] u64 bytes() const {
    return keys_.capacity() * sizeof(K) + slots_.capacity() * sizeof(u32);
  }

 private:
  void grow() {
    std::vector<u32> bigger(slots_.size() * 2, 0);
    for (u32 id = 0; id < keys_.size(); ++id) {
      u64 at = Hash{}(keys_[id]) & (bigger.size() - 1);
      while (bigger[at]) at = (at + 1) & (bigger.size() - 1);
      bigger[at] = id + 1;
    }
    slots_ = std::move(bigger);
  }

  std::vector<K> keys_;
  std::vector<u32> slots_;  // id + 1; 0: free
};

struct AddressHash {
  u64 operator()(u64 key) const { return mixed(key) >> 7U; }
};
using AddressPool = Interner<u64, AddressHash>;

/// What sched events say of a task, as it lies in most of their records: comm[16], pid, prio.
struct TaskBlock {
  u64 comm[2];
  s32 pid, prio;
  bool operator==(const TaskBlock&) const = default;
};
struct TaskBlockHash {
  /// Three products that do not wait for each other.
  u64 operator()(const TaskBlock& t) const {
    const u64 numbers =
        (static_cast<u64>(static_cast<u32>(t.pid)) << 32U) | static_cast<u32>(t.prio);
    const u64 mix = t.comm[0] * 0x9E3779B97F4A7C15U ^ t.comm[1] * 0xC2B2AE3D27D4EB4FU ^
                    numbers * 0xD6E8FEB86659FD93U;
    return (mix ^ (mix >> 32U)) >> 7U;
  }
};
using TaskPool = Interner<TaskBlock, TaskBlockHash>;

/// Strings by number; the characters stay where they are for the life of the pool.
class StringPool {
 public:
  u32 intern(std::string_view text) {
    return index_.intern(Key{text}, [this](Key& fresh) { fresh.text = keep(fresh.text); });
  }
  [[nodiscard]] std::string_view operator[](u32 id) const { return index_[id].text; }
  [[nodiscard]] u32 size() const { return index_.size(); }
  [[nodiscard]] u64 bytes() const { return index_.bytes() + kept_; }

 private:
  struct Key {
    std::string_view text;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    u64 operator()(const Key& k) const {
      u64 hash = k.text.size();
      for (std::size_t at = 0; at < k.text.size(); at += 8) {
        u64 word = 0;
        std::memcpy(&word, k.text.data() + at, std::min<std::size_t>(8, k.text.size() - at));
        hash = mixed(hash ^ word);
      }
      return hash >> 7U;
    }
  };
  std::string_view keep(std::string_view text);

  Interner<Key, KeyHash> index_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t room_ = 0;
  u64 kept_ = 0;
};

}  // namespace tickscope
