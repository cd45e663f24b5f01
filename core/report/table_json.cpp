// SPDX-License-Identifier: GPL-3.0-or-later
// Cells as JSON values.
#include "core/report/table_json.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "core/base/shown_text.h"

namespace tickscope {

namespace {

using Json = nlohmann::ordered_json;

Json cellJson(const Cell& cell) {
  if (const auto* text = std::get_if<Sentence>(&cell)) return shown(text->text(), Breaks::Keep);
  if (const auto* whole = std::get_if<s64>(&cell)) return *whole;
  if (const auto* figure = std::get_if<Figure>(&cell)) {
    // The digits that the table shows as text, and no more.
    const std::string text = fmt::format("{:.{}f}", figure->value, figure->digits);
    double shownValue = figure->value;
    std::from_chars(text.data(), text.data() + text.size(), shownValue);
    return shownValue;
  }
  return {};
}

}  // namespace

nlohmann::ordered_json tableJson(const Table& table) {
  Json columns = Json::array(), rows = Json::array();
  for (const Column& column : table.columns) {
    columns.push_back({{"name", column.name}, {"unit", column.unit}});
  }
  for (const auto& row : table.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row) cells.push_back(cellJson(cell));
    rows.push_back(std::move(cells));
  }
  return {{"title", table.title}, {"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

}  // namespace tickscope
