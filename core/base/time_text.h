// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers, seconds and durations as people write and read them; exact integers, never floating
// point.
#pragma once

#include <string>
#include <string_view>

#include "core/base/quantity.h"

namespace tickscope {

/// A number as it was written: 12, -3, 0x1f, 12.345678901, 50us, 1.5ms, 2s.
struct WrittenNumber {
  enum class Unit : u8 { None, Nano, Micro, Milli, Second };
  bool negative = false;
  u64 whole = 0;       ///< digits before the point; all of a hexadecimal number
  u64 billionths = 0;  ///< digits behind the point, of 10^9
  bool point = false;  ///< a point was written
  bool finer = false;  ///< more than nine decimals that are not zero: no nanosecond holds them
  Unit unit = Unit::None;
};

/// Empty: no such number, or more than 64 bits before the point. The whole text must be the number;
/// no blanks, no thousands separators, no exponent. Hexadecimal numbers take neither point nor
/// unit.
Known<WrittenNumber> readNumber(std::string_view text);

/// A whole number with its sign, as large as u64.
struct Whole {
  bool negative = false;
  u64 magnitude = 0;
  bool operator==(const Whole&) const = default;
};

/// The number in nanoseconds: with a unit in that unit, without one in `plain`. Empty: it is no
/// whole number of them, or does not fit.
Known<Whole> inNanoseconds(const WrittenNumber& written, WrittenNumber::Unit plain);
/// A number without point and unit; empty otherwise.
Known<Whole> asWhole(const WrittenNumber& written);

/// Nanoseconds as seconds with nine decimals: 12.345678901.
std::string secondsText(u64 ns);
/// A length of time for a reader, cut (not rounded) to three decimals: `850 ns`, `12.345 us`,
/// `12.345 ms`, `12.345 s`, `2 min 03.456 s`, `1 h 02 min 03 s`.
std::string durationWords(u64 ns);
/// 1,554,134.
std::string grouped(u64 number);
/// 4 KiB, 1.5 MiB, 312 bytes; cut to one decimal.
std::string bytesWords(u64 bytes);
/// A size as people write it: 4096, 64K, 512M, 2G, also with iB or B behind the letter; K is 1024.
/// Empty: none, or more than 64 bits.
Known<u64> readSize(std::string_view text);

}  // namespace tickscope
