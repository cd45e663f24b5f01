// SPDX-License-Identifier: GPL-3.0-or-later
// A table of sentences and figures, before a writer knows whether it becomes text, CSV or a page.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/sentence.h"

namespace tickscope {

/// Empty: unknown, or not judged. Whole numbers stay whole; a figure carries the digits it is shown with.
struct Figure {
  double value{};
  int digits = 3;  ///< behind the point
  bool operator==(const Figure&) const = default;
};
using Cell = std::variant<std::monostate, Sentence, s64, Figure>;

struct Column {
  std::string
      name;  ///< "requested"; also the JSON key and the CSV header, with blanks as they stand
  std::string_view unit;  ///< "ns", "jiffies", "%", "1/s"; empty: a count or words
};

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

}  // namespace tickscope
