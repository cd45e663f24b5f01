// SPDX-License-Identifier: GPL-3.0-or-later
// Facts of the kernel profile that a user states, by --fact or in a file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/kernel_profile.h"

namespace tickscope {

/// Checked assignments in the order given; of several for one fact the last one holds.
struct ProfileOverrides {
  struct Assignment {
    std::string fact, value;  ///< name and value as listings print them, whatever the user's case
    std::string from;         ///< "--fact", "line 3 of the profile"
  };
  std::vector<Assignment> assignments;
  [[nodiscard]] bool empty() const { return assignments.empty(); }
  /// Adds what stands in `later`, which then holds over what is here.
  void add(const ProfileOverrides& later);
};

/// `NAME=VALUE` each; case ignored. Errors (Usage) name the fact, the value and what is allowed.
Result<ProfileOverrides> parseFacts(std::span<const std::string> assignments);
/// `fact=value` a line, `#` begins a comment, blank lines are passed over. Errors (Usage) name the line too.
Result<ProfileOverrides> parseProfileText(std::string_view text);

/// Puts the overrides in as evidence of the strongest class: confidence 1. Evidence that excludes them is a
/// contradiction and stays to be seen.
void apply(KernelProfile& profile, const ProfileOverrides& overrides);

}  // namespace tickscope
