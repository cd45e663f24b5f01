// SPDX-License-Identifier: GPL-3.0-or-later
// Known upstream commits: what introduced or mended a fault, and since which release.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope {

struct UpstreamCommit {
  enum class Verified : u8 {
    No,       ///< from memory: never printed in mails
    Subject,  ///< hash and subject were seen together
    Release   ///< the release too
  };
  std::string id;    ///< "U12"
  std::string hash;  ///< twelve digits or more
  std::string subject;
  std::string release;       ///< first mainline release, stable ones in parentheses
  std::string introducedBy;  ///< a hash, "always", "design"; empty: not known
  std::string signature;     ///< how it shows in a trace
  std::vector<std::string> findings;
  Verified verified{};
};

/// resources/known_upstream.json, which is part of the program. Ascending by id.
std::span<const UpstreamCommit> knownUpstream();
/// nullptr: there is none of that id.
const UpstreamCommit* upstreamCommit(std::string_view id);

}  // namespace tickscope
