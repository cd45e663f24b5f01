// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a recording carries a field of a typed event, by the field's name.
#pragma once

#include <algorithm>

#include "core/trace/event_store.h"

namespace tickscope {

/// For EventType::recorded(); a name that is no field of P does not compile.
template <class P>
consteval std::size_t placeOf(std::string_view field) {
  std::size_t place = 0;
  while (P::Fields::infos.at(place).name != field) ++place;
  return place;
}

/// One of the recording's formats of that event has the field at a place of placeOf().
template <class P>
bool recordsField(const EventStore& store, std::size_t place) {
  return std::ranges::any_of(store.types(), [&](const EventType& type) {
    return type.kind == kindOf<P> && type.recorded(place);
  });
}

}  // namespace tickscope
