// SPDX-License-Identifier: GPL-3.0-or-later
// Checks formats by a grammar that is smaller than the library's.
#include "importers/trace_dat/format_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "importers/trace_dat/print_tokens.h"

namespace tickscope::trace_dat {
namespace {

using Kind = FormatField::Kind;

constexpr std::size_t mostFields = 128, mostConversions = 48, mostNames = 600, deepest = 24;
constexpr u32 farthest = 65'535;

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool isIdentifier(std::string_view text) {
  return !text.empty() && text.size() <= 128 && isLetter(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return isLetter(c) || isDigit(c); });
}

bool isDynamic(const FormatField& field) {
  return field.kind == Kind::DataLoc || field.kind == Kind::RelLoc;
}

bool isSound(const FormatField& field) {
  if (!isIdentifier(field.name) || u64{field.offset} + field.size > farthest) return false;
  switch (field.kind) {
    case Kind::Integer:
    case Kind::Pointer:
      return field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8;
    case Kind::Chars:
      return field.size > 0;
    case Kind::Array:
      return field.size > 0 && field.elementSize > 0 && field.size % field.elementSize == 0;
    case Kind::DataLoc:
    case Kind::RelLoc:
      return field.size == 4;
    case Kind::Unusable:
      return false;
  }
  return false;
}

/// What each conversion of a format string takes: `s` text, `p`, `d` or `l` (longer than an int) a
/// number. Empty: a conversion that may not pass.
Known<std::vector<char>> conversionsOf(std::string_view text) {
  std::vector<char> found;
  std::size_t at = 0;
  const auto now = [&] { return at < text.size() ? text[at] : '\0'; };
  const auto digits = [&] {
    std::size_t count = 0;
    for (; isDigit(now()); ++at) ++count;
    return count <= 2;
  };
  while ((at = text.find('%', at)) != std::string_view::npos) {
    ++at;
    if (now() == '%') {
      ++at;
      continue;
    }
    while (std::strchr("-#0", now()) && now()) ++at;
    if (!digits()) return {};
    if (now() == '.') {
      ++at;
      if (!digits()) return {};
    }
    bool isLong = false;
    for (const std::string_view length : {"hh", "h", "ll", "l", "L", "z"}) {
      if (!text.substr(at).starts_with(length)) continue;
      at += length.size();
      isLong = !length.starts_with('h');
      break;
    }
    const char letter = now();
    if (!letter || !std::strchr("diuxXsp", letter)) return {};
    ++at;
    if (letter == 'p') {
      // Plain pointers and places in symbols look different from the kernel's.
      if (!now() || !std::strchr("sf", now())) return {};
      ++at;
      if (isLetter(now()) || isDigit(now())) return {};
    }
    found.push_back(letter == 's' || letter == 'p' ? letter : isLong ? 'l' : 'd');
    if (found.size() > mostConversions) return {};
  }
  return found;
}

/// The grammar of arguments that may pass. Each rule says what the argument is, or nothing.
class ArgumentCheck {
 public:
  enum class Is : u8 { Number, Text };
  ArgumentCheck(const EventFormat& format, std::span<const PrintToken> tokens)
      : format_(&format), tokens_(tokens) {}

  /// All arguments behind the format string, one for each conversion.
  bool passes(const std::vector<char>& conversions) {
    for (const char conversion : conversions) {
      if (!take(",")) return false;
      signedFields_ = operations_ = wrapping_ = 0;
      const Known<Is> argument = choice();
      if (!argument || (*argument == Is::Text) != (conversion == 's')) return false;
      // The library reads signed fields without their sign: harmless only where an int is printed.
      if (signedFields_ && (operations_ || conversion != 'd')) return false;
      // It computes in 64 bits: right where the lower half of one operation is printed.
      if (wrapping_ && (operations_ > 1 || conversion != 'd')) return false;
    }
    return now().is == PrintToken::Is::End;
  }

 private:
  Known<Is> choice() {
    if (++depth_ > deepest) return {};
    Known<Is> is = operation();
    if (is == Is::Number && take("?")) {
      const Known<Is> yes = choice();
      if (!yes || !take(":") || choice() != yes) return {};
      is = yes;
    }
    --depth_;
    return is;
  }

  /// At most one operator; a right operand in brackets must have none in it.
  Known<Is> operation() {
    const Known<Is> left = operand();
    if (left != Is::Number || now().is != PrintToken::Is::Sign) return left;
    static constexpr std::array<std::string_view, 18> operators{"+",  "-",  "*", "/",  "%",  "<<",
                                                                ">>", "&",  "|", "^",  "&&", "||",
                                                                "==", "!=", "<", "<=", ">",  ">="};
    const std::string sign = now().text;
    if (std::find(operators.begin(), operators.end(), sign) == operators.end()) return left;
    ++at_;
    ++operations_;
    if (sign == "+" || sign == "-" || sign == "*" || sign == "<<") ++wrapping_;
    const bool divides = sign == "/" || sign == "%";
    const bool shifts = sign == "<<" || sign == ">>";
    if (divides || shifts) {
      const PrintToken& by = now();
      if (by.is != PrintToken::Is::Number) return {};
      if (divides ? by.number == 0 : by.number >= 64) return {};
      ++at_;
      return Is::Number;
    }
    const std::size_t begin = at_;
    if (operand() != Is::Number || hasOperator(begin)) return {};
    return Is::Number;
  }

