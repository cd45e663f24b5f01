// SPDX-License-Identifier: GPL-3.0-or-later
// Turns a recording into what another machine would have recorded: byte order, word, page size.
#pragma once

#include "tests/support/trace_dat_writer.h"

namespace tickscope::support {

/// What to change; empty: as the original.
struct Target {
  std::optional<int> version{};
  std::optional<Codec> codec{};
  std::optional<Order> order{};
  std::optional<u32> word{};      ///< 4 from 8: pointers and longs lose their upper half
  u32 dataOffset = 0;             ///< 16 with word 4: a machine that aligns to 8 bytes
  u32 wideAlignment = 8;          ///< of 64-bit fields when `word` changes; i386 has 4
  std::optional<u32> pageSize{};  ///< records are packed anew into pages of this size
};

/// The same events in another container. Throws std::runtime_error on what it does not understand.
DatFile reencoded(const DatFile&, const Target&);

/// A `field:` line of a format text.
struct FormatField {
  std::string declaration, name;
  u32 offset{}, size{};
  u32 element = 1;  ///< bytes of one number of the content; 1: bytes or text
  bool isWord{};    ///< a long or a pointer, or an array of them
  bool isArray{};
  bool isDataLoc{}, isRelLoc{};
};
struct EventFormat {
  u32 id{};
  std::string name;
  std::vector<FormatField> fields;
};
EventFormat parseFormat(const std::string& text, u32 word);

}  // namespace tickscope::support
