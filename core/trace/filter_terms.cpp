// SPDX-License-Identifier: GPL-3.0-or-later
// Sets of numbers, texts and regular expressions, and the look-up of field names.
#include "core/trace/filter_terms.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <limits>

#include "core/trace/event_text.h"

namespace tickscope {

namespace {

/// RE2 takes linear time on any expression and text, and its memory has a limit; std::regex
/// recurses once a character.
constexpr s64 expressionMemory = s64{1} << 20;

constexpr s64 signedMost = std::numeric_limits<s64>::max();
constexpr s64 signedLeast = std::numeric_limits<s64>::min();
constexpr u64 unsignedMost = std::numeric_limits<u64>::max();

/// Kinds whose records keep their bytes, because fields besides the typed ones may matter.
bool keepsBytes(EventKind kind) {
  return kind == kindOf<Raw> || kind == kindOf<ProgramEventProbe> ||
         kind == kindOf<ProgramEventReturn>;
}

bool isNamed(const FieldInfo& field, std::string_view name) {
  return field.name == name || (!field.alias.empty() && field.alias == name);
}

Known<u16> placeOf(EventKind kind, std::string_view name) {
  const auto fields = infoOf(kind).fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (isNamed(fields[i], name)) return static_cast<u16>(i);
  }
  return {};
}

/// The object that a timer event is about.
Known<u16> timerPlaceOf(EventKind kind) {
  for (const std::string_view name : {"timer", "hrtimer", "alarm"}) {
    if (const auto place = placeOf(kind, name)) return place;
  }
  return {};
}

void addType(FieldValues& values, FieldType type) {
  values.known = true;
  switch (type) {
    case FieldType::U8:
    case FieldType::U16:
    case FieldType::U32:
    case FieldType::U64:
    case FieldType::Bool:
      values.unsignedNumber = true;
      break;
    case FieldType::S32:
    case FieldType::S64:
    case FieldType::Ktime:
    case FieldType::PidValue:
    case FieldType::TaskPid:
    case FieldType::TaskPrio:
      values.signedNumber = true;
      break;
    case FieldType::JiffiesValue:
      values.jiffies = true;
      break;
    case FieldType::Address:
      values.address = true;
      break;
    case FieldType::Text:
    case FieldType::TaskComm:
      values.text = true;
      break;
  }
}

void addValue(FieldValues& values, const FieldValue& value) {
  values.known = true;
  if (value.address)
    values.address = true;
  else if (std::holds_alternative<u64>(value.value))
    values.unsignedNumber = true;
  else if (std::holds_alternative<s64>(value.value))
    values.signedNumber = true;
  else if (std::holds_alternative<std::string>(value.value))
    values.text = true;
  else
    values.unsignedNumber = values.text = true;  // damaged in its first record: anything
}

/// The typed place of a filter's field name for a kind.
Known<u16> typedPlace(EventKind kind, std::string_view name) {
  if (name == "timer") return timerPlaceOf(kind);
  if (name == "callback" && timerPlaceOf(kind)) return placeOf(kind, "function");
  return placeOf(kind, name);
}

}  // namespace

NumberTest::NumberTest(FilterOp op, Whole value) {
  if (op == FilterOp::NotEqual) {
    op = FilterOp::Equal;
    inverted_ = true;
  }
  // Where the value lies beside the two ranges: below all unsigned numbers, or above all signed
  // ones.
  const bool below = value.negative;
  const u64 asUnsigned = value.magnitude;
  const bool tooLow = below && value.magnitude > u64{1} << 63U;
  const bool tooHigh = !below && value.magnitude > static_cast<u64>(signedMost);
  const s64 asSigned = static_cast<s64>(below ? u64{0} - value.magnitude : value.magnitude);

  const auto setSigned = [this](s64 low, s64 high) {
    signedLow_ = low;
    signedHigh_ = high;
    signedEmpty_ = false;
  };
  const auto setUnsigned = [this](u64 low, u64 high) {
    unsignedLow_ = low;
    unsignedHigh_ = high;
    unsignedEmpty_ = false;
  };
  const bool less = op == FilterOp::Less || op == FilterOp::LessOrEqual;
  const bool orEqual = op == FilterOp::LessOrEqual || op == FilterOp::GreaterOrEqual;
  if (op == FilterOp::Equal) {
    if (!tooLow && !tooHigh) setSigned(asSigned, asSigned);
    if (!below) setUnsigned(asUnsigned, asUnsigned);
  } else if (less) {
    if (tooHigh)
      setSigned(signedLeast, signedMost);
    else if (!tooLow && (orEqual || asSigned > signedLeast))
      setSigned(signedLeast, asSigned - !orEqual);
    if (!below && (orEqual || asUnsigned > 0)) setUnsigned(0, asUnsigned - !orEqual);
  } else {
    if (tooLow)
      setSigned(signedLeast, signedMost);
    else if (!tooHigh && (orEqual || asSigned < signedMost))
      setSigned(asSigned + !orEqual, signedMost);
    if (below)
      setUnsigned(0, unsignedMost);
    else if (orEqual || asUnsigned < unsignedMost)
      setUnsigned(asUnsigned + !orEqual, unsignedMost);
  }
}

