// SPDX-License-Identifier: GPL-3.0-or-later
// Parses one argument of a print format with C's precedence and promotions.
#pragma once

#include "importers/trace_dat/print_expression.h"

namespace tickscope::trace_dat {

/// A C type as far as a value's width and sign go.
struct PrintType {
  u8 size = 4;
  bool isUnsigned = false;
  bool isPointer = false;
};

class PrintParser {
 public:
  PrintParser(PrintExpressions& into, std::span<const PrintToken> tokens, std::size_t at)
      : to_(&into), tokens_(tokens), at_(at) {}

  /// The node, or `none` with why() set.
  u32 argument() { return conditional(); }
  static constexpr u32 none = ~u32{0};
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  using Op = PrintNode::Op;
  using Shape = PrintNode::Shape;

  u32 conditional();
  u32 binary(int least);
  u32 unary();
  u32 postfix();
  u32 primary();
  u32 bracketed();
  u32 addressOf();
  u32 fieldOfRecord();
  u32 function(const std::string& name);
  u32 dynamic(Shape shape);
  u32 dynamicSize();
  u32 names(Op op, bool wide);
  u32 memoryFunction(Op op);
  u32 mask();
  u32 highestBit(s64 factor, s64 offset);
  bool entries(PrintNode& table);
  bool entry();
  bool skipValue();
  u32 sizeOf();
  Known<PrintType> typeName();
  Known<PrintType> castAhead();
  Known<u32> fieldNamed(const std::string& name);

  u32 add(PrintNode node);
  u32 addNumber(u64 value, u8 size, bool isUnsigned);
  u32 addText(std::string text);
  u32 operate(Op op, u32 left, u32 right);
  u32 cast(u32 node, PrintType type);
  [[nodiscard]] const PrintNode& node(u32 id) const { return to_->nodes_[id]; }

  [[nodiscard]] const PrintToken& token() const { return tokens_[at_]; }
  [[nodiscard]] const PrintToken& token(std::size_t ahead) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool take(std::string_view sign);
  bool expect(std::string_view sign);
  u32 refuse(std::string why);

  PrintExpressions* to_;
  std::span<const PrintToken> tokens_;
  std::size_t at_;
  u32 depth_ = 0;  // of conditional()
  u32 signs_ = 0;  // of unary(): one a bracket, and one a sign or cast
  std::string why_;
};

}  // namespace tickscope::trace_dat
