// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the embedded table once.
#include "core/findings/upstream.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tickscope {

extern const std::string_view knownUpstreamJson;

namespace {

std::vector<UpstreamCommit> read() {
  std::vector<UpstreamCommit> commits;
  const auto json = nlohmann::json::parse(knownUpstreamJson, nullptr, false);
  if (json.is_discarded() || !json.contains("commits")) return commits;
  for (const auto& row : json["commits"]) {
    UpstreamCommit& commit = commits.emplace_back();
    commit.id = row.value("id", "");
    commit.hash = row.value("hash", "");
    commit.subject = row.value("subject", "");
    commit.release = row.value("release", "");
    commit.introducedBy = row.value("introduced_by", "");
    commit.signature = row.value("signature", "");
    commit.findings = row.value("findings", std::vector<std::string>{});
    const std::string verified = row.value("verified", "");
    if (verified == "subject") commit.verified = UpstreamCommit::Verified::Subject;
    if (verified == "release") commit.verified = UpstreamCommit::Verified::Release;
  }
  std::ranges::sort(commits, {}, &UpstreamCommit::id);
  return commits;
}

}  // namespace

std::span<const UpstreamCommit> knownUpstream() {
  static const std::vector<UpstreamCommit> commits = read();
  return commits;
}

const UpstreamCommit* upstreamCommit(std::string_view id) {
  const auto all = knownUpstream();
  const auto found = std::ranges::lower_bound(all, id, {}, &UpstreamCommit::id);
  return found == all.end() || found->id != id ? nullptr : &*found;
}

}  // namespace tickscope
