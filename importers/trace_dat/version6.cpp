// SPDX-License-Identifier: GPL-3.0-or-later
// The body of version 6: parts in a fixed order, found again by their marks when a size is wrong (reading-traces 1.2).
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "importers/trace_dat/format_lists.h"
#include "importers/trace_dat/metadata_texts.h"
#include "importers/trace_dat/options.h"

namespace tickscope::trace_dat {

namespace {

constexpr std::string_view optionsTag{"options  \0", 10};
constexpr std::string_view tableTag{"flyrecord\0", 10};
constexpr std::string_view textTag{"latency  \0", 10};
constexpr u64 rowSize = 16;
constexpr u64 largestClockText = 64U << 10U;
constexpr u32 highestCpu = 65'535;
constexpr std::size_t mostBuffers = 1'000;

class Body {
 public:
  explicit Body(Reading& reading)
      : r_(reading),
        cursor_(reading.source, reading.header.body, reading.size(), reading.header.swap) {}

  Result<void> run() {
    if (!readHeaders(r_, cursor_)) {
      return fail(Error::Kind::Damaged, "The file ends before it says how its pages look",
                  cursor_.place());
    }
    const bool formats = readFtraceFormats(r_, cursor_) && readEventFormats(r_, cursor_);
    const u64 textsAt = cursor_.offset();
    const bool texts = formats && readKallsyms(r_, cursor_) && readPrintk(r_, cursor_) &&
                       readCmdlines(r_, cursor_);
    u32 cpus = texts ? cursor_.number<u32>() : 0;
    if (!texts || cursor_.failed() || !atTag()) {
      cursor_.seek(textsAt);
      if (!findTag()) {
        r_.note(Counter::RangeCut, textsAt, "the list of pages is missing");
        searchFrom(cursor_.offset());
        return {};
      }
      const u64 tagAt = cursor_.offset();
      if (tagAt >= textsAt + sizeof cpus) {
        cursor_.seek(tagAt - sizeof cpus);
        cpus = cursor_.number<u32>();
      }
      r_.note(Counter::RangeCut, tagAt, "the order is lost; going on at the next mark");
    }
    const u64 cpusAt = cursor_.offset() - std::min<u64>(cursor_.offset(), sizeof cpus);
    if (cursor_.startsWith(optionsTag)) {
      cursor_.skip(optionsTag.size());
      if (!options() && !findTag(tableTag)) {
        r_.note(Counter::RangeCut, cursor_.offset(), "the list of pages is missing");
        searchFrom(cursor_.offset());
        return {};
      }
    }
    if (r_.cpuCount) {
      if (cpus != *r_.cpuCount && cpus > highestCpu) {
        r_.note(Counter::RangeCut, cpusAt, fmt::format("{} CPUs", cpus));
      }
      cpus = *r_.cpuCount;
    }
    body(cpus, cpusAt);
    return {};
  }

 private:
  bool atTag() {
    return cursor_.startsWith(optionsTag) || cursor_.startsWith(tableTag) ||
           cursor_.startsWith(textTag);
  }

  /// Goes to the next of these marks.
  bool findTag(std::string_view only = {}) {
    Known<u64> first;
    for (const std::string_view tag : {optionsTag, tableTag, textTag}) {
      if (!only.empty() && tag != only) continue;
      const u64 within = first ? *first - cursor_.offset() : std::numeric_limits<u64>::max();
      const auto found = cursor_.find(tag, within);
      if (found && (!first || *found < *first)) first = found;
    }
    if (first) cursor_.seek(*first);
    return first.has_value();
  }

  /// The options up to their end. False: the end was not found.
  bool options() {
    for (;;) {
      const u64 at = cursor_.offset();
      Option option;
      option.id = cursor_.number<u16>();
      if (!cursor_.failed() && option.id == option_id::done) return true;
      const u32 size = cursor_.number<u32>();
      option.at = cursor_.offset();
      if (cursor_.failed() || size > std::min(largestOption, cursor_.left())) {
        r_.note(Counter::OptionsCut, at,
                cursor_.failed() ? std::string("the list does not say where it ends")
                                 : fmt::format("option {} of {} bytes", option.id, size));
        cursor_.seek(at);
        optionsCut_ = true;
        return false;
      }
      option.data = r_.source.bytes(option.at, size);
      cursor_.seek(option.at + size);
      if (takeOption(r_, option)) continue;
      if (option.id == option_id::buffer) {
        instance(option);
      } else {
        r_.note(Counter::UnknownOption, option.at, fmt::format("option {}", option.id));
      }
    }
  }

  void instance(const Option& option) {
    auto place = readBufferOption6(r_, option);
    if (!place) return r_.note(Counter::OptionsCut, option.at, "BUFFER");
    if (place->offset > r_.size() && byteSwapped(place->offset) <= r_.size()) {
      r_.note(Counter::SwappedOption, option.at, "BUFFER");
      place->offset = byteSwapped(place->offset);
    }
    if (instances_.size() >= mostBuffers) {
      return r_.note(Counter::OptionsCut, option.at, "more than 1,000 buffers");
    }
    instances_.push_back({std::move(*place), option.at});
  }

