// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of the event store: blocks of 256 events behind each other, in large pages, never moved or copied.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope {

inline constexpr u32 groupShift = 8;
inline constexpr u32 groupSize = 1U << groupShift;
inline constexpr u32 groupMask = groupSize - 1;

/// 256 events column by column; their payloads follow, packed, in the same order.
struct EventGroup {
  u64 time[groupSize];
  u32 pid[groupSize];
  u16 type[groupSize];       // index of the EventType
  u16 payloadAt[groupSize];  // byte of `payload`
  u8 flags[groupSize];
  u8 preemptCount[groupSize];
  u8 payload[1];  // as many as the events need
};

/// Memory straight from the kernel: zeroed, and with huge pages where it has them, because clearing pages one
/// by one is most of the cost of a large import. Freed as a whole.
class EventArena {
 public:
  EventArena() = default;
  EventArena(const EventArena&) = delete;
  EventArena& operator=(const EventArena&) = delete;
  ~EventArena();

  /// `least` bytes or more that lie behind each other, 8-aligned; the part that is not used is given back by
  /// used(). nullptr: the system has no more.
  u8* room(std::size_t least);
  /// The last room() was used up to `end`.
  void used(const u8* end);
  /// Gives back what lies behind the last byte used.
  void trim();
  [[nodiscard]] u64 bytes() const { return bytes_; }

 private:
  struct Region {
    u8* begin;
    std::size_t size;
  };
  std::vector<Region> regions_;
  u8* next_ = nullptr;
  u8* end_ = nullptr;
  u64 bytes_ = 0;
};

/// Zeroed pages for `size` bytes, huge ones where the system has them; nullptr for none. freePages() takes the
/// same size.
void* allocatePages(std::size_t size);
void freePages(void* pages, std::size_t size);

/// A large array that is allocated once. Values are zero at first.
template <class T>
class BigColumn {
 public:
  BigColumn() = default;
  BigColumn(BigColumn&& other) noexcept : data_(other.data_), size_(other.size_) {
    other.data_ = nullptr;
    other.size_ = 0;
  }
  BigColumn& operator=(BigColumn&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~BigColumn() { freePages(data_, size_ * sizeof(T)); }

  /// False: the system has no more memory.
  [[nodiscard]] bool allocate(std::size_t size) {
    data_ = static_cast<T*>(allocatePages(size * sizeof(T)));
    size_ = data_ ? size : 0;
    return data_ || !size;
  }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return !size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  // NOLINTNEXTLINE(google-explicit-constructor): a column is read as a span
  operator std::span<const T>() const { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tickscope
