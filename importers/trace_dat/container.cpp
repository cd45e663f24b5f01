// SPDX-License-Identifier: GPL-3.0-or-later
// The order of reading: prologue, body, layout, streams, clocks.
#include "importers/trace_dat/container.h"

#include <fmt/format.h>

#include <algorithm>

#include "importers/trace_dat/metadata_texts.h"
#include "importers/trace_dat/options.h"
#include "importers/trace_dat/stream_table.h"

namespace tickscope::trace_dat {

namespace {

void describeFile(Reading& reading) {
  Metadata& metadata = reading.out.metadata;
  metadata.format = fmt::format("trace.dat version {}", reading.header.version);
  metadata.compression = reading.header.compression;
  metadata.bigEndian = reading.header.bigEndian;
  metadata.wordSize = reading.header.userWord == 4 ? 4 : 8;
  if (reading.header.pageSize != 0) metadata.pageSize = reading.header.pageSize;
}

/// System "ftrace" first, as version 6 has it.
void sortFormats(std::vector<FormatText>& formats) {
  std::stable_partition(formats.begin(), formats.end(),
                        [](const FormatText& format) { return format.system == "ftrace"; });
}

}  // namespace

Result<Container> readContainer(const ByteSource& source, u64 maxUnpack, ImportLog& log,
                                Progress& progress) {
  const auto header = readFileHeader(source, log);
  if (!header) return tl::unexpected(header.error());
  Reading reading(source, log, progress, *header);
  reading.unpackLeft = maxUnpack;
  progress.begin("Reading the head of the file", source.size());
  describeFile(reading);

  const auto read = reading.header.version == 6 ? readVersion6(reading) : readVersion7(reading);
  if (!read) return tl::unexpected(read.error());
  sortFormats(reading.out.formats);
  reading.out.metadata.eventFormats = static_cast<u32>(reading.out.formats.size());
  if (reading.out.metadata.symbols->empty()) log.note(Counter::NoSymbols, {});

  const RecordFacts facts(reading.out.formats);
  const auto settled = settleLayout(reading, facts);
  if (!settled) return tl::unexpected(settled.error());
  buildStreams(reading, facts);
  settleClocks(reading);
  if (progress.cancelled()) return fail(Error::Kind::Cancelled, "Reading was cancelled");
  const Container& out = reading.out;
  if (out.formats.empty() && out.buffers.empty() && out.texts.empty()) {
    return fail(Error::Kind::Damaged, "The file holds nothing that can be read",
                reading.header.body);
  }
  return std::move(reading.out);
}

}  // namespace tickscope::trace_dat
