// SPDX-License-Identifier: GPL-3.0-or-later
// Writes pieces to a descriptor.
#include "app/cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tickscope {

void Output::flush() {
  std::size_t done = 0;
  while (state_ == State::Open && done < buffer_.size()) {
    const ssize_t wrote = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (wrote >= 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (errno == EPIPE) {
      state_ = State::ReaderLeft;
    } else if (errno != EINTR) {
      state_ = State::Failed;
      error_ = errno;
    }
  }
  buffer_.clear();
}

Result<void> Output::finish() {
  flush();
  if (state_ != State::Failed) return {};
  return fail(Error::Kind::Internal,
              fmt::format("Standard output cannot be written: {}.", std::strerror(error_)));
}

}  // namespace tickscope
