// SPDX-License-Identifier: GPL-3.0-or-later
// One line on a terminal that says how far a job is.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/base/progress.h"

namespace tickscope {

/// Shows itself on standard error after half a second, four times a second, and is gone when
/// destroyed.
class ProgressLine {
 public:
  explicit ProgressLine(const Progress& progress);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void show();

  const Progress* progress_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::jthread thread_;
};

}  // namespace tickscope
