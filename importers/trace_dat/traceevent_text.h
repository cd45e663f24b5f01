// SPDX-License-Identifier: GPL-3.0-or-later
// libtraceevent as the printer of formats that the own evaluator does not follow, behind the guard.
#pragma once

#include <memory>
#include <string>

#include "core/base/byte_reader.h"
#include "core/trace/symbols.h"
#include "importers/trace_dat/format_text.h"

namespace tickscope::trace_dat {

/// Thread-safe: each thread has a handle of its own, without plugins, and adds an event when it
/// first prints it.
class TraceEventText {
 public:
  TraceEventText(std::shared_ptr<const Symbols> symbols, u8 wordSize, bool bigEndian, u32 pageSize);

  /// Empty: refused by the guard, or by the library. `format` must live as long as this object.
  [[nodiscard]] Known<std::string> print(const EventFormat& format, Bytes record) const;

 private:
  std::shared_ptr<const Symbols> symbols_;
  u64 identity_;  ///< of this object: handles belong to one recording
  u32 pageSize_;
  u8 wordSize_;
  bool bigEndian_;
};

}  // namespace tickscope::trace_dat