  /// Between `begin` and here, within brackets.
  [[nodiscard]] bool hasOperator(std::size_t begin) const {
    for (std::size_t i = begin; i < at_; ++i) {
      static constexpr std::array<std::string_view, 3> harmless{"(", ")", "->"};
      const PrintToken& t = tokens_[i];
      const bool pointer = t.isSign("*") && i + 1 < at_ && tokens_[i + 1].isSign(")");
      if (t.is == PrintToken::Is::Sign && !pointer &&
          std::find(harmless.begin(), harmless.end(), t.text) == harmless.end())
        return true;
    }
    return false;
  }

  Known<Is> operand() {
    if (++depth_ > deepest) return {};
    Known<Is> is;
    if (take("!") || take("~") || take("-")) {
      ++operations_;
      if (!tokens_[at_ - 1].isSign("!")) ++wrapping_;
      is = operand() == Is::Number ? Known<Is>(Is::Number) : Known<Is>{};
    } else if (now().isSign("(") && next(1).isName("REC")) {
      is = next(2).isSign(")") ? (at_ += 2, field()) : bracketed();
    } else if (castAhead()) {
      ++operations_;
      is = operand() == Is::Number ? Known<Is>(Is::Number) : Known<Is>{};
    } else if (now().isSign("(")) {
      is = bracketed();
    } else {
      is = plain();
    }
    --depth_;
    return is;
  }

  Known<Is> bracketed() {
    ++at_;
    const Known<Is> is = choice();
    return take(")") ? is : Known<Is>{};
  }

  bool castAhead() {
    static constexpr std::array<std::string_view, 20> types{
        "unsigned", "signed", "long", "int", "short", "char", "void",  "u8",    "u16",   "u32",
        "u64",      "s8",     "s16",  "s32", "s64",   "__u8", "__u16", "__u32", "__u64", "const"};
    if (!now().isSign("(")) return false;
    std::size_t i = 1;
    while (next(i).is == PrintToken::Is::Name &&
           std::find(types.begin(), types.end(), next(i).text) != types.end())
      ++i;
    if (i == 1) return false;
    if (next(i).isSign("*")) ++i;
    if (!next(i).isSign(")")) return false;
    at_ += i + 1;
    return true;
  }

  Known<Is> plain() {
    const PrintToken& t = now();
    switch (t.is) {
      case PrintToken::Is::Number:
        ++at_;
        return Is::Number;
      case PrintToken::Is::Text:
        ++at_;
        return Is::Text;
      case PrintToken::Is::Name:
        return t.text == "REC" ? field() : function();
      default:
        return {};
    }
  }

  Known<Is> field() {
    at_ += 1;
    if (!take("->") || now().is != PrintToken::Is::Name) return {};
    const FormatField* const found = format_->find(now().text);
    ++at_;
    if (!found || isDynamic(*found) || found->kind == Kind::Array) return {};
    if (found->kind == Kind::Integer && found->isSigned && found->size < 8) ++signedFields_;
    return found->kind == Kind::Chars ? Is::Text : Is::Number;
  }

  Known<Is> function() {
    const std::string name = now().text;
    ++at_;
    if (!take("(")) return {};
    const bool rel = name == "__get_rel_str" || name == "__get_rel_dynamic_array_len";
    if (name == "__get_str" || name == "__get_dynamic_array_len" || rel) {
      const FormatField* const found =
          now().is == PrintToken::Is::Name ? format_->find(now().text) : nullptr;
      ++at_;
      if (!found || found->kind != (rel ? Kind::RelLoc : Kind::DataLoc) || !take(")")) return {};
      const bool text = name.ends_with("str");
      return text && !found->isChars ? Known<Is>{} : text ? Is::Text : Is::Number;
    }
    const bool flags = name == "__print_flags";
    if (!flags && name != "__print_symbolic") return {};
    ++operations_;
    if (choice() != Is::Number || !take(",")) return {};
    if (flags && (now().is != PrintToken::Is::Text || (++at_, !take(",")))) return {};
    do {
      // A flag without bits is printed by the kernel beside any other, by the library never.
      if (flags && next(1).is == PrintToken::Is::Number && next(1).number == 0) return {};
      const bool entry = take("{") && take(PrintToken::Is::Number) && take(",") &&
                         take(PrintToken::Is::Text) && take("}");
      if (!entry || ++names_ > mostNames) return {};
    } while (take(","));
    return take(")") ? Known<Is>(Is::Text) : Known<Is>{};
  }

