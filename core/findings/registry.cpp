// SPDX-License-Identifier: GPL-3.0-or-later
// The list of detectors.
#include <array>

#include "core/findings/detector.h"

namespace tickscope {

extern const DetectorInfo f06DoubleReprogram;
extern const DetectorInfo f08WheelMisplaced;
extern const DetectorInfo f09CoarseByDesign;
extern const DetectorInfo f11LongCallback;

namespace {

constexpr std::array<const DetectorInfo*, 4> all{&f06DoubleReprogram, &f08WheelMisplaced,
                                                 &f09CoarseByDesign, &f11LongCallback};

}  // namespace

std::span<const DetectorInfo* const> detectors() { return all; }

}  // namespace tickscope
