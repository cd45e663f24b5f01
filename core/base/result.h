// SPDX-License-Identifier: GPL-3.0-or-later
// What a function returns that can fail: a value, or a sentence for a person with the place in the input.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "core/base/quantity.h"

namespace tickscope {

struct Error {
  enum class Kind : u8 {
    Io,
    NotATrace,
    Damaged,
    Unsupported,
    TooLarge,
    Cancelled,
    Usage,
    Internal
  };
  Kind kind{};
  std::string what;     ///< a sentence for a person
  Known<u64> offset{};  ///< byte in the input
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Error::Kind kind, std::string what, Known<u64> offset = {}) {
  return tl::unexpected<Error>(Error{kind, std::move(what), offset});
}

/// The sentence with its offset, as programs print it.
std::string describe(const Error&);

}  // namespace tickscope
