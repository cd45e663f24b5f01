// SPDX-License-Identifier: GPL-3.0-or-later
// The list of detectors.
#include <array>

#include "core/findings/detector.h"

namespace tickscope {

extern const DetectorInfo f01WakeStorm;
extern const DetectorInfo f02EmptySoftirq;
extern const DetectorInfo f03LostWheelTimer;
extern const DetectorInfo f04StalledHrtimers;
extern const DetectorInfo f05StaleSoftExpiry;
extern const DetectorInfo f06DoubleReprogram;
extern const DetectorInfo f07RestartChurn;
extern const DetectorInfo f08WheelMisplaced;
extern const DetectorInfo f09CoarseByDesign;
extern const DetectorInfo f10LateExpiry;
extern const DetectorInfo f11LongCallback;
extern const DetectorInfo f12CallbackBurst;
extern const DetectorInfo f13IdleWakeups;
extern const DetectorInfo f14SpuriousInterrupts;
extern const DetectorInfo f15WrongCpu;
extern const DetectorInfo f16WhatIfSoftirq;
extern const DetectorInfo f17WhatIfGreedy;
extern const DetectorInfo f18RequestedVsAchieved;
extern const DetectorInfo f19IsolationBroken;
extern const DetectorInfo f20MigrationStorm;
extern const DetectorInfo f21SoftirqStarved;
extern const DetectorInfo f22TimeBase;
extern const DetectorInfo f23PeriodicQuality;

namespace {

constexpr std::array<const DetectorInfo*, 23> all{
    &f01WakeStorm,       &f02EmptySoftirq,       &f03LostWheelTimer,
    &f04StalledHrtimers, &f05StaleSoftExpiry,    &f06DoubleReprogram,
    &f07RestartChurn,    &f08WheelMisplaced,     &f09CoarseByDesign,
    &f10LateExpiry,      &f11LongCallback,       &f12CallbackBurst,
    &f13IdleWakeups,     &f14SpuriousInterrupts, &f15WrongCpu,
    &f16WhatIfSoftirq,   &f17WhatIfGreedy,       &f18RequestedVsAchieved,
    &f19IsolationBroken, &f20MigrationStorm,     &f21SoftirqStarved,
    &f22TimeBase,        &f23PeriodicQuality};

}  // namespace

std::span<const DetectorInfo* const> detectors() { return all; }

}  // namespace tickscope
