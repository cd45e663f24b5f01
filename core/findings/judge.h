// SPDX-License-Identifier: GPL-3.0-or-later
// From detectors to findings: detect, attribute, cluster, describe, grade, order.
#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/findings/detector.h"

namespace tickscope {

/// All detectors over the material, on the threads. The same findings for any number of threads. Cancelled when the
/// progress says so.
Result<Findings> judge(const Material& material, int threads, Progress& progress);

}  // namespace tickscope
