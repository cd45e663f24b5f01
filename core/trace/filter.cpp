// SPDX-License-Identifier: GPL-3.0-or-later
// Compiles a filter's tree into tests on columns, cheapest first, and runs them.
#include "core/trace/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "core/trace/event_text.h"
#include "core/trace/field_value.h"
#include "core/trace/filter_terms.h"

namespace tickscope {

namespace {

/// In order of cost: parts of && and || run in this order.
enum class TestIs : u8 {
  Type,
  Stream,
  RowNumber,
  Time,
  PidNumber,
  Context,
  Tgid,
  Comm,
  Field,
  FieldOfBytes,
  Text,
  Not,
  And,
  Or
};

struct TestNode {
  TestIs is{};
  u8 cost = 0;
  std::vector<TestNode> parts;
  std::vector<u8> accepted;  // by type or stream
  NumberTest number;
  bool numeric = false;       // of fields: `number` was given
  bool jiffiesToo = true;     // the number has no unit of time
  bool preemptCount = false;  // of Context: else the flags
  Known<TextTest> text;
  std::string word;
  std::vector<FieldPlace> places;  // by type
  // What was learned: texts by their number, symbols by address, tasks by pid. 0: not yet, 1: no,
  // 2: yes.
  std::vector<u8> strings;
  std::unordered_map<u64, bool> addresses;
  std::unordered_map<s32, bool> tasks;
};

using Compiled = tl::expected<TestNode, FilterError>;

tl::unexpected<FilterError> atField(const FilterNode& node, std::string what) {
  return tl::unexpected(FilterError{std::move(what), node.at, node.length});
}
tl::unexpected<FilterError> atValue(const FilterNode& node, std::string what) {
  return tl::unexpected(FilterError{std::move(what), node.valueAt, node.valueLength});
}

bool isPattern(FilterOp op) { return op == FilterOp::Matches || op == FilterOp::DoesNotMatch; }

/// The name of a field in quotes, cut when somebody pasted a page.
std::string inTicks(std::string_view name) {
  return fmt::format("`{}{}`", name.substr(0, 60), name.size() > 60 ? "..." : "");
}

/// Fields that hold an address inside of a function, not where one begins.
bool isPlaceInCode(std::string_view field) {
  constexpr std::array<std::string_view, 7> names{
      "ip", "parent_ip", "callsite", "call_site", "caller", "__probe_ip", "__probe_ret_ip"};
  return std::find(names.begin(), names.end(), field) != names.end();
}

/// As the kernel prints pointers, 8 or 16 hexadecimal digits, or with 0x in front.
Known<u64> printedPointer(std::string_view text) {
  if (text.starts_with("0x")) {
    const auto value = readNumber(text);
    return value ? Known<u64>(value->whole) : Known<u64>{};
  }
  if (text.size() != 8 && text.size() != 16) return {};
  const auto value = readNumber("0x" + std::string(text));
  return value ? Known<u64>(value->whole) : Known<u64>{};
}

}  // namespace

struct Filter::Program {
  const EventStore* store;
  const Metadata* metadata;
  ClockUnit unit;
  EventText text;
  TestNode top;

  bool matches(TestNode& node, Row row);
  bool comm(TestNode& node, Pid pid);
  bool field(TestNode& node, Row row);
  bool raw(TestNode& node, const FieldPlace& place, Row row);
  bool symbol(TestNode& node, std::string_view field, u64 address);
};

namespace {

class Compiler {
 public:
  Compiler(const Recording& recording, const Buffer& buffer)
      : store_(&buffer.events), unit_(buffer.clock.unit), names_(recording, buffer) {}

  Compiled compile(const FilterNode& node) {
    switch (node.is) {
      case FilterNode::Is::And:
      case FilterNode::Is::Or:
      case FilterNode::Is::Not:
        return joined(node);
      case FilterNode::Is::Word:
        return word(node);
      case FilterNode::Is::Comparison:
        break;
    }
    return comparison(node);
  }

 private:
  static TestNode made(TestIs is) {
    TestNode test;
    test.is = is;
    test.cost = static_cast<u8>(is);
    return test;
  }

  Compiled joined(const FilterNode& node) {
    TestNode test = made(node.is == FilterNode::Is::And  ? TestIs::And
                         : node.is == FilterNode::Is::Or ? TestIs::Or
                                                         : TestIs::Not);
    test.cost = 0;
    for (const FilterNode& part : node.parts) {
      Compiled compiled = compile(part);
      if (!compiled) return compiled;
      test.cost = std::max(test.cost, compiled->cost);
      test.parts.push_back(std::move(*compiled));
    }
    std::stable_sort(test.parts.begin(), test.parts.end(),
                     [](const TestNode& a, const TestNode& b) { return a.cost < b.cost; });
    return test;
  }

