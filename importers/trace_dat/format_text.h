// SPDX-License-Identifier: GPL-3.0-or-later
// The text of an event format as a table of fields (reading-traces 3.1).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope::trace_dat {

struct FormatField {
  enum class Kind : u8 {
    Integer,  ///< 1, 2, 4 or 8 bytes
    Pointer,  ///< an integer whose declaration has a `*`
    Chars,    ///< fixed array of char: a string with or without a NUL
    Array,    ///< fixed array of `elementSize`
    DataLoc,  ///< u32: offset from the record's start | length << 16
    RelLoc,   ///< the same, offset from the end of this field
    Unusable  ///< declared in a way that cannot be read: size 3, offset beyond 64 KiB, ...
  };
  std::string name;  ///< last identifier before `[`
  std::string
      declaration;  ///< "unsigned long", "char", without the name and bounds; attributes left out
  Kind kind = Kind::Unusable;
  u32 offset = 0,
      size = 0;  ///< bytes from the record's start; size 0: an array to the end of the record
  u32 elementSize = 0;  ///< of arrays and dynamic data
  bool isSigned = false;
  bool isChars = false;  ///< dynamic data or array of characters
};

struct EventFormat {
  std::string system, name;
  u16 id = 0;
  std::vector<FormatField> common;  ///< common_type, common_flags, ...
  std::vector<FormatField> fields;
  std::string printFormat;            ///< behind "print fmt: ", as written
  u64 offset = 0;                     ///< in the input
  std::vector<std::string> problems;  ///< fields that cannot be used, in words

  [[nodiscard]] const FormatField* find(std::string_view field) const;
};

/// Largest format text that is read; a larger one leaves its records as bytes.
inline constexpr std::size_t largestFormat = 64 << 10U;

/// Never fails wholly when a name and an ID are there; id 0: not usable as a format (no name, no ID, ID out of 1..65535).
EventFormat parseFormat(std::string_view system, std::string_view text);

}  // namespace tickscope::trace_dat
