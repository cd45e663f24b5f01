// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/cli/output.h"

namespace tickscope {

/// Columns of text: the first one to the left, the others to the right, each as wide as its widest
/// cell; words may stand behind the last one.
class Columns {
 public:
  void row(std::vector<std::string> cells, std::string words = {}) {
    rows_.push_back({std::move(cells), std::move(words)});
  }
  /// Columns below this one are names.
  void leftAligned(std::size_t columns) { left_ = columns; }
  void print(Output& out) const;

 private:
  struct Line {
    std::vector<std::string> cells;
    std::string words;
  };
  std::vector<Line> rows_;
  std::size_t left_ = 1;
};

}  // namespace tickscope