  static Compiled word(const FilterNode& node) {
    if (node.value.empty()) return atValue(node, "An empty string is in every event.");
    TestNode test = made(TestIs::Text);
    test.word = node.value;
    return test;
  }

  Compiled comparison(const FilterNode& node) {
    if (node.field == "row") return column(node, TestIs::RowNumber);
    if (node.field == "time") return time(node);
    if (node.field == "cpu") return cpu(node);
    if (node.field == "pid" || node.field == "common_pid") return column(node, TestIs::PidNumber);
    if (node.field == "tgid") return column(node, TestIs::Tgid);
    if (node.field == "common_flags") return column(node, TestIs::Context);
    if (node.field == "common_preempt_count") {
      Compiled test = column(node, TestIs::Context);
      if (test) test->preemptCount = true;
      return test;
    }
    if (node.field == "common_type") return eventId(node);
    if (node.field == "comm") {
      TestNode test = made(TestIs::Comm);
      return withText(node, std::move(test));
    }
    if (node.field == "event") return event(node);
    if (node.field == "lateness") {
      return atField(
          node, "`lateness` is not available: timers are not followed from start to expiry yet.");
    }
    return field(node);
  }

  Compiled withText(const FilterNode& node, TestNode test) {
    auto text = TextTest::make(node.op, node.value);
    if (!text) return atValue(node, text.error());
    test.text = std::move(*text);
    return test;
  }

  /// A whole number without a unit.
  tl::expected<NumberTest, FilterError> wholeNumber(const FilterNode& node) const {
    if (isPattern(node.op)) {
      return atField(node, fmt::format("{} is a number; {} compares texts.", inTicks(node.field),
                                       nameOf(node.op)));
    }
    const auto written = node.quoted ? Known<WrittenNumber>{} : readNumber(node.value);
    if (!written)
      return atValue(node, fmt::format("{} is a number; this is none.", inTicks(node.field)));
    const auto whole = asWhole(*written);
    if (!whole)
      return atValue(node,
                     fmt::format("{} is a whole number without a unit.", inTicks(node.field)));
    return NumberTest(node.op, *whole);
  }

  Compiled column(const FilterNode& node, TestIs is) {
    auto number = wholeNumber(node);
    if (!number) return tl::unexpected(number.error());
    TestNode test = made(is);
    test.number = *number;
    return test;
  }

  Compiled time(const FilterNode& node) {
    if (unit_ != ClockUnit::Nanoseconds) return column(node, TestIs::Time);
    if (isPattern(node.op)) {
      return atField(node, fmt::format("`time` is a number; {} compares texts.", nameOf(node.op)));
    }
    const auto written = node.quoted ? Known<WrittenNumber>{} : readNumber(node.value);
    if (!written)
      return atValue(node, "This is no time; times are seconds (12.345678901) or have ns us ms s.");
    const auto ns = inNanoseconds(*written, WrittenNumber::Unit::Second);
    if (!ns) return atValue(node, "This time is finer than a nanosecond, or too large.");
    TestNode test = made(TestIs::Time);
    test.number = NumberTest(node.op, *ns);
    return test;
  }

  Compiled cpu(const FilterNode& node) {
    auto number = wholeNumber(node);
    if (!number) return tl::unexpected(number.error());
    TestNode test = made(TestIs::Stream);
    for (const Stream& stream : store_->streams()) {
      test.accepted.push_back(number->acceptsUnsigned(::tickscope::number(stream.cpu)));
    }
    return test;
  }

  Compiled eventId(const FilterNode& node) {
    auto number = wholeNumber(node);
    if (!number) return tl::unexpected(number.error());
    TestNode test = made(TestIs::Type);
    // Records whose id has no format share a type without an id: their id is not known here.
    for (const EventType& type : store_->types()) {
      test.accepted.push_back(type.id && number->acceptsUnsigned(type.id));
    }
    return test;
  }

  Compiled event(const FilterNode& node) {
    auto text = TextTest::make(node.op, node.value);
    if (!text) return atValue(node, text.error());
    const bool withSystem = !isPattern(node.op) && node.value.find(':') != std::string::npos;
    TestNode test = made(TestIs::Type);
    for (std::size_t t = 0; t < store_->types().size(); ++t) {
      const EventType& type = store_->types()[t];
      // What is printed can be another name than the format's (a marker's tracing_mark_write is
      // `print`).
      std::string_view name = names_.eventNames()[t];
      std::string full;
      if (withSystem) {
        full = type.system + ":" + type.name;
        test.accepted.push_back(text->accepts(full));
      } else {
        test.accepted.push_back(text->acceptsEither(name, type.name));
      }
    }
    return test;
  }

