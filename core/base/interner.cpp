// SPDX-License-Identifier: GPL-3.0-or-later
// Where the characters of interned strings are kept.
#include "core/base/interner.h"

namespace tickscope {

std::string_view StringPool::keep(std::string_view text) {
  if (text.empty()) return {};
  constexpr std::size_t blockSize = 4096;
  if (text.size() > room_) {
    room_ = std::max(text.size(), blockSize);
    blocks_.push_back(std::make_unique<char[]>(room_));
    next_ = blocks_.back().get();
    kept_ += room_;
  }
  char* const to = next_;
  std::memcpy(to, text.data(), text.size());
  next_ += text.size();
  room_ -= text.size();
  return {to, text.size()};
}

}  // namespace tickscope
