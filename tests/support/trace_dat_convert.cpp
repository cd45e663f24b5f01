// SPDX-License-Identifier: GPL-3.0-or-later
// Rewrites payloads by the field table of their format, and packs records into new pages.
#include "tests/support/trace_dat_convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace tickscope::support {

namespace {

u64 numberAt(std::span<const u8> bytes, Order order, u64 at, u32 width) {
  u64 value = 0;
  for (u32 i = 0; i < width; ++i) {
    value = value << 8 | bytes[at + (order == Order::Big ? i : width - 1 - i)];
  }
  return value;
}

u64 roundedUp(u64 value, u64 to) { return (value + to - 1) / to * to; }

std::string_view between(std::string_view text, std::string_view from, char to) {
  const auto at = text.find(from);
  if (at == std::string_view::npos) throw std::runtime_error("format line lacks a part");
  text.remove_prefix(at + from.size());
  return text.substr(0, text.find(to));
}

u32 asNumber(std::string_view text) {
  return static_cast<u32>(std::strtoul(std::string(text).c_str(), nullptr, 10));
}

/// Bytes of a number of this type; 0: a type that is not known here.
u32 widthOf(std::string type, u32 word, bool& isWord) {
  if (type.find('*') != std::string::npos) {
    isWord = true;
    return word;
  }
  std::vector<std::string> words;
  for (std::size_t at = 0; at < type.size();) {
    const auto end = std::min(type.find(' ', at), type.size());
    const std::string one = type.substr(at, end - at);
    if (!one.empty() && one != "const" && one != "volatile" && one != "unsigned" &&
        one != "signed" && one != "__data_loc" && one != "__rel_loc") {
      words.push_back(one);
    }
    at = end + 1;
  }
  if (words.empty()) return 4;
  static const std::map<std::string, u32> widths = {
      {"char", 1},  {"u8", 1},     {"s8", 1},      {"bool", 1},     {"__u8", 1},    {"uint8_t", 1},
      {"short", 2}, {"u16", 2},    {"s16", 2},     {"__u16", 2},    {"int", 4},     {"u32", 4},
      {"s32", 4},   {"__u32", 4},  {"pid_t", 4},   {"__s32", 4},    {"u64", 8},     {"s64", 8},
      {"__u64", 8}, {"loff_t", 8}, {"ktime_t", 8}, {"uint32_t", 4}, {"uint64_t", 8}};
  if (words[0] == "long" && words.size() > 1 && words[1] == "long") return 8;
  if (words[0] == "long" || words[0] == "size_t" || words[0] == "ssize_t" ||
      words[0] == "cpumask_t") {
    isWord = true;
    return word;
  }
  const auto found = widths.find(words[0]);
  return found == widths.end() ? 0 : found->second;
}

FormatField parseField(std::string_view line, u32 word) {
  FormatField field;
  field.declaration = between(line, ":", ';');
  field.offset = asNumber(between(line, "offset:", ';'));
  field.size = asNumber(between(line, "size:", ';'));
  field.isDataLoc = field.declaration.starts_with("__data_loc");
  field.isRelLoc = field.declaration.starts_with("__rel_loc");
  std::string type = field.declaration;
  if (const auto open = type.find('['); open != std::string::npos) {
    field.isArray = true;
    const auto close = type.find(']', open);
    // `char comm[16]`, but `__data_loc char[] name`.
    type = type.substr(0, open) + (field.isDataLoc || field.isRelLoc ? type.substr(close + 1) : "");
  }
  const auto last = type.find_last_of(" *");
  field.name = type.substr(last + 1);
  type.resize(last + 1);
  const u32 width = widthOf(type, word, field.isWord);
  if (field.isArray || field.isDataLoc || field.isRelLoc) {
    field.element = width == 0 ? 1 : width;
  } else {
    const bool isNumber = field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8;
    field.element = isNumber ? field.size : 1;
    field.isArray = !isNumber;
    field.isWord = field.isWord && field.size == word;
  }
  return field;
}

/// Where a field lies in the new record.
struct Placed {
  u32 offset{}, size{};
};

struct Conversion {
  EventFormat format;
  std::vector<Placed> places;  ///< one a field
  u32 fixedSize = 0;
  bool isBinaryPrint = false;
};

class Converter {
 public:
  Converter(const DatFile& from, const DatFile& to, const Target& target)
      : from_(from), to_(to), target_(target) {}

