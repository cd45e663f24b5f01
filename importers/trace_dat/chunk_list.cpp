// SPDX-License-Identifier: GPL-3.0-or-later
// Steps from chunk to chunk, and finds the next one when a size is wrong.
#include "importers/trace_dat/chunk_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "importers/trace_dat/chunk_codec.h"

namespace tickscope::trace_dat {

namespace {

constexpr u64 plainBlock = 256U << 10U;
constexpr u64 sizesBytes = 8;
/// Searches begin with a small window, because the next mark is mostly near.
constexpr u64 firstWindow = 4U << 10U, largestWindow = 256U << 10U;
/// How often a reading finds its way back behind wrong sizes: made files could ask for it everywhere.
constexpr u32 mostSearches = 1'000;
/// No frame of either codec is shorter.
constexpr u64 shortestPacked = 6;

bool possiblePlain(u64 plain, u32 pageSize) {
  return plain > 0 && plain % pageSize == 0 && plain <= largestChunk(pageSize);
}

}  // namespace

u64 largestChunk(u32 pageSize) { return std::max<u64>(u64{16} << 20U, u64{16} * pageSize); }

void appendPlain(std::vector<Block>& blocks, u64 offset, u64 size, u32 pageSize) {
  const u64 most = std::max<u64>(plainBlock / pageSize, 1) * pageSize;
  while (size > 0) {
    if (!blocks.empty()) {
      Block& last = blocks.back();
      const bool touches = last.codec == Codec::None && last.offset + last.packed == offset;
      if (touches && last.packed < most && last.packed % pageSize == 0) {
        const u32 part = static_cast<u32>(std::min(size, most - last.packed));
        last.packed += part;
        last.plain += part;
        offset += part;
        size -= part;
        continue;
      }
    }
    const u32 part = static_cast<u32>(std::min(size, most));
    blocks.push_back({offset, part, part, Codec::None});
    offset += part;
    size -= part;
  }
}

bool chunksBeginAt(const Reading& reading, u64 offset, u64 end) {
  const auto& codec = reading.header.codec;
  if (!codec || *codec == Codec::None || end <= offset) return false;
  const std::vector<u8> head = reading.source.bytes(offset, std::min<u64>(16, end - offset));
  return head.size() == 16 && looksPacked(*codec, Bytes(head).subspan(12));
}

Known<Block> findChunk(const Reading& reading, u64 from, u64 to, u32 pageSize) {
  const Codec codec = *reading.header.codec;
  const u8 mark = codec == Codec::Zstd ? 0x28 : 0x78;  // zlib: 32 KiB window, as all writers use
  to = std::min(to, reading.size());
  u64 at = from;
  u64 windowSize = firstWindow;
  while (at + sizesBytes + 2 < to) {
    if (reading.progress.cancelled()) return {};
    const std::vector<u8> window = reading.source.bytes(at, std::min(windowSize, to - at));
    if (window.size() < sizesBytes + 4) return {};
    const std::size_t last = window.size() - 4;
    for (std::size_t in = sizesBytes; in <= last; ++in) {
      const void* hit = std::memchr(window.data() + in, mark, last + 1 - in);
      if (!hit) break;
      in = static_cast<std::size_t>(static_cast<const u8*>(hit) - window.data());
      if (!looksPacked(codec, Bytes(window).subspan(in))) continue;
      const u32 packed = loadNumber<u32>(window.data() + in - 8, reading.header.swap);
      const u32 plain = loadNumber<u32>(window.data() + in - 4, reading.header.swap);
      const u64 offset = at + in;
      const bool cutByEnd = to == reading.size() && packed <= 2 * largestChunk(pageSize);
      if (packed < shortestPacked || (packed > to - offset && !cutByEnd)) continue;
      if (!possiblePlain(plain, pageSize)) continue;
      return Block{offset, static_cast<u32>(std::min<u64>(packed, to - offset)), plain, codec};
    }
    if (at + window.size() >= to) return {};
    at += window.size() - sizesBytes - 3;
    windowSize = std::min(largestWindow, windowSize * 4);
  }
  return {};
}

u64 readChunks(Reading& reading, Cpu cpu, u64 offset, u64 end, u32 pageSize,
               std::vector<Block>& blocks) {
  const Codec codec = *reading.header.codec;
  const bool swap = reading.header.swap;
  const auto note = [&](Counter counter, u64 at, std::string detail, u64 amount = 0) {
    reading.log.note(counter, {at, cpu, std::move(detail)}, amount);
  };
  const std::vector<u8> head = reading.source.bytes(offset, std::min<u64>(4, end - offset));
  if (head.size() < 4) {
    note(Counter::RangeCut, offset, "number of packed blocks");
    return end;
  }
  const u64 count = loadNumber<u32>(head.data(), swap);
  u64 at = offset + 4;
  u64 read = 0;
  u64 behind = at;  // the last block that was understood
  while (at + sizesBytes <= end) {
    if (reading.progress.cancelled()) return end;
    const std::vector<u8> bytes = reading.source.bytes(at, sizesBytes + 4);
    if (bytes.size() < sizesBytes) break;
    const u32 packed = loadNumber<u32>(bytes.data(), swap);
    const u32 plain = loadNumber<u32>(bytes.data() + 4, swap);
    const u64 data = at + sizesBytes;
    const u64 room = end - data;
    const bool marked = looksPacked(codec, Bytes(bytes).subspan(sizesBytes));
    if (read >= count && !(marked && packed <= room && possiblePlain(plain, pageSize))) break;
    ++read;
    if (packed > room) {
      // Cut by the end of the input, or a wrong size: then the next one can be found by its mark.
      const bool search = ++reading.searches <= mostSearches;
      const auto next = search ? findChunk(reading, data, end, pageSize) : Known<Block>{};
      const u64 stop = next ? next->offset - sizesBytes : end;
      if (!next && end == reading.size() && marked && possiblePlain(plain, pageSize)) {
        note(Counter::RangeCut, at, "packed block", packed - room);
        if (plain > reading.unpackLeft) {
          note(Counter::LimitInflate, at, {});
          reading.unpackLeft = 0;
          return end;
        }
        reading.unpackLeft -= plain;
        if (room > 0) blocks.push_back({data, static_cast<u32>(room), plain, codec});
        return end;
      }
      note(Counter::ChunkBad, at, fmt::format("packed size {}", packed), stop - at);
      if (!next) return end;
      at = stop;
      continue;
    }
    if (!possiblePlain(plain, pageSize)) {
      note(Counter::ChunkSize, at + 4, fmt::format("{} bytes unpacked", plain));
    } else if (plain > reading.unpackLeft) {
      note(Counter::LimitInflate, at, {});
      reading.unpackLeft = 0;
      return end;
    } else {
      reading.unpackLeft -= plain;
      blocks.push_back({data, packed, plain, codec});
    }
    at = behind = data + packed;
  }
  if (read != count) {
    note(Counter::RangeCut, offset,
         fmt::format("{} packed blocks announced, {} found", count, read));
  } else if (end - std::min(end, behind) >= sizesBytes) {
    note(Counter::RangeCut, behind,
         fmt::format("{} bytes behind the last packed block", end - behind));
  }
  return std::min(end, behind);
}

}  // namespace tickscope::trace_dat
