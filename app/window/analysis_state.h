// SPDX-License-Identifier: GPL-3.0-or-later
// The state panel's source over an analysis.
#pragma once

#include <memory>

#include "core/analysis.h"
#include "views/panels/state_source.h"

namespace tickscope {

/// Holds the analysis for as long as it lives.
[[nodiscard]] StateSource stateSourceOf(std::shared_ptr<const Analysis> analysis);

}  // namespace tickscope
