// SPDX-License-Identifier: GPL-3.0-or-later
// Addresses in the kernel's words.
#include "core/trace/address_text.h"

#include <fmt/format.h>

#include <iterator>

#include "core/base/shown_text.h"

namespace tickscope {
namespace {

constexpr u64 farAway = 64U << 10U;
constexpr u64 insideEntry = 16;

void appendModule(std::string& out, const Symbol& symbol) {
  if (symbol.module.empty()) return;
  out += " [";
  appendShown(out, symbol.module);
  out += ']';
}

void appendHex(std::string& out, u64 number) {
  fmt::format_to(std::back_inserter(out), "{:#x}", number);
}

}  // namespace

void AddressText::pointer(std::string& out, u64 address) const {
  if (wordSize_ == 4) {
    fmt::format_to(std::back_inserter(out), "{:08x}", static_cast<u32>(address));
  } else {
    fmt::format_to(std::back_inserter(out), "{:016x}", address);
  }
}

void AddressText::symbol(std::string& out, u64 address) const {
  const Known<Symbol> found = symbols_->at(static_cast<Address>(address));
  if (!found) return appendHex(out, address);
  appendShown(out, found->name);
  appendModule(out, *found);
}

void AddressText::symbolOffset(std::string& out, u64 address) const {
  const Known<Symbol> found = symbols_->at(static_cast<Address>(address));
  if (!found) return appendHex(out, address);
  appendShown(out, found->name);
  fmt::format_to(std::back_inserter(out), "+{:#x}", found->offset);
  if (found->size) fmt::format_to(std::back_inserter(out), "/{:#x}", *found->size);
  appendModule(out, *found);
}

void AddressText::function(std::string& out, u64 address) const {
  const Known<Symbol> found = symbols_->at(static_cast<Address>(address));
  if (!found || found->offset > insideEntry) return appendHex(out, address);
  appendShown(out, found->name);
  appendModule(out, *found);
}

void AddressText::place(std::string& out, u64 address) const {
  if (!address) {
    out += '0';
  } else if (const Known<Symbol> found = symbols_->at(static_cast<Address>(address))) {
    appendShown(out, found->name);
  } else {
    appendHex(out, address);
  }
}

void AddressText::markerPlace(std::string& out, u64 address) const {
  const Known<Symbol> found = symbols_->at(static_cast<Address>(address));
  if (found && found->offset <= farAway) {
    appendShown(out, found->name);
  } else {
    appendHex(out, address);
  }
}

}  // namespace tickscope
