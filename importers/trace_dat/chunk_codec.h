// SPDX-License-Identifier: GPL-3.0-or-later
// Unpacks zlib and zstd data of trace.dat, where nothing but the file's own claim bounds the size.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "importers/trace_dat/container.h"

namespace tickscope::trace_dat {

/// Contexts that are kept from one piece to the next; one a thread.
class Unpacker {
 public:
  Unpacker();
  ~Unpacker();
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  struct Outcome {
    std::size_t size = 0;  ///< bytes in `to` that are right
    std::string why;       ///< in words, when that is not all, or when the data hold more
  };
  /// Fills `to`, no more than that; trace-cmd writes no size into zstd frames, so it must come out exactly.
  Outcome unpack(Codec codec, Bytes packed, std::span<u8> to);

 private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
};

/// Does packed data of this codec begin so?
bool looksPacked(Codec codec, Bytes bytes);

}  // namespace tickscope::trace_dat
