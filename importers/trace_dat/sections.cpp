// SPDX-License-Identifier: GPL-3.0-or-later
// Follows the chain of options sections, loads what they point to, and walks the file for what they do not.
#include "importers/trace_dat/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "importers/trace_dat/chunk_codec.h"
#include "importers/trace_dat/format_lists.h"
#include "importers/trace_dat/metadata_texts.h"

namespace tickscope::trace_dat {

namespace {

constexpr u64 headerSize = 16;
constexpr u64 largestPlain = u64{256} << 20U;
constexpr std::size_t mostOptionsSections = 1'000;
constexpr std::size_t mostBuffers = 1'000;
/// More than a tebibyte is not missing: the size is wrong.
constexpr u64 mostMissing = u64{1} << 40U;
constexpr u32 noName = 0xffffffffU;

bool isContent(u16 id) { return id >= option_id::headerInfo && id <= option_id::cmdlines; }
bool isKnown(u16 id) {
  return id == option_id::done || id == option_id::buffer ||
         (id >= option_id::strings && id <= option_id::btf) || id == option_id::modules;
}

/// Reads the body of version 7.
class Body {
 public:
  explicit Body(Reading& reading) : r_(reading) {}

  Result<void> run() {
    followChain();
    walk();
    loadFoundByWalk();
    for (const Section& section : dataSections_) findTable(section);
    nameTables();
    if (chainBroken_ && walkEnded_) {
      // What lies behind the place where the walk lost its way may be pages.
      r_.note(Counter::RangeCut, *walkEnded_, "no section begins here");
      BufferTable rest;
      rest.dataFrom = *walkEnded_;
      rest.dataTo = r_.size();
      rest.damaged = rest.foundByWalk = true;
      rest.name = r_.tables.empty() ? "" : "found";
      r_.tables.push_back(std::move(rest));
    }
    if (!r_.header.codec && r_.out.formats.empty()) {
      return fail(
          Error::Kind::Unsupported,
          fmt::format("The file is packed with {:?}, which is not known", r_.header.compression),
          magic.size());
    }
    return {};
  }

 private:
  void followChain() {
    u64 next = r_.header.firstOptions;
    u64 at = r_.header.firstOptionsAt;
    if (next == 0) {
      chainBroken_ = true;
      return;
    }
    while (next != 0) {
      const auto section = readSectionHeader(r_, next);
      if (!section || section->id != option_id::done) {
        r_.note(section ? Counter::OptionsCut : Counter::RangeCut, at,
                fmt::format("there is no list of options at 0x{:x}", next));
        chainBroken_ = true;
        return;
      }
      if (optionsRead_.contains(next) || !r_.claims.isFree(section->at, section->data)) {
        return r_.note(Counter::SectionLoop, at, fmt::format("back to 0x{:x}", next));
      }
      if (optionsRead_.size() >= mostOptionsSections) {
        return r_.note(Counter::SectionLoop, at, "more than 1,000 lists of options");
      }
      next = options(*section, false, at);
    }
  }

  /// Reads one list of options; returns where the next one is, 0: none, and `at` where that is said.
  u64 options(const Section& section, bool byWalk, u64& at) {
    optionsRead_.insert(section.at);
    // What a size of 0 or beyond the file means: the list ends where it says so.
    const bool open = section.size == 0;
    u64 end = section.data + section.present;
    if (section.size > section.present) {
      r_.note(Counter::RangeCut, section.at + 8,
              fmt::format("size of a list of options {}", section.size));
    }
    if (open) end = r_.size();
    // What was read once is not read again, however the lists lie on each other.
    end = r_.claims.freeUpTo(section.data, end);
    SourceCursor cursor(r_.source, section.data, end, r_.header.swap);
    u64 next = 0;
    for (;;) {
      const u64 optionAt = cursor.offset();
      Option option;
      option.id = cursor.number<u16>();
      const u32 size = cursor.number<u32>();
      option.at = cursor.offset();
      if (cursor.failed()) {
        r_.note(Counter::OptionsCut, optionAt, "the list does not say where it ends");
        chainBroken_ = true;
        break;
      }
      const bool fits = size <= std::min(largestOption, cursor.left());
      if (option.id == option_id::done) {
        at = option.at;
        if (size >= sizeof(u64) && fits) {
          next = cursor.number<u64>();
          cursor.seek(option.at + size);
        } else {
          r_.note(Counter::OptionsCut, optionAt, "the end of the list is cut");
          chainBroken_ = true;
        }
        break;
      }
      option.data = r_.source.bytes(option.at, std::min<u64>(size, cursor.left()));
      if (!fits) {
        r_.note(Counter::OptionsCut, optionAt,
                fmt::format("option {} of {} bytes", option.id, size));
        chainBroken_ = true;
        // The rows that are there still say where pages are.
        if (option.id == option_id::buffer && size <= largestOption) take(option, byWalk);
        cursor.seek(end);
        break;
      }
      take(option, byWalk);
      cursor.seek(option.at + size);
    }
    const u64 reached = cursor.failed() ? end : cursor.offset();
    r_.claims.claim(section.at, std::max(reached, section.data));
    optionsEnd_[section.at] = reached;
    return next;
  }

