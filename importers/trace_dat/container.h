// SPDX-License-Identifier: GPL-3.0-or-later
// What a trace.dat holds and where: everything but the events themselves. All places are checked against the input.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/trace/recording.h"
#include "importers/byte_source.h"

namespace tickscope::trace_dat {

enum class Codec : u8 { None, Zlib, Zstd };

/// A run of whole ring buffer pages (the last page of a cut file may be partial).
struct Block {
  u64 offset = 0;  ///< of the first (packed) byte in the input
  u32 packed = 0;  ///< bytes in the input
  u32 plain = 0;   ///< bytes after unpacking; equal to `packed` when not packed
  Codec codec = Codec::None;
};

/// The pages of one CPU, in recorded order. Not packed: blocks of at most 256 KiB (one page if that is larger).
struct PageStream {
  Cpu cpu{};
  bool cpuInferred = false;
  std::vector<Block> blocks;
};

struct BufferPlaces {
  std::string name;  ///< empty: the top buffer
  BufferClock clock;
  u32 pageSize = 4096;
  std::vector<PageStream> streams;  ///< ascending by CPU
  std::vector<CpuStatistics> statistics;
};

/// How pages and records lie (header_page, header_event; reading-traces 2.1).
struct RingLayout {
  bool swap = false;       ///< numbers are not in this machine's byte order
  bool bigEndian = false;  ///< of the recorded machine: also tells the bit order of record headers
  u8 commitSize = 8;       ///< bytes of the commit field: the kernel's word, 4 or 8
  u32 commitOffset = 8;
  u32 dataOffset = 16;  ///< header bytes of a page
};

/// An event format as it stands in the file.
struct FormatText {
  std::string system;
  std::string text;
  u64 offset = 0;  ///< in the input (of the section, when that is packed)
};

struct TextBuffer {
  std::string name;
  u64 offset = 0, size = 0;  ///< latency text, not yet unpacked
};

struct Container {
  Metadata metadata;
  RingLayout ring;
  std::vector<FormatText> formats;  ///< in file order; system "ftrace" first
  std::vector<BufferPlaces> buffers;
  std::vector<TextBuffer> texts;
};

/// Reads headers, sections, options and tables of either version, or what salvage finds where they are missing
/// (reading-traces 1.1 to 1.10). Irregularities go to the log. Errors as importTrace.
Result<Container> readContainer(const ByteSource& source, u64 maxUnpack, ImportLog& log,
                                Progress& progress);

/// A killed recorder's pages, a CPU in each source, with all else from a trace.dat of the same kernel. The offsets of
/// the blocks count in ByteSource::joined(cpus). The CPU is in the source's name (`.cpuN`, `-cpuN`, `cpuN.raw`), or the
/// records prove it, or it is inferred.
Result<Container> readRawPages(std::span<const ByteSource> cpus, const ByteSource& formatsFrom,
                               u64 maxUnpack, ImportLog& log, Progress& progress);

/// Unpacks blocks with contexts and a buffer that are kept; one a thread.
class BlockReader {
 public:
  BlockReader();
  ~BlockReader();
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  struct Unpacked {
    Bytes bytes;  ///< valid until the next read(); at most `plain`
    bool damaged =
        false;        ///< fewer bytes than the block promises: cut, short or not to be unpacked
    std::string why;  ///< in words, when damaged
  };
  Unpacked read(const ByteSource& source, const Block& block);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tickscope::trace_dat
