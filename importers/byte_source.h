// SPDX-License-Identifier: GPL-3.0-or-later
// The bytes of an input: a file read by place, or memory (standard input, tests).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/byte_reader.h"
#include "core/base/result.h"

namespace tickscope {

/// Thread-safe: reads do not move a cursor. A file that shrinks while it is read gives fewer bytes, never a signal,
/// because it is read, not mapped.
class ByteSource {
 public:
  /// Errors: Io with the system's words (missing, a folder, not readable).
  static Result<ByteSource> file(const std::string& path);
  /// Reads a pipe to its end. Errors: Io; TooLarge above `most` bytes.
  static Result<ByteSource> standardInput(u64 most);
  static ByteSource memory(std::vector<u8> bytes, std::string name = "memory");
  /// Several sources one behind the other, with the name of the first.
  static ByteSource joined(std::vector<ByteSource> parts);

  /// As given; "-" for standard input.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] u64 size() const { return size_; }
  /// Fills `to` from `offset` on; returns how many bytes there were (fewer at the end or on an error).
  std::size_t read(u64 offset, std::span<u8> to) const;
  /// `size` bytes from `offset`, fewer at the end. Never allocates more than is there.
  [[nodiscard]] std::vector<u8> bytes(u64 offset, u64 size) const;
  /// The bytes without a copy, when they are in memory; empty for files.
  [[nodiscard]] Bytes view(u64 offset, u64 size) const;
  /// Size and CRC-32 of the first and last MiB.
  [[nodiscard]] std::string fingerprint() const;

 private:
  struct File;  // closes its descriptor
  std::string name_;
  std::shared_ptr<const File> file_;
  std::shared_ptr<const std::vector<u8>> memory_;
  std::shared_ptr<const std::vector<ByteSource>> parts_;
  u64 size_ = 0;
};

}  // namespace tickscope
