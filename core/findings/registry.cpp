// SPDX-License-Identifier: GPL-3.0-or-later
// The list of detectors.
#include <array>

#include "core/findings/detector.h"

namespace tickscope {

extern const DetectorInfo f09CoarseByDesign;

namespace {

constexpr std::array<const DetectorInfo*, 1> all{&f09CoarseByDesign};

}  // namespace

std::span<const DetectorInfo* const> detectors() { return all; }

}  // namespace tickscope
