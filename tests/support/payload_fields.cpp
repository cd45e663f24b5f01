// SPDX-License-Identifier: GPL-3.0-or-later
// Goes through the field lists of payloads.
#include "tests/support/payload_fields.h"

#include <fmt/format.h>

namespace tickscope::support {
namespace {

template <class T>
void setValue(PayloadField& field, const T& value, const EventStore& store) {
  if constexpr (std::is_same_v<T, StringId>) {
    field.isText = true;
    if (field.recorded) field.text = store.text(value);
  } else if constexpr (std::is_same_v<T, BaseTime> || std::is_same_v<T, Jiffies>) {
    field.number = static_cast<u64>(value.value);
  } else if constexpr (std::is_same_v<T, Address> || std::is_same_v<T, Pid>) {
    field.number = static_cast<u64>(static_cast<s64>(number(value)));
  } else {
    field.number = static_cast<u64>(static_cast<s64>(value));
  }
}

void setTask(std::span<PayloadField> three, const Task& task, const EventStore& store) {
  three[0].isText = true;
  if (three[0].recorded) three[0].text = store.text(task.comm);
  three[1].number = static_cast<u64>(static_cast<s64>(number(task.pid)));
  three[2].number = static_cast<u64>(static_cast<s64>(task.prio));
}

}  // namespace

std::vector<PayloadField> payloadFields(const EventStore& store, Row row) {
  std::vector<PayloadField> fields;
  const EventType& type = store.type(row);
  for (const FieldInfo& info : infoOf(type.kind).fields) {
    fields.push_back(
        {info.name, info.alias, info.type, type.recorded(fields.size()), false, 0, {}});
  }
  store.visit(row, [&]<class P>(const P& payload) {
    std::size_t at = 0;
    P::Fields::forEach([&]<class F>() {
      using T = typename F::Type;
      if constexpr (std::is_same_v<T, Task>) {
        setTask(std::span(fields).subspan(at, 3), payload.*F::member, store);
      } else if constexpr (!std::is_same_v<T, RawRef>) {
        setValue(fields[at], payload.*F::member, store);
      }
      at += F::names;
    });
  });
  return fields;
}

std::optional<RawRef> rawPlace(const EventStore& store, Row row) {
  std::optional<RawRef> place;
  store.visit(row, [&]<class P>(const P& payload) {
    P::Fields::forEach([&]<class F>() {
      if constexpr (std::is_same_v<typename F::Type, RawRef>) place = payload.*F::member;
    });
  });
  return place;
}

}  // namespace tickscope::support
