// SPDX-License-Identifier: GPL-3.0-or-later
// The door to events that are kept as bytes: their text and fields, made when shown.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/ids.h"
#include "core/trace/field_list.h"

namespace tickscope {

/// A field of an event as it is shown and filtered. Unknown (damaged, out of the record) is monostate.
struct FieldValue {
  std::string name;
  std::variant<std::monostate, u64, s64, std::string> value;
  bool address = false;  ///< a u64 that is a kernel address
};

/// A field of a typed event as its payload holds it, for the recording's own print format.
struct TypedValue {
  u64 number{};           ///< sign-extended when the field is signed
  std::string_view text;  ///< of strings
  bool recorded = false;
};

/// Made by importers; thread-safe; const for the reader of a recording.
class RawEventText {
 public:
  virtual ~RawEventText() = default;
  /// The event's text behind its name, as the kernel prints it, or `field=value` where its print format cannot be
  /// followed safely. Several lines for stacks. When the bytes cannot be read again: a sentence in brackets.
  [[nodiscard]] virtual std::string body(u16 type, const RawRef& record) const = 0;
  /// All fields but the common ones, in the order of the format.
  [[nodiscard]] virtual std::vector<FieldValue> fields(u16 type, const RawRef& record) const = 0;
  /// The kernel prints some events without "name: " before the body (function, syscalls, stacks).
  [[nodiscard]] virtual bool namedInText(u16 type) const = 0;
  /// The text of a typed event by the recording's own print format, which knows what this kernel calls its values.
  /// `values` are in the order of infoOf(kind).fields. Empty: there is none that can be
  /// followed safely with these values.
  [[nodiscard]] virtual Known<std::string> typedBody(u16 type,
                                                     std::span<const TypedValue> values) const {
    (void)type;
    (void)values;
    return {};
  }
  /// What this recording calls field `place` of a typed event's infoOf(kind).fields; empty: not known.
  [[nodiscard]] virtual std::string_view fieldName(u16 type, std::size_t place) const {
    (void)type;
    (void)place;
    return {};
  }
  /// The record's bytes, common fields included; empty when they cannot be read again.
  [[nodiscard]] virtual std::vector<u8> bytes(const RawRef& record) const = 0;
};

}  // namespace tickscope
