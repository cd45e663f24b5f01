// SPDX-License-Identifier: GPL-3.0-or-later
// A table as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/base/table.h"

namespace tickscope {

/// {title, columns[{name, unit}], rows[[...]]}: words as strings, figures as numbers, unknown as null.
nlohmann::ordered_json tableJson(const Table& table);

}  // namespace tickscope