  Compiled field(const FilterNode& node) {
    FieldValues values;
    TestNode test = made(TestIs::Field);
    test.places = names_.placesOf(node.field, values);
    if (!values.known) {
      const auto dot = node.field.rfind('.');
      if (values.eventMissing) {
        return atField(node, fmt::format("This recording has no event {}.",
                                         inTicks(std::string_view(node.field).substr(0, dot))));
      }
      return atField(
          node, dot == std::string::npos
                    ? fmt::format("No event of this recording has a field {}.", inTicks(node.field))
                    : fmt::format("That event has no field {}.",
                                  inTicks(std::string_view(node.field).substr(dot + 1))));
    }
    for (const FieldPlace& place : test.places) {
      if (place.is == FieldPlace::Is::Raw) test.cost = static_cast<u8>(TestIs::FieldOfBytes);
    }
    return fieldValue(node, std::move(test), values);
  }

  Compiled fieldValue(const FilterNode& node, TestNode test, const FieldValues& values) {
    if (isPattern(node.op)) {
      if (!values.text && !values.address) {
        return atField(node, fmt::format("{} is a number; {} compares texts.", inTicks(node.field),
                                         nameOf(node.op)));
      }
      return withText(node, std::move(test));
    }
    const auto written = node.quoted ? Known<WrittenNumber>{} : readNumber(node.value);
    Known<Whole> whole;
    if (written && written->unit != WrittenNumber::Unit::None) {
      if (values.jiffies && !values.signedNumber && !values.unsignedNumber) {
        return atValue(
            node, fmt::format("{} counts jiffies: the number has no unit.", inTicks(node.field)));
      }
      whole = inNanoseconds(*written, WrittenNumber::Unit::Nano);
      if (!whole && values.number())
        return atValue(node, "This is no whole number of nanoseconds, or too large.");
      test.jiffiesToo = false;
    } else if (written) {
      whole = asWhole(*written);
      if (!whole && values.number() && !values.text) {
        return atValue(node, "A number with decimals needs a unit: ns us ms s.");
      }
    }
    // JSON gives addresses as strings: quotes do not make a name of one.
    if (values.address) {
      if (const auto pointer = printedPointer(node.value)) whole = Whole{false, *pointer};
    }
    if (whole) {
      test.number = NumberTest(node.op, *whole);
      test.numeric = true;
    }
    const bool equality = node.op == FilterOp::Equal || node.op == FilterOp::NotEqual;
    if (equality && (values.text || (values.address && !whole)))
      return withText(node, std::move(test));
    if (!whole) {
      if (values.number())
        return atValue(node, fmt::format("{} is a number; this is none.", inTicks(node.field)));
      return atField(node, fmt::format("{} is a text; {} compares numbers.", inTicks(node.field),
                                       nameOf(node.op)));
    }
    if (!values.number()) {
      return atField(node, fmt::format("{} is a text; {} compares numbers.", inTicks(node.field),
                                       nameOf(node.op)));
    }
    return test;
  }

