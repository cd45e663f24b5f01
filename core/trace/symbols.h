// SPDX-License-Identifier: GPL-3.0-or-later
// The kernel's symbol list of a recording, indexed when first asked.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"

namespace tickscope {

struct Symbol {
  std::string_view name;
  std::string_view module;  ///< without brackets; empty: the kernel itself
  u64 offset{};             ///< of the address asked for, from the symbol's start
  Known<u64> size;          ///< up to the next symbol; empty: the last one
};

/// kallsyms text: `hex type name [module]` a line. Lines that are not so are counted and left out, absolute symbols
/// (a, A), mapping symbols (`$x`) and padding (`__pfx_`) are left out; addresses that are all zero mean no symbols.
/// Thread-safe.
class Symbols {
 public:
  Symbols() = default;
  explicit Symbols(std::string text) : text_(std::move(text)) {}
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// The nearest symbol at or below; empty: none, or further away than 1 MiB (the list may be partial).
  [[nodiscard]] Known<Symbol> at(Address address) const;
  /// Where a function of exactly that name begins and ends (the next symbol, at most 1 MiB). Does not
  /// build the index, but takes the list as written by address.
  struct Range {
    u64 from, to;
  };
  [[nodiscard]] Known<Range> rangeOf(std::string_view name) const;
  [[nodiscard]] bool empty() const { return text_.empty(); }
  /// How many symbols there are, and lines that are none. Builds the index.
  [[nodiscard]] u32 size() const;
  [[nodiscard]] u32 badLines() const;

 private:
  struct Entry {
    u64 address;
    u32 name, nameLength, module, moduleLength;  // places in text_
  };
  void index() const;

  std::string text_;
  mutable std::once_flag once_;
  mutable std::vector<Entry> entries_;
  mutable u32 badLines_ = 0;
};

}  // namespace tickscope
