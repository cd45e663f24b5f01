// SPDX-License-Identifier: GPL-3.0-or-later
// Prints the records of one event format: by own rules where the kernel does not use the print
// format, else by the print format, else as `field=value`.
#pragma once

#include <string>
#include <vector>

#include "core/trace/event_kind.h"
#include "core/trace/raw_event_text.h"
#include "importers/trace_dat/print_format.h"
#include "importers/trace_dat/traceevent_text.h"

namespace tickscope::trace_dat {

/// Immutable; thread-safe.
class RecordPrinter {
 public:
  /// `format` must live as long. `kind`: of the typed events that share it, for typed().
  RecordPrinter(const EventFormat& format, EventKind kind, u8 wordSize);

  [[nodiscard]] std::string print(Bytes record, const PrintSurroundings& around,
                                  const TraceEventText& library) const;
  /// Empty: no print format that can be followed, or one that uses what the event does not hold.
  [[nodiscard]] Known<std::string> typed(std::span<const TypedValue> values,
                                         const PrintSurroundings& around) const;
  /// The kernel prints the event's name before the body.
  [[nodiscard]] bool named() const { return named_; }
  /// How most of the text is made; for tests and statistics.
  enum class Way : u8 { Own, Format, FieldList };
  [[nodiscard]] Way way() const;

 private:
  enum class Style : u8 {
    Format,
    KernelStack,
    UserStack,
    RawData,
    BinaryPrint,
    SyscallEnter,
    SyscallExit
  };
  [[nodiscard]] std::string stack(Bytes record, const PrintSurroundings& around) const;
  [[nodiscard]] std::string rawData(Bytes record, const PrintSurroundings& around) const;
  [[nodiscard]] std::string binary(Bytes record, const PrintSurroundings& around) const;
  [[nodiscard]] std::string syscall(Bytes record, const PrintSurroundings& around) const;
  void rewrite();

  EventFormat format_;  // its print format as the kernel prints it
  const EventFormat* original_;
  u8 wordSize_;
  Style style_ = Style::Format;
  bool named_ = true;
  bool isProbe_ = false;
  Known<PrintFormat> compiled_;
  std::vector<u32> placeOfField_;  // of the payload; ~0: not in it
};

/// `name=value name=value` of all fields but the common ones.
std::string fieldList(const EventFormat& format, Bytes record, const PrintSurroundings& around);
/// The fields but the common ones, as they are shown and filtered.
std::vector<FieldValue> recordFields(const EventFormat& format, Bytes record,
                                     const PrintSurroundings& around);

}  // namespace tickscope::trace_dat
