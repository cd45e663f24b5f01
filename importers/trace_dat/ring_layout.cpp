// SPDX-License-Identifier: GPL-3.0-or-later
// Parses header_page and header_event.
#include "importers/trace_dat/ring_layout.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tickscope::trace_dat {

namespace {

constexpr u32 furthestData = 64;

/// The numbers of a line, the first three.
struct Numbers {
  u32 values[3] = {0, 0, 0};
  int count = 0;
};

Numbers numbersOf(std::string_view line) {
  Numbers found;
  std::size_t at = 0;
  while (at < line.size() && found.count < 3) {
    if (line[at] < '0' || line[at] > '9') {
      ++at;
      continue;
    }
    u32 value = 0;
    const auto [stop, error] = std::from_chars(line.data() + at, line.data() + line.size(), value);
    if (error == std::errc{}) found.values[found.count++] = value;
    at = static_cast<std::size_t>(stop - line.data());
  }
  return found;
}

struct Place {
  u32 offset, size;
};

/// Out of `...;\toffset:8;\tsize:4;...`.
Known<Place> placeOf(std::string_view line) {
  const auto numberBehind = [line](std::string_view key) -> Known<u32> {
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos) return {};
    u32 value = 0;
    const char* from = line.data() + at + key.size();
    const auto [stop, error] = std::from_chars(from, line.data() + line.size(), value);
    if (error != std::errc{} || stop == line.data() + line.size() || *stop != ';') return {};
    return value;
  };
  const auto offset = numberBehind("offset:");
  const auto size = numberBehind("size:");
  if (!offset || !size) return {};
  return Place{*offset, *size};
}

}  // namespace

Known<HeaderPage> parseHeaderPage(std::string_view text) {
  Known<Place> time, commit, data;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    for (const auto& [name, place] : {std::pair{" timestamp;", &time},
                                      std::pair{" commit;", &commit}, std::pair{" data;", &data}}) {
      if (!*place && line.find(name) != std::string_view::npos) *place = placeOf(line);
    }
  }
  if (!time || !commit || !data) return {};
  if (time->offset != 0 || time->size != 8) return {};
  if (commit->size != 4 && commit->size != 8) return {};
  if (commit->offset < 8 || commit->offset > furthestData) return {};
  if (data->offset < commit->offset + commit->size || data->offset > furthestData) return {};
  HeaderPage page;
  page.commitSize = static_cast<u8>(commit->size);
  page.commitOffset = commit->offset;
  page.dataOffset = data->offset;
  page.dataSize = data->size;
  return page;
}

HeaderEvent judgeHeaderEvent(std::string_view text) {
  bool typeBits = false, deltaBits = false, padding = false, extend = false, most = false;
  bool other = false;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const Numbers numbers = numbersOf(line);
    const u32 first = numbers.values[0];
    const auto states = [&](std::string_view name, bool& seen, u32 wanted) {
      if (!line.starts_with(name)) return;
      seen = true;
      if (numbers.count == 0 || first != wanted) other = true;
    };
    if (line.starts_with("len") && first == 3) return HeaderEvent::Ancient;
    states("type_len", typeBits, 5);
    states("time_delta", deltaBits, 27);
    states("padding", padding, 29);
    states("time_extend", extend, 30);
    bool stamp = false;
    states("time_stamp", stamp, 31);
    states("data max type_len", most, 28);
  }
  const bool all = typeBits && deltaBits && padding && extend && most;
  return all && !other ? HeaderEvent::Usual : HeaderEvent::Odd;
}

RingLayout usualLayout(u8 word, bool bigEndian, bool swap) {
  RingLayout ring;
  ring.swap = swap;
  ring.bigEndian = bigEndian;
  ring.commitSize = word == 4 ? 4 : 8;
  ring.commitOffset = 8;
  ring.dataOffset = ring.commitOffset + ring.commitSize;
  return ring;
}

}  // namespace tickscope::trace_dat
