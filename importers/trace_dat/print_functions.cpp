// SPDX-License-Identifier: GPL-3.0-or-later
// The functions that the kernel offers to print formats: __print_flags, __get_str and so on.
#include <fmt/format.h>

#include "importers/trace_dat/print_parser.h"

namespace tickscope::trace_dat {

u32 PrintParser::function(const std::string& name) {
  if (name == "__get_str" || name == "__get_rel_str") return dynamic(Shape::Text);
  if (name == "__get_dynamic_array" || name == "__get_rel_dynamic_array" ||
      name == "__get_sockaddr" || name == "__get_rel_sockaddr") {
    return dynamic(Shape::Memory);
  }
  if (name == "__get_dynamic_array_len" || name == "__get_rel_dynamic_array_len")
    return dynamicSize();
  if (name == "__get_bitmask" || name == "__get_rel_bitmask" || name == "__get_cpumask" ||
      name == "__get_rel_cpumask") {
    return mask();
  }
  if (name == "__print_flags") return names(Op::Flags, false);
  if (name == "__print_flags_u64") return names(Op::Flags, true);
  if (name == "__print_symbolic") return names(Op::Symbol, false);
  if (name == "__print_symbolic_u64") return names(Op::Symbol, true);
  if (name == "__print_hex") return memoryFunction(Op::Hex);
  if (name == "__print_hex_str") return memoryFunction(Op::HexDense);
  if (name == "__print_array") return memoryFunction(Op::Array);
  const auto one = [&]() -> u32 {
    const u32 value = conditional();
    if (value == none) return none;
    return node(value).shape == Shape::Number ? value
                                              : refuse("the print format computes with a string");
  };
  if (name == "__print_ns_to_secs" || name == "__print_ns_without_secs") {
    const u32 value = one();
    if (value == none || !expect(")")) return none;
    const u32 wide = cast(value, {8, true});
    const u32 second = addNumber(1'000'000'000, 8, true);
    if (wide == none || second == none) return none;
    return operate(name == "__print_ns_to_secs" ? Op::Divide : Op::Remainder, wide, second);
  }
  if (name == "__builtin_constant_p") {
    // The kernel's text comes from values that no compiler knew.
    return one() != none && expect(")") ? addNumber(0, 4, false) : none;
  }
  if (name == "__builtin_expect") {
    const u32 value = one();
    return value != none && expect(",") && one() != none && expect(")") ? value : none;
  }
  if (name == "__ilog2_u32" || name == "__ilog2_u64") return highestBit(1, 0);
  if (name == "__builtin_clzll") return highestBit(-1, 63);
  return refuse(fmt::format("the print format calls `{}`, which is not known", name));
}

u32 PrintParser::dynamic(Shape shape) {
  const Known<u32> index =
      token().is == PrintToken::Is::Name ? fieldNamed(token().text) : Known<u32>{};
  if (!index) return refuse("the print format uses a dynamic field that is not there");
  ++at_;
  const FormatField& field = *to_->field(*index);
  const bool isDynamic =
      field.kind == FormatField::Kind::DataLoc || field.kind == FormatField::Kind::RelLoc;
  if (!isDynamic && field.kind != FormatField::Kind::Unusable) {
    return refuse(fmt::format("the print format takes `{}` for a dynamic field", field.name));
  }
  PrintNode made;
  made.op = Op::Field;
  made.shape = shape;
  made.index = *index;
  return expect(")") ? add(made) : none;
}

u32 PrintParser::dynamicSize() {
  const u32 id = dynamic(Shape::Memory);
  if (id == none) return none;
  PrintNode made;
  made.op = Op::Size;
  made.kids = {id + 1, 0, 0};
  return add(made);
}

u32 PrintParser::mask() {
  const u32 id = dynamic(Shape::Memory);
  if (id == none) return none;
  PrintNode made;
  made.op = Op::Mask;
  made.shape = Shape::Text;
  made.kids = {id + 1, 0, 0};
  made.index = node(id).index;
  return add(made);
}

u32 PrintParser::highestBit(s64 factor, s64 offset) {
  const u32 value = conditional();
  if (value == none || !expect(")")) return none;
  if (node(value).shape != Shape::Number) return refuse("the print format computes with a string");
  PrintNode bit;
  bit.op = Op::HighestBit;
  bit.kids = {value + 1, 0, 0};
  const u32 id = add(bit);
  if (id == none || factor > 0) return id;
  const u32 from = addNumber(static_cast<u64>(offset), 4, false);
  return from == none ? none : operate(Op::Subtract, from, id);
}

u32 PrintParser::memoryFunction(Op op) {
  PrintNode made;
  made.op = op;
  made.shape = Shape::Text;
  const u32 from = conditional();
  if (from == none) return none;
  if (!to_->isMemory(from)) return refuse("the print format prints as memory what is none");
  const std::size_t numbers = op == Op::Array ? 2 : 1;
  made.kids[0] = from + 1;
  for (std::size_t i = 1; i <= numbers; ++i) {
    if (!expect(",")) return none;
    const u32 id = conditional();
    if (id == none) return none;
    if (node(id).shape != Shape::Number) return refuse("the print format counts with a string");
    made.kids[i] = id + 1;
  }
  return expect(")") ? add(made) : none;
}

u32 PrintParser::names(Op op, bool wide) {
  PrintNode table;
  table.op = op;
  table.shape = Shape::Text;
  table.size = wide ? 8 : to_->wordSize_;
  const u32 value = conditional();
  if (value == none) return none;
  if (node(value).shape != Shape::Number)
    return refuse("the print format looks up the name of a string");
  table.kids[0] = value + 1;
  if (!expect(",")) return none;
  if (op == Op::Flags) {
    const u32 between = conditional();
    if (between == none) return none;
    if (node(between).op != Op::Text) return refuse("the print format has no text between flags");
    table.kids[1] = between + 1;
    if (!expect(",")) return none;
  }
  return entries(table) ? add(table) : none;
}

bool PrintParser::entries(PrintNode& table) {
  constexpr std::size_t mostNames = 2'000;
  table.index = static_cast<u32>(to_->names_.size());
  do {
    if (to_->names_.size() >= mostNames) {
      refuse("the print format has too many names");
      return false;
    }
    if (!entry()) return false;
  } while (take(","));
  table.count = static_cast<u32>(to_->names_.size()) - table.index;
  return expect(")");
}

/// `{ value, "name" }`; an enumerator that the recording does not explain keeps its place without a
/// value.
bool PrintParser::entry() {
  if (!expect("{")) return false;
  PrintName name;
  struct NoValues : FieldValues {
    [[nodiscard]] Known<u64> number(u32) const override { return {}; }
    [[nodiscard]] Known<std::string_view> text(u32) const override { return {}; }
    [[nodiscard]] Known<Bytes> memory(u32) const override { return {}; }
    [[nodiscard]] Known<std::string_view> mask(u32) const override { return {}; }
  };
  const std::size_t begin = at_;
  const u32 depth = depth_;
  const u32 signs = signs_;
  const u32 id = conditional();
  if (id != none && node(id).shape == Shape::Number) name.value = to_->number(id, NoValues{}, {});
  if (id == none) {
    at_ = begin;
    depth_ = depth;
    signs_ = signs;
    if (!skipValue()) return false;
    why_.clear();
  }
  if (!expect(",")) return false;
  castAhead();
  if (token().is == PrintToken::Is::Text) {
    name.name = token().text;
    ++at_;
    to_->names_.push_back(std::move(name));
    return expect("}");
  }
  // A last line of { -1, NULL } ends some tables.
  const bool isNull =
      token().isName("NULL") || token().is == PrintToken::Is::Number || token().isSign("(");
  if (!isNull || !skipValue()) {
    refuse("the print format has a table without a name");
    return false;
  }
  return expect("}");
}

/// Steps to the comma or brace behind a value that is not understood.
bool PrintParser::skipValue() {
  for (u32 open = 0; token().is != PrintToken::Is::End; ++at_) {
    if (open == 0 && (token().isSign(",") || token().isSign("}"))) return true;
    if (token().isSign("(")) ++open;
    if (token().isSign(")") && open-- == 0) return false;
  }
  return false;
}
}  // namespace tickscope::trace_dat
