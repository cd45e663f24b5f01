// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes numbers, seconds and durations.
#include "core/base/time_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>

namespace tickscope {

namespace {

constexpr u64 billion = 1'000'000'000;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Digits of a base from the front of `text`, all of which are taken off; false: none, or too
/// large.
bool takeDigits(std::string_view& text, u64& value, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

u64 nanosecondsOf(WrittenNumber::Unit unit) {
  switch (unit) {
    case WrittenNumber::Unit::Micro:
      return 1'000;
    case WrittenNumber::Unit::Milli:
      return 1'000'000;
    case WrittenNumber::Unit::Second:
      return billion;
    case WrittenNumber::Unit::None:
    case WrittenNumber::Unit::Nano:
      break;
  }
  return 1;
}

}  // namespace

Known<WrittenNumber> readNumber(std::string_view text) {
  WrittenNumber number;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    number.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    text.remove_prefix(2);
    if (!takeDigits(text, number.whole, 16) || !text.empty()) return {};
    return number;
  }
  // Not from_chars alone: it would take a second sign.
  if (text.empty() || !isDigit(text.front()) || !takeDigits(text, number.whole, 10)) return {};
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    if (text.empty() || !isDigit(text.front())) return {};
    number.point = true;
    u64 scale = billion / 10;
    while (!text.empty() && isDigit(text.front())) {
      const auto digit = static_cast<u64>(text.front() - '0');
      if (!scale && digit) number.finer = true;
      number.billionths += digit * scale;
      scale /= 10;
      text.remove_prefix(1);
    }
  }
  using Unit = WrittenNumber::Unit;
  if (text.empty()) return number;
  if (text == "ns")
    number.unit = Unit::Nano;
  else if (text == "us")
    number.unit = Unit::Micro;
  else if (text == "ms")
    number.unit = Unit::Milli;
  else if (text == "s")
    number.unit = Unit::Second;
  else
    return {};
  return number;
}

Known<Whole> inNanoseconds(const WrittenNumber& written, WrittenNumber::Unit plain) {
  if (written.finer) return {};
  const u64 scale = nanosecondsOf(written.unit == WrittenNumber::Unit::None ? plain : written.unit);
  const u64 step = billion / scale;  // billionths of the unit in a nanosecond
  if (written.billionths % step) return {};
  const u64 fraction = written.billionths / step;
  if (written.whole > (std::numeric_limits<u64>::max() - fraction) / scale) return {};
  const u64 magnitude = written.whole * scale + fraction;
  return Whole{written.negative && magnitude, magnitude};
}

Known<Whole> asWhole(const WrittenNumber& written) {
  if (written.point || written.unit != WrittenNumber::Unit::None) return {};
  return Whole{written.negative && written.whole, written.whole};
}

std::string secondsText(u64 ns) { return fmt::format("{}.{:09}", ns / billion, ns % billion); }

std::string durationWords(u64 ns) {
  const auto thousandths = [](u64 value, u64 unit) {
    return fmt::format("{}.{:03}", value / unit, value % unit / (unit / 1000));
  };
  if (ns < 1'000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return thousandths(ns, 1'000) + " us";
  if (ns < billion) return thousandths(ns, 1'000'000) + " ms";
  const u64 minute = 60 * billion;
  if (ns < minute) return thousandths(ns, billion) + " s";
  const u64 hour = 60 * minute;
  if (ns < hour) {
    return fmt::format("{} min {:02}.{:03} s", ns / minute, ns % minute / billion,
                       ns % billion / 1'000'000);
  }
  return fmt::format("{} h {:02} min {:02} s", ns / hour, ns % hour / minute,
                     ns % minute / billion);
}

std::string grouped(u64 number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at && (digits.size() - at) % 3 == 0) text += ',';
    text += digits[at];
  }
  return text;
}

std::string bytesWords(u64 bytes) {
  static constexpr std::array<std::string_view, 4> units{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  std::size_t unit = 0;
  u64 scale = 1024;
  while (unit + 1 < units.size() && bytes / scale >= 1024) {
    scale *= 1024;
    ++unit;
  }
  const u64 tenths = bytes % scale * 10 / scale;
  if (!tenths) return fmt::format("{} {}", bytes / scale, units[unit]);
  return fmt::format("{}.{} {}", bytes / scale, tenths, units[unit]);
}

Known<u64> readSize(std::string_view text) {
  u64 value = 0;
  if (text.empty() || !isDigit(text.front()) || !takeDigits(text, value, 10)) return {};
  if (text.empty()) return value;
  unsigned shift = 0;
  switch (text.front()) {
    case 'k':
    case 'K':
      shift = 10;
      break;
    case 'm':
    case 'M':
      shift = 20;
      break;
    case 'g':
    case 'G':
      shift = 30;
      break;
    case 't':
    case 'T':
      shift = 40;
      break;
    default:
      return {};
  }
  text.remove_prefix(1);
  if (!text.empty() && text != "B" && text != "iB") return {};
  if (value > (std::numeric_limits<u64>::max() >> shift)) return {};
  return value << shift;
}

}  // namespace tickscope
