// SPDX-License-Identifier: GPL-3.0-or-later
// Compiles and prints formats.
#include "importers/trace_dat/print_format.h"

#include <fmt/format.h>

#include <cstring>

#include "core/base/shown_text.h"

namespace tickscope::trace_dat {
namespace {

using Kind = FormatField::Kind;

std::string_view upToNul(Bytes bytes) {
  const std::string_view text = asText(bytes);
  return text.substr(0, text.find('\0'));
}

/// Common fields end here at the latest that any kernel has.
constexpr u32 leastDynamic = 8;

SymbolWords symbolWords(PrintSurroundings::Symbols symbols) {
  switch (symbols) {
    case PrintSurroundings::Symbols::Any:
      break;
    case PrintSurroundings::Symbols::Functions:
      return &AddressText::function;
    case PrintSurroundings::Symbols::Places:
      return &AddressText::place;
  }
  return &AddressText::symbol;
}

tl::unexpected<Error> refuse(std::string_view why) {
  return fail(Error::Kind::Unsupported, std::string(why));
}

}  // namespace

Known<Bytes> fieldMemory(const FormatField& field, Bytes record, bool swap) {
  switch (field.kind) {
    case Kind::Chars:
    case Kind::Array: {
      if (field.offset > record.size()) return {};
      const Bytes rest = record.subspan(field.offset);
      return field.size && field.size < rest.size() ? rest.first(field.size) : rest;
    }
    case Kind::DataLoc:
    case Kind::RelLoc: {
      if (field.offset + u64{4} > record.size()) return {};
      const u32 word = loadNumber<u32>(record.data() + field.offset, swap);
      const u64 from = (word & 0xffffU) + (field.kind == Kind::RelLoc ? u64{field.offset} + 4 : 0);
      const u64 size = word >> 16U;
      if (size == 0) return Bytes{};
      if (from < leastDynamic || from > record.size() || size > record.size() - from) return {};
      return record.subspan(from, size);
    }
    default:
      return {};
  }
}

Known<u64> fieldNumber(const FormatField& field, Bytes record, bool swap) {
  const bool dynamic = field.kind == Kind::DataLoc || field.kind == Kind::RelLoc;
  if (field.kind != Kind::Integer && field.kind != Kind::Pointer && !dynamic) return {};
  const u32 size = dynamic ? 4 : field.size;
  if (u64{field.offset} + size > record.size()) return {};
  const u8* const from = record.data() + field.offset;
  const bool isSigned = field.isSigned && field.kind == Kind::Integer;
  const auto extended = [&](auto value) {
    using T = decltype(value);
    return isSigned ? static_cast<u64>(static_cast<s64>(static_cast<std::make_signed_t<T>>(value)))
                    : u64{value};
  };
  switch (size) {
    case 1:
      return extended(*from);
    case 2:
      return extended(loadNumber<u16>(from, swap));
    case 4:
      return extended(loadNumber<u32>(from, swap));
    case 8:
      return loadNumber<u64>(from, swap);
    default:
      return {};
  }
}

Known<u64> RecordValues::number(u32 field) const {
  const FormatField* const found = expressions_->field(field);
  return found ? fieldNumber(*found, record_, swap_) : Known<u64>{};
}

Known<Bytes> RecordValues::memory(u32 field) const {
  const FormatField* const found = expressions_->field(field);
  return found ? fieldMemory(*found, record_, swap_) : Known<Bytes>{};
}

Known<std::string_view> RecordValues::text(u32 field) const {
  const Known<Bytes> bytes = memory(field);
  return bytes ? Known<std::string_view>(upToNul(*bytes)) : Known<std::string_view>{};
}

Result<PrintFormat> PrintFormat::compile(const EventFormat& format, u8 wordSize,
                                         PrintDialect dialect) {
  const auto tokens = printTokens(format.printFormat);
  if (!tokens) return tl::unexpected(tokens.error());
  if (tokens->front().is != PrintToken::Is::Text)
    return refuse("the print format does not begin with a string");
  auto pieces = formatPieces(tokens->front().text, wordSize);
  if (!pieces) return tl::unexpected(pieces.error());
  PrintFormat made;
  made.expressions_ = std::make_unique<PrintExpressions>(format, wordSize);
  std::size_t at = 1;
  for (FormatPiece& piece : *pieces) {
    Part part;
    part.piece = std::move(piece);
    const auto take = [&](u32& to) -> Known<Error> {
      const auto id = made.argument(*tokens, at);
      if (!id) return id.error();
      to = *id;
      return {};
    };
    if (part.piece.isConversion) {
      const Conversion& conversion = part.piece.conversion;
      Known<Error> wrong;
      if (conversion.widthFromArgument) wrong = take(part.width);
      if (!wrong && conversion.precisionFromArgument) wrong = take(part.precision);
      if (!wrong) wrong = take(part.value);
      if (wrong) return tl::unexpected(std::move(*wrong));
      if (const auto why = made.unfit(part)) return refuse(*why);
    }
    made.parts_.push_back(std::move(part));
  }
  if ((*tokens)[at].is != PrintToken::Is::End)
    return refuse("the print format has more arguments than conversions");
  if (dialect == PrintDialect::Probe) {
    for (std::size_t i = 1; i + 1 < made.parts_.size(); ++i) made.takeQuotes(i);
  }
  return made;
}

Result<u32> PrintFormat::argument(std::span<const PrintToken> tokens, std::size_t& at) {
  if (!tokens[at].isSign(",")) {
    return fail(Error::Kind::Unsupported, "the print format has fewer arguments than conversions");
  }
  ++at;
  return expressions_->parse(tokens, at);
}

/// Why the arguments cannot be printed with that conversion; empty: they can.
Known<std::string_view> PrintFormat::unfit(const Part& part) const {
  const auto isNumber = [&](u32 id) {
    return expressions_->node(id).shape == PrintNode::Shape::Number;
  };
  if (part.width != none && !isNumber(part.width))
    return "the print format takes a width that is no number";
  if (part.precision != none && !isNumber(part.precision))
    return "the print format takes a width that is no number";
  const Conversion& conversion = part.piece.conversion;
  if (conversion.letter == 's') {
    return expressions_->isText(part.value) ? Known<std::string_view>{}
                                            : "the print format prints as text what is none";
  }
  if (conversion.letter == 'p' && !conversion.pointer.empty() &&
      std::string_view("hIiMmU").find(conversion.pointer.front()) != std::string_view::npos) {
    return expressions_->isMemory(part.value) ? Known<std::string_view>{}
                                              : "the print format prints as memory what is none";
  }
  return isNumber(part.value) ? Known<std::string_view>{}
                              : "the print format prints as a number what is none";
}

void PrintFormat::takeQuotes(std::size_t part) {
  std::string& before = parts_[part - 1].piece.plain;
  std::string& behind = parts_[part + 1].piece.plain;
  Part& conversion = parts_[part];
  if (!conversion.piece.isConversion || conversion.piece.conversion.letter != 's') return;
  if (!before.ends_with('"') || !behind.starts_with('"')) return;
  before.pop_back();
  behind.erase(0, 1);
  conversion.quoted = true;
}

/// False: a value is not known, `?` stands for it.
bool PrintFormat::append(std::string& out, const Part& part, const FieldValues& values,
                         const PrintSurroundings& around) const {
  Conversion conversion = part.piece.conversion;
  const auto given = [&](u32 id, s32& to) {
    const Known<u64> number = expressions_->number(id, values, around);
    if (!number) return false;
    to = static_cast<s32>(*number);
    if (to < 0 && &to == &conversion.width) {
      conversion.left = true;
      to = -std::max(to, -widestConversion);
    }
    to = std::clamp(to, -1, widestConversion);
    return true;
  };
  const auto unknown = [&] { return out += '?', false; };
  if (part.width != none && !given(part.width, conversion.width)) return unknown();
  if (part.precision != none && !given(part.precision, conversion.precision)) return unknown();
  if (conversion.letter == 's') {
    std::string text;
    if (!expressions_->text(part.value, values, around, text)) return unknown();
    if (!part.quoted) return appendText(out, conversion, text), true;
    const Known<Bytes> bytes = expressions_->memory(part.value, values);
    if (bytes && bytes->empty()) {
      out += "(fault)";
    } else {
      out += '"';
      appendText(out, conversion, text);
      out += '"';
    }
    return true;
  }
  if (conversion.letter == 'p' &&
      expressions_->node(part.value).shape != PrintNode::Shape::Number) {
    const Known<Bytes> bytes = expressions_->memory(part.value, values);
    return (bytes && appendMemory(out, conversion, *bytes, around.bigEndian)) || unknown();
  }
  const Known<u64> number = expressions_->number(part.value, values, around);
  if (!number) return unknown();
  if (conversion.letter != 'p') return appendNumber(out, conversion, *number), true;
  return appendAddress(out, conversion, *number, *around.addresses, symbolWords(around.symbols)) ||
         unknown();
}

std::string PrintFormat::print(const FieldValues& values, const PrintSurroundings& around) const {
  bool whole = true;
  return print(values, around, whole);
}

Known<std::string> PrintFormat::printWhole(const FieldValues& values,
                                           const PrintSurroundings& around) const {
  bool whole = true;
  std::string text = print(values, around, whole);
  return whole ? Known<std::string>(std::move(text)) : Known<std::string>{};
}

std::string PrintFormat::print(const FieldValues& values, const PrintSurroundings& around,
                               bool& whole) const {
  std::string out;
  for (const Part& part : parts_) {
    if (part.piece.isConversion) {
      whole = append(out, part, values, around) && whole;
    } else {
      out += part.piece.plain;
    }
    if (out.size() > longestPrinted) {
      out.resize(longestPrinted);
      return out + "…";
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

std::string PrintFormat::print(Bytes record, const PrintSurroundings& around) const {
  return print(RecordValues(*expressions_, record, around.swap), around);
}

}  // namespace tickscope::trace_dat
