// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluates the arguments of a print format.
#include "importers/trace_dat/print_expression.h"

#include <fmt/format.h>

#include <bit>
#include <iterator>

#include "importers/trace_dat/field_binding.h"
#include "importers/trace_dat/print_parser.h"

namespace tickscope::trace_dat {

using Op = PrintNode::Op;
using Shape = PrintNode::Shape;

namespace {

/// As a value of that type, extended to 64 bits.
u64 wrapped(u64 value, u8 size, bool isUnsigned) {
  switch (size) {
    case 1:
      return isUnsigned ? static_cast<u8>(value)
                        : static_cast<u64>(static_cast<s64>(static_cast<s8>(value)));
    case 2:
      return isUnsigned ? static_cast<u16>(value)
                        : static_cast<u64>(static_cast<s64>(static_cast<s16>(value)));
    case 4:
      return isUnsigned ? static_cast<u32>(value)
                        : static_cast<u64>(static_cast<s64>(static_cast<s32>(value)));
    default:
      return value;
  }
}

Known<u64> divided(const PrintNode& node, u64 a, u64 b) {
  const bool remainder = node.op == Op::Remainder;
  if (b == 0) return {};
  if (node.isUnsigned) return remainder ? a % b : a / b;
  const auto left = static_cast<s64>(a);
  const auto right = static_cast<s64>(b);
  const s64 least =
      node.size == 4 ? std::numeric_limits<s32>::min() : std::numeric_limits<s64>::min();
  if (right == -1 && left == least) return {};
  return static_cast<u64>(remainder ? left % right : left / right);
}

Known<u64> shifted(const PrintNode& node, u64 a, u64 by) {
  if (by >= node.size * 8U) return {};
  if (node.op == Op::ShiftLeft) return a << by;
  return node.isUnsigned ? a >> by : static_cast<u64>(static_cast<s64>(a) >> by);
}

u64 elementAt(Bytes memory, std::size_t at, u32 size, bool swap) {
  switch (size) {
    case 1:
      return memory[at];
    case 2:
      return loadNumber<u16>(memory.data() + at, swap);
    case 4:
      return loadNumber<u32>(memory.data() + at, swap);
    default:
      return loadNumber<u64>(memory.data() + at, swap);
  }
}

}  // namespace

const FormatField* PrintExpressions::field(u32 number) const {
  if (number < format_->fields.size()) return &format_->fields[number];
  const std::size_t common = number - format_->fields.size();
  return common < format_->common.size() ? &format_->common[common] : nullptr;
}

Result<u32> PrintExpressions::parse(std::span<const PrintToken> tokens, std::size_t& at) {
  PrintParser parser(*this, tokens, at);
  const u32 id = parser.argument();
  at = parser.at();
  if (id == PrintParser::none) return fail(Error::Kind::Unsupported, parser.why());
  return id;
}

bool PrintExpressions::isText(u32 id) const {
  const PrintNode& n = nodes_[id];
  if (n.shape == Shape::Text) return true;
  if (n.op == Op::Field)
    return n.count != 0 || (n.shape == Shape::Memory && field(n.index)->isChars);
  if (n.op == Op::Cast && n.index) return isText(n.kids[0] - 1);
  return false;
}

bool PrintExpressions::isMemory(u32 id) const {
  const PrintNode& n = nodes_[id];
  if (n.shape == Shape::Memory) return true;
  return n.op == Op::Field && (n.shape == Shape::Text || n.count == 2);
}

/// One event's values against a tree. The height of trees is bounded where they are made.
class PrintEvaluator {
 public:
  PrintEvaluator(const PrintExpressions& of, const FieldValues& values,
                 const PrintSurroundings& around)
      : of_(&of), values_(&values), around_(&around) {}

  Known<u64> number(u32 id) const {
    const PrintNode& n = of_->nodes_[id];
    if (n.shape != Shape::Number) return {};
    const Known<u64> value = compute(n);
    return value ? Known<u64>(wrapped(*value, n.size, n.isUnsigned)) : value;
  }

  bool text(u32 id, std::string& out) const {
    const PrintNode& n = of_->nodes_[id];
    switch (n.op) {
      case Op::Text:
        out += of_->texts_[n.index];
        return true;
      case Op::Field:
        return fieldText(n, out);
      case Op::Cast:
        return text(n.kids[0] - 1, out);
      case Op::Conditional: {
        const Known<u64> condition = number(n.kids[0] - 1);
        return condition && text(n.kids[*condition ? 1 : 2] - 1, out);
      }
      case Op::Flags:
        return flags(n, out);
      case Op::Symbol:
        return symbol(n, out);
      case Op::Hex:
      case Op::HexDense:
        return hex(n, out);
      case Op::Array:
        return array(n, out);
      case Op::Mask:
        return mask(n, out);
      default:
        return false;
    }
  }

