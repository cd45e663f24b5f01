// SPDX-License-Identifier: GPL-3.0-or-later
// The filter language as a tree, before it meets a recording.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace tickscope {

/// What is wrong with a filter, and where in its text.
struct FilterError {
  std::string what;      ///< a sentence for a person
  std::size_t at{};      ///< byte
  std::size_t length{};  ///< bytes from `at`; 0: at the end
};
/// The filter's text with the place marked below it, and the sentence; several lines.
std::string describe(const FilterError& error, std::string_view filter);

enum class FilterOp : u8 {
  Equal,
  NotEqual,
  Less,
  LessOrEqual,
  Greater,
  GreaterOrEqual,
  Matches,
  DoesNotMatch
};
std::string_view nameOf(FilterOp);

/// `filter := and ( "||" and )*`, `and := not ( "&&" not )*`, `not := "!" not | "(" filter ")" |
/// field op value | word`.
struct FilterNode {
  enum class Is : u8 { And, Or, Not, Comparison, Word } is{};
  std::vector<FilterNode> parts;  ///< of And and Or: two or more; of Not: one
  // Comparison; Word has only the value.
  std::string field;
  FilterOp op{};
  std::string value;
  bool quoted = false;
  std::size_t at{}, length{};            ///< the field, or the word
  std::size_t valueAt{}, valueLength{};  ///< the value as written, quotes included
};

/// An empty text is an error. Nesting deeper than 100, more than 1,000 comparisons and words, and
/// texts above 64 KiB are errors, so that no filter can exhaust the stack or the memory.
tl::expected<FilterNode, FilterError> parseFilter(std::string_view text);

}  // namespace tickscope
