// SPDX-License-Identifier: GPL-3.0-or-later
// Compares stores by what they say, not by how they lie in memory.
#include "tests/support/store_compare.h"

#include <fmt/format.h>

#include "core/trace/event_text.h"
#include "tests/support/payload_fields.h"

namespace tickscope::support {
namespace {

std::string shown(const FieldValue& field) {
  if (const auto* const u = std::get_if<u64>(&field.value))
    return fmt::format("{}={:#x}", field.name, *u);
  if (const auto* const s = std::get_if<s64>(&field.value))
    return fmt::format("{}={}", field.name, *s);
  if (const auto* const text = std::get_if<std::string>(&field.value))
    return fmt::format("{}='{}'", field.name, *text);
  return field.name + "=?";
}

std::string shown(const PayloadField& field) {
  if (!field.recorded) return std::string(field.name) + " not recorded";
  if (field.isText) return fmt::format("{}='{}'", field.name, field.text);
  return fmt::format("{}={:#x}", field.name, field.number);
}

template <class T>
std::string shown(const Known<T>& value) {
  if (!value) return "unknown";
  if constexpr (std::is_same_v<T, u64>)
    return fmt::format("{}", *value);
  else if constexpr (std::is_same_v<T, TraceTime>)
    return fmt::format("{}", value->value);
  else
    return fmt::format("{}", number(*value));
}

class StoreComparison {
 public:
  StoreComparison(const Buffer& expected, const Buffer& found, const CompareOptions& options)
      : options_(options), a_(expected), b_(found) {}

  std::string run() {
    if (a_.name != b_.name) return fmt::format("buffer \"{}\" instead of \"{}\"", b_.name, a_.name);
    if (options_.clocks && a_.clock.name != b_.clock.name) {
      return fmt::format("clock \"{}\" instead of \"{}\"", b_.clock.name, a_.clock.name);
    }
    if (std::string text = streams(); !text.empty()) return text;
    for (u32 row = 0; row < a_.events.size(); ++row) {
      if (std::string text = oneRow(Row{row}); !text.empty())
        return fmt::format("buffer \"{}\", row {}: {}", a_.name, row, text);
    }
    return options_.losses ? marks() : "";
  }

 private:
  std::string streams() const {
    if (a_.events.size() != b_.events.size())
      return fmt::format("{} rows instead of {}", b_.events.size(), a_.events.size());
    const auto used = [](const EventStore& store) {
      std::string text;
      for (const Stream& s : store.streams()) {
        if (s.count) text += fmt::format("CPU {}: {}; ", number(s.cpu), s.count);
      }
      return text;
    };
    if (used(a_.events) != used(b_.events))
      return fmt::format("streams {} instead of {}", used(b_.events), used(a_.events));
    return "";
  }

  std::string oneRow(Row row) const {
    const EventStore& a = a_.events;
    const EventStore& b = b_.events;
    const auto differ = [](std::string_view what, auto expected, auto found) {
      return fmt::format("{} {} instead of {}", what, found, expected);
    };
    if (a.time(row) != b.time(row)) return differ("time", a.time(row).value, b.time(row).value);
    if (a.cpu(row) != b.cpu(row)) return differ("CPU", number(a.cpu(row)), number(b.cpu(row)));
    if (a.pid(row) != b.pid(row)) return differ("pid", number(a.pid(row)), number(b.pid(row)));
    if (a.context(row) != b.context(row))
      return differ("flags", contextText(a.context(row)), contextText(b.context(row)));
    const EventType& ta = a.type(row);
    const EventType& tb = b.type(row);
    if (ta.name != tb.name || ta.system != tb.system || !sameKind(ta.kind, tb.kind) ||
        ta.id != tb.id) {
      return differ("event",
                    fmt::format("{}:{} ({}, kind {})", ta.system, ta.name, ta.id, number(ta.kind)),
                    fmt::format("{}:{} ({}, kind {})", tb.system, tb.name, tb.id, number(tb.kind)));
    }
    if (std::string text = typedFields(row); !text.empty())
      return fmt::format("{}: {}", ta.name, text);
    if (std::string text = rawFields(row); !text.empty())
      return fmt::format("{}: {}", ta.name, text);
    return "";
  }

  [[nodiscard]] bool sameKind(EventKind a, EventKind b) const {
    const auto isFunction = [](EventKind kind) {
      return kind == kindOf<Function> || kind == kindOf<ProgramEvent>;
    };
    return a == b || (!options_.symbols && isFunction(a) && isFunction(b));
  }

