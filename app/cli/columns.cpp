// SPDX-License-Identifier: GPL-3.0-or-later
// Aligns cells.
#include "app/cli/columns.h"

#include <algorithm>

namespace tickscope {

void Columns::print(Output& out) const {
  std::vector<std::size_t> widths;
  for (const auto& [cells, words] : rows_) {
    widths.resize(std::max(widths.size(), cells.size()), 0);
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  for (const auto& [cells, words] : rows_) {
    std::string line = " ";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - cells[i].size(), ' ');
      line += i ? "  " : " ";
      line += i < left_ ? cells[i] + padding : padding + cells[i];
    }
    if (!words.empty()) line += "  " + words;
    line.resize(line.find_last_not_of(' ') + 1);
    out.print("{}\n", line);
  }
}

}  // namespace tickscope