  /// The format for the new machine; its conversion is kept by event id.
  std::string format(const std::string& text) {
    Conversion conversion{parseFormat(text, from_.word), {}, 0, false};
    conversion.isBinaryPrint = conversion.format.name == "bprint";
    place(conversion);
    std::string out;
    std::size_t index = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
      std::string line = text.substr(at, end - at);
      if (line.starts_with("\tfield")) {
        const Placed& placed = conversion.places.at(index++);
        const auto from = line.find("offset:");
        const auto to = line.find("signed:");
        line = fmt::format("{}offset:{};\tsize:{};\t{}", line.substr(0, from), placed.offset,
                           placed.size, to == std::string::npos ? "\n" : line.substr(to));
      }
      out += line;
      at = end;
    }
    conversions_[conversion.format.id] = std::move(conversion);
    return out;
  }

  Blob payload(const Blob& in) const {
    if (in.size() < 8) return in;
    const auto found = conversions_.find(static_cast<u32>(numberAt(in, from_.order, 0, 2)));
    if (found == conversions_.end()) return commonOnly(in);
    const Conversion& conversion = found->second;
    const auto& fields = conversion.format.fields;
    Blob out = from_.word == to_.word ? in : Blob(conversion.fixedSize);
    // Content behind the fixed part moves up when longs shrink.
    u64 end = conversion.fixedSize;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const FormatField& field = fields[i];
      const Placed& placed = conversion.places[i];
      const bool isLast = i + 1 == fields.size();
      if (field.offset >= in.size()) continue;
      if (field.isDataLoc || field.isRelLoc) {
        dynamic(in, out, field, placed, end);
      } else if (conversion.isBinaryPrint && isLast) {
        printArguments(in, out, field.offset, placed.offset);
      } else if (field.isArray && isLast) {
        out.resize(std::min<u64>(out.size(), placed.offset));
        copy(in, field.offset, in.size() - field.offset, out, placed.offset, field);
      } else if (field.offset + field.size <= in.size()) {
        copy(in, field.offset, field.size, out, placed.offset, field);
      }
    }
    return out;
  }

 private:
  u32 newElement(const FormatField& field) const { return field.isWord ? to_.word : field.element; }

  void place(Conversion& conversion) const {
    u64 at = 0;
    for (const FormatField& field : conversion.format.fields) {
      if (from_.word == to_.word) {
        conversion.places.push_back({field.offset, field.size});
        at = std::max<u64>(at, u64{field.offset} + field.size);
        continue;
      }
      const bool isLoc = field.isDataLoc || field.isRelLoc;
      const u32 element = isLoc ? 4 : newElement(field);
      const u32 size = isLoc ? 4 : field.size / field.element * element;
      at = roundedUp(at, element == 8 ? target_.wideAlignment : std::max<u32>(element, 1));
      conversion.places.push_back({static_cast<u32>(at), size});
      at += size;
    }
    conversion.fixedSize = static_cast<u32>(at);
  }

  void put(Blob& out, u64 at, u32 width, u64 value) const {
    Blob bytes;
    append(bytes, to_.order, width, value);
    if (out.size() < at + width) out.resize(at + width);
    std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void copy(const Blob& in, u64 from, u64 size, Blob& out, u64 to, const FormatField& field) const {
    const u32 wide = field.element;
    const u32 narrow = newElement(field);
    for (u64 i = 0; i < size / wide; ++i) {
      put(out, to + i * narrow, narrow, numberAt(in, from_.order, from + i * wide, wide));
    }
    // A last piece that is no whole element is only padding of the record.
    for (u64 i = size / wide * wide; i < size && wide == narrow; ++i)
      put(out, to + i, 1, in[from + i]);
  }

  void dynamic(const Blob& in, Blob& out, const FormatField& field, const Placed& placed,
               u64& end) const {
    const u64 word = numberAt(in, from_.order, field.offset, 4);
    const u64 base = field.isRelLoc ? field.offset + 4 : 0;
    const u64 from = base + (word & 0xffff);
    const u64 size = word >> 16;
    if (from_.word == to_.word) {
      put(out, placed.offset, 4, word);
      if (from + size <= in.size()) copy(in, from, size, out, from, field);
      return;
    }
    const u64 newSize = size / field.element * newElement(field);
    const u64 newBase = field.isRelLoc ? placed.offset + 4 : 0;
    put(out, placed.offset, 4, (end - newBase) | newSize << 16);
    if (from + size <= in.size()) copy(in, from, size, out, end, field);
    end += newSize;
  }

  /// The arguments of trace_printk lie as its format string asks, numbers aligned to 4 bytes.
  void printArguments(const Blob& in, Blob& out, u64 from, u64 to) const {
    const Conversion& conversion =
        conversions_.at(static_cast<u32>(numberAt(in, from_.order, 0, 2)));
    u64 address = 0;
    for (const FormatField& field : conversion.format.fields) {
      if (field.name == "fmt") address = numberAt(in, from_.order, field.offset, from_.word);
    }
    const std::string text = printkFormat(address);
    if (from_.word != to_.word) out.resize(to);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%' || text[++i] == '%') continue;
      u32 longs = 0;
      for (; i < text.size() && !std::isalpha(static_cast<unsigned char>(text[i])); ++i) {
      }
      for (; i < text.size() && (text[i] == 'l' || text[i] == 'z' || text[i] == 'h'); ++i) ++longs;
      if (i >= text.size()) return;
      if (text[i] == 's') {
        for (u8 byte = 1; byte != 0 && from < in.size();) put(out, to++, 1, byte = in[from++]);
        continue;
      }
      from = roundedUp(from, 4);
      to = roundedUp(to, 4);
      const bool isWord = text[i] == 'p' || longs == 1;
      const u32 wide = longs == 2 ? 8 : isWord ? from_.word : 4;
      const u32 narrow = longs == 2 ? 8 : isWord ? to_.word : 4;
      if (from + wide > in.size()) return;
      put(out, to, narrow, numberAt(in, from_.order, from, wide));
      from += wide;
      to += narrow;
    }
  }

  [[nodiscard]] std::string printkFormat(u64 address) const {
    const std::string key = fmt::format("0x{:x} : ", address);
    const auto at = from_.printkFormats.find(key);
    if (at == std::string::npos) return "";
    return from_.printkFormats.substr(at + key.size(), from_.printkFormats.find('\n', at) - at);
  }

  Blob commonOnly(const Blob& in) const {
    Blob out = in;
    put(out, 0, 2, numberAt(in, from_.order, 0, 2));
    put(out, 4, 4, numberAt(in, from_.order, 4, 4));
    return out;
  }

  const DatFile& from_;
  const DatFile& to_;
  const Target& target_;
  std::map<u32, Conversion> conversions_;
};

