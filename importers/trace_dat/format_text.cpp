// SPDX-License-Identifier: GPL-3.0-or-later
// Parses the lines of an event format: name, ID, fields.
#include "importers/trace_dat/format_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

namespace tickscope::trace_dat {

namespace {

constexpr std::size_t mostFields = 2'000;
constexpr std::size_t mostProblems = 8;
constexpr std::string_view blanks = " \t\r";

bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNamePart(char c) { return isNameStart(c) || isDigit(c); }

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  text.remove_prefix(begin);
  const std::size_t end = text.find_last_not_of(blanks);
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

std::optional<u32> decimal(std::string_view text) {
  text = trimmed(text);
  u32 value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end) return {};
  return value;
}

/// A field's declaration, taken apart.
struct Declaration {
  std::vector<std::string_view> words;  ///< identifiers and `*`, without the name
  std::string_view name;
  std::optional<std::string_view> bound;  ///< inside the last [ ]
  std::optional<u32> elements;            ///< product of the bounds, when all are numbers
  bool pointer = false, dataLoc = false, relLoc = false;
};

/// Behind `__attribute__ ((...))` or the like: the number of characters that it takes; 0: it is none.
std::size_t attributeSize(std::string_view text) {
  if (!text.starts_with("__attribute__")) return 0;
  std::size_t at = text.find_first_not_of(blanks, std::string_view("__attribute__").size());
  if (at == std::string_view::npos || text[at] != '(') return 0;
  int depth = 0;
  for (; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return text.size();
}

Declaration takeApart(std::string_view text) {
  Declaration found;
  std::vector<std::string_view> words;
  std::size_t nameAt = 0;  // index in words of the last identifier, plus 1
  while (!text.empty()) {
    if (const std::size_t skipped = attributeSize(text)) {
      text.remove_prefix(skipped);
    } else if (isNameStart(text.front())) {
      std::size_t size = 1;
      while (size < text.size() && isNamePart(text[size])) ++size;
      const std::string_view word = text.substr(0, size);
      text.remove_prefix(size);
      if (word == "__data_loc") {
        found.dataLoc = true;
      } else if (word == "__rel_loc") {
        found.relLoc = true;
      } else {
        words.push_back(word);
        nameAt = words.size();
      }
    } else if (text.front() == '[') {
      const std::size_t close = std::min(text.find(']'), text.size());
      found.bound = text.substr(1, close - 1);
      const auto one = decimal(*found.bound);
      const u64 before = found.elements.value_or(1);
      found.elements.reset();
      if (one && before * *one <= 0xffffffffU) found.elements = static_cast<u32>(before * *one);
      text.remove_prefix(std::min(close + 1, text.size()));
    } else {
      if (text.front() == '*') {
        found.pointer = true;
        words.push_back(text.substr(0, 1));
      }
      text.remove_prefix(1);
    }
  }
  if (nameAt > 0) {
    found.name = words[nameAt - 1];
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(nameAt - 1));
  }
  found.words = std::move(words);
  return found;
}

struct TypeFacts {
  std::string_view name;
  u8 size;  ///< bytes; 0: the kernel's word
  bool isSigned;
};

constexpr std::array<TypeFacts, 26> knownTypes{{
    {"char", 1, true},   {"bool", 1, false},     {"_Bool", 1, false},    {"u8", 1, false},
    {"__u8", 1, false},  {"uint8_t", 1, false},  {"s8", 1, true},        {"short", 2, true},
    {"u16", 2, false},   {"__u16", 2, false},    {"uint16_t", 2, false}, {"s16", 2, true},
    {"int", 4, true},    {"u32", 4, false},      {"__u32", 4, false},    {"uint32_t", 4, false},
    {"s32", 4, true},    {"pid_t", 4, true},     {"unsigned", 4, false}, {"u64", 8, false},
    {"__u64", 8, false}, {"uint64_t", 8, false}, {"s64", 8, true},       {"ktime_t", 8, true},
    {"long", 0, true},   {"size_t", 0, false},
}};

struct Element {
  bool known = false;
  u8 size = 0;  ///< 0: the kernel's word, or not known
  bool isSigned = false;
  bool isChar = false;
};

Element elementOf(const Declaration& declaration) {
  Element element;
  if (declaration.pointer) {
    element.known = true;
    return element;
  }
  const auto has = [&](std::string_view word) {
    return std::find(declaration.words.begin(), declaration.words.end(), word) !=
           declaration.words.end();
  };
  const auto longs = std::count(declaration.words.begin(), declaration.words.end(), "long");
  for (const std::string_view word : declaration.words) {
    const auto type = std::find_if(knownTypes.begin(), knownTypes.end(),
                                   [&](const TypeFacts& t) { return t.name == word; });
    if (type == knownTypes.end()) continue;
    if (element.known && (word == "int" || word == "unsigned")) continue;
    element = {true, type->size, type->isSigned, word == "char"};
  }
  if (longs == 2) element.size = 8;
  if (has("short")) element.size = 2;
  if (has("enum")) element = {true, 4, false, false};
  if (has("unsigned")) {
    element.isSigned = false;
    element.isChar = false;
  }
  return element;
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ' ';
    text += word;
  }
  return text;
}

