// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the values of trace scripts.
#include "tests/support/script_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "core/model/kernel_numbers.h"

namespace tickscope::support {

namespace {

struct NamedNumber {
  std::string_view name;
  u64 value;
};
constexpr std::array<NamedNumber, 20> namedNumbers{{
    {"HI", 0},
    {"TIMER", timerVector},
    {"NET_TX", 2},
    {"NET_RX", 3},
    {"BLOCK", 4},
    {"IRQ_POLL", 5},
    {"TASKLET", 6},
    {"SCHED", 7},
    {"HRTIMER", 8},
    {"RCU", 9},
    {"ABS", 0},
    {"REL", relativeMode},
    {"PINNED", pinnedMode},
    {"SOFT", softMode},
    {"HARD", hardMode},
    {"LAZY", lazyMode},
    {"D", 0x00080000},
    {"P", 0x00100000},
    {"I", 0x00200000},
    {"EXIT", 0xffffffff},
}};

}  // namespace

Words wordsOf(std::string_view line) {
  Words words;
  std::string word;
  for (const char c : line.substr(0, line.find('#'))) {
    if (c == ' ' || c == '\t') {
      if (!word.empty()) words.push_back(std::exchange(word, {}));
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

s64 nsOf(std::string_view text, double plain) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(read.ptr,
                              static_cast<std::size_t>(text.data() + text.size() - read.ptr));
  if (read.ec != std::errc{}) throw std::runtime_error(fmt::format("'{}' is no time", text));
  // Whole figures stay exact.
  s64 whole = 0;
  const auto exact = std::from_chars(text.data(), text.data() + text.size(), whole);
  const bool isWhole = exact.ec == std::errc{} && exact.ptr == read.ptr;
  double factor = plain;
  if (unit == "ns") factor = 1;
  if (unit == "us") factor = 1e3;
  if (unit == "ms") factor = 1e6;
  if (unit == "s") factor = 1e9;
  if (!unit.empty() && unit != "ns" && unit != "us" && unit != "ms" && unit != "s") {
    throw std::runtime_error(fmt::format("'{}' is no time", text));
  }
  if (isWhole) return whole * static_cast<s64>(factor);
  return static_cast<s64>(value * factor + (value < 0 ? -0.5 : 0.5));
}

u64 numberOf(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  u64 value = 0;
  s64 negative = 0;
  if (text.starts_with('-')) {
    if (std::from_chars(text.data(), text.data() + text.size(), negative).ec == std::errc{}) {
      return static_cast<u64>(negative);
    }
  }
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) {
    throw std::runtime_error(fmt::format("'{}' is no number", text));
  }
  return value;
}

u64 namedOf(std::string_view text) {
  u64 all = 0;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('|'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const auto named = std::ranges::find(namedNumbers, one, &NamedNumber::name);
    all |= named != namedNumbers.end() ? named->value : numberOf(one);
  }
  return all;
}

}  // namespace tickscope::support
