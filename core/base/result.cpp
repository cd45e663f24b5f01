// SPDX-License-Identifier: GPL-3.0-or-later
// How an error is put into words.
#include "core/base/result.h"

#include <fmt/format.h>

namespace tickscope {

std::string describe(const Error& error) {
  if (error.offset)
    return fmt::format("{} (at byte {:#x} of the input)", error.what, *error.offset);
  return error.what;
}

}  // namespace tickscope
