// SPDX-License-Identifier: GPL-3.0-or-later
// Splits a filter into tokens and builds its tree by recursive descent.
#include "core/trace/filter_syntax.h"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace tickscope {

namespace {

constexpr std::size_t longestFilter = 65'536;
constexpr int deepest = 100;
constexpr int mostTerms = 1'000;

struct Token {
  enum class Is : u8 { Word, Quoted, Op, And, Or, Not, Open, Close, End } is{};
  std::size_t at{}, length{};
  std::string text;  // of words, and quoted ones without quotes
  FilterOp op{};
};

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool endsWord(char c) {
  return isBlank(c) || std::string_view("()!&|=<>~\"'").find(c) != std::string_view::npos;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  tl::expected<Token, FilterError> next() {
    while (at_ < text_.size() && isBlank(text_[at_])) ++at_;
    if (at_ == text_.size()) return Token{Token::Is::End, at_, 0, {}, {}};
    const char c = text_[at_];
    if (c == '"' || c == '\'') return quoted(c);
    if (c == '(') return symbol(Token::Is::Open, 1);
    if (c == ')') return symbol(Token::Is::Close, 1);
    if (const auto op = comparison()) return *op;
    if (text_.substr(at_, 2) == "&&") return symbol(Token::Is::And, 2);
    if (text_.substr(at_, 2) == "||") return symbol(Token::Is::Or, 2);
    if (c == '!') return symbol(Token::Is::Not, 1);
    if (c == '&') return error("A single & means nothing here; 'and' is written &&.", 1);
    if (c == '|') return error("A single | means nothing here; 'or' is written ||.", 1);
    if (c == '~') return error("A single ~ means nothing here; 'matches' is written =~.", 1);
    const std::size_t begin = at_;
    while (at_ < text_.size() && !endsWord(text_[at_])) ++at_;
    return Token{
        Token::Is::Word, begin, at_ - begin, std::string(text_.substr(begin, at_ - begin)), {}};
  }

 private:
  Token symbol(Token::Is is, std::size_t length) {
    at_ += length;
    return {is, at_ - length, length, {}, {}};
  }
  tl::unexpected<FilterError> error(std::string what, std::size_t length) const {
    return tl::unexpected(FilterError{std::move(what), at_, length});
  }
  std::optional<Token> comparison() {
    struct Written {
      std::string_view text;
      FilterOp op;
    };
    // Longer ones first.
    static constexpr std::array<Written, 9> written{{{"==", FilterOp::Equal},
                                                     {"!=", FilterOp::NotEqual},
                                                     {"<=", FilterOp::LessOrEqual},
                                                     {">=", FilterOp::GreaterOrEqual},
                                                     {"=~", FilterOp::Matches},
                                                     {"!~", FilterOp::DoesNotMatch},
                                                     {"=", FilterOp::Equal},
                                                     {"<", FilterOp::Less},
                                                     {">", FilterOp::Greater}}};
    for (const Written& each : written) {
      if (!text_.substr(at_).starts_with(each.text)) continue;
      Token token = symbol(Token::Is::Op, each.text.size());
      token.op = each.op;
      return token;
    }
    return {};
  }
  /// Behind a backslash the quote and the backslash stand for themselves; before anything else the
  /// backslash stays, because regular expressions have their own meaning for it.
  tl::expected<Token, FilterError> quoted(char quote) {
    Token token{Token::Is::Quoted, at_, 0, {}, {}};
    for (std::size_t at = at_ + 1; at < text_.size(); ++at) {
      if (text_[at] == quote) {
        token.length = at + 1 - at_;
        at_ = at + 1;
        return token;
      }
      if (text_[at] == '\\' && at + 1 < text_.size() &&
          (text_[at + 1] == quote || text_[at + 1] == '\\')) {
        ++at;
      }
      token.text += text_[at];
    }
    return error("This string has no closing quote.", text_.size() - at_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

using Parsed = tl::expected<FilterNode, FilterError>;

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Parsed parse() {
    if (auto moved = advance(); !moved) return tl::unexpected(moved.error());
    if (token_.is == Token::Is::End) return error("The filter is empty.");
    Parsed filter = either();
    if (!filter) return filter;
    if (token_.is == Token::Is::Close) return error("This ) closes nothing.");
    if (token_.is == Token::Is::Op) return error("A comparison begins with the name of a field.");
    if (token_.is != Token::Is::End) return error("Expected && or || before this.");
    return filter;
  }

 private:
  tl::expected<void, FilterError> advance() {
    auto token = lexer_.next();
    if (!token) return tl::unexpected(token.error());
    token_ = std::move(*token);
    return {};
  }
  [[nodiscard]] tl::unexpected<FilterError> error(std::string what) const {
    return tl::unexpected(FilterError{std::move(what), token_.at, token_.length});
  }

  Parsed either() { return chain(Token::Is::Or, FilterNode::Is::Or, &Parser::all); }
  Parsed all() { return chain(Token::Is::And, FilterNode::Is::And, &Parser::inverted); }

  Parsed chain(Token::Is joint, FilterNode::Is is, Parsed (Parser::*part)()) {
    Parsed first = (this->*part)();
    if (!first || token_.is != joint) return first;
    FilterNode node;
    node.is = is;
    node.parts.push_back(std::move(*first));
    while (token_.is == joint) {
      if (auto moved = advance(); !moved) return tl::unexpected(moved.error());
      Parsed next = (this->*part)();
      if (!next) return next;
      node.parts.push_back(std::move(*next));
    }
    return node;
  }

  Parsed inverted() {
    if (token_.is != Token::Is::Not && token_.is != Token::Is::Open) return term();
    if (depth_ == deepest) return error("The filter is nested too deeply.");
    ++depth_;
    const Token opening = token_;
    if (auto moved = advance(); !moved) return tl::unexpected(moved.error());
    Parsed inner = opening.is == Token::Is::Not ? inverted() : either();
    --depth_;
    if (!inner) return inner;
    if (opening.is == Token::Is::Not) {
      FilterNode node;
      node.is = FilterNode::Is::Not;
      node.parts.push_back(std::move(*inner));
      return node;
    }
    if (token_.is == Token::Is::End) {
      return tl::unexpected(FilterError{"This ( is never closed.", opening.at, opening.length});
    }
    if (token_.is != Token::Is::Close) return error("Expected &&, || or ) before this.");
    if (auto moved = advance(); !moved) return tl::unexpected(moved.error());
    return inner;
  }

  Parsed term() {
    if (token_.is == Token::Is::End) return error("Something is missing at the end.");
    if (token_.is == Token::Is::Op) return error("A comparison begins with the name of a field.");
    if (token_.is != Token::Is::Word && token_.is != Token::Is::Quoted) {
      return error("Expected a field, a word or ( here.");
    }
    if (++terms_ > mostTerms) return error("The filter has too many parts.");
    FilterNode node;
    node.at = token_.at;
    node.length = token_.length;
    const Token left = std::move(token_);
    if (auto moved = advance(); !moved) return tl::unexpected(moved.error());
    if (token_.is != Token::Is::Op) {
      node.is = FilterNode::Is::Word;
      node.value = left.text;
      node.quoted = left.is == Token::Is::Quoted;
      node.valueAt = node.at;
      node.valueLength = node.length;
      return node;
    }
    if (left.is == Token::Is::Quoted) {
      return tl::unexpected(
          FilterError{"The name of a field stands without quotes.", left.at, left.length});
    }
    node.is = FilterNode::Is::Comparison;
    node.field = left.text;
    node.op = token_.op;
    if (auto moved = advance(); !moved) return tl::unexpected(moved.error());
    if (token_.is != Token::Is::Word && token_.is != Token::Is::Quoted) {
      return error(fmt::format("Expected a value behind {}.", nameOf(node.op)));
    }
    node.value = std::move(token_.text);
    node.quoted = token_.is == Token::Is::Quoted;
    node.valueAt = token_.at;
    node.valueLength = token_.length;
    if (auto moved = advance(); !moved) return tl::unexpected(moved.error());
    return node;
  }

  Lexer lexer_;
  Token token_;
  int depth_ = 0;
  int terms_ = 0;
};

}  // namespace

std::string_view nameOf(FilterOp op) {
  static constexpr std::array<std::string_view, 8> names{
      "==", "!=", "<", "<=", ">", ">=", "=~", "!~"};
  return names[static_cast<std::size_t>(op)];
}

std::string describe(const FilterError& error, std::string_view filter) {
  // The mark must stand below its place: blanks of any kind become one column.
  std::string shown(filter);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  // Bytes inside a UTF-8 character take no column.
  const auto columns = [&](std::size_t from, std::size_t to) {
    std::size_t count = 0;
    for (std::size_t at = from; at < to && at < shown.size(); ++at) {
      count += (static_cast<unsigned char>(shown[at]) & 0xc0U) != 0x80U;
    }
    return count;
  };
  const std::size_t width = std::max<std::size_t>(1, columns(error.at, error.at + error.length));
  return fmt::format("{}\n  {}\n  {}{}", error.what, shown, std::string(columns(0, error.at), ' '),
                     std::string(width, '^'));
}

Parsed parseFilter(std::string_view text) {
  if (text.size() > longestFilter) {
    return tl::unexpected(FilterError{"The filter is longer than 64 KiB.", longestFilter, 0});
  }
  return Parser(text).parse();
}

}  // namespace tickscope
