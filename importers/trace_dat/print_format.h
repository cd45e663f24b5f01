// SPDX-License-Identifier: GPL-3.0-or-later
// An event's print format, compiled once and evaluated rightly: C precedence, promotions and
// wrapping, nothing read outside the record (reading-traces 3.3).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "importers/trace_dat/print_conversion.h"
#include "importers/trace_dat/print_expression.h"

namespace tickscope::trace_dat {

/// The fields of one record. `record` are its bytes from the common fields on.
class RecordValues : public FieldValues {
 public:
  RecordValues(const PrintExpressions& expressions, Bytes record, bool swap)
      : expressions_(&expressions), record_(record), swap_(swap) {}

  [[nodiscard]] Known<u64> number(u32 field) const override;
  [[nodiscard]] Known<std::string_view> text(u32 field) const override;
  [[nodiscard]] Known<Bytes> memory(u32 field) const override;
  [[nodiscard]] Known<std::string_view> mask(u32) const override { return {}; }

 private:
  const PrintExpressions* expressions_;
  Bytes record_;
  bool swap_;
};

/// The bytes of an array, a string or a dynamic field; arrays are cut where the record ends,
/// because stacks and markers are longer or shorter than declared. Empty: outside the record.
Known<Bytes> fieldMemory(const FormatField& field, Bytes record, bool swap);
/// The value of an integer, sign-extended. Empty: outside the record, or no integer.
Known<u64> fieldNumber(const FormatField& field, Bytes record, bool swap);

/// What a format prints is not always what the kernel prints.
enum class PrintDialect : u8 {
  Plain,
  Probe  ///< a quoted string that could not be fetched is `(fault)` without quotes
};

class PrintFormat {
 public:
  /// Errors: Unsupported, with what is not understood. `format` must live as long as the result.
  static Result<PrintFormat> compile(const EventFormat& format, u8 wordSize,
                                     PrintDialect dialect = PrintDialect::Plain);

  /// The text, without a newline at its end. Missing values print as `?`, control characters in
  /// values are escaped; text above 64 KiB is cut and ends in an ellipsis.
  [[nodiscard]] std::string print(const FieldValues& values, const PrintSurroundings& around) const;
  [[nodiscard]] std::string print(Bytes record, const PrintSurroundings& around) const;
  /// The same; empty when a value is missing.
  [[nodiscard]] Known<std::string> printWhole(const FieldValues& values,
                                              const PrintSurroundings& around) const;

  [[nodiscard]] const PrintExpressions& expressions() const { return *expressions_; }

 private:
  /// Plain text, or a conversion with its arguments.
  struct Part {
    FormatPiece piece;
    u32 width = none, precision = none, value = none;  ///< nodes
    bool quoted = false;                               ///< dialect Probe
  };
  static constexpr u32 none = ~u32{0};
  PrintFormat() = default;
  Result<u32> argument(std::span<const PrintToken> tokens, std::size_t& at);
  Known<std::string_view> unfit(const Part& part) const;
  [[nodiscard]] std::string print(const FieldValues& values, const PrintSurroundings& around,
                                  bool& whole) const;
  void takeQuotes(std::size_t part);
  [[nodiscard]] bool append(std::string& out, const Part& part, const FieldValues& values,
                            const PrintSurroundings& around) const;

  std::unique_ptr<PrintExpressions> expressions_;
  std::vector<Part> parts_;
};

inline constexpr std::size_t longestPrinted = 64U << 10U;

}  // namespace tickscope::trace_dat