tl::expected<TextTest, std::string> TextTest::make(FilterOp op, const std::string& value) {
  TextTest test;
  test.value_ = value;
  test.inverted_ = op == FilterOp::NotEqual || op == FilterOp::DoesNotMatch;
  if (op == FilterOp::Equal || op == FilterOp::NotEqual) return test;
  if (op != FilterOp::Matches && op != FilterOp::DoesNotMatch) {
    return tl::unexpected(fmt::format("{} compares numbers; this is a text.", nameOf(op)));
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // bytes are bytes
  options.set_max_mem(expressionMemory);
  auto expression = std::make_shared<const re2::RE2>(value, options);
  if (!expression->ok()) {
    return tl::unexpected(fmt::format("This is no regular expression: {}.", expression->error()));
  }
  test.expression_ = std::move(expression);
  return test;
}

bool TextTest::found(std::string_view text) const {
  if (!expression_) return text == value_;
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression_);
}

bool TextTest::accepts(std::string_view text) const { return found(text) != inverted_; }

bool TextTest::acceptsEither(std::string_view shorter, std::string_view longer) const {
  return (found(shorter) || found(longer)) != inverted_;
}

FieldNames::FieldNames(const Recording& recording, const Buffer& buffer) : store_(&buffer.events) {
  const EventText text(recording, buffer);
  const auto types = store_->types();
  eventNames_.resize(types.size());
  rawFields_.resize(types.size());
  std::size_t missing = 0;  // types whose first row is still to be found
  std::vector<u8> wanted(types.size(), 0);
  for (std::size_t t = 0; t < types.size(); ++t) {
    eventNames_[t] = types[t].name;
    for (u32 s = 0; s < store_->streams().size() && !wanted[t]; ++s) {
      wanted[t] = store_->count(static_cast<u16>(t), s) > 0;
    }
    missing += wanted[t];
  }
  for (u32 r = 0; r < store_->size() && missing; ++r) {
    const Row row{r};
    const u16 t = store_->typeIndex(row);
    if (!wanted[t]) continue;
    wanted[t] = 0;
    --missing;
    eventNames_[t] = text.eventName(row);
    if (keepsBytes(types[t].kind)) rawFields_[t] = text.fields(row);
  }
}

std::vector<FieldPlace> FieldNames::placesOf(std::string_view name, FieldValues& values) const {
  const auto types = store_->types();
  std::vector<FieldPlace> places(types.size());
  std::string_view event;
  if (const auto dot = name.rfind('.'); dot != std::string_view::npos) {
    event = name.substr(0, dot);
    name = name.substr(dot + 1);
    values.eventMissing = true;
  }
  const auto isMeant = [&](std::string_view system, std::string_view eventName) {
    if (event.empty()) return true;
    return event == eventName ||
           (event.size() == system.size() + 1 + eventName.size() && event.starts_with(system) &&
            event.ends_with(eventName) && event[system.size()] == ':');
  };
  // Events that Tickscope knows need not occur for their fields to be known.
  for (std::size_t kind = 0; kind < kindCount; ++kind) {
    const KindInfo& info = kindInfos[kind];
    if (!event.empty() && event != info.event &&
        (info.eventAlias.empty() || event != info.eventAlias)) {
      continue;
    }
    values.eventMissing = false;
    if (const auto place = typedPlace(static_cast<EventKind>(kind), name)) {
      addType(values, info.fields[*place].type);
    }
  }
  for (std::size_t t = 0; t < types.size(); ++t) {
    if (!isMeant(types[t].system, types[t].name) && !isMeant(types[t].system, eventNames_[t]))
      continue;
    values.eventMissing = false;
    if (const auto place = typedPlace(types[t].kind, name)) {
      places[t] = {FieldPlace::Is::Stored, *place, {}};
      addType(values, infoOf(types[t].kind).fields[*place].type);
      continue;
    }
    for (const FieldValue& field : rawFields_[t]) {
      if (field.name != name) continue;
      places[t] = {FieldPlace::Is::Raw, 0, field.name};
      addValue(values, field);
      break;
    }
  }
  return places;
}

std::vector<std::string> FieldNames::all() const {
  std::vector<std::string> names;
  for (const KindInfo& info : kindInfos) {
    for (const FieldInfo& field : info.fields) {
      names.emplace_back(field.name);
      if (!field.alias.empty()) names.emplace_back(field.alias);
    }
  }
  for (const auto& fields : rawFields_) {
    for (const FieldValue& field : fields) names.push_back(field.name);
  }
  return names;
}

}  // namespace tickscope