/// Numbers inside options in the new byte order; texts stay.
Blob convertedOption(const Option& option, Order from, Order to) {
  Blob out;
  u64 at = 0;
  const auto number = [&](u32 width) -> u64 {
    if (at + width > option.data.size()) return 0;
    const u64 value = numberAt(option.data, from, at, width);
    append(out, to, width, value);
    at += width;
    return value;
  };
  switch (option.id) {
    case 11:
      number(8);
      break;
    case 12: {
      number(8), number(4);
      std::vector<u64> counts(number(4));
      for (u64& count : counts) {
        count = number(4);
        for (u64 i = 0; i < count * 3; ++i) number(8);
      }
      for (const u64 count : counts) {
        for (u64 i = 0; i < count; ++i) number(8);
      }
      break;
    }
    case 13:
      while (at < option.data.size() && option.data[at] != 0) out.push_back(option.data[at++]);
      out.push_back(0), ++at;
      number(8);
      for (u64 n = number(4); n > 0; --n) number(4), number(4);
      break;
    case 14:
      number(4), number(4), number(8);
      break;
    default:
      break;
  }
  out.insert(out.end(), option.data.begin() + static_cast<std::ptrdiff_t>(at), option.data.end());
  return out;
}

/// Addresses cut to 32 bits: `hex rest` lines, with `prefix` in front of the number.
std::string narrowAddresses(const std::string& text, std::string_view prefix) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
    std::string line = text.substr(at, end - at);
    if (const auto space = line.find(' '); space != std::string::npos && space > prefix.size()) {
      const u64 value = std::strtoull(line.c_str() + prefix.size(), nullptr, 16);
      line = fmt::format("{}{:0{}x}{}", prefix, value & 0xffffffff, prefix.empty() ? 8 : 1,
                         line.substr(space));
    }
    out += line;
    at = end;
  }
  return out;
}

/// Puts the records of a stream into pages of the new size, in the same order with the same times.
class Packer {
 public:
  explicit Packer(const DatFile& to) : capacity_(to.pageSize - to.dataStart()), word_(to.word) {}

  std::vector<Page> pages(const std::vector<Page>& old) {
    for (const Page& page : old) {
      u64 time = page.time;
      if (page.lost || pages_.empty()) open(time, page.lost);
      for (const Record& record : page.records) add(record, time);
    }
    return std::move(pages_);
  }

