// SPDX-License-Identifier: GPL-3.0-or-later
// Reads numbers and strings from bytes that nobody vouches for: every step is checked, none goes back.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "core/base/quantity.h"

namespace tickscope {

using Bytes = std::span<const u8>;

template <class T>
constexpr T byteSwapped(T value) {
  if constexpr (sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<T>(__builtin_bswap16(static_cast<u16>(value)));
  } else if constexpr (sizeof(T) == 4) {
    return static_cast<T>(__builtin_bswap32(static_cast<u32>(value)));
  } else {
    return static_cast<T>(__builtin_bswap64(static_cast<u64>(value)));
  }
}

/// The number at `from`, which must have sizeof(T) bytes; `swap` when the bytes are not in our order.
template <class T>
inline T loadNumber(const u8* from, bool swap) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return swap ? byteSwapped(value) : value;
}

/// A cursor that owns bounds and advance. A read past the end returns 0 and sets failed() for good.
class ByteReader {
 public:
  ByteReader(Bytes bytes, bool swap, u64 fileOffset = 0)
      : bytes_(bytes), swap_(swap), fileOffset_(fileOffset) {}

  template <class T>
  T number() {
    if (left() < sizeof(T)) return failed_ = true, T{};
    const T value = loadNumber<T>(bytes_.data() + at_, swap_);
    at_ += sizeof(T);
    return value;
  }
  /// The bytes up to the next NUL, which is stepped over; fails when there is none within `most`.
  std::string_view string(std::size_t most) {
    const std::size_t room = std::min(left(), most + 1);
    const void* nul = room ? std::memchr(bytes_.data() + at_, 0, room) : nullptr;
    if (!nul) return failed_ = true, std::string_view{};
    const auto* begin = reinterpret_cast<const char*>(bytes_.data() + at_);
    const auto size = static_cast<std::size_t>(static_cast<const char*>(nul) - begin);
    at_ += size + 1;
    return {begin, size};
  }
  /// The next `size` bytes; fails (empty) when they are not all there.
  Bytes take(u64 size) {
    if (size > left()) return failed_ = true, Bytes{};
    const Bytes part = bytes_.subspan(at_, static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(size);
    return part;
  }
  /// What is left, all of it.
  Bytes rest() { return take(left()); }

  [[nodiscard]] std::size_t left() const { return failed_ ? 0 : bytes_.size() - at_; }
  [[nodiscard]] bool failed() const { return failed_; }
  /// Where in the input the next byte lies.
  [[nodiscard]] u64 offset() const { return fileOffset_ + at_; }

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
  bool swap_;
  bool failed_ = false;
  u64 fileOffset_;
};

inline std::string_view asText(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace tickscope
