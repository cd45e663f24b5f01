// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the prologue, and tells a wrong byte order by the first size behind it.
#include "importers/trace_dat/file_header.h"

#include <fmt/format.h>

#include <bit>

#include "importers/trace_dat/source_cursor.h"

namespace tickscope::trace_dat {

namespace {

constexpr u64 largestHeaderText = 64U << 10U;
constexpr u16 highestSection = 25;

/// Are the numbers right behind the prologue possible in this byte order?
bool plausibleOrder(const ByteSource& source, const FileHeader& header, bool swap) {
  SourceCursor cursor(source, header.body, source.size(), swap);
  if (header.version == 6) {
    cursor.skip(std::string_view("header_page").size() + 1);
    const u64 size = cursor.number<u64>();
    return !cursor.failed() && size <= std::min(largestHeaderText, cursor.left());
  }
  const u16 id = cursor.number<u16>();
  cursor.skip(6);
  const u64 size = cursor.number<u64>();
  return !cursor.failed() && id <= highestSection && size <= cursor.left();
}

}  // namespace

bool isPageSize(u64 size) {
  return size >= (4U << 10U) && size <= (1U << 20U) && std::has_single_bit(size);
}

Result<FileHeader> readFileHeader(const ByteSource& source, ImportLog& log) {
  SourceCursor cursor(source, 0, source.size(), false);
  if (!cursor.startsWith(magic)) {
    return fail(Error::Kind::NotATrace, "This is not a trace.dat file", 0);
  }
  cursor.skip(magic.size());
  FileHeader header;
  const u64 versionAt = cursor.offset();
  const std::string version = cursor.string(32);
  if (version != "6" && version != "7") {
    return fail(
        Error::Kind::Unsupported,
        cursor.failed() || version.empty()
            ? "The file does not say which version of trace.dat it is"
            : fmt::format("Only versions 6 and 7 of trace.dat can be read, not {:?}", version),
        versionAt);
  }
  header.version = version == "6" ? 6 : 7;
  const u64 orderAt = cursor.offset();
  const u8 order = cursor.number<u8>();
  if (!cursor.failed() && order > 1) {
    return fail(Error::Kind::Damaged, fmt::format("The byte order is {}, neither 0 nor 1", order),
                orderAt);
  }
  header.bigEndian = order == 1;
  header.swap = header.bigEndian != (std::endian::native == std::endian::big);
  const u64 wordAt = cursor.offset();
  const u8 word = cursor.number<u8>();
  header.pageSizeAt = cursor.offset();
  const u32 rawPageSize = cursor.number<u32>();
  u64 rawFirstOptions = 0;
  if (header.version == 7) {
    header.compressionAt = cursor.offset();
    header.compression = cursor.string(64);
    cursor.string(64);
    if (cursor.failed()) {
      return fail(Error::Kind::Damaged, "The name of the compression has no end",
                  header.compressionAt);
    }
    header.codec.reset();
    if (header.compression == "none" || header.compression.empty()) header.codec = Codec::None;
    if (header.compression == "zlib") header.codec = Codec::Zlib;
    if (header.compression == "zstd") header.codec = Codec::Zstd;
    header.firstOptionsAt = cursor.offset();
    rawFirstOptions = cursor.number<u64>();
  }
  if (cursor.failed()) {
    return fail(Error::Kind::Damaged, "The file ends inside its first numbers", source.size());
  }
  header.body = cursor.offset();

  if (!plausibleOrder(source, header, header.swap) &&
      plausibleOrder(source, header, !header.swap)) {
    log.note(Counter::EndianFlagWrong,
             {orderAt, {}, header.bigEndian ? "it says big-endian" : "it says little-endian"});
    header.swap = !header.swap;
    header.bigEndian = !header.bigEndian;
  }
  const u32 pageSize = header.swap ? byteSwapped(rawPageSize) : rawPageSize;
  header.firstOptions = header.swap ? byteSwapped(rawFirstOptions) : rawFirstOptions;
  if (word == 4 || word == 8) {
    header.userWord = word;
  } else {
    log.note(Counter::HeaderBad, {wordAt, {}, fmt::format("size of a long {}", word)});
  }
  if (isPageSize(pageSize)) {
    header.pageSize = pageSize;
  } else {
    log.note(Counter::HeaderBad, {header.pageSizeAt, {}, fmt::format("page size {}", pageSize)});
  }
  return header;
}

}  // namespace tickscope::trace_dat
