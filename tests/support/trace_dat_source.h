// SPDX-License-Identifier: GPL-3.0-or-later
// Reads well-formed trace.dat files into the writer's model, the simplest way; others are refused.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/trace_dat_writer.h"

namespace tickscope::support {

/// Where the pages of one CPU lie in the file.
struct StreamPlace {
  u32 cpu{};
  u64 offset{}, size{};  ///< size as the file states it
};

struct BufferPlace {
  std::string name, clock;
  bool isPacked{};
  std::vector<StreamPlace> streams;
};

/// A file without its pages: `file.buffers` is empty, `buffers` says where they are.
struct Layout {
  DatFile file;
  std::vector<BufferPlace> buffers;
};

/// All functions throw std::runtime_error on bytes that they do not understand.
Layout readLayout(std::span<const u8> bytes);
/// The whole file, each record of it.
DatFile readDat(std::span<const u8> bytes);
Blob readFile(const std::string& path);

/// Calls `each` with the unpacked bytes of each chunk of a stream, or of the stream if not packed.
void forEachChunk(std::span<const u8> bytes, const Layout&, const BufferPlace&, const StreamPlace&,
                  const std::function<void(std::span<const u8>)>& each);

/// An event as any correct reader must see it.
struct SeenEvent {
  u32 buffer{}, cpu{};
  u64 time{};
  Blob payload;
  bool operator==(const SeenEvent&) const = default;
};
/// Buffer by buffer, CPU by CPU, in recorded order.
std::vector<SeenEvent> eventsOf(const DatFile&);

}  // namespace tickscope::support
