// SPDX-License-Identifier: GPL-3.0-or-later
// Reads files by place and pipes to their end.
#include "importers/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "core/base/time_text.h"

namespace tickscope {

namespace {

constexpr u64 mebibyte = 1U << 20U;
/// What a named pipe may hold: it has to be kept in memory, and nobody gave a limit.
constexpr u64 largestPipe = u64{1} << 30U;

std::string systemWords(int error) { return std::strerror(error); }

Result<std::vector<u8>> readToEnd(int descriptor, u64 most, const std::string& name) {
  std::vector<u8> bytes;
  std::size_t filled = 0;
  for (;;) {
    if (filled == bytes.size()) bytes.resize(std::max<std::size_t>(mebibyte, filled * 2));
    const ssize_t got = ::read(descriptor, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return fail(Error::Kind::Io, fmt::format("{} cannot be read: {}", name, systemWords(errno)));
    }
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
    if (filled > most) {
      return fail(Error::Kind::TooLarge,
                  fmt::format("It gives more than {}, the most that may be kept in memory.",
                              bytesWords(most)));
    }
  }
  bytes.resize(filled);
  bytes.shrink_to_fit();
  return bytes;
}

}  // namespace

struct ByteSource::File {
  explicit File(int d) : descriptor(d) {}
  ~File() { ::close(descriptor); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor;
};

Result<ByteSource> ByteSource::file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return fail(Error::Kind::Io, fmt::format("{} cannot be opened: {}", path, systemWords(errno)));
  }
  auto open = std::make_shared<const File>(descriptor);
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) {
    return fail(Error::Kind::Io, fmt::format("{} cannot be read: {}", path, systemWords(errno)));
  }
  if (S_ISDIR(facts.st_mode)) {
    return fail(Error::Kind::Io, fmt::format("{} is a folder, not a file", path));
  }
  // Files that the kernel makes while they are read (/proc/timer_list) say that they are empty.
  if (S_ISFIFO(facts.st_mode) || (S_ISREG(facts.st_mode) && facts.st_size == 0)) {
    auto bytes = readToEnd(descriptor, largestPipe, path);
    if (!bytes) return tl::unexpected(bytes.error());
    return memory(std::move(*bytes), path);
  }
  if (!S_ISREG(facts.st_mode)) {
    return fail(Error::Kind::Io, fmt::format("{} is a device, not a file", path));
  }
  ByteSource source;
  source.name_ = path;
  source.file_ = std::move(open);
  source.size_ = static_cast<u64>(facts.st_size);
  return source;
}

Result<ByteSource> ByteSource::standardInput(u64 most) {
  auto bytes = readToEnd(STDIN_FILENO, most, "standard input");
  if (!bytes) return tl::unexpected(bytes.error());
  return memory(std::move(*bytes), "-");
}

ByteSource ByteSource::memory(std::vector<u8> bytes, std::string name) {
  ByteSource source;
  source.name_ = std::move(name);
  source.size_ = bytes.size();
  source.memory_ = std::make_shared<const std::vector<u8>>(std::move(bytes));
  return source;
}

ByteSource ByteSource::joined(std::vector<ByteSource> parts) {
  ByteSource source;
  if (!parts.empty()) source.name_ = parts.front().name_;
  for (const ByteSource& part : parts) source.size_ += part.size_;
  source.parts_ = std::make_shared<const std::vector<ByteSource>>(std::move(parts));
  return source;
}

std::size_t ByteSource::read(u64 offset, std::span<u8> to) const {
  if (offset >= size_) return 0;
  if (parts_) {
    std::size_t done = 0;
    for (const ByteSource& part : *parts_) {
      if (offset < part.size_ && done < to.size()) {
        const std::size_t wanted =
            static_cast<std::size_t>(std::min<u64>(to.size() - done, part.size_ - offset));
        const std::size_t got = part.read(offset, to.subspan(done, wanted));
        done += got;
        if (got < wanted) break;
        offset = part.size_;
      }
      offset -= part.size_;
    }
    return done;
  }
  const auto wanted = static_cast<std::size_t>(std::min<u64>(to.size(), size_ - offset));
  if (wanted == 0) return 0;
  if (memory_) {
    std::memcpy(to.data(), memory_->data() + offset, wanted);
    return wanted;
  }
  std::size_t filled = 0;
  while (filled < wanted) {
    const ssize_t got = ::pread(file_->descriptor, to.data() + filled, wanted - filled,
                                static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

std::vector<u8> ByteSource::bytes(u64 offset, u64 size) const {
  if (offset >= size_) return {};
  std::vector<u8> all(static_cast<std::size_t>(std::min(size, size_ - offset)));
  all.resize(read(offset, all));
  return all;
}

Bytes ByteSource::view(u64 offset, u64 size) const {
  if (parts_) {
    for (const ByteSource& part : *parts_) {
      if (offset < part.size_)
        return size <= part.size_ - offset ? part.view(offset, size) : Bytes{};
      offset -= part.size_;
    }
  }
  if (!memory_ || offset >= size_) return {};
  return Bytes(*memory_).subspan(static_cast<std::size_t>(offset),
                                 static_cast<std::size_t>(std::min(size, size_ - offset)));
}

std::string ByteSource::fingerprint() const {
  const u64 head = std::min(size_, mebibyte);
  const u64 tail = std::max(head, size_ - head);
  uLong crc = ::crc32(0, nullptr, 0);
  for (const auto& part : {bytes(0, head), bytes(tail, size_ - tail)}) {
    if (!part.empty()) crc = ::crc32(crc, part.data(), static_cast<uInt>(part.size()));
  }
  return fmt::format("{:x}-{:08x}", size_, static_cast<u32>(crc));
}

}  // namespace tickscope
