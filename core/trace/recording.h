// SPDX-License-Identifier: GPL-3.0-or-later
// A recording after import: buffers of events, metadata, and what was met on the way. Only read from then on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/trace/event_store.h"
#include "core/trace/import_log.h"
#include "core/trace/metadata.h"
#include "core/trace/raw_event_text.h"

namespace tickscope {

/// The unit of a clock's numbers.
enum class ClockUnit : u8 { Nanoseconds, Cycles, Jiffies100Hz, Events, Unknown };

struct BufferClock {
  std::string name;    ///< "mono", "local", ...; empty: the file does not say
  std::string source;  ///< which part of the file says so, for a person
  ClockUnit unit = ClockUnit::Unknown;
};
/// The unit of a trace clock by its kernel name (reading-traces 1.8).
ClockUnit unitOf(std::string_view clock);

struct Buffer {
  std::string name;  ///< empty: the top buffer
  BufferClock clock;
  EventStore events;
  std::vector<CpuStatistics> statistics;
  std::shared_ptr<const RawEventText> raw;
};

struct Recording {
  std::string path;  ///< as given; "-" for standard input
  u64 fileSize = 0;
  std::string fingerprint;  ///< size and CRC-32 of the first and last MiB, hex
  Metadata metadata;
  std::vector<Buffer> buffers;  ///< of a file with rows: at least one
  std::vector<std::string>
      textBuffers;  ///< names of buffers that are held as text (latency), with their size
  ImportLog log;

  /// The buffer that is opened unless another is asked for: the top one if it has events, else the fullest.
  [[nodiscard]] u32 mainBuffer() const;
};

}  // namespace tickscope
