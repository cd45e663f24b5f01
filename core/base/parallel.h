// SPDX-License-Identifier: GPL-3.0-or-later
// Runs numbered jobs on a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope {

/// Calls job(i, worker) for each i below `count`, on at most `threads` threads (the caller's is one of them), each
/// i once, lower ones first. `worker` is below `threads`; calls of one worker do not overlap.
template <class Job>
void parallelFor(u32 count, int threads, Job&& job) {
  const int workers = std::max(1, std::min(threads, static_cast<int>(std::min<u32>(count, 256))));
  std::atomic<u32> next{0};
  const auto work = [&](int worker) {
    for (u32 i = next.fetch_add(1); i < count; i = next.fetch_add(1)) job(i, worker);
  };
  std::vector<std::jthread> others;
  others.reserve(static_cast<std::size_t>(workers - 1));
  for (int worker = 1; worker < workers; ++worker) others.emplace_back(work, worker);
  work(0);
}

}  // namespace tickscope
