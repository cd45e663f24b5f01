// SPDX-License-Identifier: GPL-3.0-or-later
// The conversions of the kernel's printf: taking format strings apart, and printing values as
// lib/vsprintf.c does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_reader.h"
#include "core/base/result.h"
#include "core/trace/address_text.h"

namespace tickscope::trace_dat {

/// `%-08llx`, `%pS`, `%*phD`.
struct Conversion {
  bool left = false, plus = false, blank = false, alternate = false, zero = false;
  bool widthFromArgument = false, precisionFromArgument = false;
  s32 width = -1, precision = -1;  ///< -1: not given
  u8 size = 4;                     ///< bytes of the number that is read; `l` is the kernel's word
  char letter = 'd';               ///< d (also i), u, x, X, o, c, s, p
  std::string pointer;             ///< letters behind p: "S", "I6c", "hD"
};

/// A stretch of a format string: plain text, or a conversion.
struct FormatPiece {
  std::string plain;
  bool isConversion = false;
  Conversion conversion;
};

/// Largest width or precision that is followed; the kernel's own formats stay below 40.
inline constexpr s32 widestConversion = 999;

/// Errors: Unsupported for a conversion that is unknown or wider than widestConversion. `wordSize`:
/// of the kernel.
Result<std::vector<FormatPiece>> formatPieces(std::string_view format, u8 wordSize);

/// Appends a number as %d, %u, %x, %X, %o or %c would, of conversion.size bytes.
void appendNumber(std::string& out, const Conversion& conversion, u64 value);
/// Appends text as %s would; control characters are escaped.
void appendText(std::string& out, const Conversion& conversion, std::string_view text);
/// How `%ps` names an address.
using SymbolWords = void (AddressText::*)(std::string& out, u64 address) const;
/// Appends an address as %p, %ps, %pS, %pf, %pF, %pB, %pK or %px would. False: another letter
/// behind p.
bool appendAddress(std::string& out, const Conversion& conversion, u64 address,
                   const AddressText& addresses, SymbolWords symbol = &AddressText::symbol);
/// Appends memory as %ph, %pI4, %pI6, %pIS, %pM, %pm or %pU would. False: another letter, or too
/// few bytes.
bool appendMemory(std::string& out, const Conversion& conversion, Bytes memory, bool bigEndian);

}  // namespace tickscope::trace_dat