  /// What the last tag announces: pages or text.
  void body(u32 cpus, u64 cpusAt) {
    if (cursor_.startsWith(textTag)) {
      cursor_.skip(textTag.size());
      const u64 at = cursor_.offset();
      r_.out.texts.push_back({"", at, cursor_.left()});
      return;
    }
    if (!cursor_.startsWith(tableTag)) {
      const u64 at = cursor_.offset();
      if (!findTag(tableTag)) {
        r_.note(Counter::RangeCut, at, "the list of pages is missing");
        searchFrom(at);
        return;
      }
      r_.note(Counter::RangeCut, at, "the order is lost; going on at the next mark");
    }
    BufferTable top = table(cpus, cpusAt);
    r_.tables.push_back(std::move(top));
    for (const auto& [place, at] : instances_) {
      const bool again = place.name.empty() && place.offset == topTagAt_;
      if (again) continue;
      cursor_.seek(place.offset);
      const u64 tableEnd = place.offset + tableTag.size() + u64{cpus} * rowSize;
      if (!cursor_.startsWith(tableTag) || !r_.claims.isFree(place.offset, tableEnd)) {
        // The empty name is the top buffer once more: nothing is missing without it.
        if (!place.name.empty()) {
          r_.note(Counter::RangeCut, at,
                  fmt::format("buffer {} at 0x{:x}", place.name, place.offset));
        }
        continue;
      }
      BufferTable more = table(cpus, cpusAt);
      more.name = place.name;
      r_.tables.push_back(std::move(more));
    }
    // Data of a buffer end where the tag of the next one stands.
    for (BufferTable& one : r_.tables) {
      for (const BufferTable& other : r_.tables) {
        if (other.dataFrom > one.dataFrom) one.dataTo = std::min(one.dataTo, other.dataFrom);
      }
    }
  }

  /// Tag, rows and clock from the cursor on.
  BufferTable table(u32 cpus, u64 cpusAt) {
    BufferTable found;
    found.packed = false;
    const u64 tagAt = cursor_.offset();
    if (r_.tables.empty()) topTagAt_ = tagAt;
    cursor_.skip(tableTag.size());
    const bool possible = cpus <= highestCpu + 1 && u64{cpus} * rowSize <= cursor_.left();
    if (!possible) {
      r_.note(Counter::RangeCut, cpusAt, fmt::format("{} CPUs", cpus));
      found.damaged = true;
    }
    u64 lowest = r_.size();
    bool any = false;
    for (u32 cpu = 0; cpu < std::min(cpus, highestCpu + 1); ++cpu) {
      StreamRow row;
      row.at = cursor_.offset();
      // Rows stand in front of the data: with a count that is wrong they end there at the latest.
      if (!possible && row.at + rowSize > lowest) break;
      row.cpu = cpu;
      row.offset = cursor_.number<u64>();
      row.size = cursor_.number<u64>();
      if (cursor_.failed()) {
        r_.note(Counter::RangeCut, row.at, "rows of CPUs");
        found.damaged = true;
        break;
      }
      if (!possible && row.size > 0 && (row.offset >= r_.size() || row.offset <= row.at)) break;
      any = any || row.size > 0;
      if (row.size > 0 && row.offset > tagAt) lowest = std::min(lowest, row.offset);
      found.rows.push_back(row);
    }
    if (possible && (r_.traceClock || optionsCut_)) clock(found);
    found.damaged = found.damaged || !any;
    const u64 end = cursor_.failed() ? r_.size() : cursor_.offset();
    r_.claims.claim(tagAt, end);
    found.dataFrom = end;
    found.dataTo = r_.size();
    return found;
  }

  void clock(BufferTable& found) {
    const u64 at = cursor_.offset();
    const u64 size = cursor_.number<u64>();
    if (cursor_.failed() || size > std::min(largestClockText, cursor_.left())) {
      if (r_.traceClock) r_.note(Counter::RangeCut, at, "name of the clock");
      cursor_.seek(at);
      return;
    }
    found.clock.name = chosenClock(cursor_.text(size));
    if (!found.clock.name.empty()) found.clock.source = "clock behind the list of pages";
  }

  /// No list of pages: all that follows may be pages.
  void searchFrom(u64 at) {
    BufferTable rest;
    rest.packed = false;
    rest.dataFrom = at;
    rest.dataTo = r_.size();
    rest.damaged = rest.foundByWalk = true;
    r_.tables.push_back(std::move(rest));
  }

  Reading& r_;
  SourceCursor cursor_;
  std::vector<std::pair<BufferPlace6, u64>> instances_;
  u64 topTagAt_ = 0;
  bool optionsCut_ = false;
};

}  // namespace

Result<void> readVersion6(Reading& reading) { return Body(reading).run(); }

}  // namespace tickscope::trace_dat
