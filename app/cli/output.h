// SPDX-License-Identifier: GPL-3.0-or-later
// Standard output in large pieces, without locale or stdio, and quiet when the reader has left.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "core/base/result.h"

namespace tickscope {

class Output {
 public:
  explicit Output(int descriptor) : descriptor_(descriptor) {}

  void text(std::string_view words) {
    buffer_.append(words.data(), words.data() + words.size());
    if (buffer_.size() >= piece) flush();
  }
  template <class... T>
  void print(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<T>(values)...);
    if (buffer_.size() >= piece) flush();
  }
  /// Whatever is written now goes nowhere: the reader has closed the pipe, or an error occurred.
  [[nodiscard]] bool closed() const { return state_ != State::Open; }
  /// Writes what is left. Error: Internal with the system's words; a closed pipe is none.
  Result<void> finish();

 private:
  enum class State : u8 { Open, ReaderLeft, Failed };
  static constexpr std::size_t piece = 65'536;
  void flush();

  int descriptor_;
  State state_ = State::Open;
  int error_ = 0;
  fmt::basic_memory_buffer<char, 4096> buffer_;
};

}  // namespace tickscope
