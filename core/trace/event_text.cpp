// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of the kernel's `trace` file from rows.
#include "core/trace/event_text.h"

#include <fmt/format.h>

#include <iterator>

#include "core/base/shown_text.h"
#include "core/trace/address_text.h"
#include "core/trace/event_body.h"

namespace tickscope {
namespace {

/// Room for all fields of the largest payload.
constexpr std::size_t maxFields = 16;

/// The values of a payload in the order of its fields.
class PayloadValues {
 public:
  template <class P>
  PayloadValues(const EventStore& events, const EventType& type, const P& payload)
      : events_(&events), type_(&type) {
    static_assert(P::Fields::names <= maxFields);
    P::Fields::forEach([&]<class F>() {
      if constexpr (F::names > 0) add(payload.*F::member);
    });
  }
  [[nodiscard]] std::span<const TypedValue> values() const { return {values_.data(), size_}; }

 private:
  void add(const Task& task) {
    put(0, textOf(task.comm));
    put(static_cast<u64>(number(task.pid)));
    put(static_cast<u64>(task.prio));
  }
  void add(StringId text) { put(0, textOf(text)); }
  void add(Address address) { put(number(address)); }
  void add(Pid pid) { put(static_cast<u64>(number(pid))); }
  template <class Clock>
  void add(Instant<Clock> time) {
    put(static_cast<u64>(time.value));
  }
  template <class T>
    requires std::is_integral_v<T>
  void add(T value) {
    put(static_cast<u64>(value));
  }
  /// A field that was not recorded has no string in the pool, which may be empty.
  [[nodiscard]] std::string_view textOf(StringId id) const {
    return type_->recorded(size_) ? events_->text(id) : std::string_view{};
  }
  void put(u64 value, std::string_view text = {}) {
    values_[size_] = {value, text, type_->recorded(size_)};
    ++size_;
  }

  const EventStore* events_;
  const EventType* type_;
  std::array<TypedValue, maxFields> values_{};
  std::size_t size_ = 0;
};

FieldValue fieldValue(const FieldInfo& info, std::string_view name, const TypedValue& value) {
  FieldValue field{std::string(name), {}, false};
  switch (info.type) {
    case FieldType::U8:
    case FieldType::U16:
    case FieldType::U32:
    case FieldType::U64:
    case FieldType::Bool:
    case FieldType::JiffiesValue:
      field.value = value.number;
      break;
    case FieldType::Address:
      field.value = value.number;
      field.address = true;
      break;
    case FieldType::S32:
    case FieldType::S64:
    case FieldType::Ktime:
    case FieldType::PidValue:
    case FieldType::TaskPid:
    case FieldType::TaskPrio:
      field.value = static_cast<s64>(value.number);
      break;
    case FieldType::Text:
    case FieldType::TaskComm:
      field.value = std::string(value.text);
      break;
  }
  return field;
}

/// Kinds whose print format in the file is not what the kernel prints, or that keep their bytes.
template <class P>
constexpr bool hasOwnText =
    std::is_same_v<P, Function> || std::is_same_v<P, ProgramEvent> ||
    std::is_same_v<P, ProgramEventProbe> || std::is_same_v<P, ProgramEventReturn> ||
    std::is_same_v<P, FuncRepeats> || std::is_same_v<P, FuncgraphEntry> ||
    std::is_same_v<P, FuncgraphExit> || std::is_same_v<P, Print> || std::is_same_v<P, Bputs> ||
    std::is_same_v<P, Raw>;

template <class P>
constexpr bool keepsBytes = std::is_same_v<P, Raw> || std::is_same_v<P, ProgramEventProbe> ||
                            std::is_same_v<P, ProgramEventReturn>;

}  // namespace

std::string EventText::body(Row row) const {
  const EventStore& events = buffer_->events;
  Known<std::string> formatted;
  if (buffer_->raw) {
    events.visit(row, [&]<class P>(const P& payload) {
      if constexpr (!hasOwnText<P>) {
        const PayloadValues values(events, events.type(row), payload);
        formatted = buffer_->raw->typedBody(events.typeIndex(row), values.values());
      }
    });
  }
  if (formatted) return std::move(*formatted);
  std::string text;
  appendTypedBody(text, *recording_, *buffer_, row);
  return text;
}

std::string EventText::nameAndBody(Row row) const {
  const EventStore& events = buffer_->events;
  const EventKind kind = events.kind(row);
  if (kind == kindOf<Function> || kind == kindOf<ProgramEvent> || kind == kindOf<FuncRepeats>)
    return body(row);
  const auto keepsName = [&] {
    return buffer_->raw && !buffer_->raw->namedInText(events.typeIndex(row));
  };
  if (kind == kindOf<Raw> && keepsName()) return body(row);
  std::string text;
  const AddressText addresses(*recording_->metadata.symbols, recording_->metadata.wordSize);
  if (kind == kindOf<Print>) {
    addresses.markerPlace(text, number(events.as<Print>(row).ip));
  } else if (kind == kindOf<Bputs>) {
    addresses.markerPlace(text, number(events.as<Bputs>(row).ip));
  } else {
    appendShown(text, eventName(row));
  }
  text += ": ";
  return text + body(row);
}

std::string EventText::line(Row row) const {
  const EventStore& events = buffer_->events;
  const ClockUnit unit = buffer_->clock.unit;
  const bool inSeconds = unit == ClockUnit::Nanoseconds;
  const std::string time = timeText(events.time(row), unit);
  const std::string task = comm(events.pid(row));
  // The kernel pads by bytes, fmt by width on the screen.
  std::string text(task.size() < 16 ? 16 - task.size() : 0, ' ');
  text += task;
  // Seconds have 5 columns before the dot, counts have 12.
  fmt::format_to(std::back_inserter(text), "-{:<7d} [{:03}] {} {:>{}}: ", number(events.pid(row)),
                 number(events.cpu(row)), contextText(events.context(row)), time,
                 inSeconds ? 15 : 12);
  return text + nameAndBody(row);
}

std::string EventText::comm(Pid pid) const {
  const Known<std::string_view> name = recording_->metadata.tasks.of(pid);
  return name ? shown(*name) : "<...>";
}

std::string_view EventText::eventName(Row row) const { return buffer_->events.type(row).name; }

std::vector<FieldValue> EventText::fields(Row row) const {
  const EventStore& events = buffer_->events;
  const u16 type = events.typeIndex(row);
  std::vector<FieldValue> fields;
  events.visit(row, [&]<class P>(const P& payload) {
    if constexpr (keepsBytes<P>) {
      if (buffer_->raw) {
        fields = buffer_->raw->fields(type, payload.raw);
        return;
      }
    }
    const PayloadValues values(events, events.type(row), payload);
    for (std::size_t place = 0; place < values.values().size(); ++place) {
      const TypedValue& value = values.values()[place];
      if (!value.recorded) continue;
      const FieldInfo& info = P::Fields::infos[place];
      const std::string_view name = buffer_->raw ? buffer_->raw->fieldName(type, place) : "";
      fields.push_back(fieldValue(info, name.empty() ? info.name : name, value));
    }
  });
  return fields;
}

std::string EventText::symbol(Address address) const {
  std::string text;
  AddressText(*recording_->metadata.symbols, recording_->metadata.wordSize)
      .function(text, number(address));
  return text;
}

std::string EventText::place(Address address) const {
  std::string text;
  AddressText(*recording_->metadata.symbols, recording_->metadata.wordSize)
      .symbol(text, number(address));
  return text;
}

}  // namespace tickscope