  [[nodiscard]] bool sameNumber(std::string_view name, u64 a, u64 b) const {
    return a == b ||
           (options_.words.contains(std::string(name)) && (a & 0xffffffffU) == (b & 0xffffffffU));
  }

  std::string typedFields(Row row) const {
    const auto a = payloadFields(a_.events, row);
    const auto b = payloadFields(b_.events, row);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i].recorded != b[i].recorded || a[i].text != b[i].text ||
          !sameNumber(a[i].name, a[i].number, b[i].number)) {
        return fmt::format("{} instead of {}", shown(b[i]), shown(a[i]));
      }
    }
    return "";
  }

  std::string rawFields(Row row) const {
    const auto placeA = rawPlace(a_.events, row);
    const auto placeB = rawPlace(b_.events, row);
    if (placeA.has_value() != placeB.has_value()) return "one is kept as bytes";
    if (!placeA || !a_.raw || !b_.raw) return "";
    const u16 typeA = a_.events.typeIndex(row);
    const u16 typeB = b_.events.typeIndex(row);
    if (options_.rawBytes) {
      if (a_.raw->bytes(*placeA) != b_.raw->bytes(*placeB)) return "other bytes";
      return "";
    }
    const auto a = a_.raw->fields(typeA, *placeA);
    const auto b = b_.raw->fields(typeB, *placeB);
    if (a.size() != b.size()) return fmt::format("{} fields instead of {}", b.size(), a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!sameValue(a[i], b[i])) return fmt::format("{} instead of {}", shown(b[i]), shown(a[i]));
    }
    return "";
  }

  [[nodiscard]] bool sameValue(const FieldValue& a, const FieldValue& b) const {
    if (a.name == b.name && options_.untyped.contains(a.name)) return true;
    if (a.name != b.name || a.value.index() != b.value.index()) return false;
    if (const auto* const u = std::get_if<u64>(&a.value))
      return sameNumber(a.name, *u, std::get<u64>(b.value));
    if (const auto* const s = std::get_if<s64>(&a.value)) {
      return sameNumber(a.name, static_cast<u64>(*s), static_cast<u64>(std::get<s64>(b.value)));
    }
    return a.value == b.value;
  }

  std::string marks() const {
    const auto losses = [](const EventStore& store) {
      std::string text;
      for (const Loss& l : store.losses()) {
        text += fmt::format("CPU {}: {} from {} to {} before row {}; ", number(l.cpu),
                            shown(l.count), shown(l.from), shown(l.to), shown(l.next));
      }
      return text;
    };
    if (losses(a_.events) != losses(b_.events)) {
      return fmt::format("losses \"{}\" instead of \"{}\"", losses(b_.events), losses(a_.events));
    }
    const auto steps = [](const EventStore& store) {
      std::string text;
      for (const BackwardStep& s : store.backwardSteps())
        text += fmt::format("row {} by {}; ", number(s.row), s.by.value);
      return text;
    };
    if (steps(a_.events) != steps(b_.events))
      return fmt::format("backward steps \"{}\" instead of \"{}\"", steps(b_.events),
                         steps(a_.events));
    return "";
  }

  const CompareOptions& options_;
  const Buffer& a_;
  const Buffer& b_;
};

}  // namespace

std::string difference(const Buffer& expected, const Buffer& found, const CompareOptions& options) {
  return StoreComparison(expected, found, options).run();
}

std::string difference(const Recording& expected, const Recording& found,
                       const CompareOptions& options) {
  if (expected.buffers.size() != found.buffers.size()) {
    return fmt::format("{} buffers instead of {}", found.buffers.size(), expected.buffers.size());
  }
  for (std::size_t i = 0; i < expected.buffers.size(); ++i) {
    if (std::string text = difference(expected.buffers[i], found.buffers[i], options);
        !text.empty())
      return text;
  }
  return "";
}

std::string rowText(const Buffer& buffer, Row row) {
  const EventStore& store = buffer.events;
  std::string text = fmt::format(
      "{} [{}] {} {} {}:{}", store.time(row).value, number(store.cpu(row)), number(store.pid(row)),
      contextText(store.context(row)), store.type(row).system, store.type(row).name);
  for (const PayloadField& field : payloadFields(store, row)) text += " " + shown(field);
  if (const auto place = rawPlace(store, row); place && buffer.raw) {
    for (const FieldValue& field : buffer.raw->fields(store.typeIndex(row), *place))
      text += " " + shown(field);
  }
  return text;
}

}  // namespace tickscope::support
