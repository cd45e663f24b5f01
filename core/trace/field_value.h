// SPDX-License-Identifier: GPL-3.0-or-later
// One field of a typed row by its place, without unpacking into a payload type that the caller
// names.
#pragma once

#include "core/trace/event_store.h"

namespace tickscope {

/// A field as it lies in the store.
struct StoredValue {
  enum class Is : u8 { Nothing, Signed, Unsigned, Address, Text } is = Is::Nothing;
  u64 bits = 0;  ///< the number (two's complement when Signed), the address, the StringId
};

/// Field `place` of infoOf(kind(row)).fields. Nothing: the recording lacks it.
StoredValue fieldOf(const EventStore& store, Row row, std::size_t place);

}  // namespace tickscope
