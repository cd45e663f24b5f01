// SPDX-License-Identifier: GPL-3.0-or-later
// Splits a print format into words.
#include "importers/trace_dat/print_tokens.h"

#include <fmt/format.h>

#include <array>

namespace tickscope::trace_dat {
namespace {

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isNamePart(char c) { return isNameStart(c) || isDigit(c); }

Known<char> escaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case '"':
    case '\'':
    case '\\':
      return c;
    default:
      return {};
  }
}

tl::unexpected<Error> refuse(std::string_view why) {
  return fail(Error::Kind::Unsupported, std::string(why));
}

int digitOf(char c) {
  if (isDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  Result<std::vector<PrintToken>> split() {
    while (true) {
      while (!text_.empty() && isBlank(text_.front())) text_.remove_prefix(1);
      if (text_.empty()) break;
      if (tokens_.size() >= mostPrintTokens) return refuse("the print format has too many words");
      const Known<std::string_view> wrong = one();
      if (wrong) return refuse(*wrong);
    }
    tokens_.emplace_back();
    return std::move(tokens_);
  }

 private:
  /// Takes one word; the reason when there is none.
  Known<std::string_view> one() {
    const char c = text_.front();
    if (c == '"') return string();
    if (c == '\'') return character();
    if (isDigit(c)) return number();
    if (isNameStart(c)) return name();
    return sign();
  }

  Known<std::string_view> string() {
    text_.remove_prefix(1);
    const bool joined = !tokens_.empty() && tokens_.back().is == PrintToken::Is::Text;
    std::string content;
    while (true) {
      if (text_.empty()) return "a string of the print format has no end";
      const char c = text_.front();
      text_.remove_prefix(1);
      if (c == '"') break;
      if (c != '\\') {
        content += c;
        continue;
      }
      const Known<char> plain = text_.empty() ? Known<char>{} : escaped(text_.front());
      if (!plain) return "the print format has an unknown escape";
      content += *plain;
      text_.remove_prefix(1);
    }
    if (joined) {
      tokens_.back().text += content;
      tokens_.back().isJoined = true;
    } else {
      add(PrintToken::Is::Text, std::move(content));
    }
    return {};
  }

  Known<std::string_view> character() {
    constexpr std::string_view wrong = "the print format has a broken character";
    text_.remove_prefix(1);
    if (text_.empty()) return wrong;
    char c = text_.front();
    text_.remove_prefix(1);
    if (c == '\\') {
      const Known<char> plain = text_.empty() ? Known<char>{} : escaped(text_.front());
      if (!plain) return wrong;
      c = *plain;
      text_.remove_prefix(1);
    }
    if (text_.empty() || text_.front() != '\'') return wrong;
    text_.remove_prefix(1);
    add(PrintToken::Is::Number, {});
    tokens_.back().number = static_cast<u64>(c);
    return {};
  }

  Known<std::string_view> number() {
    PrintToken token;
    token.is = PrintToken::Is::Number;
    u32 base = 10;
    if (text_.front() == '0') {
      token.isHex = true;
      base = 8;
      if (text_.size() > 1 && (text_[1] == 'x' || text_[1] == 'X')) {
        base = 16;
        text_.remove_prefix(2);
        if (text_.empty() || digitOf(text_.front()) >= 16)
          return "the print format has a broken number";
      }
    }
    while (!text_.empty() && digitOf(text_.front()) < static_cast<int>(base)) {
      const auto digit = static_cast<u64>(digitOf(text_.front()));
      if (token.number > (~u64{0} - digit) / base)
        return "a number of the print format has more than 64 bits";
      token.number = token.number * base + digit;
      text_.remove_prefix(1);
    }
    for (; !text_.empty(); text_.remove_prefix(1)) {
      const char c = text_.front();
      if (c == 'u' || c == 'U') {
        token.isUnsigned = true;
      } else if ((c == 'l' || c == 'L') && token.longs < 2) {
        ++token.longs;
      } else {
        break;
      }
    }
    if (!text_.empty() && isNamePart(text_.front())) return "the print format has a broken number";
    tokens_.push_back(std::move(token));
    return {};
  }

  Known<std::string_view> name() {
    std::size_t size = 1;
    while (size < text_.size() && isNamePart(text_[size])) ++size;
    add(PrintToken::Is::Name, std::string(text_.substr(0, size)));
    text_.remove_prefix(size);
    return {};
  }

  Known<std::string_view> sign() {
    static constexpr std::array<std::string_view, 32> signs{
        "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "(", ")", "[", "]", "{", "}", ",",
        "?",  ":",  "+",  "-",  "*",  "/",  "%",  "&",  "|",  "^", "~", "!", "<", ">", ".", ";"};
    for (const std::string_view sign : signs) {
      if (!text_.starts_with(sign)) continue;
      add(PrintToken::Is::Sign, std::string(sign));
      text_.remove_prefix(sign.size());
      return {};
    }
    return "the print format has a sign that is not understood";
  }

  void add(PrintToken::Is is, std::string text) {
    tokens_.emplace_back();
    tokens_.back().is = is;
    tokens_.back().text = std::move(text);
  }

  std::string_view text_;
  std::vector<PrintToken> tokens_;
};

}  // namespace

Result<std::vector<PrintToken>> printTokens(std::string_view text) {
  if (text.size() > largestPrintFormat) return refuse("the print format is too long");
  for (const char c : text) {
    const bool printable = c >= 0x20 && c < 0x7f;
    if (!printable && !isBlank(c))
      return refuse("the print format has bytes that are no plain text");
  }
  return Splitter(text).split();
}

}  // namespace tickscope::trace_dat