  bool take(std::string_view sign) {
    if (!now().isSign(sign)) return false;
    ++at_;
    return true;
  }
  bool take(PrintToken::Is is) {
    if (now().is != is) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] const PrintToken& now() const { return next(0); }
  [[nodiscard]] const PrintToken& next(std::size_t ahead) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }

  const EventFormat* format_;
  std::span<const PrintToken> tokens_;
  std::size_t at_ = 1;
  std::size_t depth_ = 0, names_ = 0;
  u32 signedFields_ = 0, operations_ = 0, wrapping_ = 0;  // of the argument being checked
};

std::string declared(const FormatField& field) {
  const std::string_view sign = field.isSigned ? "" : "unsigned ";
  const auto integer = [&](u32 size) {
    return fmt::format("{}{}", sign,
                       size == 1   ? "char"
                       : size == 2 ? "short"
                       : size == 4 ? "int"
                                   : "long long");
  };
  switch (field.kind) {
    case Kind::Pointer:
      return fmt::format("void * {}", field.name);
    case Kind::Chars:
      return fmt::format("char {}[{}]", field.name, field.size);
    case Kind::Array:
      return fmt::format("{} {}[{}]", integer(field.elementSize), field.name,
                         field.size / field.elementSize);
    case Kind::DataLoc:
      return fmt::format("__data_loc {}[] {}", field.isChars ? "char" : "unsigned char",
                         field.name);
    case Kind::RelLoc:
      return fmt::format("__rel_loc {}[] {}", field.isChars ? "char" : "unsigned char", field.name);
    default:
      return fmt::format("{} {}", integer(field.size), field.name);
  }
}

}  // namespace

Known<std::string> whyRefused(const EventFormat& format) {
  if (!isIdentifier(format.name) || !isIdentifier(format.system))
    return "its name is no identifier";
  if (!format.problems.empty()) return "some of its fields are not understood";
  if (format.common.size() + format.fields.size() > mostFields) return "it has too many fields";
  for (const auto* fields : {&format.common, &format.fields}) {
    if (!std::all_of(fields->begin(), fields->end(), isSound))
      return "some of its fields are not understood";
  }
  if (format.printFormat.find_first_of("\t\n") != std::string::npos) {
    return "its print format has tabs or several lines";
  }
  const auto tokens = printTokens(format.printFormat);
  if (!tokens) return tokens.error().what;
  if (tokens->front().is != PrintToken::Is::Text)
    return "its print format does not begin with a string";
  const bool joined =
      std::any_of(tokens->begin(), tokens->end(), [](const PrintToken& t) { return t.isJoined; });
  if (joined) return "its print format joins strings";
  const auto conversions = conversionsOf(tokens->front().text);
  if (!conversions) return "its print format has a conversion that may not pass";
  if (!ArgumentCheck(format, *tokens).passes(*conversions))
    return "its print format has an argument that may not pass";
  return {};
}

std::string rebuiltFormat(const EventFormat& format) {
  std::string text = fmt::format("name: {}\nID: {}\nformat:\n", format.name, format.id);
  const auto add = [&](const FormatField& field) {
    text += fmt::format("\tfield:{};\toffset:{};\tsize:{};\tsigned:{:d};\n", declared(field),
                        field.offset, field.size, field.isSigned);
  };
  for (const FormatField& field : format.common) add(field);
  text += '\n';
  for (const FormatField& field : format.fields) add(field);
  return text + fmt::format("\nprint fmt: {}\n", format.printFormat);
}

bool recordFits(const EventFormat& format, Bytes record, bool swap) {
  u64 behindCommon = 0;
  for (const FormatField& field : format.common)
    behindCommon = std::max<u64>(behindCommon, u64{field.offset} + field.size);
  const auto fits = [&](const FormatField& field) {
    if (u64{field.offset} + field.size > record.size()) return false;
    const auto ends = [](Bytes text) {
      return !text.empty() && std::memchr(text.data(), 0, text.size());
    };
    if (field.kind == Kind::Chars) return ends(record.subspan(field.offset, field.size));
    if (!isDynamic(field)) return true;
    const u32 word = loadNumber<u32>(record.data() + field.offset, swap);
    const u64 from = (word & 0xffffU) + (field.kind == Kind::RelLoc ? u64{field.offset} + 4 : 0);
    const u64 size = word >> 16U;
    if (from < behindCommon || from + size > record.size()) return false;
    return !field.isChars || ends(record.subspan(from, size));
  };
  return std::all_of(format.common.begin(), format.common.end(), fits) &&
         std::all_of(format.fields.begin(), format.fields.end(), fits);
}

}  // namespace tickscope::trace_dat
