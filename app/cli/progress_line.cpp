// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the progress of a job from a thread of its own.
#include "app/cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

namespace tickscope {

namespace {

void writeError(std::string_view text) {
  // Nothing depends on this line; what cannot be shown is not shown.
  [[maybe_unused]] const ssize_t wrote = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

ProgressLine::ProgressLine(const Progress& progress)
    : progress_(&progress), thread_([this] { show(); }) {}

ProgressLine::~ProgressLine() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
}

void ProgressLine::show() {
  using namespace std::chrono_literals;
  std::unique_lock lock(mutex_);
  if (stopped_.wait_for(lock, 500ms, [this] { return stop_; })) return;
  do {
    const Progress::State state = progress_->state();
    const u64 percent = state.total ? std::min<u64>(100, state.done / (state.total / 100 + 1)) : 0;
    writeError(state.total ? fmt::format("\r\x1b[K{} {:3} %", state.stage, percent)
                           : fmt::format("\r\x1b[K{}", state.stage));
  } while (!stopped_.wait_for(lock, 250ms, [this] { return stop_; }));
  writeError("\r\x1b[K");
}

}  // namespace tickscope
