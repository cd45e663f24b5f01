// SPDX-License-Identifier: GPL-3.0-or-later
// The text behind the name of a typed event, in the words of current kernels; fields that were not
// recorded are left out, as in the kernels that lack them.
#pragma once

#include <string>

#include "core/trace/recording.h"

namespace tickscope {

/// Appends the body of a row that is not of kind Raw. Thread-safe.
void appendTypedBody(std::string& out, const Recording& recording, const Buffer& buffer, Row row);

}  // namespace tickscope
