// SPDX-License-Identifier: GPL-3.0-or-later
// Decodes the packed arguments of trace_printk (vbin_printf).
#pragma once

#include <string>
#include <string_view>

#include "importers/trace_dat/print_conversion.h"
#include "importers/trace_dat/print_expression.h"

namespace tickscope::trace_dat {

/// The text of `format` with the arguments in `packed`: numbers at multiples of their size (8-byte
/// ones of 4), strings in place with their NUL. What is missing prints as `?`. Errors: Unsupported,
/// as formatPieces.
Result<std::string> binaryPrint(std::string_view format, Bytes packed,
                                const PrintSurroundings& around);

}  // namespace tickscope::trace_dat
