// SPDX-License-Identifier: GPL-3.0-or-later
// Event formats and records written in tests field by field.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/trace/address_text.h"
#include "importers/trace_dat/format_text.h"
#include "importers/trace_dat/print_expression.h"

namespace tickscope::support {

/// A format with the usual common fields, `fields` as `type name;offset;size;signed` lines, and a
/// print format. It lives as long as the program, because what is compiled from it refers to it.
const trace_dat::EventFormat& madeFormat(const std::vector<std::string>& fields,
                                         const std::string& printFormat,
                                         const std::string& system = "test",
                                         const std::string& name = "event");

/// Bytes of a record, common fields (of the id that madeFormat() gives) first.
class MadeRecord {
 public:
  explicit MadeRecord(bool bigEndian = false) : bigEndian_(bigEndian) {
    number(400, 2).number(0, 6);
  }
  /// `value` in `size` bytes at the end.
  MadeRecord& number(u64 value, std::size_t size);
  MadeRecord& text(std::string_view characters, std::size_t size);
  [[nodiscard]] const std::vector<u8>& bytes() const { return bytes_; }

 private:
  bool bigEndian_;
  std::vector<u8> bytes_;
};

/// Symbols and kernel strings to print with.
struct MadeSurroundings {
  explicit MadeSurroundings(u8 wordSize = 8, bool swap = false);
  Symbols symbols;
  std::unordered_map<u64, std::string> strings;
  AddressText addresses;
  trace_dat::PrintSurroundings around;
};

}  // namespace tickscope::support