/// `key:value` out of the parts between semicolons.
std::optional<std::string_view> valueOf(std::string_view line, std::string_view key) {
  while (!line.empty()) {
    const std::size_t size = std::min(line.find(';'), line.size());
    const std::string_view part = trimmed(line.substr(0, size));
    line.remove_prefix(std::min(size + 1, line.size()));
    if (part.starts_with(key) && part.size() > key.size() && part[key.size()] == ':') {
      return part.substr(key.size() + 1);
    }
  }
  return {};
}

constexpr u32 largestEnd = 65'535;

/// Decides the kind from declaration and size; returns what is wrong, in words, or nothing.
std::string settleKind(FormatField& field, const Declaration& declaration) {
  using Kind = FormatField::Kind;
  const Element element = elementOf(declaration);
  if (declaration.dataLoc || declaration.relLoc) {
    // Synthetic events of 6.1 keep the u32 in a place of 8 bytes.
    if (field.size != 4 && field.size != 8) {
      return fmt::format("has {} bytes instead of 4", field.size);
    }
    field.kind = declaration.dataLoc ? Kind::DataLoc : Kind::RelLoc;
    field.elementSize = element.known ? element.size : 1;
    field.isChars = element.isChar;
    return {};
  }
  const bool power = field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8;
  if (declaration.bound) {
    field.kind = element.isChar ? Kind::Chars : Kind::Array;
    field.isChars = element.isChar;
    const auto n = declaration.elements;
    field.elementSize = element.size;
    if (field.elementSize == 0 && n && *n > 0 && field.size % *n == 0) {
      field.elementSize = field.size / *n;
    }
    if (field.elementSize == 0 && !element.known) field.elementSize = 1;
    if (field.elementSize > 8) field.elementSize = 1;
    const bool bounded = !trimmed(*declaration.bound).empty();
    const bool number = bounded && (isDigit(trimmed(*declaration.bound).front()) ||
                                    trimmed(*declaration.bound).front() == '-');
    const bool fits = n && element.size > 0 && u64{*n} * element.size == field.size;
    if (number && element.size > 0 && !fits) {
      return fmt::format("has {} bytes for {} elements", field.size, trimmed(*declaration.bound));
    }
    return {};
  }
  if (declaration.pointer && (field.size == 4 || field.size == 8)) {
    field.kind = Kind::Pointer;
    return {};
  }
  if (power) {
    field.kind = Kind::Integer;
    return {};
  }
  if (!element.known && field.size > 0) {  // a struct: bytes
    field.kind = Kind::Array;
    field.elementSize = 1;
    return {};
  }
  return fmt::format("has {} byte{}", field.size, field.size == 1 ? "" : "s");
}

class Parser {
 public:
  explicit Parser(EventFormat& format) : format_(format) {}

  void line(std::string_view text) {
    const std::string_view content = trimmed(text);
    if (content.starts_with("name:")) {
      if (format_.name.empty()) format_.name = trimmed(content.substr(5));
    } else if (content.starts_with("ID:")) {
      if (!idSeen_) id(trimmed(content.substr(3)));
    } else if (content.starts_with("field:") || content.starts_with("field special:")) {
      fieldLine(content.substr(content.find(':') + 1));
    } else if (content.empty()) {
      if (!format_.common.empty()) commonOver_ = true;
    } else if (content != "format:") {
      problem("a line is not understood");
    }
  }

