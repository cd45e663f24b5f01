// SPDX-License-Identifier: GPL-3.0-or-later
// The first bytes of a trace.dat: version, byte order, sizes, compression (reading-traces 1.1).
#pragma once

#include <string>

#include "core/trace/import_log.h"
#include "importers/byte_source.h"
#include "importers/trace_dat/container.h"

namespace tickscope::trace_dat {

inline constexpr std::string_view magic = "\x17\x08\x44tracing";

struct FileHeader {
  int version = 7;         ///< 6 or 7
  bool bigEndian = false;  ///< of all numbers that follow
  bool swap = false;       ///< the same against this machine
  u8 userWord = 0;         ///< bytes of a long of the recording program: 4 or 8; 0: not believable
  u32 pageSize = 0;        ///< bytes of a ring buffer page; 0: not believable
  u64 pageSizeAt = 0;      ///< where it stands
  std::string compression = "none";
  u64 compressionAt = 0;             ///< where it stands
  Known<Codec> codec = Codec::None;  ///< empty: a compression that is not known
  u64 firstOptions = 0;              ///< version 7; 0: none
  u64 firstOptionsAt = 0;            ///< where it stands
  u64 body = 0;                      ///< where the rest begins
};

/// 2^k from 4 KiB to 1 MiB: what a ring buffer page can have.
bool isPageSize(u64 size);

/// Errors: NotATrace; Unsupported (version); Damaged (cut, byte order).
Result<FileHeader> readFileHeader(const ByteSource& source, ImportLog& log);

}  // namespace tickscope::trace_dat
