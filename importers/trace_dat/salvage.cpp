// SPDX-License-Identifier: GPL-3.0-or-later
// Tells ring buffer pages from other bytes and cuts what it finds into streams.
#include "importers/trace_dat/salvage.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "importers/trace_dat/chunk_list.h"
#include "importers/trace_dat/format_text.h"
#include "importers/trace_dat/page_walk.h"

namespace tickscope::trace_dat {

namespace {

constexpr u64 windowSize = 256U << 10U;
constexpr std::size_t mostVotes = 64;
constexpr u64 mostProofPages = 256;

u64 loadSized(const u8* from, u32 size, bool swap) {
  switch (size) {
    case 1:
      return *from;
    case 2:
      return loadNumber<u16>(from, swap);
    case 4:
      return loadNumber<u32>(from, swap);
    case 8:
      return loadNumber<u64>(from, swap);
    default:
      return ~u64{0};
  }
}

/// The commit field uses bits 0 to 26, 30, 31; behind a loss the upper half is all ones.
bool possibleCommit(Bytes page, const RingLayout& ring) {
  const u8* at = page.data() + ring.commitOffset;
  const u64 commit =
      ring.commitSize == 8 ? loadNumber<u64>(at, ring.swap) : loadNumber<u32>(at, ring.swap);
  if ((commit & 0x38000000U) != 0) return false;
  const u64 upper = commit >> 32U;
  return upper == 0 || (upper == 0xffffffffU && (commit & 0x80000000U) != 0);
}

/// When the page begins and when its last record is.
struct PageTimes {
  u64 first = 0, last = 0;
};

PageTimes timesOf(Bytes page, const RingLayout& ring, u32 pageSize) {
  PageTimes times;
  PageHead head;
  if (!readPageHead(page, ring, pageSize, head)) return times;
  times.first = times.last = head.time;
  walkRecords(page.subspan(ring.dataOffset, head.data), head.time, ring,
              [&](u64 time, const u8*, u32) {
                times.last = time;
                return true;
              });
  return times;
}

}  // namespace

RecordFacts::RecordFacts(const std::vector<FormatText>& formats) : known_(65'536, false) {
  const auto placeOf = [](const EventFormat& format, std::string_view name) {
    const FormatField* field = format.find(name);
    return field ? Place{field->offset, field->size} : Place{};
  };
  bool typeSeen = false;
  for (const FormatText& text : formats) {
    const EventFormat format = parseFormat(text.system, text.text);
    if (format.id == 0) continue;
    known_[format.id] = true;
    any_ = true;
    const Place type = placeOf(format, "common_type");
    if (!typeSeen && (type.size == 2 || type.size == 4) && type.offset <= 64) {
      type_ = type;
      typeSeen = true;
    }
    if (format.system == "power" && format.name == "cpu_idle") {
      idleId_ = format.id;
      idleCpu_ = placeOf(format, "cpu_id");
    }
    if (format.system == "sched" && format.name == "sched_switch") {
      switchId_ = format.id;
      tasks_ = {{placeOf(format, "prev_comm"), placeOf(format, "prev_pid")},
                {placeOf(format, "next_comm"), placeOf(format, "next_pid")}};
    }
  }
}

Known<u32> RecordFacts::idOf(const u8* record, u32 length, bool swap) const {
  if (type_.offset + type_.size > length) return {};
  return static_cast<u32>(loadSized(record + type_.offset, type_.size, swap));
}

bool RecordFacts::plausiblePage(Bytes page, const RingLayout& ring, u32 pageSize) const {
  PageHead head;
  if (!readPageHead(page, ring, pageSize, head) || !possibleCommit(page, ring)) return false;
  if (head.commitTooBig || (head.data < 8 && !head.cut)) return false;
  u32 records = 0;
  bool strange = false;
  const WalkEnd end = walkRecords(page.subspan(ring.dataOffset, head.data), head.time, ring,
                                  [&](u64, const u8* record, u32 length) {
                                    const auto id = idOf(record, length, ring.swap);
                                    strange = !id || *id > 65'535 || (any_ && !known_[*id]);
                                    ++records;
                                    return !strange;
                                  });
  if (strange || records == 0) return false;
  if (head.cut) return true;
  return end.why == WalkEnd::Why::Padding || (end.why == WalkEnd::Why::End && end.at == head.data);
}

void RecordFacts::cpusNamed(Bytes page, const RingLayout& ring, u32 pageSize,
                            std::vector<u32>& cpus) const {
  PageHead head;
  if (!readPageHead(page, ring, pageSize, head)) return;
  walkRecords(page.subspan(ring.dataOffset, head.data), head.time, ring,
              [&](u64, const u8* record, u32 length) {
                const auto id = idOf(record, length, ring.swap);
                if (!id || *id == 0) return true;
                if (*id == idleId_ && idleCpu_.size == 4 && idleCpu_.offset + 4 <= length) {
                  cpus.push_back(loadNumber<u32>(record + idleCpu_.offset, ring.swap));
                }
                if (*id != switchId_) return cpus.size() < mostVotes;
                for (const TaskPlace& task : tasks_) {
                  if (task.pid.size != 4 || task.pid.offset + 4 > length) continue;
                  if (loadNumber<u32>(record + task.pid.offset, ring.swap) != 0) continue;
                  if (task.comm.size == 0 || task.comm.offset + task.comm.size > length) continue;
                  std::string_view name(reinterpret_cast<const char*>(record + task.comm.offset),
                                        task.comm.size);
                  name = name.substr(0, std::min(name.find('\0'), name.size()));
                  constexpr std::string_view idle = "swapper/";
                  if (!name.starts_with(idle)) continue;
                  name.remove_prefix(idle.size());
                  u32 cpu = 0;
                  const auto [stop, error] =
                      std::from_chars(name.data(), name.data() + name.size(), cpu);
                  if (error == std::errc{} && stop == name.data() + name.size())
                    cpus.push_back(cpu);
                }
                return cpus.size() < mostVotes;
              });
}

Known<u32> provenCpu(const ByteSource& source, const std::vector<Block>& blocks,
                     const RecordFacts& facts, const RingLayout& ring, u32 pageSize) {
  BlockReader reader;
  std::vector<u32> votes;
  u64 pages = 0;
  for (const Block& block : blocks) {
    const Bytes bytes = reader.read(source, block).bytes;
    for (std::size_t at = 0; at < bytes.size() && votes.size() < mostVotes; at += pageSize) {
      if (++pages > mostProofPages) break;
      const Bytes page = bytes.subspan(at, std::min<std::size_t>(pageSize, bytes.size() - at));
      if (facts.plausiblePage(page, ring, pageSize)) facts.cpusNamed(page, ring, pageSize, votes);
    }
    if (votes.size() >= mostVotes || pages > mostProofPages) break;
  }
  if (votes.empty() || votes.front() > 65'535) return {};
  const bool agree =
      std::all_of(votes.begin(), votes.end(), [&](u32 vote) { return vote == votes.front(); });
  return agree ? Known<u32>{votes.front()} : Known<u32>{};
}

std::vector<FoundRun> scanPages(Reading& reading, const RecordFacts& facts, u64 from, u64 to,
                                u32 pageSize) {
  const RingLayout& ring = reading.out.ring;
  std::vector<FoundRun> runs;
  u64 nextAt = 0, lastTime = 0;
  const u64 first = (from + pageSize - 1) / pageSize * pageSize;
  const u64 step = std::max<u64>(windowSize / pageSize, 1) * pageSize;
  for (u64 at = first; at < to; at += step) {
    if (reading.progress.cancelled()) break;
    const std::vector<u8> window = reading.source.bytes(at, std::min(step, to - at));
    for (u64 in = 0; in < window.size(); in += pageSize) {
      const Bytes page = Bytes(window).subspan(
          static_cast<std::size_t>(in),
          static_cast<std::size_t>(std::min<u64>(pageSize, window.size() - in)));
      // A part of a page counts at the end of the input only.
      if (page.size() < pageSize && at + in + page.size() != reading.size()) continue;
      if (!facts.plausiblePage(page, ring, pageSize)) continue;
      const PageTimes times = timesOf(page, ring, pageSize);
      const u64 pageAt = at + in;
      const bool continues = !runs.empty() && pageAt == nextAt && times.first >= lastTime;
      if (!continues) runs.emplace_back();
      FoundRun& run = runs.back();
      appendPlain(run.blocks, pageAt, page.size(), pageSize);
      ++run.pages;
      nextAt = pageAt + pageSize;
      lastTime = times.last;
    }
  }
  return runs;
}

std::vector<FoundRun> scanChunks(Reading& reading, const RecordFacts& /*facts*/, u64 from, u64 to,
                                 u32 pageSize) {
  std::vector<FoundRun> runs;
  if (!reading.header.codec || *reading.header.codec == Codec::None) return runs;
  u64 at = from;
  while (!reading.progress.cancelled()) {
    const auto chunk = findChunk(reading, at, to, pageSize);
    if (!chunk) break;
    // A stream begins at a multiple of the page size, with the number of its chunks.
    const u64 countAt = chunk->offset - 12;
    const bool begins = chunk->offset >= from + 12 && countAt % pageSize == 0;
    if (begins || runs.empty()) runs.emplace_back();
    FoundRun& run = runs.back();
    if (chunk->plain > reading.unpackLeft) {
      reading.note(Counter::LimitInflate, chunk->offset);
      reading.unpackLeft = 0;
      break;
    }
    reading.unpackLeft -= chunk->plain;
    run.blocks.push_back(*chunk);
    run.pages += chunk->plain / pageSize;
    at = chunk->offset + chunk->packed;
  }
  return runs;
}

}  // namespace tickscope::trace_dat