  void finish() {
    if (format_.name.empty()) problem("it has no name");
    if (!format_.name.empty() && !std::all_of(format_.name.begin(), format_.name.end(), [](char c) {
          return isNamePart(c) || c == '-' || c == '.' || c == ':';
        })) {
      problem("its name is not a name of an event");
    }
    if (!idSeen_) problem("it has no ID");
    const bool empty = format_.common.empty() && format_.fields.empty();
    if (empty) problem("it has no fields");
    if (empty || format_.name.empty()) format_.id = 0;
  }

  void problem(std::string what) {
    if (format_.problems.size() < mostProblems) format_.problems.push_back(std::move(what));
  }

 private:
  void id(std::string_view text) {
    idSeen_ = true;
    const auto value = decimal(text);
    if (value && *value >= 1 && *value <= 65'535) {
      format_.id = static_cast<u16>(*value);
    } else {
      problem("its ID is not between 1 and 65,535");
    }
  }

  void fieldLine(std::string_view text) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const Declaration declaration = takeApart(text.substr(0, end));
    const std::string_view rest = text.substr(std::min(end + 1, text.size()));
    if (declaration.name.empty()) return problem("a field has no name");
    if (format_.common.size() + format_.fields.size() >= mostFields) {
      if (!tooMany_) problem(fmt::format("it has more than {} fields", mostFields));
      tooMany_ = true;
      return;
    }
    FormatField field;
    field.name = declaration.name;
    field.declaration = joined(declaration.words);
    const auto offset = valueOf(rest, "offset");
    const auto size = valueOf(rest, "size");
    const auto offsetValue = offset ? decimal(*offset) : std::nullopt;
    const auto sizeValue = size ? decimal(*size) : std::nullopt;
    std::string wrong;
    if (!offsetValue || !sizeValue) {
      wrong = "has no offset or size";
    } else if (u64{*offsetValue} + *sizeValue > largestEnd) {
      wrong = "lies beyond 64 KiB";
    } else {
      field.offset = *offsetValue;
      field.size = *sizeValue;
      wrong = settleKind(field, declaration);
    }
    const auto isSigned = valueOf(rest, "signed");
    field.isSigned = isSigned ? trimmed(*isSigned) == "1" : elementOf(declaration).isSigned;
    if (!wrong.empty()) problem(fmt::format("field {} {}", field.name, wrong));
    if (!names_.insert(field.name).second) {
      return problem(fmt::format("field {} occurs twice", field.name));
    }
    const bool common = !commonOver_ && field.name.starts_with("common_");
    (common ? format_.common : format_.fields).push_back(std::move(field));
  }

  EventFormat& format_;
  std::set<std::string, std::less<>> names_;
  bool idSeen_ = false, commonOver_ = false, tooMany_ = false;
};

}  // namespace

const FormatField* EventFormat::find(std::string_view field) const {
  for (const auto* list : {&fields, &common}) {
    for (const FormatField& candidate : *list) {
      if (candidate.name == field) return &candidate;
    }
  }
  return nullptr;
}

EventFormat parseFormat(std::string_view system, std::string_view text) {
  EventFormat format;
  format.system = system;
  Parser parser(format);
  if (text.size() > largestFormat) {
    parser.problem("its text is longer than 64 KiB");
    text = text.substr(0, largestFormat);
  }
  constexpr std::string_view printMark = "print fmt:";
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, size);
    if (line.starts_with(printMark)) {
      std::string_view print = text.substr(printMark.size());
      if (print.starts_with(' ')) print.remove_prefix(1);
      while (!print.empty() && (print.back() == '\n' || print.back() == '\0')) {
        print.remove_suffix(1);
      }
      format.printFormat = print;
      break;
    }
    if (line.find_first_not_of('\0') != std::string_view::npos || line.empty()) parser.line(line);
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  parser.finish();
  return format;
}

}  // namespace tickscope::trace_dat
