// SPDX-License-Identifier: GPL-3.0-or-later
// A yardstick without checks: it trusts the file, which an importer must not.
#include "tests/bench/import_bench_floor.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "tests/support/trace_dat_source.h"

namespace tickscope::bench {

namespace {

constexpr std::size_t blockSize = 256 * 1024;
constexpr std::size_t rowRoom = 64;

template <class T>
T loaded(const u8* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw std::runtime_error("cannot open " + path);
    size_ = static_cast<std::size_t>(lseek(fd_, 0, SEEK_END));
    void* map = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd_, 0);
    if (map == MAP_FAILED) throw std::runtime_error("cannot map " + path);
    map_ = static_cast<const u8*>(map);
  }
  ~File() {
    munmap(const_cast<u8*>(map_), size_);
    close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// For the metadata: only pages that are looked at are read.
  [[nodiscard]] std::span<const u8> all() const { return {map_, size_}; }
  void read(u64 offset, u8* to, std::size_t size) const {
    if (pread(fd_, to, size, static_cast<off_t>(offset)) != static_cast<ssize_t>(size)) {
      throw std::runtime_error("file is short");
    }
  }

 private:
  int fd_;
  std::size_t size_ = 0;
  const u8* map_ = nullptr;
};

/// Memory for all rows, asked for once and first touched when a row is written.
class Rows {
 public:
  Rows(u64 most, u32 bytesPerEvent)
      : begin_(static_cast<u8*>(std::malloc(most * bytesPerEvent + rowRoom))),
        step_(bytesPerEvent) {
    if (begin_ == nullptr) throw std::runtime_error("no memory");
    at_ = begin_;
  }
  ~Rows() { std::free(begin_); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  /// Always 64 bytes, of which the next row overwrites what is too much: no loop, no call.
  void add(u64 time, u32 head) {
    std::memcpy(at_, &time, sizeof time);
    std::memcpy(at_ + 8, &head, sizeof head);
    std::memset(at_ + 12, 0x55, rowRoom - 12);
    at_ += step_;
  }
  [[nodiscard]] u64 written() const { return static_cast<u64>(at_ - begin_); }
  [[nodiscard]] u64 count() const { return written() / step_; }

 private:
  u8* begin_;
  u8* at_ = nullptr;
  u32 step_;
};

void walk(const u8* page, u32 dataStart, Rows& rows) {
  u64 time = loaded<u64>(page);
  const u8* at = page + dataStart;
  const u8* end = at + (loaded<u32>(page + 8) & 0x7ffffff);
  while (at + 4 <= end) {
    const u32 head = loaded<u32>(at);
    const u32 type = head & 31;
    const u64 delta = head >> 5;
    if (type - 1 < 28) {
      rows.add(time += delta, head);
      at += 4 + 4 * type;
      continue;
    }
    if (type == 29 && delta == 0) return;
    const u32 next = at + 8 <= end ? loaded<u32>(at + 4) : 0;
    switch (type) {
      case 0:
        rows.add(time += delta, head);
        break;
      case 29:
        time += delta == 1 ? 0 : delta;
        break;
      case 30:
        time += (u64{next} << 27) + delta;
        break;
      default:
        time = (u64{next} << 27) + delta;
        break;
    }
    at += type >= 30 ? 8 : 4 + (next + 3) / 4 * 4;
  }
}

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

FloorResult importFloor(const std::string& path, u32 bytesPerEvent) {
  if (bytesPerEvent < 8 || bytesPerEvent > rowRoom) throw std::runtime_error("8 to 64 bytes a row");
  const File file(path);
  const support::Layout layout = support::readLayout(file.all());
  const u32 pageSize = layout.file.pageSize;
  const u32 dataStart = layout.file.dataStart();

  // The plain size bounds the number of rows; 16 bytes is the smallest record with a payload.
  u64 plain = 0;
  for (const auto& buffer : layout.buffers) {
    for (const auto& stream : buffer.streams) plain += stream.size * (buffer.isPacked ? 16 : 1);
  }
  Rows rows(plain / 16 + 1, bytesPerEvent);
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  std::vector<u8> packed, pages(std::max<std::size_t>(blockSize, pageSize));
  const auto walkAll = [&](std::size_t size) {
    for (std::size_t at = 0; at + pageSize <= size; at += pageSize) {
      walk(pages.data() + at, dataStart, rows);
    }
  };
  for (const auto& buffer : layout.buffers) {
    for (const auto& stream : buffer.streams) {
      if (!buffer.isPacked) {
        for (u64 at = 0; at < stream.size; at += pages.size()) {
          const auto size = static_cast<std::size_t>(std::min<u64>(pages.size(), stream.size - at));
          file.read(stream.offset + at, pages.data(), size);
          walkAll(size);
        }
        continue;
      }
      packed.resize(stream.size + 4);
      file.read(stream.offset, packed.data(), packed.size());
      const u8* at = packed.data() + 4;
      for (u32 chunks = loaded<u32>(packed.data()); chunks > 0; --chunks) {
        const u32 small = loaded<u32>(at), big = loaded<u32>(at + 4);
        if (big > pages.size()) pages.resize(big);
        const std::size_t got =
            ZSTD_decompressDCtx(context.get(), pages.data(), pages.size(), at + 8, small);
        if (got != big) throw std::runtime_error("chunk cannot be unpacked");
        walkAll(got);
        at += 8 + small;
      }
    }
  }
  return {rows.count(), rows.written()};
}

}  // namespace tickscope::bench
