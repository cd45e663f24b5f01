// SPDX-License-Identifier: GPL-3.0-or-later
// Reads numbers, strings and texts one behind the other out of a source, through a small window.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_reader.h"
#include "importers/byte_source.h"

namespace tickscope::trace_dat {

/// Never reads or allocates more than lies between `from` and `to`. A read past the end sets failed() until seek().
class SourceCursor {
 public:
  /// `swap`: numbers are not in this machine's byte order. `reportAs`: what place() says when the
  /// bytes are not those of the input (unpacked ones).
  SourceCursor(const ByteSource& source, u64 from, u64 to, bool swap, Known<u64> reportAs = {});

  template <class T>
  T number() {
    const Bytes bytes = peek(sizeof(T));
    if (failed_ || bytes.size() < sizeof(T)) return failed_ = true, T{};
    at_ += sizeof(T);
    return loadNumber<T>(bytes.data(), swap_);
  }
  /// Up to the next NUL, which is stepped over; fails when there is none within `most` bytes.
  std::string string(std::size_t most);
  /// The next `size` bytes; what there is of them, and failed(), when they are not all there.
  std::string text(u64 size);
  void skip(u64 size);
  /// Up to `size` bytes from here, fewer at the end; valid until the next call.
  Bytes peek(std::size_t size);
  [[nodiscard]] bool startsWith(std::string_view text);
  /// Where `pattern` next begins, at or behind this place and within `within` bytes.
  Known<u64> find(std::string_view pattern, u64 within);
  void seek(u64 offset);

  [[nodiscard]] u64 offset() const { return at_; }
  /// The same for a log.
  [[nodiscard]] u64 place() const { return reportAs_.value_or(at_); }
  [[nodiscard]] u64 left() const { return failed_ ? 0 : to_ - at_; }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  const ByteSource* source_;
  u64 at_, to_;
  bool swap_;
  bool failed_ = false;
  Known<u64> reportAs_;
  std::vector<u8> buffer_;
  u64 bufferAt_ = 0;
};

}  // namespace tickscope::trace_dat