  void take(const Option& option, bool byWalk) {
    if (takeOption(r_, option)) return;
    ByteReader reader(option.data, r_.header.swap, option.at);
    if (option.id == option_id::buffer) {
      readBufferOption7(r_, option, byWalk);
    } else if (option.id == option_id::bufferText) {
      textBuffer(reader, option);
    } else if (isContent(option.id)) {
      const u64 offset = reader.number<u64>();
      if (reader.failed()) {
        r_.note(Counter::OptionsCut, option.at, fmt::format("option {}", option.id));
      } else {
        load(offset, option.id, option.at);
      }
    } else if (option.id != option_id::strings) {
      r_.note(Counter::UnknownOption, option.at, fmt::format("option {}", option.id));
    }
  }

  void textBuffer(ByteReader& reader, const Option& option) {
    const u64 offset = reader.number<u64>();
    const std::string name(reader.string(4096));
    const auto section = readSectionHeader(r_, offset);
    if (reader.failed() || !section) {
      return r_.note(Counter::RangeCut, option.at, "BUFFER TEXT");
    }
    r_.out.texts.push_back({name, section->data, section->present});
  }

  /// Loads the section that an option of this id points to.
  void load(u64 offset, u16 id, u64 optionAt) {
    const auto section = readSectionHeader(r_, offset);
    if (!section || section->id != id) {
      r_.note(Counter::RangeCut, optionAt,
              fmt::format("there is no section {} at 0x{:x}", id, offset));
      chainBroken_ = true;
      return;
    }
    content(*section);
  }

  void content(const Section& section) {
    if (!loadedAt_.insert(section.at).second) return;
    if (!r_.claims.isFree(section.at, section.data + section.present)) {
      return r_.note(Counter::Overlap, section.at, fmt::format("section {}", section.id));
    }
    const bool packed = isPacked(r_, section);
    const auto plain = packed ? sectionContent(r_, section) : Known<ByteSource>{r_.source};
    r_.claims.claim(section.at, section.data + section.present);
    if (!plain) return;
    loaded_.insert(section.id);
    SourceCursor cursor(*plain, packed ? 0 : section.data,
                        packed ? plain->size() : section.data + section.present, r_.header.swap,
                        packed ? Known<u64>{section.at} : Known<u64>{});
    switch (section.id) {
      case option_id::headerInfo:
        readHeaders(r_, cursor);
        break;
      case option_id::ftraceEvents:
        readFtraceFormats(r_, cursor);
        break;
      case option_id::eventFormats:
        readEventFormats(r_, cursor);
        break;
      case option_id::kallsyms:
        readKallsyms(r_, cursor);
        break;
      case option_id::printk:
        readPrintk(r_, cursor);
        break;
      case option_id::cmdlines:
        readCmdlines(r_, cursor);
        break;
      default:
        break;
    }
  }

