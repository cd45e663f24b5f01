// SPDX-License-Identifier: GPL-3.0-or-later
// Walks the wheel events of a recording straight through the wheel model and counts what agrees.
#pragma once

#include <string>
#include <vector>

#include "core/model/wheel_model.h"
#include "core/trace/recording.h"

namespace tickscope::support {

struct Tally {
  u64 yes = 0, no = 0, silent = 0;
  void add(Known<bool> answer) { ++(answer ? (*answer ? yes : no) : silent); }
  void add(const Tally& other) {
    yes += other.yes;
    no += other.no;
    silent += other.silent;
  }
  [[nodiscard]] u64 all() const { return yes + no + silent; }
};

struct WheelFigures {
  Tally inverse;       ///< timer_start: some clk gives the index, so there is a bucket expiry (3.2)
  Tally bucketExpiry;  ///< where it is recorded: the inferred one is the same
  Tally explained;     ///< an admissible clk gives what was recorded
  Tally placed;        ///< the bucket that the model takes is the recorded one
  Tally bucketClk;     ///< expiry: baseclk is the bucket's expiry
  Tally order;
  u64 arms = 0, expiries = 0, past = 0, remote = 0;
  std::vector<u64> lags;  ///< least lag of each arm that is not explained
  std::vector<std::string> unexplained, lost, differing;
  void add(const WheelFigures& other);
  [[nodiscard]] std::string text() const;
};

struct WheelWalkOptions {
  bool withoutBucketExpiry = false;  ///< as if the kernel had no such field
  bool withoutIndex = false;         ///< as if the index were stale, too
};
WheelFigures walkWheel(const Recording& recording, const Buffer& buffer,
                       const WheelWalkOptions& options = {});

}  // namespace tickscope::support
