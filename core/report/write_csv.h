// SPDX-License-Identifier: GPL-3.0-or-later
// A table as CSV (RFC 4180), a header row first.
#pragma once

#include <string>

#include "core/base/table.h"

namespace tickscope {

/// Lines end with CR LF; what is unknown is an empty field; a column with a unit is named `name [unit]`.
std::string csvOf(const Table& table);

}  // namespace tickscope
