// SPDX-License-Identifier: GPL-3.0-or-later
// One cause, one finding: instances that another detector's instance explains are attached to it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/findings/detector.h"

namespace tickscope {

/// What one detector found, as attribution takes it apart.
struct DetectorResult {
  const DetectorInfo* info = nullptr;
  std::vector<Judged> judged;
  std::vector<NotJudged> notJudged;
};

/// An explained instance: it belongs to the finding of another one.
struct Explanation {
  u32 detector, judged;  ///< of the instance that explains, in the results
  u64 causeKey;
};

/// For each result, sub-kind and instance: what explains it; empty: nothing. Chains are followed to their root.
using Explanations = std::vector<std::vector<std::vector<Known<Explanation>>>>;
Explanations explanationsOf(std::span<const DetectorResult> results);

}  // namespace tickscope