  /// From section to section, head to tail, as far as the sizes are true.
  void walk() {
    u64 at = r_.header.body;
    while (at + headerSize <= r_.size()) {
      const auto section = readSectionHeader(r_, at);
      if (!section || !possible(*section)) {
        if (!r_.source.bytes(at, headerSize).empty()) walkEnded_ = at;
        break;
      }
      Section found = *section;
      u64 end = found.data + found.size;
      const bool beyond = found.size > r_.size() - found.data;
      if (const auto options = optionsEnd_.find(found.at); options != optionsEnd_.end()) {
        if (beyond || found.size == 0) end = options->second;
      } else if (beyond) {
        end = r_.size();
        if (found.id != option_id::done) {
          r_.note(Counter::RangeCut, found.at + 8,
                  fmt::format("size of section {}: {}", found.id, found.size),
                  found.size - found.present <= mostMissing ? found.size - found.present : 0);
        }
      } else if (found.size == 0 && !followsSection(found.data)) {
        // The recorder died while it wrote this one: the rest of the file is its data.
        found.present = r_.size() - found.data;
        end = r_.size();
        chainBroken_ = true;
      }
      sections_.push_back(found);
      if (end <= at) break;
      at = end;
    }
  }

  [[nodiscard]] static bool possible(const Section& section) {
    if (section.id == option_id::done && section.size == 0) return false;
    return section.id <= option_id::modules + 16;
  }

  [[nodiscard]] bool followsSection(u64 at) const {
    if (at == r_.size()) return true;
    const auto section = readSectionHeader(r_, at);
    return section && possible(*section) && isKnown(section->id) &&
           section->size <= r_.size() - section->data;
  }

  void loadFoundByWalk() {
    for (const Section& section : sections_) {
      if (section.id == option_id::done) {
        const bool free = r_.claims.isFree(section.at, section.data);
        u64 at = section.at;
        if (!optionsRead_.contains(section.at) && free &&
            optionsRead_.size() < mostOptionsSections) {
          options(section, true, at);
        }
      } else if (section.id == option_id::buffer) {
        dataSections_.push_back(section);
      } else if (section.id == option_id::strings) {
        strings_ = section;
      } else if (isContent(section.id)) {
        if (chainBroken_ || !loaded_.contains(section.id)) content(section);
      } else if (section.id == option_id::bufferText) {
        const bool listed =
            std::any_of(r_.out.texts.begin(), r_.out.texts.end(),
                        [&](const TextBuffer& text) { return text.offset == section.data; });
        if (listed) continue;
        r_.out.texts.push_back({"", section.data, section.present});
      } else if (!isKnown(section.id)) {
        r_.note(Counter::UnknownSection, section.at, fmt::format("section {}", section.id));
      }
    }
  }

  /// Joins a data section with the table that points to it, or makes one without rows.
  void findTable(const Section& section) {
    const auto table = std::find_if(r_.tables.begin(), r_.tables.end(),
                                    [&](const BufferTable& t) { return t.dataFrom == section.at; });
    if (table != r_.tables.end()) {
      table->packed = section.packed;
      table->dataFrom = section.data;
      table->dataTo = section.data + section.present;
      return;
    }
    if (section.present == 0) return;
    if (r_.tables.size() >= mostBuffers) {
      if (!tooManyBuffers_) r_.note(Counter::OptionsCut, section.at, "more than 1,000 buffers");
      tooManyBuffers_ = true;
      return;
    }
    BufferTable found;
    found.packed = section.packed;
    found.dataFrom = section.data;
    found.dataTo = section.data + section.present;
    found.damaged = true;
    found.foundByWalk = true;
    unnamed_.emplace_back(r_.tables.size(), section.name);
    r_.tables.push_back(std::move(found));
  }

  /// Tables whose data section the walk did not reach, and buffers that only their section names.
  void nameTables() {
    for (BufferTable& table : r_.tables) {
      if (table.dataTo != 0) continue;
      const auto section = readSectionHeader(r_, table.dataFrom);
      if (section && section->id == option_id::buffer) {
        table.packed = section->packed;
        table.dataFrom = section->data;
        table.dataTo = section->data + section->present;
      } else {
        r_.note(Counter::RangeCut, table.pageSizeAt,
                fmt::format("there is no section of pages at 0x{:x}", table.dataFrom));
        table.dataFrom = table.dataTo = 0;
      }
    }
    if (unnamed_.empty()) return;
    const std::string strings = stringPool();
    std::size_t number = 0;
    for (const auto& [index, name] : unnamed_) {
      r_.tables[index].name = bufferName(strings, name, ++number);
    }
  }

  std::string stringPool() {
    if (!strings_) return {};
    if (!isPacked(r_, *strings_)) {
      return std::string(asText(r_.source.bytes(strings_->data, strings_->present)));
    }
    const auto plain = sectionContent(r_, *strings_);
    return plain ? std::string(asText(plain->view(0, plain->size()))) : std::string();
  }

