// SPDX-License-Identifier: GPL-3.0-or-later
// Prints memory as the kernel's %ph, %pI, %pM and %pU do.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "importers/trace_dat/print_conversion.h"

namespace tickscope::trace_dat {
namespace {

constexpr std::size_t mostHexBytes = 64;  // the kernel's own limit

void appendByte(std::string& out, u8 byte) {
  fmt::format_to(std::back_inserter(out), "{:02x}", byte);
}

bool appendHex(std::string& out, const Conversion& conversion, Bytes memory) {
  const auto length = static_cast<std::size_t>(std::max(conversion.width, 1));
  if (memory.size() < std::min(length, mostHexBytes)) return false;
  const char kind = conversion.pointer.size() > 1 ? conversion.pointer[1] : ' ';
  const std::string_view between = kind == 'C' ? ":" : kind == 'D' ? "-" : kind == 'N' ? "" : " ";
  for (std::size_t i = 0; i < std::min(length, mostHexBytes); ++i) {
    if (i) out += between;
    appendByte(out, memory[i]);
  }
  return true;
}

bool appendMac(std::string& out, std::string_view kind, Bytes memory) {
  if (memory.size() < 6) return false;
  const bool backwards = kind.ends_with('R');
  const std::string_view between = kind.front() == 'm' ? "" : kind.ends_with('F') ? "-" : ":";
  for (std::size_t i = 0; i < 6; ++i) {
    if (i) out += between;
    appendByte(out, memory[backwards ? 5 - i : i]);
  }
  return true;
}

bool appendUuid(std::string& out, std::string_view kind, Bytes memory) {
  if (memory.size() < 16) return false;
  const char order = kind.size() > 1 ? kind[1] : 'b';
  constexpr std::array<u8, 16> little{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  std::string text;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    appendByte(text, memory[order == 'l' || order == 'L' ? little[i] : i]);
  }
  if (order == 'B' || order == 'L') {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
      return c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
    });
  }
  out += text;
  return true;
}

/// Four numbers with dots; `i4` pads them. `order`: h and l are the machine's order of bytes.
void appendIp4(std::string& out, Bytes address, bool padded, bool reversed) {
  for (std::size_t i = 0; i < 4; ++i) {
    const u8 byte = address[reversed ? 3 - i : i];
    if (i) out += '.';
    fmt::format_to(std::back_inserter(out), "{:0{}}", byte, padded ? 3 : 1);
  }
}

/// The shortest form: the longest run of zero words (two or more, the first of equals) as `::`.
void appendShortIp6(std::string& out, Bytes address) {
  const auto word = [&](std::size_t i) {
    return static_cast<u32>(address[2 * i] << 8U | address[2 * i + 1]);
  };
  const bool mapped =
      std::all_of(address.begin(), address.begin() + 10, [](u8 b) { return b == 0; }) &&
      word(5) == 0xffff;
  const bool isatap = (word(4) | 0x0200U) == 0x0200U && word(5) == 0x5efe;
  const std::size_t words = mapped || isatap ? 6 : 8;
  std::size_t bestAt = words, best = 1;
  for (std::size_t i = 0; i < words;) {
    std::size_t end = i;
    while (end < words && word(end) == 0) ++end;
    if (end - i > best) bestAt = i, best = end - i;
    i = std::max(end, i + 1);
  }
  bool needsColon = false;
  for (std::size_t i = 0; i < words; ++i) {
    if (i == bestAt) {
      if (needsColon || i == 0) out += ':';
      out += ':';
      needsColon = false;
      i += best - 1;
      continue;
    }
    if (needsColon) out += ':';
    fmt::format_to(std::back_inserter(out), "{:x}", word(i));
    needsColon = true;
  }
  if (words == 8) return;
  if (needsColon) out += ':';
  appendIp4(out, address.subspan(12), false, false);
}

void appendIp6(std::string& out, Bytes address, bool colons) {
  for (std::size_t i = 0; i < 16; ++i) {
    if (colons && i && i % 2 == 0) out += ':';
    appendByte(out, address[i]);
  }
}

/// A socket's address: family in the machine's order, port and address in network order.
bool appendSocket(std::string& out, std::string_view options, Bytes memory, bool bigEndian) {
  constexpr u32 inet = 2, inet6 = 10;
  if (memory.size() < 8) return false;
  const u32 family = bigEndian ? memory[0] * 256U + memory[1] : memory[1] * 256U + memory[0];
  const u32 port = memory[2] * 256U + memory[3];
  const bool withPort = options.find('p') != std::string_view::npos;
  if (family == inet) {
    appendIp4(out, memory.subspan(4, 4), false, false);
    if (withPort) fmt::format_to(std::back_inserter(out), ":{}", port);
    return true;
  }
  if (family != inet6 || memory.size() < 24) return false;
  if (withPort) out += '[';
  if (options.find('c') != std::string_view::npos) {
    appendShortIp6(out, memory.subspan(8, 16));
  } else {
    appendIp6(out, memory.subspan(8, 16), true);
  }
  if (withPort) fmt::format_to(std::back_inserter(out), "]:{}", port);
  return true;
}

}  // namespace

bool appendMemory(std::string& out, const Conversion& conversion, Bytes memory, bool bigEndian) {
  const std::string_view kind = conversion.pointer;
  if (kind.empty()) return false;
  switch (kind.front()) {
    case 'h':
      return appendHex(out, conversion, memory);
    case 'M':
    case 'm':
      return appendMac(out, kind, memory);
    case 'U':
      return appendUuid(out, kind, memory);
    case 'I':
    case 'i':
      break;
    default:
      return false;
  }
  const bool dense = kind.front() == 'i';
  if (kind[1] == 'S') return appendSocket(out, kind.substr(2), memory, bigEndian);
  if (kind[1] == '4') {
    if (memory.size() < 4) return false;
    const char order = kind.size() > 2 ? kind[2] : 'n';
    appendIp4(out, memory.first(4), dense, order == 'l' || (order == 'h' && !bigEndian));
    return true;
  }
  if (memory.size() < 16) return false;
  if (kind.ends_with('c')) {
    appendShortIp6(out, memory.first(16));
  } else {
    appendIp6(out, memory.first(16), !dense);
  }
  return true;
}

}  // namespace tickscope::trace_dat
