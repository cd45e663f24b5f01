// SPDX-License-Identifier: GPL-3.0-or-later
// The arguments of a print format as a tree: parsed once, evaluated on records with C's rules and
// checked bounds.
#pragma once

#include <array>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/byte_reader.h"
#include "core/trace/address_text.h"
#include "importers/trace_dat/format_text.h"
#include "importers/trace_dat/print_tokens.h"

namespace tickscope::trace_dat {

/// What evaluation needs beside the fields.
struct PrintSurroundings {
  const AddressText* addresses = nullptr;
  const std::unordered_map<u64, std::string>* strings = nullptr;  ///< kernel strings by address
  bool swap = false;       ///< numbers in memory are not in this machine's byte order
  bool bigEndian = false;  ///< of the recorded machine
  /// What `%ps` prints: any place in code, the address of a function, or a place without its
  /// module.
  enum class Symbols : u8 { Any, Functions, Places };
  Symbols symbols = Symbols::Any;
};

/// Where the fields of one event come from; numbered as PrintExpressions::fields() counts them.
class FieldValues {
 public:
  virtual ~FieldValues() = default;
  /// An integer, sign-extended when it is signed; of dynamic fields the word that tells where they
  /// lie.
  [[nodiscard]] virtual Known<u64> number(u32 field) const = 0;
  /// A string up to its NUL.
  [[nodiscard]] virtual Known<std::string_view> text(u32 field) const = 0;
  /// All bytes of an array or a dynamic field.
  [[nodiscard]] virtual Known<Bytes> memory(u32 field) const = 0;
  /// A mask's text, when the field is kept as text; empty: memory() has it.
  [[nodiscard]] virtual Known<std::string_view> mask(u32 field) const = 0;
};

struct PrintNode {
  enum class Op : u8 {
    Number,
    Text,
    Field,
    Element,
    Size,  // values
    Negate,
    Complement,
    Not,  // of kids[0]
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Xor,
    LogicalAnd,
    LogicalOr,
    Conditional,
    Cast,
    HighestBit,  // of kids[0], counted from 0; unknown of 0
    Flags,
    Symbol,
    Hex,
    HexDense,
    Array,
    Mask  // text made by the kernel's print functions
  };
  enum class Shape : u8 { Number, Text, Memory };
  Op op{};
  Shape shape = Shape::Number;
  u8 size = 4;  ///< bytes of a Number
  bool isUnsigned = false;
  u16 height = 1;
  std::array<u32, 3> kids{};
  u64 number = 0;
  u32 index = 0;  ///< a text, a field, or the first entry of a table
  u32 count = 0;  ///< entries of a table
};

/// One line of a table of __print_flags or __print_symbolic.
struct PrintName {
  Known<u64> value;  ///< empty: an enumerator whose value the recording does not say
  std::string name;
};

/// A table that a format gives for the values of a field.
class PrintExpressions {
 public:
  PrintExpressions(const EventFormat& format, u8 wordSize)
      : format_(&format), wordSize_(wordSize) {}

  /// Parses one argument from tokens[at] on and moves `at` behind it. Returns the node. Errors:
  /// Unsupported, with the word that is not understood.
  Result<u32> parse(std::span<const PrintToken> tokens, std::size_t& at);

  [[nodiscard]] const PrintNode& node(u32 id) const { return nodes_[id]; }
  /// True when the node can stand for a string: text, an array of characters, or the address of a
  /// kernel string.
  [[nodiscard]] bool isText(u32 id) const;
  [[nodiscard]] bool isMemory(u32 id) const;

  /// Empty: missing, out of the record, or not defined in C (a division by zero).
  [[nodiscard]] Known<u64> number(u32 id, const FieldValues& values,
                                  const PrintSurroundings& around) const;
  /// Appends to `out`, not escaped where it comes from the record (`raw`). False: not known.
  [[nodiscard]] bool text(u32 id, const FieldValues& values, const PrintSurroundings& around,
                          std::string& out) const;
  [[nodiscard]] Known<Bytes> memory(u32 id, const FieldValues& values) const;

  /// The fields of the format in the numbering of FieldValues: the event's own, then the common
  /// ones.
  [[nodiscard]] const FormatField* field(u32 number) const;

 private:
  friend class PrintParser;
  friend class PrintEvaluator;
  const EventFormat* format_;
  u8 wordSize_;
  std::vector<PrintNode> nodes_;
  std::vector<std::string> texts_;
  std::vector<PrintName> names_;
};

/// Deepest nesting of brackets, `?:` and unary signs that is followed.
inline constexpr u32 deepestPrint = 24;
inline constexpr std::size_t mostPrintNodes = 8'000;

}  // namespace tickscope::trace_dat
