// SPDX-License-Identifier: GPL-3.0-or-later
// Recursive descent over the words of a print format, bounded in depth and size.
#include "importers/trace_dat/print_parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/trace/value_names.h"

namespace tickscope::trace_dat {
namespace {

using Op = PrintNode::Op;

constexpr u16 highestTree = 400;

struct BinarySign {
  std::string_view sign;
  Op op;
  int precedence;  ///< higher binds closer
  bool swapped;    ///< operands change places: `a > b` is `b < a`
};

constexpr std::array<BinarySign, 18> binarySigns{{
    {"||", Op::LogicalOr, 1, false},
    {"&&", Op::LogicalAnd, 2, false},
    {"|", Op::Or, 3, false},
    {"^", Op::Xor, 4, false},
    {"&", Op::And, 5, false},
    {"==", Op::Equal, 6, false},
    {"!=", Op::NotEqual, 6, false},
    {"<", Op::Less, 7, false},
    {"<=", Op::LessEqual, 7, false},
    {">", Op::Less, 7, true},
    {">=", Op::LessEqual, 7, true},
    {"<<", Op::ShiftLeft, 8, false},
    {">>", Op::ShiftRight, 8, false},
    {"+", Op::Add, 9, false},
    {"-", Op::Subtract, 9, false},
    {"*", Op::Multiply, 10, false},
    {"/", Op::Divide, 10, false},
    {"%", Op::Remainder, 10, false},
}};

struct NamedType {
  std::string_view name;
  u8 size;  ///< 0: the kernel's word
  bool isUnsigned;
};

constexpr std::array<NamedType, 45> namedTypes{{
    {"u8", 1, true},        {"__u8", 1, true},     {"uint8_t", 1, true},
    {"bool", 1, true},      {"_Bool", 1, true},    {"s8", 1, false},
    {"__s8", 1, false},     {"int8_t", 1, false},  {"u16", 2, true},
    {"__u16", 2, true},     {"uint16_t", 2, true}, {"umode_t", 2, true},
    {"s16", 2, false},      {"__s16", 2, false},   {"int16_t", 2, false},
    {"u32", 4, true},       {"__u32", 4, true},    {"uint32_t", 4, true},
    {"gfp_t", 4, true},     {"uid_t", 4, true},    {"gid_t", 4, true},
    {"fmode_t", 4, true},   {"s32", 4, false},     {"__s32", 4, false},
    {"int32_t", 4, false},  {"pid_t", 4, false},   {"clockid_t", 4, false},
    {"u64", 8, true},       {"__u64", 8, true},    {"uint64_t", 8, true},
    {"sector_t", 8, true},  {"blkcnt_t", 8, true}, {"dev_t", 4, true},
    {"s64", 8, false},      {"__s64", 8, false},   {"int64_t", 8, false},
    {"loff_t", 8, false},   {"ktime_t", 8, false}, {"size_t", 0, true},
    {"ino_t", 0, true},     {"ssize_t", 0, false}, {"uintptr_t", 0, true},
    {"intptr_t", 0, false}, {"pgoff_t", 0, true},  {"__kernel_rwf_t", 4, false},
}};

bool isQualifier(const PrintToken& t) {
  return t.isName("const") || t.isName("volatile") || t.isName("__force") || t.isName("__user") ||
         t.isName("signed");
}

}  // namespace

u32 PrintParser::refuse(std::string why) {
  if (why_.empty()) why_ = std::move(why);
  return none;
}

bool PrintParser::take(std::string_view sign) {
  if (!token().isSign(sign)) return false;
  ++at_;
  return true;
}

bool PrintParser::expect(std::string_view sign) {
  if (take(sign)) return true;
  refuse(fmt::format("the print format has no `{}` where one belongs", sign));
  return false;
}

u32 PrintParser::add(PrintNode node) {
  if (to_->nodes_.size() >= mostPrintNodes) return refuse("the print format is too large");
  u16 height = 0;
  for (const u32 kid : node.kids) {
    if (kid) height = std::max(height, to_->nodes_[kid - 1].height);
  }
  node.height = static_cast<u16>(height + 1);
  if (node.height > highestTree) return refuse("the print format has a chain that is too long");
  to_->nodes_.push_back(node);
  return static_cast<u32>(to_->nodes_.size() - 1);
}

u32 PrintParser::addNumber(u64 value, u8 size, bool isUnsigned) {
  PrintNode number;
  number.op = Op::Number;
  number.number = value;
  number.size = size;
  number.isUnsigned = isUnsigned;
  return add(number);
}

u32 PrintParser::addText(std::string text) {
  PrintNode node;
  node.op = Op::Text;
  node.shape = Shape::Text;
  node.index = static_cast<u32>(to_->texts_.size());
  to_->texts_.push_back(std::move(text));
  return add(node);
}

u32 PrintParser::operate(Op op, u32 left, u32 right) {
  if (node(left).shape != Shape::Number || node(right).shape != Shape::Number) {
    return refuse("the print format computes with a string");
  }
  PrintNode made;
  made.op = op;
  made.kids = {left + 1, right + 1, 0};
  const auto promoted = [&](const PrintNode& n) {
    return n.size < 4 ? PrintType{4, false} : PrintType{n.size, n.isUnsigned};
  };
  const PrintType a = promoted(node(left));
  const PrintType b = promoted(node(right));
  switch (op) {
    case Op::Less:
    case Op::LessEqual:
    case Op::Equal:
    case Op::NotEqual:
    case Op::LogicalAnd:
    case Op::LogicalOr:
      break;
    case Op::ShiftLeft:
    case Op::ShiftRight:
      made.size = a.size;
      made.isUnsigned = a.isUnsigned;
      break;
    default:
      made.size = std::max(a.size, b.size);
      made.isUnsigned =
          (a.isUnsigned && a.size == made.size) || (b.isUnsigned && b.size == made.size);
  }
  return add(made);
}

u32 PrintParser::cast(u32 id, PrintType type) {
  const Shape shape = node(id).shape;
  if (shape != Shape::Number)
    return type.isPointer ? id : refuse("the print format makes a number of a string");
  PrintNode made;
  made.op = Op::Cast;
  made.kids = {id + 1, 0, 0};
  made.size = type.size;
  made.isUnsigned = type.isUnsigned;
  // A cast kernel string is one still: what it is called does not change the text at its address.
  if (type.isPointer) made.index = 1;
  return add(made);
}

u32 PrintParser::conditional() {
  if (++depth_ > deepestPrint) return refuse("the print format is nested too deeply");
  const u32 condition = binary(1);
  u32 result = condition;
  if (condition != none && take("?")) {
    const u32 yes = conditional();
    if (yes == none || !expect(":")) return none;
    const u32 no = conditional();
    if (no == none) return none;
    PrintNode made;
    made.op = Op::Conditional;
    made.kids = {condition + 1, yes + 1, no + 1};
    const PrintNode& a = node(yes);
    const PrintNode& b = node(no);
    if (a.shape != b.shape) return refuse("the print format chooses between a string and a number");
    made.shape = a.shape;
    made.size = std::max<u8>({a.size, b.size, 4});
    made.isUnsigned =
        (a.isUnsigned && a.size == made.size) || (b.isUnsigned && b.size == made.size);
    result = add(made);
  }
  --depth_;
  return result;
}

u32 PrintParser::binary(int least) {
  u32 left = unary();
  while (left != none && token().is == PrintToken::Is::Sign) {
    const auto* const found =
        std::find_if(binarySigns.begin(), binarySigns.end(),
                     [&](const BinarySign& b) { return b.sign == token().text; });
    if (found == binarySigns.end() || found->precedence < least) break;
    ++at_;
    const u32 right = binary(found->precedence + 1);
    if (right == none) return none;
    left = found->swapped ? operate(found->op, right, left) : operate(found->op, left, right);
  }
  return left;
}

u32 PrintParser::unary() {
  if (++signs_ > 2 * deepestPrint) return refuse("the print format is nested too deeply");
  u32 result = none;
  const auto sign = [&](Op op) {
    const u32 of = unary();
    if (of == none) return none;
    if (node(of).shape != Shape::Number) return refuse("the print format computes with a string");
    PrintNode made;
    made.op = op;
    made.kids = {of + 1, 0, 0};
    if (op != Op::Not) {
      made.size = std::max<u8>(node(of).size, 4);
      made.isUnsigned = node(of).size >= 4 && node(of).isUnsigned;
    }
    return add(made);
  };
  if (take("-")) {
    result = sign(Op::Negate);
  } else if (take("~")) {
    result = sign(Op::Complement);
  } else if (take("!")) {
    result = sign(Op::Not);
  } else if (take("+")) {
    result = unary();
  } else if (take("&")) {
    result = addressOf();
  } else if (const Known<PrintType> type = castAhead()) {
    const u32 of = unary();
    result = of == none ? none : cast(of, *type);
  } else {
    result = postfix();
  }
  --signs_;
  return result;
}

Known<PrintType> PrintParser::castAhead() {
  if (!token().isSign("(")) return {};
  const std::size_t before = at_++;
  const Known<PrintType> type = typeName();
  if (type && take(")")) return type;
  at_ = before;
  return {};
}

Known<PrintType> PrintParser::typeName() {
  const std::size_t begin = at_;
  PrintType type;
  bool known = false;
  bool isUnsigned = false;
  u32 longs = 0;
  for (; token().is == PrintToken::Is::Name; ++at_) {
    const PrintToken& t = token();
    if (isQualifier(t)) continue;
    const auto* const found = std::find_if(namedTypes.begin(), namedTypes.end(),
                                           [&](const NamedType& n) { return n.name == t.text; });
    if (t.isName("unsigned")) {
      isUnsigned = known = true;
    } else if (t.isName("long")) {
      ++longs;
      known = true;
    } else if (t.isName("int")) {
      known = true;
    } else if (t.isName("short")) {
      type.size = 2;
      known = true;
    } else if (t.isName("char")) {
      type.size = 1;
      known = true;
    } else if (t.isName("void")) {
      known = true;
    } else if (t.isName("enum") && token(1).is == PrintToken::Is::Name) {
      ++at_;
      isUnsigned = known = true;
    } else if (t.isName("struct") && token(1).is == PrintToken::Is::Name && token(2).isSign("*")) {
      ++at_;
      known = true;
    } else if (found != namedTypes.end() && !known) {
      type.size = found->size ? found->size : to_->wordSize_;
      isUnsigned = found->isUnsigned;
      known = true;
    } else {
      break;
    }
  }
  if (longs == 1) type.size = to_->wordSize_;
  if (longs > 1) type.size = 8;
  type.isUnsigned = isUnsigned;
  while (known && (take("*") || (type.isPointer && isQualifier(token()) && ++at_))) {
    type.isPointer = type.isUnsigned = true;
    type.size = to_->wordSize_;
  }
  if (known) return type;
  at_ = begin;
  return {};
}

u32 PrintParser::addressOf() {
  // The address of an array's first element, or of a field, stands for its bytes.
  if (!token().isName("REC"))
    return refuse("the print format takes an address that is not a field's");
  const u32 id = fieldOfRecord();
  if (id == none) return none;
  PrintNode memory = node(id);
  if (memory.op == Op::Element) {
    const PrintNode& index = node(memory.kids[0] - 1);
    if (index.op != Op::Number || index.number != 0)
      return refuse("the print format takes an address inside a field");
    memory.kids = {};
  }
  memory.op = Op::Field;
  memory.shape = Shape::Memory;
  return add(memory);
}

u32 PrintParser::postfix() {
  const u32 id = primary();
  if (id != none && (token().isSign("[") || token().isSign(".") || token().isSign("->"))) {
    return refuse("the print format reaches into a value");
  }
  return id;
}

u32 PrintParser::bracketed() {
  if (token().isName("REC") && token(1).isSign(")")) return fieldOfRecord();
  const u32 id = conditional();
  return id != none && expect(")") ? id : none;
}

u32 PrintParser::primary() {
  const PrintToken t = token();
  switch (t.is) {
    case PrintToken::Is::Number: {
      ++at_;
      const u8 word = to_->wordSize_;
      const auto fits = [&](u8 size, bool isUnsigned) {
        if (size == 8) return isUnsigned || t.number >> 63U == 0;
        return t.number >> (isUnsigned ? 32U : 31U) == 0;
      };
      for (const u8 size : {u8{4}, u8{8}}) {
        if (t.longs == 1 && size < word) continue;
        if (t.longs == 2 && size < 8) continue;
        if (!t.isUnsigned && fits(size, false)) return addNumber(t.number, size, false);
        if ((t.isUnsigned || t.isHex) && fits(size, true)) return addNumber(t.number, size, true);
      }
      return addNumber(t.number, 8, true);
    }
    case PrintToken::Is::Text:
      ++at_;
      return addText(t.text);
    case PrintToken::Is::Sign:
      if (take("(")) return bracketed();
      return refuse(fmt::format("the print format has `{}` where a value belongs", t.text));
    case PrintToken::Is::Name:
      break;
    case PrintToken::Is::End:
      return refuse("the print format ends too early");
  }
  if (t.text == "REC") return fieldOfRecord();
  if (t.text == "sizeof") return sizeOf();
  ++at_;
  if (take("(")) return function(t.text);
  if (t.text == "true" || t.text == "false") return addNumber(t.text == "true", 4, false);
  if (const Known<u64> mode = hrtimerModeValue(t.text)) return addNumber(*mode, 4, true);
  return refuse(fmt::format("the print format uses `{}`, which is not known", t.text));
}

Known<u32> PrintParser::fieldNamed(const std::string& name) {
  for (u32 i = 0; const FormatField* field = to_->field(i); ++i) {
    if (field->name == name) return i;
  }
  return {};
}

u32 PrintParser::fieldOfRecord() {
  ++at_;
  take(")");
  if (!expect("->")) return none;
  if (token().is != PrintToken::Is::Name)
    return refuse("the print format names no field behind `->`");
  std::string name = token().text;
  ++at_;
  PrintNode made;
  made.op = Op::Field;
  bool word = false;
  for (const std::string_view prefix : {"__data_loc_", "__rel_loc_"}) {
    if (!name.starts_with(prefix) || fieldNamed(name)) continue;
    name.erase(0, prefix.size());
    word = true;
  }
  const Known<u32> index = fieldNamed(name);
  if (!index)
    return refuse(fmt::format("the print format uses the field `{}`, which is not there", name));
  made.index = *index;
  const FormatField& field = *to_->field(*index);
  using Kind = FormatField::Kind;
  switch (field.kind) {
    case Kind::Integer:
      made.size = static_cast<u8>(field.size);
      made.isUnsigned = !field.isSigned;
      break;
    case Kind::Pointer:
      made.size = static_cast<u8>(field.size);
      made.isUnsigned = true;
      // A `char *` is the address of a string of the kernel.
      made.count = field.declaration.find("char") != std::string::npos ? 1 : 0;
      break;
    case Kind::Chars:
      made.shape = Shape::Text;
      break;
    case Kind::Array:
      made.shape = Shape::Memory;
      break;
    case Kind::DataLoc:
    case Kind::RelLoc:
      made.isUnsigned = true;
      if (!word) made.shape = field.isChars ? Shape::Text : Shape::Memory;
      break;
    case Kind::Unusable:
      made.count = 2;
      break;  // may stand for anything; its value is not known
  }
  if (!token().isSign("[")) return add(made);
  ++at_;
  const u32 which = conditional();
  if (which == none || !expect("]")) return none;
  const bool isArray = field.kind == Kind::Array || field.kind == Kind::Chars;
  const u32 size = field.elementSize;
  if (!isArray || node(which).shape != Shape::Number ||
      (size != 1 && size != 2 && size != 4 && size != 8)) {
    return refuse("the print format takes an element of what is no array of numbers");
  }
  made.op = Op::Element;
  made.shape = Shape::Number;
  made.kids = {which + 1, 0, 0};
  made.size = static_cast<u8>(size);
  made.isUnsigned = !field.isSigned;
  return add(made);
}

u32 PrintParser::sizeOf() {
  ++at_;
  if (!expect("(")) return none;
  u64 size = 0;
  if (token().isName("REC")) {
    const u32 id = fieldOfRecord();
    if (id == none) return none;
    size = node(id).op == Op::Element ? node(id).size : to_->field(node(id).index)->size;
    if (size == 0) return refuse("the print format asks for the size of an open array");
  } else if (const Known<PrintType> type = typeName()) {
    size = type->size;
  } else {
    return refuse("the print format asks for the size of an unknown type");
  }
  return expect(")") ? addNumber(size, to_->wordSize_, true) : none;
}

}  // namespace tickscope::trace_dat
