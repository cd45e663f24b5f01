// SPDX-License-Identifier: GPL-3.0-or-later
// Walks the container and the pages of a well-formed trace.dat and keeps everything it meets.
#include "tests/support/trace_dat_source.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace tickscope::support {

namespace {

constexpr u64 largestChunk = 64 << 20;

class In {
 public:
  In(std::span<const u8> bytes, Order order, u64 at = 0) : bytes_(bytes), order_(order), at_(at) {}

  u64 number(u32 width) {
    const auto part = take(width);
    u64 value = 0;
    for (u32 i = 0; i < width; ++i) {
      value = value << 8 | part[order_ == Order::Big ? i : width - 1 - i];
    }
    return value;
  }
  u32 u32Number() { return static_cast<u32>(number(4)); }
  std::span<const u8> take(u64 size) {
    if (size > left()) throw std::runtime_error(fmt::format("cut at {}", at_));
    const auto part = bytes_.subspan(at_, size);
    at_ += size;
    return part;
  }
  std::string text(u64 size) {
    const auto part = take(size);
    return {part.begin(), part.end()};
  }
  std::string string() {
    std::string out;
    for (char c; (c = static_cast<char>(take(1)[0])) != 0;) out += c;
    return out;
  }
  [[nodiscard]] u64 left() const { return at_ > bytes_.size() ? 0 : bytes_.size() - at_; }
  [[nodiscard]] u64 at() const { return at_; }

