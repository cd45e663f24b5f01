// SPDX-License-Identifier: GPL-3.0-or-later
// Tells kinds of input apart by their first bytes.
#include <bit>
#include <string_view>

#include "importers/import.h"
#include "importers/timer_list/timer_list_text.h"
#include "importers/trace_dat/file_header.h"
#include "importers/trace_dat/ring_layout.h"
#include "importers/trace_dat/salvage.h"

namespace tickscope {

namespace {

/// Without formats a page shows itself only by its own arithmetic: the records end where it says.
bool beginsWithPage(const ByteSource& source) {
  constexpr bool bigHost = std::endian::native == std::endian::big;
  const trace_dat::RecordFacts anyRecord({});
  for (u32 pageSize = 4U << 10U; pageSize <= 1U << 20U && pageSize <= source.size();
       pageSize *= 2) {
    const std::vector<u8> page = source.bytes(0, pageSize);
    for (const bool bigEndian : {false, true}) {
      for (const u8 word : {u8{8}, u8{4}}) {
        const trace_dat::RingLayout ring =
            trace_dat::usualLayout(word, bigEndian, bigEndian != bigHost);
        if (page.size() == pageSize && anyRecord.plausiblePage(page, ring, pageSize)) return true;
      }
    }
  }
  return false;
}

}  // namespace

InputKind sniff(const ByteSource& source) {
  const std::vector<u8> head = source.bytes(0, 4096);
  if (asText(head).starts_with(trace_dat::magic)) return InputKind::TraceDat;
  if (looksLikeTimerList(asText(head))) return InputKind::TimerList;
  if (beginsWithPage(source)) return InputKind::RawPages;
  return InputKind::Unknown;
}

}  // namespace tickscope
