// SPDX-License-Identifier: GPL-3.0-or-later
// How a payload lies in the store: fields that the recording lacks take no room; names are numbers into pools.
#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "core/base/interner.h"
#include "core/trace/event_kind.h"

namespace tickscope {

/// The pools of one store. Numbers are given by first appearance, so equal input gives equal numbers.
struct Pools {
  AddressPool addresses;
  StringPool strings;
  TaskPool tasks;
};

/// Room for the members of the largest payload.
inline constexpr std::size_t maxMembers = 10;

/// Which members of a payload are stored and where, bytes from the payload's start.
struct StoredLayout {
  static constexpr u8 absent = 0xff;
  std::array<u8, maxMembers> at{};
  u8 size = 0;
};

/// The layout of a payload whose fields `has` (bit i: place i in Fields::infos) were recorded. A member of three
/// fields is stored when any of them was.
template <class P>
constexpr StoredLayout storedLayout(u32 has) {
  StoredLayout layout;
  layout.at.fill(StoredLayout::absent);
  std::size_t member = 0;
  std::size_t name = 0;
  P::Fields::forEach([&]<class F>() {
    const u32 bits = ((1U << F::names) - 1U) << name;
    if (F::names == 0 || (has & bits)) {
      layout.at[member] = layout.size;
      layout.size = static_cast<u8>(layout.size + storedSize<typename F::Type>());
    }
    ++member;
    name += F::names;
  });
  static_assert(P::Fields::members <= maxMembers);
  return layout;
}
StoredLayout storedLayout(EventKind kind, u32 has);

template <class T>
void storeMember(u8* to, const T& value, Pools& pools) {
  const auto put = [to](auto stored) { std::memcpy(to, &stored, sizeof stored); };
  if constexpr (std::is_same_v<T, Address>) {
    put(pools.addresses.intern(static_cast<u64>(value)));
  } else if constexpr (std::is_same_v<T, StringId>) {
    put(static_cast<u32>(value));
  } else if constexpr (std::is_same_v<T, Task>) {
    TaskBlock block{{0, 0}, number(value.pid), value.prio};
    const std::string_view comm = pools.strings[number(value.comm)];
    // The view of an empty text may point nowhere, which memcpy must not be given.
    if (!comm.empty()) {
      std::memcpy(block.comm, comm.data(), std::min(comm.size(), sizeof block.comm));
    }
    put(pools.tasks.intern(block));
  } else {
    put(value);
  }
}

}  // namespace tickscope
