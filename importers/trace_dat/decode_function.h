// SPDX-License-Identifier: GPL-3.0-or-later
// The functions that bring a record's fields into the store.
#pragma once

#include "importers/trace_dat/field_binding.h"

namespace tickscope::trace_dat {

/// The function for a plan: one that knows all widths at compile time where the record is of a little-endian 64-bit
/// kernel and each field has its usual width, else one that goes through plan.moves.
DecodeFunction decodeFunction(EventKind kind, const DecodePlan& plan, bool otherByteOrder);

}  // namespace tickscope::trace_dat