  const EventStore* store_;
  ClockUnit unit_;
  FieldNames names_;
};

}  // namespace

bool Filter::Program::comm(TestNode& node, Pid pid) {
  const auto [found, fresh] = node.tasks.try_emplace(number(pid), false);
  if (fresh) {
    const std::string name = text.comm(pid);
    // An unknown name is no other name than the one that is excluded.
    found->second = node.text->accepts(name) && (name != "<...>" || !node.text->negated());
  }
  return found->second;
}

/// Names are those that the event's text shows for the address.
bool Filter::Program::symbol(TestNode& node, std::string_view field, u64 address) {
  if (!node.text) return false;
  const auto [found, fresh] = node.addresses.try_emplace(address, false);
  if (fresh) {
    const std::string symbol =
        isPlaceInCode(field) ? text.place(Address{address}) : text.symbol(Address{address});
    const std::string_view bare = std::string_view(symbol).substr(0, symbol.find(" ["));
    found->second = node.text->acceptsEither(bare, symbol);
  }
  return found->second;
}

bool Filter::Program::raw(TestNode& node, const FieldPlace& place, Row row) {
  for (const FieldValue& value : text.fields(row)) {
    if (value.name != place.raw) continue;
    if (const auto* bits = std::get_if<u64>(&value.value)) {
      if (node.numeric) return node.number.acceptsUnsigned(*bits);
      return value.address && symbol(node, place.raw, *bits);
    }
    if (const auto* bits = std::get_if<s64>(&value.value)) {
      return node.numeric && node.number.acceptsSigned(*bits);
    }
    const auto* words = std::get_if<std::string>(&value.value);
    return words && node.text && node.text->accepts(*words);
  }
  return false;
}

bool Filter::Program::field(TestNode& node, Row row) {
  const FieldPlace& place = node.places[store->typeIndex(row)];
  if (place.is == FieldPlace::Is::Missing) return false;
  if (place.is == FieldPlace::Is::Raw) return raw(node, place, row);
  const StoredValue value = fieldOf(*store, row, place.place);
  switch (value.is) {
    case StoredValue::Is::Nothing:
      return false;
    case StoredValue::Is::Signed:
      return node.numeric && node.number.acceptsSigned(static_cast<s64>(value.bits));
    case StoredValue::Is::Unsigned:
      if (!node.numeric) return false;
      return (node.jiffiesToo ||
              infoOf(store->kind(row)).fields[place.place].type != FieldType::JiffiesValue) &&
             node.number.acceptsUnsigned(value.bits);
    case StoredValue::Is::Address:
      if (node.numeric) return node.number.acceptsUnsigned(value.bits);
      return symbol(node, infoOf(store->kind(row)).fields[place.place].name, value.bits);
    case StoredValue::Is::Text: {
      if (!node.text) return false;
      if (value.bits >= node.strings.size()) node.strings.resize(value.bits + 1, 0);
      u8& known = node.strings[value.bits];
      if (!known)
        known = node.text->accepts(store->text(static_cast<StringId>(value.bits))) ? 2 : 1;
      return known == 2;
    }
  }
  return false;
}

bool Filter::Program::matches(TestNode& node, Row row) {
  switch (node.is) {
    case TestIs::Type:
      return node.accepted[store->typeIndex(row)];
    case TestIs::Stream:
      return node.accepted[store->streamOf(row)];
    case TestIs::RowNumber:
      return node.number.acceptsUnsigned(number(row));
    case TestIs::Time:
      return node.number.acceptsUnsigned(static_cast<u64>(store->time(row).value));
    case TestIs::PidNumber:
      return node.number.acceptsSigned(number(store->pid(row)));
    case TestIs::Context: {
      const Context context = store->context(row);
      return node.number.acceptsUnsigned(node.preemptCount ? context.preemptCount : context.flags);
    }
    case TestIs::Tgid: {
      const auto found = metadata->tgids.find(number(store->pid(row)));
      return found != metadata->tgids.end() && node.number.acceptsSigned(found->second);
    }
    case TestIs::Comm:
      return comm(node, store->pid(row));
    case TestIs::Field:
    case TestIs::FieldOfBytes:
      return field(node, row);
    case TestIs::Text:
      return text.nameAndBody(row).find(node.word) != std::string::npos;
    case TestIs::Not:
      return !matches(node.parts.front(), row);
    case TestIs::And:
      for (TestNode& part : node.parts) {
        if (!matches(part, row)) return false;
      }
      return true;
    case TestIs::Or:
      for (TestNode& part : node.parts) {
        if (matches(part, row)) return true;
      }
      return false;
  }
  return false;
}

tl::expected<Filter, FilterError> Filter::compile(std::string_view text, const Recording& recording,
                                                  const Buffer& buffer) {
  const auto tree = parseFilter(text);
  if (!tree) return tl::unexpected(tree.error());
  Compiled top = Compiler(recording, buffer).compile(*tree);
  if (!top) return tl::unexpected(top.error());
  return Filter(
      std::make_unique<Program>(Program{&buffer.events, &recording.metadata, buffer.clock.unit,
                                        EventText(recording, buffer), std::move(*top)}));
}

bool Filter::matches(Row row) { return program_->matches(program_->top, row); }

Result<std::vector<Row>> Filter::rows(u32 from, u32 to, u32 most, Progress& progress) {
  // Rows that must be printed take a microsecond each: 1,024 of them stay well below 10 ms.
  constexpr u32 step = 1024;
  std::vector<Row> found;
  to = std::min(to, program_->store->size());
  for (u32 row = from; row < to && found.size() < most; ++row) {
    if ((row - from) % step == step - 1 && !progress.advance(step)) {
      return fail(Error::Kind::Cancelled, "Cancelled.");
    }
    if (matches(Row{row})) found.push_back(Row{row});
  }
  return found;
}

std::vector<std::string> Filter::fieldNames(const Recording& recording, const Buffer& buffer) {
  std::set<std::string> names{"row",  "time",  "cpu",   "pid",     "tgid",
                              "comm", "event", "timer", "callback"};
  for (std::string& name : FieldNames(recording, buffer).all()) names.insert(std::move(name));
  return {names.begin(), names.end()};
}

Filter::Filter(std::unique_ptr<Program> program) : program_(std::move(program)) {}
Filter::Filter(const Filter& other) : program_(std::make_unique<Program>(*other.program_)) {}
Filter& Filter::operator=(const Filter& other) {
  if (this != &other) program_ = std::make_unique<Program>(*other.program_);
  return *this;
}
Filter::Filter(Filter&&) noexcept = default;
Filter& Filter::operator=(Filter&&) noexcept = default;
Filter::~Filter() = default;

}  // namespace tickscope
