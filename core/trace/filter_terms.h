// SPDX-License-Identifier: GPL-3.0-or-later
// What a filter compares a value with: a set of numbers, or a text; and what a field name means for
// each event type.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time_text.h"
#include "core/trace/filter_syntax.h"
#include "core/trace/recording.h"

namespace re2 {
class RE2;
}

namespace tickscope {

/// The numbers that a comparison accepts, for signed and for unsigned values: an interval, or all
/// but one.
class NumberTest {
 public:
  NumberTest() = default;
  /// `op` is none of the regular expression operators.
  NumberTest(FilterOp op, Whole value);

  [[nodiscard]] bool acceptsSigned(s64 value) const {
    const bool inside = !signedEmpty_ && value >= signedLow_ && value <= signedHigh_;
    return inside != inverted_;
  }
  [[nodiscard]] bool acceptsUnsigned(u64 value) const {
    const bool inside = !unsignedEmpty_ && value >= unsignedLow_ && value <= unsignedHigh_;
    return inside != inverted_;
  }

 private:
  s64 signedLow_ = 0, signedHigh_ = 0;
  u64 unsignedLow_ = 0, unsignedHigh_ = 0;
  bool signedEmpty_ = true, unsignedEmpty_ = true;
  bool inverted_ = false;
};

/// A text that equals, or a regular expression that is found.
class TextTest {
 public:
  /// Error: the expression is none, with RE2's words; or `op` does not compare texts.
  static tl::expected<TextTest, std::string> make(FilterOp op, const std::string& value);
  [[nodiscard]] bool accepts(std::string_view text) const;
  /// For names that have a longer form: accepted when either is (negated: when neither is refused).
  [[nodiscard]] bool acceptsEither(std::string_view shorter, std::string_view longer) const;
  /// != or !~.
  [[nodiscard]] bool negated() const { return inverted_; }

 private:
  [[nodiscard]] bool found(std::string_view text) const;
  std::string value_;
  std::shared_ptr<const re2::RE2> expression_;
  bool inverted_ = false;
};

/// Where an event type has the field that a filter names.
struct FieldPlace {
  enum class Is : u8 {
    Missing,  ///< no such field
    Stored,   ///< field `place` of the kind
    Raw       ///< a field of that name in the bytes of the record
  } is = Is::Missing;
  u16 place = 0;
  std::string raw;  ///< its name
};

/// What values a field has, over all types that have it.
struct FieldValues {
  bool signedNumber = false, unsignedNumber = false, jiffies = false, address = false, text = false;
  bool known = false;         ///< some event has the field, in this recording or in principle
  bool eventMissing = false;  ///< EVENT.FIELD: no such event
  [[nodiscard]] bool number() const { return signedNumber || unsignedNumber || jiffies || address; }
};

/// The fields of a buffer's events by name.
class FieldNames {
 public:
  FieldNames(const Recording& recording, const Buffer& buffer);

  /// The place for each type of the buffer's store; `name` may be EVENT.FIELD, `timer` or
  /// `callback`.
  [[nodiscard]] std::vector<FieldPlace> placesOf(std::string_view name, FieldValues& values) const;
  [[nodiscard]] std::vector<std::string> all() const;
  /// The name to show and compare of each type.
  [[nodiscard]] const std::vector<std::string>& eventNames() const { return eventNames_; }

 private:
  const EventStore* store_;
  std::vector<std::string> eventNames_;
  std::vector<std::vector<FieldValue>>
      rawFields_;  ///< of the first row of each type that is kept as bytes
};

}  // namespace tickscope
