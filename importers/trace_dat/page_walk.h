// SPDX-License-Identifier: GPL-3.0-or-later
// Steps over the records of a ring buffer page (reading-traces 2.2, 2.3; kernel/trace/ring_buffer.c).
#pragma once

#include "core/base/byte_reader.h"
#include "importers/trace_dat/container.h"

namespace tickscope::trace_dat {

/// What a page says before its records.
struct PageHead {
  u64 time = 0;               ///< of the first record's delta
  u32 data = 0;               ///< bytes of records that are there and within the page
  bool commitTooBig = false;  ///< the page claimed more than its capacity
  bool cut = false;           ///< the page claimed more than what the input holds of it
  bool missed = false;        ///< events were lost before this page
  Known<u64> missedCount;     ///< how many; empty: not stored
};

/// `page` may be shorter than `pageSize` when the input is cut. False: not even a header is there.
inline bool readPageHead(Bytes page, const RingLayout& ring, u32 pageSize, PageHead& head) {
  if (page.size() < ring.dataOffset || pageSize <= ring.dataOffset) return false;
  head.time = loadNumber<u64>(page.data(), ring.swap);
  const u64 commit = ring.commitSize == 8
                         ? loadNumber<u64>(page.data() + ring.commitOffset, ring.swap)
                         : loadNumber<u32>(page.data() + ring.commitOffset, ring.swap);
  constexpr u32 lengthBits = (1U << 27U) - 1;
  const u32 capacity = pageSize - ring.dataOffset;
  const u32 claimed = static_cast<u32>(commit) & lengthBits;
  head.commitTooBig = claimed > capacity;
  head.data = head.commitTooBig ? capacity : claimed;
  head.cut = head.data > page.size() - ring.dataOffset;
  if (head.cut) head.data = static_cast<u32>(page.size()) - ring.dataOffset;
  head.missed = commit & (1U << 31U);
  head.missedCount.reset();
  if (head.missed && (commit & (1U << 30U)) && !head.commitTooBig &&
      claimed + ring.commitSize <= capacity &&
      ring.dataOffset + claimed + ring.commitSize <= page.size()) {
    const u8* const at = page.data() + ring.dataOffset + claimed;
    const u64 count =
        ring.commitSize == 8 ? loadNumber<u64>(at, ring.swap) : loadNumber<u32>(at, ring.swap);
    // More than 2^48 events cannot have been lost: the word is damaged, the loss itself is not.
    if (count >> 48U == 0) head.missedCount = count;
  }
  return true;
}

/// Absolute stamps keep 59 bits; the rest is that of the nearest time.
inline u64 restoredStamp(u64 stamp, u64 last) {
  constexpr u64 m = u64{1} << 59U;
  const u64 middle = (last & ~(m - 1)) + stamp;
  u64 best = middle;
  const auto distance = [last](u64 t) { return t > last ? t - last : last - t; };
  if (middle >= m && distance(middle - m) < distance(best)) best = middle - m;
  if (middle + m >= m && distance(middle + m) < distance(best)) best = middle + m;
  return best;
}

struct WalkEnd {
  enum class Why : u8 { End, Padding, ZeroTail, Overrun, Stopped } why = Why::End;
  u32 at = 0;  ///< byte of the page's data where the walk ended
};

/// Calls visit(time, payload, length) for each data record, in order; it returns false to stop. Payload lies within
/// `data`. Reads nothing behind `data`; each step advances.
template <bool Swap, bool BigBits, class Visit>
WalkEnd walkRecords(Bytes data, u64 time, Visit&& visit) {
  using Why = WalkEnd::Why;
  const u8* const base = data.data();
  const u32 end = static_cast<u32>(data.size());
  u32 at = 0;
  while (at + 4 <= end) {
    const u32 word = loadNumber<u32>(base + at, Swap);
    const u32 type = BigBits ? word >> 27U : word & 31U;
    const u32 delta = BigBits ? word & 0x7ffffffU : word >> 5U;
    if (type - 1 < 28) [[likely]] {
      const u32 length = 4 * type;
      if (end - at - 4 < length) return {Why::Overrun, at};
      time += delta;
      if (!visit(time, base + at + 4, length)) return {Why::Stopped, at};
      at += 4 + length;
      continue;
    }
    if (type == 29 && delta == 0) return {Why::Padding, at};
    if (end - at < 8) return {type == 0 && word == 0 ? Why::ZeroTail : Why::Overrun, at};
    const u32 second = loadNumber<u32>(base + at + 4, Swap);
    switch (type) {
      case 0: {
        if (second == 0 && delta == 0) return {Why::ZeroTail, at};
        if (second < 4 || second > end - at - 4) return {Why::Overrun, at};
        time += delta;
        if (!visit(time, base + at + 8, second - 4)) return {Why::Stopped, at};
        at += 4 + ((second + 3) & ~3U);
        break;
      }
      case 29:
        if (second < 4 || second > end - at - 4) return {Why::Overrun, at};
        // The kernel stores a delta of 0 as 1, and gives fillers 1 too.
        if (delta != 1) time += delta;
        at += 4 + ((second + 3) & ~3U);
        break;
      case 30:
        time += (static_cast<u64>(second) << 27U) + delta;
        at += 8;
        break;
      default:
        time = restoredStamp((static_cast<u64>(second) << 27U) + delta, time);
        at += 8;
        break;
    }
  }
  return {Why::End, at};
}

/// walkRecords by the layout of a recording.
template <class Visit>
WalkEnd walkRecords(Bytes data, u64 time, const RingLayout& ring, Visit&& visit) {
  if (ring.swap) {
    return ring.bigEndian ? walkRecords<true, true>(data, time, visit)
                          : walkRecords<true, false>(data, time, visit);
  }
  return ring.bigEndian ? walkRecords<false, true>(data, time, visit)
                        : walkRecords<false, false>(data, time, visit);
}

}  // namespace tickscope::trace_dat
