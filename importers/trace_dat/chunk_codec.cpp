// SPDX-License-Identifier: GPL-3.0-or-later
// zlib and zstd with bounded memory, and the reader of blocks.
#include "importers/trace_dat/chunk_codec.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

namespace tickscope::trace_dat {

namespace {

/// Frames of trace-cmd need less than a chunk; a hostile one could ask for gigabytes.
constexpr int mostWindowBits = 24;

}  // namespace

struct Unpacker::Contexts {
  ~Contexts() {
    ZSTD_freeDCtx(zstd);
    if (zlibOpen) inflateEnd(&zlib);
  }
  ZSTD_DCtx* zstd = nullptr;
  z_stream zlib{};
  bool zlibOpen = false;
};

namespace {

Unpacker::Outcome unpackZstd(ZSTD_DCtx* context, Bytes packed, std::span<u8> to) {
  const std::size_t size =
      ZSTD_decompressDCtx(context, to.data(), to.size(), packed.data(), packed.size());
  if (!ZSTD_isError(size)) {
    if (size == to.size()) return {size, {}};
    return {size, fmt::format("{} bytes came out, {} were announced", size, to.size())};
  }
  // Once more piece by piece, to get what comes before the damage.
  ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
  ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, mostWindowBits);
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  ZSTD_outBuffer out{to.data(), to.size(), 0};
  std::size_t state = 1;
  while (out.pos < out.size) {
    const std::size_t before = in.pos + out.pos;
    state = ZSTD_decompressStream(context, &out, &in);
    if (ZSTD_isError(state) || in.pos + out.pos == before) break;
  }
  ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
  if (ZSTD_isError(state)) return {out.pos, ZSTD_getErrorName(state)};
  if (out.pos < out.size) return {out.pos, "the packed data are cut off"};
  return {out.pos, "it holds more than announced"};
}

Unpacker::Outcome unpackZlib(z_stream& stream, Bytes packed, std::span<u8> to) {
  inflateReset(&stream);
  stream.next_in = const_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = to.data();
  stream.avail_out = static_cast<uInt>(to.size());
  const int state = inflate(&stream, Z_FINISH);
  const std::size_t size = to.size() - stream.avail_out;
  if (state == Z_STREAM_END) {
    if (size == to.size()) return {size, {}};
    return {size, fmt::format("{} bytes came out, {} were announced", size, to.size())};
  }
  if (state == Z_DATA_ERROR || state == Z_NEED_DICT) {
    return {size, stream.msg ? stream.msg : "the packed data are damaged"};
  }
  if (stream.avail_out == 0) return {size, "it holds more than announced"};
  return {size, "the packed data are cut off"};
}

}  // namespace

Unpacker::Unpacker() : contexts_(std::make_unique<Contexts>()) {}
Unpacker::~Unpacker() = default;

Unpacker::Outcome Unpacker::unpack(Codec codec, Bytes packed, std::span<u8> to) {
  Contexts& contexts = *contexts_;
  switch (codec) {
    case Codec::None: {
      const std::size_t size = std::min(packed.size(), to.size());
      if (size > 0) std::memcpy(to.data(), packed.data(), size);
      return {size, size < to.size() ? "the data are cut off" : ""};
    }
    case Codec::Zstd:
      if (!contexts.zstd) contexts.zstd = ZSTD_createDCtx();
      if (!contexts.zstd) return {0, "there is no memory for unpacking"};
      return unpackZstd(contexts.zstd, packed, to);
    case Codec::Zlib:
      if (!contexts.zlibOpen) contexts.zlibOpen = inflateInit(&contexts.zlib) == Z_OK;
      if (!contexts.zlibOpen) return {0, "there is no memory for unpacking"};
      return unpackZlib(contexts.zlib, packed, to);
  }
  return {0, "the compression is unknown"};
}

bool looksPacked(Codec codec, Bytes bytes) {
  switch (codec) {
    case Codec::None:
      return false;
    case Codec::Zstd: {
      constexpr u8 mark[4] = {0x28, 0xb5, 0x2f, 0xfd};
      return bytes.size() >= sizeof mark && std::memcmp(bytes.data(), mark, sizeof mark) == 0;
    }
    case Codec::Zlib:  // RFC 1950: deflate, a window of at most 32 KiB, a check of both bytes
      return bytes.size() >= 2 && (bytes[0] & 15U) == 8 && bytes[0] >> 4U <= 7 &&
             (bytes[0] * 256U + bytes[1]) % 31 == 0;
  }
  return false;
}

struct BlockReader::State {
  /// Grows without being cleared.
  struct Room {
    std::span<u8> of(std::size_t size) {
      if (size > capacity) {
        bytes = std::make_unique_for_overwrite<u8[]>(size);
        capacity = size;
      }
      return {bytes.get(), size};
    }
    std::unique_ptr<u8[]> bytes;
    std::size_t capacity = 0;
  };
  Unpacker unpacker;
  Room packed, plain;
};

BlockReader::BlockReader() : state_(std::make_unique<State>()) {}
BlockReader::~BlockReader() = default;

BlockReader::Unpacked BlockReader::read(const ByteSource& source, const Block& block) {
  Unpacked result;
  Bytes packed = source.view(block.offset, block.packed);
  if (packed.empty() && block.offset < source.size()) {
    const auto there =
        static_cast<std::size_t>(std::min<u64>(block.packed, source.size() - block.offset));
    const std::span<u8> room = state_->packed.of(there);
    packed = room.first(source.read(block.offset, room));
  }
  if (block.codec == Codec::None) {
    result.bytes = packed.first(std::min<std::size_t>(packed.size(), block.plain));
    result.damaged = result.bytes.size() < block.plain;
    if (result.damaged) result.why = "the data are cut off";
    return result;
  }
  const std::span<u8> room = state_->plain.of(block.plain);
  Unpacker::Outcome outcome = state_->unpacker.unpack(block.codec, packed, room);
  result.bytes = room.first(outcome.size);
  result.damaged = !outcome.why.empty();
  result.why = std::move(outcome.why);
  return result;
}

}  // namespace tickscope::trace_dat
