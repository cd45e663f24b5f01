// SPDX-License-Identifier: GPL-3.0-or-later
// Fields by their place, by a table of functions: one for each kind.
#include "core/trace/field_value.h"

namespace tickscope {

namespace {

template <class T>
StoredValue stored(const T& value) {
  using Is = StoredValue::Is;
  if constexpr (std::is_same_v<T, Address>) {
    return {Is::Address, number(value)};
  } else if constexpr (std::is_same_v<T, StringId>) {
    return {Is::Text, number(value)};
  } else if constexpr (std::is_same_v<T, BaseTime>) {
    return {Is::Signed, static_cast<u64>(value.value)};
  } else if constexpr (std::is_same_v<T, Jiffies>) {
    return {Is::Unsigned, static_cast<u64>(value.value)};
  } else if constexpr (std::is_same_v<T, Pid>) {
    return {Is::Signed, static_cast<u64>(s64{number(value)})};
  } else if constexpr (std::is_signed_v<T>) {
    return {Is::Signed, static_cast<u64>(s64{value})};
  } else {
    return {Is::Unsigned, u64{value}};
  }
}

template <class P>
StoredValue fieldOfKind(const EventStore& store, Row row, std::size_t place) {
  const P payload = store.as<P>(row);
  StoredValue result;
  std::size_t first = 0;
  P::Fields::forEach([&]<class F>() {
    const std::size_t at = place - first;
    first += F::names;
    if (at >= F::names) return;
    if constexpr (std::is_same_v<typename F::Type, Task>) {
      const Task& task = payload.*F::member;
      result = at == 0 ? stored(task.comm) : at == 1 ? stored(task.pid) : stored(task.prio);
    } else if constexpr (F::names == 1) {
      result = stored(payload.*F::member);
    }
  });
  return result;
}

using Getter = StoredValue (*)(const EventStore&, Row, std::size_t);
constexpr std::array<Getter, kindCount> getters = []<class... P>(KindList<P...>) {
  return std::array<Getter, kindCount>{&fieldOfKind<P>...};
}(Kinds{});

}  // namespace

StoredValue fieldOf(const EventStore& store, Row row, std::size_t place) {
  const EventType& type = store.type(row);
  if (place >= infoOf(type.kind).fields.size() || !type.recorded(place)) return {};
  return getters[number(type.kind)](store, row, place);
}

}  // namespace tickscope
