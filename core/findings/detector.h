// SPDX-License-Identifier: GPL-3.0-or-later
// A detector finds the instances of one fault; clustering makes findings of them, which it describes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/findings/finding.h"
#include "core/findings/material.h"

namespace tickscope {

/// What a detector saw of one of its sub-kinds.
struct Judged {
  char kind = 0;
  u64 opportunities = 0;  ///< places where the fault could have shown
  u64 dropped = 0;        ///< instances whose interval touches a blind spot
  s64 judgedNs = 0;
  std::vector<Instance> instances;  ///< in any order; clusters have them by begin, then CPU
};

/// The answer of a detector without sub-kinds. (A list in braces would copy its instances.)
inline std::vector<Judged> only(Judged judged) {
  std::vector<Judged> all;
  all.push_back(std::move(judged));
  return all;
}

/// Instances of one cause that nothing else explains, in their order.
struct Cluster {
  char kind = 0;
  u64 causeKey = 0;
  std::vector<Instance> instances;
};

/// Made for one recording, used by one thread. `detect` keeps what `describe` needs.
class Detector {
 public:
  Detector() = default;
  Detector(const Detector&) = delete;
  Detector& operator=(const Detector&) = delete;
  virtual ~Detector() = default;

  /// One entry for each sub-kind that the recording lets judge. What it cannot carry goes to `notJudged`.
  virtual std::vector<Judged> detect(const Material& material,
                                     std::vector<NotJudged>& notJudged) = 0;
  /// Grade, confidence, words, evidence, counter-evidence, tables. Counts, CPUs, times, distribution, worst
  /// instances and timers are filled in already.
  virtual void describe(const Material& material, const Cluster& cluster,
                        Finding& finding) const = 0;
};

struct DetectorInfo {
  std::string_view id, name;  ///< "F06", "double-reprogram"
  std::string_view line;      ///< one line for listings
  /// Any one of these sets of events makes it work; else it is not judged. Empty sets are left out.
  std::array<Needs, 3> needs;
  std::string_view record;  ///< key of the recording advice
  /// Sub-kinds that rest on time alone: on a slow machine at most S3. "*": all.
  std::string_view byTimeAlone;
  std::unique_ptr<Detector> (*make)();
};

/// In order of id.
std::span<const DetectorInfo* const> detectors();

template <class D>
std::unique_ptr<Detector> makeDetector() {
  return std::make_unique<D>();
}

}  // namespace tickscope
