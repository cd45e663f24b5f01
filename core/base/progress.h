// SPDX-License-Identifier: GPL-3.0-or-later
// How far a job is, and the wish that it stop: written by its threads, read by whoever waits.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/quantity.h"

namespace tickscope {

/// One a job, any thread. A job polls advance() at least every 10 ms.
class Progress {
 public:
  /// Starts a stage of `total` steps (bytes, rows); the stage before is over.
  void begin(std::string_view stage, u64 total) {
    const std::scoped_lock lock(mutex_);
    stage_ = stage;
    done_.store(0, std::memory_order_relaxed);
    total_.store(total, std::memory_order_relaxed);
  }
  /// Adds `steps`; false: stop and return Cancelled.
  [[nodiscard]] bool advance(u64 steps) {
    done_.fetch_add(steps, std::memory_order_relaxed);
    return !cancelled();
  }
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool cancelled() const noexcept {
    return cancelled_.load(std::memory_order_relaxed);
  }

  struct State {
    std::string stage;
    u64 done{}, total{};
  };
  [[nodiscard]] State state() const {
    const std::scoped_lock lock(mutex_);
    return {stage_, done_.load(std::memory_order_relaxed), total_.load(std::memory_order_relaxed)};
  }

 private:
  mutable std::mutex mutex_;
  std::string stage_;
  std::atomic<u64> done_{0}, total_{0};
  std::atomic<bool> cancelled_{false};
};

}  // namespace tickscope
