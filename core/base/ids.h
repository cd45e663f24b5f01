// SPDX-License-Identifier: GPL-3.0-or-later
// Names for the things that are known by number: rows, CPUs, tasks, addresses, interned strings.
#pragma once

#include <type_traits>

#include "core/base/quantity.h"

namespace tickscope {

/// An event: its place in the one order of its buffer.
enum class Row : u32 {};
/// The kernel's CPU number.
enum class Cpu : u16 {};
/// A thread id as the kernel's events print it; 0 is the idle task of whichever CPU.
enum class Pid : s32 {};
/// A kernel address as recorded, never hashed (32-bit kernels: zero-extended).
enum class Address : u64 {};
/// A string of one EventStore's pool.
enum class StringId : u32 {};

template <class Id>
constexpr auto number(Id id) {
  return static_cast<std::underlying_type_t<Id>>(id);
}

}  // namespace tickscope