  Known<Bytes> memory(u32 id) const {
    const PrintNode& n = of_->nodes_[id];
    if (n.op == Op::Field) return values_->memory(n.index);
    if (n.op != Op::Conditional) return {};
    const Known<u64> condition = number(n.kids[0] - 1);
    return condition ? memory(n.kids[*condition ? 1 : 2] - 1) : Known<Bytes>{};
  }

 private:
  Known<u64> compute(const PrintNode& n) const {
    switch (n.op) {
      case Op::Number:
        return n.number;
      case Op::Field:
        return values_->number(n.index);
      case Op::Element:
        return element(n);
      case Op::Size: {
        const Known<Bytes> bytes = memory(n.kids[0] - 1);
        return bytes ? Known<u64>(bytes->size()) : Known<u64>{};
      }
      case Op::LogicalAnd:
      case Op::LogicalOr: {
        const Known<u64> left = number(n.kids[0] - 1);
        if (!left) return {};
        if ((*left != 0) == (n.op == Op::LogicalOr)) return *left != 0;
        const Known<u64> right = number(n.kids[1] - 1);
        return right ? Known<u64>(*right != 0) : right;
      }
      case Op::Conditional: {
        const Known<u64> condition = number(n.kids[0] - 1);
        return condition ? number(n.kids[*condition ? 1 : 2] - 1) : condition;
      }
      default:
        break;
    }
    const Known<u64> left = number(n.kids[0] - 1);
    if (!left) return {};
    switch (n.op) {
      case Op::Cast:
        return left;
      case Op::Negate:
        return ~*left + 1;
      case Op::Complement:
        return ~*left;
      case Op::Not:
        return *left == 0;
      case Op::HighestBit:
        return *left ? Known<u64>(static_cast<u64>(std::bit_width(*left) - 1)) : Known<u64>{};
      default:
        break;
    }
    const Known<u64> right = number(n.kids[1] - 1);
    return right ? binary(n, *left, *right) : right;
  }

  Known<u64> binary(const PrintNode& n, u64 a, u64 b) const {
    // Both operands become the type of the operation first: -1 and 1u compare as unsigned numbers.
    if (n.op != Op::ShiftLeft && n.op != Op::ShiftRight) {
      const PrintNode& left = of_->nodes_[n.kids[0] - 1];
      const PrintNode& right = of_->nodes_[n.kids[1] - 1];
      const u8 size = std::max<u8>({left.size, right.size, 4});
      const bool isUnsigned =
          (left.isUnsigned && left.size == size) || (right.isUnsigned && right.size == size);
      a = wrapped(a, size, isUnsigned);
      b = wrapped(b, size, isUnsigned);
      if (n.op == Op::Less) return isUnsigned ? a < b : static_cast<s64>(a) < static_cast<s64>(b);
      if (n.op == Op::LessEqual)
        return isUnsigned ? a <= b : static_cast<s64>(a) <= static_cast<s64>(b);
    }
    switch (n.op) {
      case Op::Multiply:
        return a * b;
      case Op::Divide:
      case Op::Remainder:
        return divided(n, a, b);
      case Op::Add:
        return a + b;
      case Op::Subtract:
        return a - b;
      case Op::ShiftLeft:
      case Op::ShiftRight:
        return shifted(n, a, b);
      case Op::Equal:
        return a == b;
      case Op::NotEqual:
        return a != b;
      case Op::And:
        return a & b;
      case Op::Or:
        return a | b;
      case Op::Xor:
        return a ^ b;
      default:
        return {};
    }
  }

  Known<u64> element(const PrintNode& n) const {
    const Known<u64> which = number(n.kids[0] - 1);
    const Known<Bytes> bytes = values_->memory(n.index);
    if (!which || !bytes || *which >= bytes->size() / n.size) return {};
    return elementAt(*bytes, *which * n.size, n.size, around_->swap);
  }

