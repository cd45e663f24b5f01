// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses page size and page header among the claims of a file by looking at its pages.
#include <fmt/format.h>

#include <algorithm>

#include "importers/trace_dat/chunk_list.h"
#include "importers/trace_dat/page_walk.h"
#include "importers/trace_dat/stream_table.h"

namespace tickscope::trace_dat {

namespace {

/// Buffers whose pages are looked at; no recorder makes so many with claims that differ.
constexpr u32 mostSampled = 16;
constexpr u64 mostStreams = 4, pagesOfStream = 4, pagesOfData = 64;

template <class T>
void addOnce(std::vector<T>& list, const T& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

/// The first bytes of a table's streams, for judging.
class Samples {
 public:
  Samples(const Reading& reading, const BufferTable& table) : reading_(reading) {
    for (const StreamRow& row : table.rows) {
      if (parts_.size() >= mostStreams) break;
      if (row.size == 0 || row.offset >= reading.size()) continue;
      const u64 end = row.offset + std::min(row.size + 4, reading.size() - row.offset);
      const bool packed = table.packed.value_or(false) || chunksBeginAt(reading, row.offset, end);
      if (packed && chunksBeginAt(reading, row.offset, end)) {
        unpackFirst(row.offset);
      } else {
        parts_.push_back({{}, row.offset, end});
      }
    }
    if (parts_.empty() && !table.packed.value_or(false) && table.dataTo > table.dataFrom) {
      parts_.push_back({{}, table.dataFrom, table.dataTo});
    }
  }

  [[nodiscard]] bool empty() const { return parts_.empty(); }

  [[nodiscard]] u32 plausible(const RecordFacts& facts, const RingLayout& ring,
                              u32 pageSize) const {
    u32 found = 0;
    for (const Part& part : parts_) {
      const bool plain = part.bytes.empty();
      const bool anywhere = plain && parts_.size() == 1;
      const u64 from = plain ? (part.from + pageSize - 1) / pageSize * pageSize : 0;
      const u64 to = plain ? part.to : part.bytes.size();
      for (u64 i = 0; i < (anywhere ? pagesOfData : pagesOfStream); ++i) {
        const u64 at = from + i * pageSize;
        if (at + pageSize > to) break;
        std::vector<u8> read;
        Bytes page;
        if (plain) {
          read = reading_.source.bytes(at, pageSize);
          page = read;
        } else {
          page = Bytes(part.bytes).subspan(static_cast<std::size_t>(at), pageSize);
        }
        if (page.size() == pageSize && facts.plausiblePage(page, ring, pageSize)) ++found;
      }
    }
    return found;
  }

 private:
  struct Part {
    std::vector<u8> bytes;  ///< unpacked; empty: plain at from to to
    u64 from = 0, to = 0;
  };

  void unpackFirst(u64 offset) {
    const std::vector<u8> sizes = reading_.source.bytes(offset + 4, 8);
    if (sizes.size() < 8) return;
    const u32 packed = loadNumber<u32>(sizes.data(), reading_.header.swap);
    const u32 plain = loadNumber<u32>(sizes.data() + 4, reading_.header.swap);
    if (plain > largestChunk(4096)) return;
    const std::vector<u8> bytes = reading_.source.bytes(offset + 12, packed);
    std::vector<u8> room(plain);
    Unpacker unpacker;
    room.resize(unpacker.unpack(*reading_.header.codec, bytes, room).size);
    if (!room.empty()) parts_.push_back({std::move(room), 0, 0});
  }

  const Reading& reading_;
  std::vector<Part> parts_;
};

std::vector<RingLayout> layoutsOf(const Reading& reading) {
  const auto usual = [&](u8 word, u32 dataOffset) {
    RingLayout ring = usualLayout(word, reading.header.bigEndian, reading.header.swap);
    if (dataOffset != 0) ring.dataOffset = dataOffset;
    return ring;
  };
  if (reading.headerPage) {
    RingLayout ring = usual(reading.headerPage->commitSize, reading.headerPage->dataOffset);
    ring.commitOffset = reading.headerPage->commitOffset;
    return {ring};
  }
  if (reading.header.userWord == 4) return {usual(4, 0), usual(8, 0), usual(4, 16)};
  return {usual(8, 0), usual(4, 0), usual(4, 16)};
}

struct Choice {
  u32 pageSize = 0;
  RingLayout ring;
  u32 confirmed = 0;
};

Choice bestOf(const Samples& samples, const RecordFacts& facts, const std::vector<u32>& sizes,
              const std::vector<RingLayout>& layouts) {
  Choice best{sizes.front(), layouts.front(), 0};
  for (const RingLayout& ring : layouts) {
    for (const u32 size : sizes) {
      const u32 confirmed = samples.plausible(facts, ring, size);
      if (confirmed > best.confirmed) best = {size, ring, confirmed};
    }
  }
  return best;
}

}  // namespace

Result<void> settleLayout(Reading& reading, const RecordFacts& facts) {
  if (reading.ancient) {
    return fail(Error::Kind::Unsupported,
                "The records have the form of kernels before 2.6.31, which is not read");
  }
  std::vector<u32> general;
  if (reading.header.pageSize != 0) addOnce(general, reading.header.pageSize);
  if (reading.headerPage) {
    const u64 size = u64{reading.headerPage->dataOffset} + reading.headerPage->dataSize;
    if (isPageSize(size)) addOnce(general, static_cast<u32>(size));
  }
  std::vector<RingLayout> layouts = layoutsOf(reading);
  const bool noLayout = !reading.headerPage;
  reading.out.ring = layouts.front();
  bool anySample = false, anyConfirmed = false;
  u32 sampled = 0;
  for (BufferTable& table : reading.tables) {
    std::vector<u32> sizes;
    if (isPageSize(table.pageSize)) addOnce(sizes, table.pageSize);
    for (const u32 size : general) addOnce(sizes, size);
    if (sizes.empty()) {
      if (table.rows.empty() && table.dataTo == table.dataFrom) continue;
      return fail(Error::Kind::Damaged, "The file does not say how large its pages are",
                  reading.header.pageSizeAt);
    }
    Choice choice{sizes.front(), layouts.front(), 0};
    const bool doubtful = sizes.size() > 1 || reading.ringDoubtful || noLayout;
    if (doubtful && ++sampled <= mostSampled) {
      const Samples samples(reading, table);
      choice = bestOf(samples, facts, sizes, layouts);
      anySample = anySample || !samples.empty();
      if (choice.confirmed > 0 && !anyConfirmed) {
        anyConfirmed = true;
        layouts = {choice.ring};
      }
      const u32 claimed = table.pageSize != 0 ? table.pageSize : reading.header.pageSize;
      if (choice.pageSize != claimed && isPageSize(claimed)) {
        reading.note(Counter::HeaderBad,
                     table.pageSize != 0 ? table.pageSizeAt : reading.header.pageSizeAt,
                     fmt::format("page size {}, but the pages have {}", claimed, choice.pageSize));
      }
    }
    if (table.pageSize != 0 && !isPageSize(table.pageSize)) {
      reading.note(Counter::HeaderBad, table.pageSizeAt,
                   fmt::format("page size {}", table.pageSize));
    }
    table.pageSize = choice.pageSize;
  }
  reading.out.ring = layouts.front();
  reading.out.metadata.wordSize = reading.out.ring.commitSize;
  if (!general.empty()) reading.out.metadata.pageSize = general.front();
  if (!reading.tables.empty() && reading.tables.front().pageSize != 0) {
    reading.out.metadata.pageSize = reading.tables.front().pageSize;
  }
  if ((reading.ringDoubtful || noLayout) && anySample && !anyConfirmed) {
    reading.note(Counter::HeaderBad, reading.header.body,
                 "no page has the form that was assumed; pages are not read");
    reading.tables.clear();
  }
  return {};
}

}  // namespace tickscope::trace_dat