 private:
  std::span<const u8> bytes_;
  Order order_;
  u64 at_;
};

void need(bool isTrue, const char* what) {
  if (!isTrue) throw std::runtime_error(what);
}

Blob unpacked(Codec codec, std::span<const u8> small, u64 plainSize) {
  need(plainSize <= largestChunk, "chunk too large");
  Blob out(plainSize);
  if (codec == Codec::Zlib) {
    uLongf size = out.size();
    need(uncompress(out.data(), &size, small.data(), small.size()) == Z_OK, "zlib cannot unpack");
    need(size == plainSize, "zlib gives another size");
  } else {
    need(ZSTD_decompress(out.data(), out.size(), small.data(), small.size()) == plainSize,
         "zstd cannot unpack");
  }
  return out;
}

std::string sizedText(In& in, u32 width) { return in.text(in.number(width)); }

void readHeaderInfo(In& in, DatFile& file) {
  need(in.string() == "header_page", "no header_page");
  file.headerPage = sizedText(in, 8);
  need(in.string() == "header_event", "no header_event");
  file.headerEvent = sizedText(in, 8);
  const auto valueOf = [&](std::string_view line, std::string_view key) {
    const auto at = file.headerPage->find(key, file.headerPage->find(line));
    need(at != std::string::npos, "no commit or data in header_page");
    return static_cast<u32>(std::strtoul(file.headerPage->c_str() + at + key.size(), nullptr, 10));
  };
  file.word = valueOf("commit;", "size:");
  file.dataOffset = valueOf("data;", "offset:");
  need(file.word == 4 || file.word == 8, "a word of another size");
}

void readFtrace(In& in, DatFile& file) {
  for (u32 n = in.u32Number(); n > 0; --n) file.ftraceFormats.push_back(sizedText(in, 8));
}

void readSystems(In& in, DatFile& file) {
  for (u32 n = in.u32Number(); n > 0; --n) {
    System system{in.string(), {}};
    for (u32 m = in.u32Number(); m > 0; --m) system.formats.push_back(sizedText(in, 8));
    file.systems.push_back(std::move(system));
  }
}

std::string chosenClock(const std::string& text) {
  const auto open = text.find('[');
  const auto close = text.find(']', open);
  return open == std::string::npos ? "" : text.substr(open + 1, close - open - 1);
}

void readTable6(In& in, Layout& layout, std::string name, u32 cpus, bool hasClock) {
  need(in.string() == "flyrecord", "no ring buffer data");
  BufferPlace place{std::move(name), "", false, {}};
  for (u32 cpu = 0; cpu < cpus; ++cpu) {
    const u64 offset = in.number(8);
    const u64 size = in.number(8);
    if (size != 0) place.streams.push_back({cpu, offset, size});
  }
  if (hasClock) place.clock = chosenClock(sizedText(in, 8));
  layout.buffers.push_back(std::move(place));
}

void readVersion6(In& in, std::span<const u8> bytes, Layout& layout) {
  DatFile& file = layout.file;
  readHeaderInfo(in, file);
  readFtrace(in, file);
  readSystems(in, file);
  file.kallsyms = sizedText(in, 4);
  file.printkFormats = sizedText(in, 4);
  file.cmdlines = sizedText(in, 8);
  u32 cpus = in.u32Number();
  need(in.string() == "options  ", "no options");
  bool hasClock = false;
  std::vector<std::pair<u64, std::string>> others;
  while (const auto id = static_cast<u16>(in.number(2))) {
    const auto data = in.take(in.number(4));
    In inside(data, file.order);
    if (id == 3) {
      const u64 offset = inside.number(8);
      others.emplace_back(offset, inside.string());
    } else if (id == 8) {
      cpus = inside.u32Number();
    } else {
      hasClock = hasClock || id == 4;
      file.options.push_back({id, {data.begin(), data.end()}});
    }
  }
  file.cpuCount = cpus;
  readTable6(in, layout, "", cpus, hasClock);
  for (const auto& [offset, name] : others) {
    if (name.empty()) continue;
    In there(bytes, file.order, offset);
    readTable6(there, layout, name, cpus, hasClock);
  }
}

/// The content of a section, unpacked when its flag says so.
Blob sectionContent(std::span<const u8> bytes, const DatFile& file, u64 offset) {
  In in(bytes, file.order, offset);
  in.number(2);
  const bool isPacked = (in.number(2) & 1) != 0;
  in.number(4);
  const u64 size = in.number(8);
  if (!isPacked) {
    const auto plain = in.take(size);
    return {plain.begin(), plain.end()};
  }
  const u64 small = in.number(4);
  const u64 plain = in.number(4);
  return unpacked(file.codec, in.take(small), plain);
}

void readBufferOption(In in, std::span<const u8> bytes, Layout& layout) {
  const u64 offset = in.number(8);
  BufferPlace place{in.string(), "", false, {}};
  place.clock = in.string();
  layout.file.pageSize = in.u32Number();
  need(layout.file.pageSize >= 64, "no page size");
  for (u32 n = in.u32Number(); n > 0; --n) {
    const u32 cpu = in.u32Number();
    const u64 at = in.number(8);
    place.streams.push_back({cpu, at, in.number(8)});
  }
  In header(bytes, layout.file.order, offset + 2);
  place.isPacked = (header.number(2) & 1) != 0;
  layout.buffers.push_back(std::move(place));
}

void readVersion7(In& in, std::span<const u8> bytes, Layout& layout) {
  DatFile& file = layout.file;
  const std::string codec = in.string();
  file.codecVersion = in.string();
  file.codec = codec == "zstd" ? Codec::Zstd : codec == "zlib" ? Codec::Zlib : Codec::None;
  const auto load = [&](u64 offset, auto&& read) {
    const Blob content = sectionContent(bytes, file, offset);
    In inside(content, file.order);
    read(inside);
  };
  u32 lists = 0;
  for (u64 next = in.number(8); next != 0;) {
    need(++lists < 1000, "options in a circle");
    const Blob list = sectionContent(bytes, file, next);
    next = 0;
    for (In options(list, file.order); options.left() > 0;) {
      const auto id = static_cast<u16>(options.number(2));
      const auto data = options.take(options.number(4));
      In value(data, file.order);
      switch (id) {
        case 0:
          next = value.number(8);
          break;
        case 3:
          readBufferOption(value, bytes, layout);
          break;
        case 8:
          file.cpuCount = value.u32Number();
          break;
        case 16:
          load(value.number(8), [&](In& at) { readHeaderInfo(at, file); });
          break;
        case 17:
          load(value.number(8), [&](In& at) { readFtrace(at, file); });
          break;
        case 18:
          load(value.number(8), [&](In& at) { readSystems(at, file); });
          break;
        case 19:
          load(value.number(8), [&](In& at) { file.kallsyms = sizedText(at, 4); });
          break;
        case 20:
          load(value.number(8), [&](In& at) { file.printkFormats = sizedText(at, 4); });
          break;
        case 21:
          load(value.number(8), [&](In& at) { file.cmdlines = sizedText(at, 8); });
          break;
        case 22:
          throw std::runtime_error("text instead of ring buffer data");
        default:
          file.options.push_back({id, {data.begin(), data.end()}});
      }
      if (id == 0) break;
    }
  }
}

Record readRecord(In& in, const DatFile& file) {
  const u32 first = in.u32Number();
  const u32 type = file.order == Order::Little ? first & 31 : first >> 27;
  const u64 delta = file.order == Order::Little ? first >> 5 : first & 0x7ffffff;
  const auto blob = [&](u64 size) {
    const auto part = in.take(size);
    return Blob(part.begin(), part.end());
  };
  const auto longBody = [&](Record::Kind kind) {
    const u64 size = in.number(4);
    need(size >= 4, "record without room");
    Record record{kind, delta, blob(size - 4)};
    in.take(std::min<u64>(in.left(), (4 - size % 4) % 4));
    return record;
  };
  if (type >= 1 && type <= 28) return {Record::Kind::Data, delta, blob(u64{type} * 4)};
  if (type == 0) {
    Record record = longBody(Record::Kind::LongData);
    if (record.payload.size() > 112) record.kind = Record::Kind::Data;
    return record;
  }
  if (type == 29 && delta == 0) return {Record::Kind::PageEnd, 0, blob(in.left())};
  if (type == 29) return longBody(Record::Kind::Discarded);
  return {
      type == 30 ? Record::Kind::Extend : Record::Kind::Stamp, (in.number(4) << 27) + delta, {}};
}

Page readPage(std::span<const u8> bytes, const DatFile& file) {
  In in(bytes, file.order);
  Page page;
  page.time = in.number(8);
  const u64 commit = in.number(file.word);
  const u64 size = commit & 0x7ffffff;
  need(bytes.size() >= file.dataStart() && size <= bytes.size() - file.dataStart(),
       "commit beyond the page");
  const auto data = bytes.subspan(file.dataStart(), size);
  for (In records(data, file.order); records.left() >= 4;) {
    page.records.push_back(readRecord(records, file));
  }
  if ((commit >> 31 & 1) != 0) {
    page.lost = Lost{};
    if ((commit >> 30 & 1) != 0) {
      page.lost->count = In(bytes, file.order, file.dataStart() + size).number(file.word);
    }
  }
  return page;
}

}  // namespace