  bool fieldText(const PrintNode& n, std::string& out) const {
    if (n.shape != Shape::Number) {
      const Known<std::string_view> found = values_->text(n.index);
      if (found) out += *found;
      return found.has_value();
    }
    const Known<u64> address = n.count == 1 ? values_->number(n.index) : Known<u64>{};
    if (!address) return false;
    if (!around_->strings) return false;
    const auto found = around_->strings->find(*address);
    if (found != around_->strings->end()) {
      out += found->second;
    } else if (*address == 0) {
      out += "(null)";
    } else {
      fmt::format_to(std::back_inserter(out), "{:#x}", *address);
    }
    return true;
  }

  std::span<const PrintName> table(const PrintNode& n) const {
    return std::span<const PrintName>(of_->names_).subspan(n.index, n.count);
  }

  bool flags(const PrintNode& n, std::string& out) const {
    const Known<u64> value = number(n.kids[0] - 1);
    if (!value) return false;
    u64 left = wrapped(*value, n.size, true);
    const std::string& between = of_->texts_[of_->nodes_[n.kids[1] - 1].index];
    bool first = true;
    const auto separate = [&] {
      if (!first) out += between;
      first = false;
    };
    for (const PrintName& flag : table(n)) {
      if (left == 0) break;
      if (!flag.value) continue;
      const u64 bits = wrapped(*flag.value, n.size, true);
      if ((left & bits) != bits) continue;
      separate();
      out += flag.name;
      left &= ~bits;
    }
    if (left) {
      separate();
      fmt::format_to(std::back_inserter(out), "{:#x}", left);
    }
    return true;
  }

  bool symbol(const PrintNode& n, std::string& out) const {
    const Known<u64> number_ = number(n.kids[0] - 1);
    if (!number_) return false;
    const u64 value = wrapped(*number_, n.size, true);
    for (const PrintName& name : table(n)) {
      if (!name.value || wrapped(*name.value, n.size, true) != value) continue;
      out += name.name;
      return true;
    }
    fmt::format_to(std::back_inserter(out), "{:#x}", value);
    return true;
  }

  /// The first `count` elements; empty when they are not all there.
  Known<Bytes> part(const PrintNode& n, Known<u64> count, u64 elementSize) const {
    const Known<Bytes> bytes = memory(n.kids[0] - 1);
    if (!bytes || !count || elementSize == 0 || *count > bytes->size() / elementSize) return {};
    return bytes->first(*count * elementSize);
  }

  bool hex(const PrintNode& n, std::string& out) const {
    const Known<Bytes> bytes = part(n, number(n.kids[1] - 1), 1);
    if (!bytes) return false;
    for (std::size_t i = 0; i < bytes->size(); ++i) {
      if (i && n.op == Op::Hex) out += ' ';
      fmt::format_to(std::back_inserter(out), "{:02x}", (*bytes)[i]);
    }
    return true;
  }

  bool array(const PrintNode& n, std::string& out) const {
    const Known<u64> size = number(n.kids[2] - 1);
    if (!size || (*size != 1 && *size != 2 && *size != 4 && *size != 8)) return false;
    const Known<Bytes> bytes = part(n, number(n.kids[1] - 1), *size);
    if (!bytes) return false;
    out += '{';
    for (std::size_t at = 0; at < bytes->size(); at += *size) {
      if (at) out += ',';
      fmt::format_to(std::back_inserter(out), "{:#x}",
                     elementAt(*bytes, at, static_cast<u32>(*size), around_->swap));
    }
    out += '}';
    return true;
  }

  bool mask(const PrintNode& n, std::string& out) const {
    if (const Known<std::string_view> kept = values_->mask(n.index)) {
      out += *kept;
      return true;
    }
    const Known<Bytes> bytes = values_->memory(n.index);
    if (!bytes) return false;
    out += maskText(*bytes, around_->bigEndian, of_->wordSize_);
    return true;
  }

  const PrintExpressions* of_;
  const FieldValues* values_;
  const PrintSurroundings* around_;
};

Known<u64> PrintExpressions::number(u32 id, const FieldValues& values,
                                    const PrintSurroundings& around) const {
  return PrintEvaluator(*this, values, around).number(id);
}

bool PrintExpressions::text(u32 id, const FieldValues& values, const PrintSurroundings& around,
                            std::string& out) const {
  return PrintEvaluator(*this, values, around).text(id, out);
}

Known<Bytes> PrintExpressions::memory(u32 id, const FieldValues& values) const {
  return PrintEvaluator(*this, values, {}).memory(id);
}

}  // namespace tickscope::trace_dat
