// SPDX-License-Identifier: GPL-3.0-or-later
// Reads thresholds, lists of findings and severities.
#include "app/options_findings.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

#include "core/base/shown_text.h"
#include "core/findings/detector.h"

namespace tickscope {

namespace {

/// "F06" or "F14a"; the letter empty: all sub-kinds.
struct Wanted {
  std::string id;
  char kind = 0;
};

std::vector<Wanted> wantedOf(std::string_view text) {
  std::vector<Wanted> all;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    if (one.size() == 4) {
      all.push_back({std::string(one.substr(0, 3)), one[3]});
    } else {
      all.push_back({std::string(one), 0});
    }
  }
  return all;
}

}  // namespace

void addFindingOptions(CLI::App& app, FindingOptions& options, bool filters) {
  app.add_option("--set", options.sets,
                 "A threshold, as findings --thresholds lists them:\n"
                 "late.hard=200us. May be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  if (!filters) return;
  app.add_option("--only", options.only, "Only these findings: F06,F14a")->type_name("LIST");
  app.add_option("--min-severity", options.leastSeverity, "Only findings of S1..S4 at least")
      ->type_name("S1..S4");
}

Result<Grade> readGrade(std::string_view option, std::string_view text) {
  for (const Grade grade : {Grade::S1, Grade::S2, Grade::S3, Grade::S4}) {
    if (nameOf(grade) == text) return grade;
  }
  return fail(Error::Kind::Usage,
              fmt::format("{} takes S1, S2, S3 or S4, not '{}'.", option, shown(text)));
}

Result<void> readFindingOptions(FindingOptions& options) {
  for (const std::string& one : options.sets) {
    if (auto set = options.thresholds.set(one); !set) return set;
  }
  if (!options.leastSeverity.empty()) {
    if (const auto grade = readGrade("--min-severity", options.leastSeverity); !grade) {
      return tl::unexpected(grade.error());
    }
  }
  for (const Wanted& wanted : wantedOf(options.only)) {
    const bool exists = std::ranges::any_of(
        detectors(), [&](const DetectorInfo* info) { return info->id == wanted.id; });
    if (!exists) {
      return fail(Error::Kind::Usage,
                  fmt::format("--only: there is no finding '{}'; they are F01 to F23, with or "
                              "without the letter of a sub-kind.",
                              shown(wanted.id + (wanted.kind ? std::string(1, wanted.kind) : ""))));
    }
  }
  return {};
}

void narrow(Findings& findings, const FindingOptions& options) {
  const std::vector<Wanted> wanted = wantedOf(options.only);
  const auto keeps = [&](std::string_view id, char kind) {
    return wanted.empty() || std::ranges::any_of(wanted, [&](const Wanted& one) {
             return one.id == id && (one.kind == 0 || kind == 0 || one.kind == kind);
           });
  };
  Grade least = Grade::S4;
  if (const auto grade = readGrade("", options.leastSeverity)) least = *grade;
  for (auto* list : {&findings.findings, &findings.weak}) {
    std::erase_if(*list, [&](const Finding& f) { return !keeps(f.id, f.kind) || f.grade > least; });
  }
  std::erase_if(findings.judged, [&](const JudgedCount& j) { return !keeps(j.id, j.kind); });
  std::erase_if(findings.notJudged, [&](const NotJudged& n) { return !keeps(n.id, n.kind); });
}

int threadsOf(const CommonOptions& options) {
  if (options.threads > 0) return options.threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace tickscope