Blob readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) throw std::runtime_error("cannot open " + path);
  Blob bytes(static_cast<std::size_t>(in.tellg()));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

Layout readLayout(std::span<const u8> bytes) {
  Layout layout;
  DatFile& file = layout.file;
  In start(bytes, Order::Little);
  need(start.text(10) == file.magic, "no trace.dat");
  file.version = std::stoi(start.string());
  file.order = start.number(1) == 1 ? Order::Big : Order::Little;
  In in(bytes, file.order, start.at());
  file.word = static_cast<u32>(in.number(1));
  file.pageSize = in.u32Number();
  need(file.pageSize >= 64, "no page size");
  if (file.version == 6) {
    readVersion6(in, bytes, layout);
  } else {
    readVersion7(in, bytes, layout);
  }
  return layout;
}

void forEachChunk(std::span<const u8> bytes, const Layout& layout, const BufferPlace& buffer,
                  const StreamPlace& stream, const std::function<void(std::span<const u8>)>& each) {
  if (!buffer.isPacked) {
    if (stream.size > 0) each(In(bytes, layout.file.order, stream.offset).take(stream.size));
    return;
  }
  if (stream.size == 0) return;
  In in(bytes, layout.file.order, stream.offset);
  for (u32 n = in.u32Number(); n > 0; --n) {
    const u32 small = in.u32Number();
    const u32 plain = in.u32Number();
    each(unpacked(layout.file.codec, in.take(small), plain));
  }
}

DatFile readDat(std::span<const u8> bytes) {
  const Layout layout = readLayout(bytes);
  DatFile file = layout.file;
  for (const BufferPlace& place : layout.buffers) {
    Buffer buffer{place.name, place.clock, {}};
    for (const StreamPlace& at : place.streams) {
      Stream stream{at.cpu, {}, {}};
      forEachChunk(bytes, layout, place, at, [&](std::span<const u8> chunk) {
        for (; chunk.size() >= file.pageSize; chunk = chunk.subspan(file.pageSize)) {
          stream.pages.push_back(readPage(chunk.first(file.pageSize), file));
        }
      });
      buffer.streams.push_back(std::move(stream));
    }
    file.buffers.push_back(std::move(buffer));
  }
  return file;
}

std::vector<SeenEvent> eventsOf(const DatFile& file) {
  constexpr u64 stampRange = u64{1} << 59;
  std::vector<SeenEvent> events;
  for (u32 i = 0; i < file.buffers.size(); ++i) {
    for (const Stream& stream : file.buffers[i].streams) {
      for (const Page& page : stream.pages) {
        u64 time = page.time;
        for (const Record& record : page.records) {
          switch (record.kind) {
            case Record::Kind::Extend:
              time += record.amount;
              break;
            case Record::Kind::Stamp:
              // Well-formed files step forward; a stamp lacks the upper five bits of the time.
              time = (record.amount % stampRange) + time / stampRange * stampRange;
              break;
            case Record::Kind::Discarded:
              time += record.amount == 1 ? 0 : record.amount;
              break;
            case Record::Kind::Data:
            case Record::Kind::LongData:
              time += record.amount;
              events.push_back({i, stream.cpu, time, record.payload});
              break;
            case Record::Kind::PageEnd:
            case Record::Kind::Zeros:
              break;
          }
        }
      }
    }
  }
  return events;
}

}  // namespace tickscope::support
