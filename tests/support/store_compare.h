// SPDX-License-Identifier: GPL-3.0-or-later
// Whether two recordings hold the same events, whatever file they came from.
#pragma once

#include <set>
#include <string>

#include "core/trace/recording.h"

namespace tickscope::support {

struct CompareOptions {
  /// Fields that are longs or pointers: only their low 32 bits are compared.
  std::set<std::string> words;
  /// Fields of records kept as bytes that are not compared: arguments of bprint have no type of their own, so their
  /// words change places with the byte order.
  std::set<std::string> untyped;
  bool rawBytes =
      true;  ///< records that are kept as bytes have the same bytes, not only the same fields
  bool losses = true;
  bool clocks = true;  ///< names of the buffers' clocks are the same
  bool symbols =
      true;  ///< false: one has no symbols, so a programming call is a traced function like others
};

/// The first difference in words; empty when there is none: buffers, streams, rows in order with time, CPU, pid,
/// context, event, all fields, losses and backward steps.
std::string difference(const Recording& expected, const Recording& found,
                       const CompareOptions& options = {});
std::string difference(const Buffer& expected, const Buffer& found,
                       const CompareOptions& options = {});

/// A row with all that belongs to it, so that rows of several files can be put together and compared.
std::string rowText(const Buffer&, Row);

}  // namespace tickscope::support
