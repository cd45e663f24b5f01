// SPDX-License-Identifier: GPL-3.0-or-later
// Escapes control characters and invalid UTF-8.
#include "core/base/shown_text.h"

#include <fmt/format.h>

#include <iterator>

namespace tickscope {
namespace {

u8 byteAt(std::string_view text, std::size_t at) { return static_cast<u8>(text[at]); }

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (byteAt(text, at) & 0xc0U) == 0x80U;
}

/// Bytes of the well-formed character at `at`; 0: there is none.
std::size_t characterLength(std::string_view text, std::size_t at) {
  const u8 first = byteAt(text, at);
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return continues(text, at + 1) ? 2 : 0;
  if (first < 0xf0) {
    if (!continues(text, at + 1) || !continues(text, at + 2)) return 0;
    const u8 second = byteAt(text, at + 1);
    if (first == 0xe0 && second < 0xa0) return 0;   // overlong
    if (first == 0xed && second >= 0xa0) return 0;  // surrogate
    return 3;
  }
  if (first > 0xf4) return 0;
  if (!continues(text, at + 1) || !continues(text, at + 2) || !continues(text, at + 3)) return 0;
  const u8 second = byteAt(text, at + 1);
  if (first == 0xf0 && second < 0x90) return 0;
  if (first == 0xf4 && second >= 0x90) return 0;
  return 4;
}

/// C1 controls, direction marks, line and paragraph separators, the byte order mark.
bool misleads(std::string_view character) {
  if (character.size() == 2) return byteAt(character, 0) == 0xc2 && byteAt(character, 1) < 0xa0;
  if (character.size() != 3) return false;
  const u32 code = ((byteAt(character, 0) & 0x0fU) << 12U) |
                   ((byteAt(character, 1) & 0x3fU) << 6U) | (byteAt(character, 2) & 0x3fU);
  return (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

void appendEscape(std::string& out, u8 byte) {
  switch (byte) {
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\r':
      out += "\\r";
      break;
    default:
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
  }
}

}  // namespace

void appendShown(std::string& out, std::string_view bytes, Breaks breaks) {
  for (std::size_t at = 0; at < bytes.size();) {
    const u8 byte = byteAt(bytes, at);
    const bool kept = breaks == Breaks::Keep && (byte == '\n' || byte == '\t');
    const std::size_t length = characterLength(bytes, at);
    if (!kept && (length == 0 || byte < 0x20 || byte == 0x7f)) {
      appendEscape(out, byte);
      ++at;
      continue;
    }
    const std::string_view character = bytes.substr(at, length);
    if (misleads(character)) {
      for (std::size_t i = 0; i < length; ++i) appendEscape(out, byteAt(character, i));
    } else {
      out += character;
    }
    at += length;
  }
}

std::string shown(std::string_view bytes, Breaks breaks) {
  std::string out;
  out.reserve(bytes.size());
  appendShown(out, bytes, breaks);
  return out;
}

}  // namespace tickscope
