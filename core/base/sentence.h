// SPDX-License-Identifier: GPL-3.0-or-later
// Words about a trace as tokens, so that redaction knows what is a name until a writer joins them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/ids.h"

namespace tickscope {

struct Token {
  enum class Is : u8 {
    Words,    ///< ours, or the kernel's own words and figures
    Task,     ///< a task's name
    Pid,      ///< of a task or a process
    Address,  ///< of the kernel, as text
    Symbol,   ///< a function's name
    Module,
    Host,  ///< the machine's name, who built the kernel
    Free   ///< text that a person wrote: markers, command lines, file names
  };
  Is is{};
  std::string text;
  bool operator==(const Token&) const = default;
};

class Sentence {
 public:
  Sentence() = default;
  explicit Sentence(std::string words) { add(Token::Is::Words, std::move(words)); }

  template <class... Args>
  Sentence& words(fmt::format_string<Args...> format, Args&&... args) {
    return add(Token::Is::Words, fmt::format(format, std::forward<Args>(args)...));
  }
  Sentence& task(std::string_view comm) { return add(Token::Is::Task, std::string(comm)); }
  Sentence& pid(Pid pid) { return add(Token::Is::Pid, std::to_string(number(pid))); }
  Sentence& address(Address address) {
    return add(Token::Is::Address, fmt::format("0x{:x}", number(address)));
  }
  Sentence& symbol(std::string_view name) { return add(Token::Is::Symbol, std::string(name)); }
  Sentence& module(std::string_view name) { return add(Token::Is::Module, std::string(name)); }
  Sentence& free(std::string_view text) { return add(Token::Is::Free, std::string(text)); }
  Sentence& append(const Sentence& other) {
    for (const Token& token : other.tokens_) add(token.is, token.text);
    return *this;
  }

  [[nodiscard]] bool empty() const { return tokens_.empty(); }
  [[nodiscard]] const std::vector<Token>& tokens() const { return tokens_; }
  [[nodiscard]] std::string text() const {
    std::string joined;
    for (const Token& token : tokens_) joined += token.text;
    return joined;
  }
  bool operator==(const Sentence&) const = default;

 private:
  Sentence& add(Token::Is is, std::string text) {
    if (text.empty()) return *this;
    if (is == Token::Is::Words && !tokens_.empty() && tokens_.back().is == is) {
      tokens_.back().text += text;
    } else {
      tokens_.push_back({is, std::move(text)});
    }
    return *this;
  }
  std::vector<Token> tokens_;
};

}  // namespace tickscope