 private:
  static u64 sizeOf(const Record& record) {
    const u64 body = roundedUp(record.payload.size(), 4);
    switch (record.kind) {
      case Record::Kind::Data:
        return body > 0 && body <= 112 ? 4 + body : 8 + body;
      case Record::Kind::LongData:
      case Record::Kind::Discarded:
        return 8 + body;
      case Record::Kind::Extend:
      case Record::Kind::Stamp:
        return 8;
      case Record::Kind::PageEnd:
        return 4 + record.payload.size();
      case Record::Kind::Zeros:
        return record.payload.size();
    }
    return 0;
  }
  void open(u64 time, std::optional<Lost> lost) {
    pages_.push_back({time, {}, lost, {}});
    used_ = lost && lost->count ? word_ : 0;
    time_ = time;
  }
  void push(Record record) {
    used_ += sizeOf(record);
    pages_.back().records.push_back(std::move(record));
  }
  /// `time` is that of the old page's walk and moves with it.
  void add(const Record& record, u64& time) {
    const auto kind = record.kind;
    if (kind == Record::Kind::PageEnd || kind == Record::Kind::Zeros) return;
    if (kind == Record::Kind::Extend) {
      time += record.amount;
      return;
    }
    if (kind == Record::Kind::Stamp) {
      time = (record.amount & ((u64{1} << 59) - 1)) | (time >> 59 << 59);
    } else if (kind != Record::Kind::Discarded || record.amount != 1) {
      time += record.amount;
    }
    // Room for an extend in front, too.
    if (used_ + sizeOf(record) + 8 > capacity_) open(time, {});
    Record copy = record;
    if (kind == Record::Kind::Stamp) {
      time_ = time;
      return push(std::move(copy));
    }
    copy.amount = time - time_;
    if (copy.amount >> 27 != 0) {
      push({Record::Kind::Extend, copy.amount, {}});
      copy.amount = 0;
    }
    // A delta of 0 would end the page; the kernel writes 1, which readers take for 0.
    if (kind == Record::Kind::Discarded && copy.amount <= 1) copy.amount = 1;
    time_ = time;
    push(std::move(copy));
  }

  u64 capacity_, word_;
  u64 used_ = 0, time_ = 0;
  std::vector<Page> pages_;
};

}  // namespace

EventFormat parseFormat(const std::string& text, u32 word) {
  EventFormat format;
  format.name = between(text, "name: ", '\n');
  format.id = asNumber(between(text, "ID: ", '\n'));
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.starts_with("print fmt")) break;
    if (line.starts_with("\tfield")) format.fields.push_back(parseField(line, word));
    at = end + 1;
  }
  return format;
}

DatFile reencoded(const DatFile& from, const Target& target) {
  DatFile to = from;
  to.version = target.version.value_or(from.version);
  to.codec = target.codec.value_or(to.version == 6 ? Codec::None : from.codec);
  to.codecVersion.reset();
  to.order = target.order.value_or(from.order);
  to.word = target.word.value_or(from.word);
  to.pageSize = target.pageSize.value_or(from.pageSize);
  to.dataOffset = target.dataOffset;
  to.headerPage.reset();
  if (to.pageSize > 16384) to.pagesPerChunk = 5;
  const bool isNewWord = to.word != from.word;
  if (isNewWord && to.word != 4) throw std::runtime_error("a word can only shrink");

  Converter convert(from, to, target);
  for (std::string& format : to.ftraceFormats) format = convert.format(format);
  for (System& system : to.systems) {
    for (std::string& format : system.formats) format = convert.format(format);
  }
  for (Option& option : to.options) option.data = convertedOption(option, from.order, to.order);
  if (isNewWord) {
    to.kallsyms = narrowAddresses(from.kallsyms, "");
    to.printkFormats = narrowAddresses(from.printkFormats, "0x");
  }
  for (Buffer& buffer : to.buffers) {
    for (Stream& stream : buffer.streams) {
      for (Page& page : stream.pages) {
        for (Record& record : page.records) {
          const auto kind = record.kind;
          if (kind == Record::Kind::Data || kind == Record::Kind::LongData) {
            record.payload = convert.payload(record.payload);
          }
        }
      }
      if (isNewWord || to.pageSize != from.pageSize || to.dataStart() != from.dataStart()) {
        stream.pages = Packer(to).pages(stream.pages);
      }
    }
  }
  return to;
}

}  // namespace tickscope::support
