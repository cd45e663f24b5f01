// SPDX-License-Identifier: GPL-3.0-or-later
// The window behind the cursor: one read for many small numbers.
#include "importers/trace_dat/source_cursor.h"

namespace tickscope::trace_dat {

namespace {

constexpr std::size_t windowSize = 64U << 10U;

}  // namespace

SourceCursor::SourceCursor(const ByteSource& source, u64 from, u64 to, bool swap,
                           Known<u64> reportAs)
    : source_(&source), to_(std::min(to, source.size())), swap_(swap), reportAs_(reportAs) {
  at_ = std::min(from, to_);
}

Bytes SourceCursor::peek(std::size_t size) {
  if (failed_) return {};
  const auto wanted = static_cast<std::size_t>(std::min<u64>(size, to_ - at_));
  if (const Bytes all = source_->view(at_, wanted); !all.empty()) return all;
  if (at_ < bufferAt_ || at_ + wanted > bufferAt_ + buffer_.size()) {
    buffer_ = source_->bytes(at_, std::min<u64>(std::max(wanted, windowSize), to_ - at_));
    bufferAt_ = at_;
  }
  const auto skipped = static_cast<std::size_t>(at_ - bufferAt_);
  return Bytes(buffer_).subspan(skipped, std::min(wanted, buffer_.size() - skipped));
}

std::string SourceCursor::string(std::size_t most) {
  const std::string_view bytes = asText(peek(most + 1));
  const std::size_t size = bytes.find('\0');
  if (size == std::string_view::npos) return failed_ = true, std::string{};
  at_ += size + 1;
  return std::string(bytes.substr(0, size));
}

std::string SourceCursor::text(u64 size) {
  const u64 there = std::min(size, left());
  std::string all(static_cast<std::size_t>(there), '\0');
  const std::size_t got = source_->read(at_, {reinterpret_cast<u8*>(all.data()), all.size()});
  all.resize(got);
  at_ += got;
  if (got < size) failed_ = true;
  return all;
}

void SourceCursor::skip(u64 size) {
  if (size > left()) {
    failed_ = true;
  } else {
    at_ += size;
  }
}

bool SourceCursor::startsWith(std::string_view text) { return asText(peek(text.size())) == text; }

Known<u64> SourceCursor::find(std::string_view pattern, u64 within) {
  const u64 start = at_;
  const u64 end = within < left() ? at_ + within : at_ + left();
  Known<u64> found;
  while (!failed_ && at_ < end) {
    const std::string_view window =
        asText(peek(static_cast<std::size_t>(std::min<u64>(windowSize, end - at_))));
    const std::size_t hit = window.find(pattern);
    if (hit != std::string_view::npos) {
      found = at_ + hit;
      break;
    }
    if (window.size() < pattern.size() || at_ + window.size() >= end) break;
    at_ += window.size() - pattern.size() + 1;
  }
  at_ = start;
  return found;
}

void SourceCursor::seek(u64 offset) {
  failed_ = false;
  at_ = std::min(offset, to_);
}

}  // namespace tickscope::trace_dat
