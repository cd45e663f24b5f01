// SPDX-License-Identifier: GPL-3.0-or-later
// Addresses as the kernel prints them: as digits, as a symbol, as a place in a symbol.
#pragma once

#include <string>

#include "core/trace/symbols.h"

namespace tickscope {

/// Appends to strings. Symbols must live as long. Thread-safe.
class AddressText {
 public:
  /// `wordSize`: bytes of the kernel's long, 4 or 8.
  AddressText(const Symbols& symbols, u8 wordSize) : symbols_(&symbols), wordSize_(wordSize) {}

  /// 16 digits (8 of 32-bit kernels), without hashing: what `%p` prints with no_hash_pointers.
  void pointer(std::string& out, u64 address) const;
  /// `name` or `name [module]`; without a symbol near: `0xffffffff81000000`. What `%ps` prints.
  void symbol(std::string& out, u64 address) const;
  /// The same for the address of a function, which lies where its symbol begins: a symbol more than
  /// 16 bytes below (alignment, patch areas) is another function, because recordings can hold a
  /// reduced list of symbols.
  void function(std::string& out, u64 address) const;
  /// `name+0x1c/0x70 [module]`, the size left out when it is not known. What `%pS` prints.
  void symbolOffset(std::string& out, u64 address) const;
  /// A place in code, as in stacks and traced functions: the name without its module, `0` when
  /// there is none.
  void place(std::string& out, u64 address) const;
  /// The same where the symbol may be missing from a reduced list: an address when the symbol is
  /// more than 64 KiB below.
  void markerPlace(std::string& out, u64 address) const;

  [[nodiscard]] u8 wordSize() const { return wordSize_; }

 private:
  const Symbols* symbols_;
  u8 wordSize_;
};

}  // namespace tickscope