  static std::string bufferName(const std::string& strings, u32 at, std::size_t number) {
    constexpr std::string_view prefix = "buffer flyrecord";
    if (at != noName && at < strings.size()) {
      std::string_view text = std::string_view(strings).substr(at);
      text = text.substr(0, std::min(text.find('\0'), text.size()));
      if (text.starts_with(prefix)) {
        text.remove_prefix(prefix.size());
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        return std::string(text);
      }
    }
    return number == 1 ? std::string() : fmt::format("found-{}", number);
  }

  Reading& r_;
  std::set<u64> optionsRead_, loadedAt_;
  std::map<u64, u64> optionsEnd_;  // of the lists that were read: header -> behind its last option
  std::set<u16> loaded_;
  std::vector<Section> sections_, dataSections_;
  Known<Section> strings_;
  std::vector<std::pair<std::size_t, u32>> unnamed_;
  bool chainBroken_ = false, tooManyBuffers_ = false;
  Known<u64> walkEnded_;
};

}  // namespace

Known<Section> readSectionHeader(const Reading& reading, u64 offset) {
  if (offset > reading.size() || reading.size() - offset < headerSize) return {};
  const std::vector<u8> bytes = reading.source.bytes(offset, headerSize);
  ByteReader reader(bytes, reading.header.swap, offset);
  Section section;
  section.at = offset;
  section.id = reader.number<u16>();
  section.packed = (reader.number<u16>() & 1U) != 0;
  section.name = reader.number<u32>();
  section.size = reader.number<u64>();
  if (reader.failed()) return {};
  section.data = offset + headerSize;
  section.present = std::min(section.size, reading.size() - section.data);
  return section;
}

bool isPacked(const Reading& reading, const Section& section) {
  const auto& codec = reading.header.codec;
  if (codec == Codec::None) return false;
  if (section.packed || !codec) return section.packed;
  // The flag may be wrong: a packed size that ends with the section, and packed data behind it.
  const std::vector<u8> head = reading.source.bytes(section.data, 12);
  return head.size() == 12 && looksPacked(*codec, Bytes(head).subspan(8)) &&
         loadNumber<u32>(head.data(), reading.header.swap) + u64{8} == section.size;
}

Known<ByteSource> sectionContent(Reading& reading, const Section& section) {
  SourceCursor cursor(reading.source, section.data, section.data + section.present,
                      reading.header.swap);
  const u64 packed = cursor.number<u32>();
  const u64 plain = cursor.number<u32>();
  if (cursor.failed()) {
    reading.note(Counter::RangeCut, section.at, fmt::format("section {}", section.id));
    return {};
  }
  if (!reading.header.codec) {
    reading.note(Counter::ChunkBad, section.at, fmt::format("section {}", section.id));
    return {};
  }
  if (packed > cursor.left()) {
    reading.note(Counter::RangeCut, section.data,
                 fmt::format("packed size of section {}: {}", section.id, packed));
  }
  const u64 there = std::min(packed, cursor.left());
  // A megabyte of zeros packs to a thousandth with zlib; more than that is a trap.
  if (plain > largestPlain || plain > (u64{4} << 20U) + 1032 * there) {
    reading.note(Counter::ChunkSize, section.data + 4,
                 fmt::format("section {} of {} bytes, unpacked {}", section.id, there, plain));
    return {};
  }
  if (plain > reading.unpackLeft) {
    reading.note(Counter::LimitInflate, section.at, fmt::format("section {}", section.id));
    return {};
  }
  reading.unpackLeft -= plain;
  const std::vector<u8> bytes = reading.source.bytes(cursor.offset(), there);
  std::vector<u8> content(static_cast<std::size_t>(plain));
  Unpacker unpacker;
  const auto outcome = unpacker.unpack(*reading.header.codec, bytes, content);
  if (!outcome.why.empty()) {
    const bool nothing = outcome.size == 0;
    reading.note(nothing ? Counter::ChunkBad : Counter::ChunkShort, section.at,
                 fmt::format("section {}: {}", section.id, outcome.why));
    if (nothing && plain > 0) return {};
  }
  content.resize(outcome.size);
  return ByteSource::memory(std::move(content), "section");
}

Result<void> readVersion7(Reading& reading) { return Body(reading).run(); }

}  // namespace tickscope::trace_dat
