// SPDX-License-Identifier: GPL-3.0-or-later
// Quotes fields that need it.
#include "core/report/write_csv.h"

#include <fmt/format.h>

#include "core/base/shown_text.h"

namespace tickscope {

namespace {

void appendField(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

std::string textOf(const Cell& cell) {
  if (const auto* words = std::get_if<Sentence>(&cell)) return shown(words->text(), Breaks::Keep);
  if (const auto* whole = std::get_if<s64>(&cell)) return fmt::format("{}", *whole);
  if (const auto* figure = std::get_if<Figure>(&cell)) {
    return fmt::format("{:.{}f}", figure->value, figure->digits);
  }
  return {};
}

}  // namespace

std::string csvOf(const Table& table) {
  std::string out;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    if (i > 0) out += ',';
    appendField(
        out, column.unit.empty() ? column.name : fmt::format("{} [{}]", column.name, column.unit));
  }
  out += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += ',';
      appendField(out, textOf(row[i]));
    }
    out += "\r\n";
  }
  return out;
}

}  // namespace tickscope
