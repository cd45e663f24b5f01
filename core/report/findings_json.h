// SPDX-License-Identifier: GPL-3.0-or-later
// Findings as JSON: resources/schema/findings.schema.json.
#pragma once

#include <string>

#include "core/analysis.h"

namespace tickscope {

/// What the JSON says of the file and of who wrote it.
struct FindingsSource {
  std::string path, fingerprint, tool;  ///< tool: "tickscope-cli 0.1.0"
  u64 size = 0;
};

/// The whole document, with a newline at its end. `profile` is the JSON of the kernel profile, put in as it stands.
std::string findingsJson(const Analysis& analysis, const Findings& findings,
                         const FindingsSource& source, const std::string& profile);

}  // namespace tickscope
