// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out both versions of the trace.dat container, one named number after the other.
#include "tests/support/trace_dat_writer.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace tickscope::support {

namespace {

enum SectionId : u16 {
  Options = 0,
  BufferData = 3,
  Strings = 15,
  HeaderInfo = 16,
  FtraceEvents = 17,
  EventFormats = 18,
  Kallsyms = 19,
  Printk = 20,
  Cmdlines = 21,
};
constexpr u16 optionTraceClock = 4;
constexpr u16 optionBuffer = 3;
constexpr u16 optionCpuCount = 8;
constexpr u64 deltaMask = (1U << 27) - 1;

Blob asBlob(std::string_view text) { return {text.begin(), text.end()}; }

/// Bytes that grow, with the names of the numbers in them when somebody asks for names.
class Sink {
 public:
  Sink(const DatFile& file, bool places)
      : file_(file), places_(places), named_(places || !file.forced.empty()) {}

  [[nodiscard]] Sink child() const { return {file_, places_}; }
  [[nodiscard]] bool named() const { return named_; }
  [[nodiscard]] u64 at() const { return bytes_.size(); }
  [[nodiscard]] const Blob& bytes() const { return bytes_; }
  Written take() { return {std::move(bytes_), std::move(fields_)}; }

  void raw(std::span<const u8> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void text(std::string_view text) { bytes_.insert(bytes_.end(), text.begin(), text.end()); }
  void string(std::string_view value) { text(value), bytes_.push_back(0); }
  /// A number with a name; `name` is only looked at when named().
  void number(std::string_view name, u32 width, u64 value) {
    if (named_) {
      const std::string key(name);
      if (const auto found = file_.forced.find(key); found != file_.forced.end()) {
        value = found->second;
      }
      if (places_) fields_.push_back({key, at(), width, value});
    }
    append(bytes_, file_.order, width, value);
  }
  /// A number that is known later than its place.
  void patch(u64 at, std::string_view name, u32 width, u64 value) {
    if (const auto found = file_.forced.find(std::string(name)); found != file_.forced.end()) {
      value = found->second;
    }
    Blob field;
    append(field, file_.order, width, value);
    std::copy(field.begin(), field.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at));
    for (auto& known : fields_) {
      if (known.offset == at) known.value = value;
    }
  }
  void align(u64 to) {
    if (to != 0 && at() % to != 0) bytes_.resize(at() + (to - at() % to));
  }
  /// Another sink's bytes and names.
  void put(const Sink& part) {
    for (auto field : part.fields_) {
      if (field.offset) field.offset = *field.offset + at();
      fields_.push_back(std::move(field));
    }
    raw(part.bytes_);
  }
  /// Another sink's names, whose bytes are not here as they are.
  void namesOf(const Sink& part) {
    for (auto field : part.fields_) {
      field.offset.reset();
      fields_.push_back(std::move(field));
    }
  }

 private:
  const DatFile& file_;
  bool places_, named_;
  Blob bytes_;
  std::vector<FieldPlace> fields_;
};

/// The name only when it will be looked at: a big file has millions of records.
template <class... Args>
std::string nameIf(const Sink& sink, fmt::format_string<Args...> format, Args&&... args) {
  return sink.named() ? fmt::format(format, std::forward<Args>(args)...) : std::string();
}

void sized(Sink& to, std::string_view name, u32 width, std::string_view text) {
  to.number(name, width, text.size());
  to.text(text);
}

u32 head(Order order, u32 type, u64 delta) {
  const u32 time = static_cast<u32>(delta & deltaMask);
  return order == Order::Little ? (type | time << 5) : (type << 27 | time);
}

void writeRecord(Sink& to, const DatFile& file, const Record& record, const std::string& name) {
  const auto size = static_cast<u32>(record.payload.size());
  const u32 words = (size + 3) / 4;
  const auto begin = [&](u32 type, u64 delta) {
    to.number(to.named() ? name + ".head" : name, 4, head(file.order, type, delta));
  };
  const auto length = [&](u64 value) { to.number(to.named() ? name + ".length" : name, 4, value); };
  const auto body = [&] {
    to.raw(record.payload);
    to.raw(Blob(words * 4 - size));
  };
  switch (record.kind) {
    case Record::Kind::Data:
    case Record::Kind::LongData:
      if (record.kind == Record::Kind::Data && words >= 1 && words <= 28) {
        begin(words, record.amount);
      } else {
        begin(0, record.amount);
        length(size + 4);
      }
      return body();
    case Record::Kind::Discarded:
      begin(29, record.amount);
      length(size + 4);
      return body();
    case Record::Kind::PageEnd:
      begin(29, 0);
      return to.raw(record.payload);
    case Record::Kind::Extend:
    case Record::Kind::Stamp:
      begin(record.kind == Record::Kind::Extend ? 30 : 31, record.amount);
      return length(record.amount >> 27);
    case Record::Kind::Zeros:
      return to.raw(record.payload);
  }
}

void writePage(Sink& to, const DatFile& file, const Page& page, const std::string& name) {
  Sink body = to.child();
  for (std::size_t i = 0; i < page.records.size(); ++i) {
    writeRecord(body, file, page.records[i], nameIf(to, "{}.record.{}", name, i));
  }
  u64 commit = body.at();
  if (page.lost) {
    commit |= 0x80000000U;
    if (page.lost->count) commit |= 0x40000000U;
    if (file.word == 8) commit |= ~u64{0xffffffffU};
  }
  const u64 start = to.at();
  to.number(nameIf(to, "{}.time", name), 8, page.time);
  to.number(nameIf(to, "{}.commit", name), file.word, commit);
  if (file.dataStart() > 8 + file.word) to.raw(Blob(file.dataStart() - 8 - file.word));
  to.put(body);
  if (page.lost && page.lost->count) {
    to.number(nameIf(to, "{}.lost", name), file.word, *page.lost->count);
  }
  to.raw(page.tail);
  if (const u64 used = to.at() - start; used < file.pageSize) to.raw(Blob(file.pageSize - used));
}

void writeHeaderInfo(Sink& to, const DatFile& file) {
  to.string("header_page");
  sized(to, "header_page.size", 8, file.headerPage.value_or(defaultHeaderPage(file)));
  to.string("header_event");
  sized(to, "header_event.size", 8, file.headerEvent.value_or(defaultHeaderEvent()));
}

void writeFtrace(Sink& to, const DatFile& file) {
  to.number("ftrace.count", 4, file.ftraceFormats.size());
  for (std::size_t i = 0; i < file.ftraceFormats.size(); ++i) {
    sized(to, nameIf(to, "ftrace.{}.size", i), 8, file.ftraceFormats[i]);
  }
}

void writeSystems(Sink& to, const DatFile& file) {
  to.number("systems.count", 4, file.systems.size());
  for (std::size_t i = 0; i < file.systems.size(); ++i) {
    const System& system = file.systems[i];
    to.string(system.name);
    to.number(nameIf(to, "system.{}.count", i), 4, system.formats.size());
    for (std::size_t k = 0; k < system.formats.size(); ++k) {
      sized(to, nameIf(to, "system.{}.format.{}.size", i, k), 8, system.formats[k]);
    }
  }
}

void writeKallsyms(Sink& to, const DatFile& file) { sized(to, "kallsyms.size", 4, file.kallsyms); }
void writePrintk(Sink& to, const DatFile& file) { sized(to, "printk.size", 4, file.printkFormats); }
void writeCmdlines(Sink& to, const DatFile& file) { sized(to, "cmdlines.size", 8, file.cmdlines); }

struct Part {
  SectionId id;
  const char* name;
  void (*write)(Sink&, const DatFile&);
};
constexpr Part parts[] = {{HeaderInfo, "headers", writeHeaderInfo},
                          {FtraceEvents, "ftrace events", writeFtrace},
                          {EventFormats, "events format", writeSystems},
                          {Kallsyms, "kallsyms", writeKallsyms},
                          {Printk, "printk", writePrintk},
                          {Cmdlines, "command lines", writeCmdlines}};

u32 possibleCpus(const DatFile& file) {
  if (file.cpuCount) return *file.cpuCount;
  u32 count = 0;
  for (const Buffer& buffer : file.buffers) {
    for (const Stream& stream : buffer.streams) count = std::max(count, stream.cpu + 1);
  }
  return count;
}

/// The pages of a stream, packed in chunks when the file is; without the padding in front.
void writeStream(Sink& to, const DatFile& file, const Stream& stream, const std::string& name) {
  if (stream.stored) return to.raw(*stream.stored);
  const bool pack = file.version == 7 && file.codec != Codec::None;
  const std::size_t perChunk = pack ? std::max<u32>(1, file.pagesPerChunk) : stream.pages.size();
  if (pack) {
    to.number(nameIf(to, "{}.chunks", name), 4, (stream.pages.size() + perChunk - 1) / perChunk);
  }
  for (std::size_t first = 0, chunk = 0; first < stream.pages.size(); first += perChunk, ++chunk) {
    Sink plain = to.child();
    const std::size_t end = std::min(first + perChunk, stream.pages.size());
    for (std::size_t i = first; i < end; ++i) {
      writePage(plain, file, stream.pages[i], nameIf(to, "{}.page.{}", name, i));
    }
    if (!pack) {
      to.put(plain);
      continue;
    }
    const Blob small = compressed(file.codec, plain.bytes());
    to.number(nameIf(to, "{}.chunk.{}.packed", name, chunk), 4, small.size());
    to.number(nameIf(to, "{}.chunk.{}.plain", name, chunk), 4, plain.at());
    to.namesOf(plain);
    to.raw(small);
  }
}

void writePrologue(Sink& to, const DatFile& file) {
  to.text(file.magic);
  to.string(file.versionText.value_or(std::to_string(file.version)));
  to.number("order", 1, file.order == Order::Big ? 1 : 0);
  to.number("long_size", 1, file.word);
  to.number("page_size", 4, file.pageSize);
}

// ---- version 6 ----

/// "flyrecord", the table of CPUs, the clock, and the pages.
void writeBuffer6(Sink& to, const DatFile& file, std::size_t index, bool hasClock) {
  const Buffer& buffer = file.buffers[index];
  const u32 cpus = possibleCpus(file);
  to.string("flyrecord");
  const u64 table = to.at();
  for (u32 cpu = 0; cpu < cpus; ++cpu) {
    to.number(nameIf(to, "buffer.{}.cpu.{}.offset", index, cpu), 8, 0);
    to.number(nameIf(to, "buffer.{}.cpu.{}.size", index, cpu), 8, 0);
  }
  if (hasClock) {
    const std::string clock = "[" + buffer.clock + "]";
    to.number(nameIf(to, "buffer.{}.clock.size", index), 8, clock.size() + 1);
    to.string(clock);
  }
  for (const Stream& stream : buffer.streams) {
    to.align(file.pageSize);
    const std::string name = fmt::format("buffer.{}.cpu.{}", index, stream.cpu);
    const u64 start = to.at();
    writeStream(to, file, stream, name);
    const u64 row = table + u64{stream.cpu} * 16;
    to.patch(row, name + ".offset", 8, start);
    to.patch(row + 8, name + ".size", 8, to.at() - start);
  }
}

void writeVersion6(Sink& to, const DatFile& file) {
  for (const Part& part : parts) part.write(to, file);
  to.number("cpus", 4, possibleCpus(file));
  to.string("options  ");
  bool hasClock = false;
  std::size_t index = 0;
  const auto option = [&](u16 id, std::span<const u8> data) {
    to.number(nameIf(to, "options.0.option.{}.id", index), 2, id);
    to.number(nameIf(to, "options.0.option.{}.size", index), 4, data.size());
    to.raw(data);
    hasClock = hasClock || id == optionTraceClock;
    ++index;
  };
  for (const Option& each : file.options) option(each.id, each.data);
  option(optionCpuCount, packed(file.order, {{4, possibleCpus(file)}}));
  std::vector<u64> places;
  for (std::size_t i = 1; i < file.buffers.size(); ++i) {
    Blob data(8);
    const Blob name = asBlob(file.buffers[i].name);
    data.insert(data.end(), name.begin(), name.end());
    data.push_back(0);
    option(optionBuffer, data);
    places.push_back(to.at() - data.size());
  }
  to.number("options.end", 2, 0);
  for (std::size_t i = 0; i < file.buffers.size(); ++i) {
    if (i > 0) {
      to.patch(places[i - 1], fmt::format("buffer.{}.offset", i), 8, to.at());
    }
    writeBuffer6(to, file, i, hasClock);
  }
  if (file.buffers.empty()) to.string("flyrecord");
}

// ---- version 7 ----

class Version7 {
 public:
  Version7(Sink& to, const DatFile& file) : to_(to), file_(file) {}

  void write() {
    static constexpr const char* codecs[][2] = {
        {"none", ""}, {"zlib", "1.2.13"}, {"zstd", "1.5.4"}};
    const auto& codec = codecs[static_cast<std::size_t>(file_.codec)];
    to_.string(file_.codecText.value_or(codec[0]));
    to_.string(file_.codecVersion.value_or(codec[1]));
    next_ = to_.at();
    nextName_ = "first_options";
    to_.number(nextName_, 8, 0);

    std::vector<Option> options;
    for (const Part& part : parts) {
      if (file_.leftOut.contains(part.id)) continue;
      options.push_back({part.id, packed(file_.order, {{8, to_.at()}})});
      Sink plain = to_.child();
      part.write(plain, file_);
      section(part.id, fmt::format("section.{}", u16{part.id}), part.name, plain, true);
    }
    options.insert(options.end(), file_.options.begin(), file_.options.end());
    options.push_back({optionCpuCount, packed(file_.order, {{4, possibleCpus(file_)}})});
    writeOptions(options);
    for (std::size_t i = 0; i < file_.buffers.size(); ++i) buffer(i);
    for (const Section& extra : file_.sections) {
      Sink plain = to_.child();
      plain.raw(extra.data);
      header(extra.id, extra.flags, fmt::format("section.{}", extra.id), "extra", plain.at());
      to_.put(plain);
    }
    if (!file_.leftOut.contains(Strings)) {
      Sink plain = to_.child();
      nameOffset("strings");
      plain.text(names_);
      section(Strings, "section.15", "strings", plain, true);
    }
  }

 private:
  u64 nameOffset(std::string_view name) {
    const u64 at = names_.size();
    names_.append(name).push_back('\0');
    return at;
  }
  void header(u16 id, u16 flags, const std::string& key, std::string_view name, u64 size) {
    to_.number(key + ".id", 2, id);
    to_.number(key + ".flags", 2, flags);
    to_.number(key + ".name", 4, id == Strings ? names_.size() - 8 : nameOffset(name));
    to_.number(key + ".size", 8, size);
  }
  void section(u16 id, const std::string& key, std::string_view name, const Sink& plain,
               bool packable) {
    if (!packable || file_.codec == Codec::None) {
      header(id, 0, key, name, plain.at());
      return to_.put(plain);
    }
    const Blob small = compressed(file_.codec, plain.bytes());
    header(id, 1, key, name, small.size() + 8);
    to_.number(key + ".packed", 4, small.size());
    to_.number(key + ".plain", 4, plain.at());
    to_.namesOf(plain);
    to_.raw(small);
  }
  void writeOptions(const std::vector<Option>& options) {
    Sink plain = to_.child();
    const std::string key = fmt::format("options.{}", optionSections_);
    for (std::size_t i = 0; i < options.size(); ++i) {
      plain.number(fmt::format("{}.option.{}.id", key, i), 2, options[i].id);
      plain.number(fmt::format("{}.option.{}.size", key, i), 4, options[i].data.size());
      plain.raw(options[i].data);
    }
    finishOptions(plain, options.size());
  }
  /// Ends the list and lets the list before, or the prologue, point to it.
  void finishOptions(Sink& plain, std::size_t count) {
    const std::string key = fmt::format("options.{}", optionSections_);
    plain.number(fmt::format("{}.option.{}.id", key, count), 2, 0);
    plain.number(fmt::format("{}.option.{}.size", key, count), 4, 8);
    plain.number(key + ".next", 8, 0);
    to_.patch(next_, nextName_, 8, to_.at());
    section(Options, "section." + key, "options", plain, false);
    next_ = to_.at() - 8;
    nextName_ = key + ".next";
    ++optionSections_;
  }
  void buffer(std::size_t index) {
    const Buffer& buffer = file_.buffers[index];
    const std::string key = fmt::format("buffer.{}", index);
    const u64 start = to_.at();
    const bool pack = file_.codec != Codec::None;
    if (!file_.leftOut.contains(BufferData)) {
      header(BufferData, pack ? 1 : 0, "section." + key, "buffer flyrecord " + buffer.name, 0);
    }
    struct RowOfCpu {
      u32 cpu;
      u64 offset, size;
    };
    std::vector<RowOfCpu> rows;
    for (const Stream& stream : buffer.streams) {
      to_.align(file_.pageSize);
      const u64 at = to_.at();
      writeStream(to_, file_, stream, fmt::format("{}.cpu.{}", key, stream.cpu));
      // The recorder does not count the four bytes of the number of chunks.
      rows.push_back({stream.cpu, at, to_.at() - at - (pack && to_.at() - at >= 4 ? 4 : 0)});
    }
    if (!file_.leftOut.contains(BufferData)) {
      to_.patch(start + 8, "section." + key + ".size", 8, to_.at() - start - 16);
    }
    Sink option = to_.child();
    option.number(key + ".offset", 8, start);
    option.string(buffer.name);
    option.string(buffer.clock);
    option.number(key + ".page_size", 4, file_.pageSize);
    option.number(key + ".cpus", 4, rows.size());
    for (const RowOfCpu& row : rows) {
      const std::string cpu = fmt::format("{}.cpu.{}", key, row.cpu);
      option.number(cpu + ".id", 4, row.cpu);
      option.number(cpu + ".offset", 8, row.offset);
      option.number(cpu + ".size", 8, row.size);
    }
    Sink plain = to_.child();
    const std::string list = fmt::format("options.{}", optionSections_);
    plain.number(list + ".option.0.id", 2, optionBuffer);
    plain.number(list + ".option.0.size", 4, option.at());
    plain.put(option);
    finishOptions(plain, 1);
  }

  Sink& to_;
  const DatFile& file_;
  std::string names_;
  u64 next_ = 0;
  std::string nextName_;
  u32 optionSections_ = 0;
};

Written writeAll(const DatFile& file, bool places) {
  Sink to(file, places);
  writePrologue(to, file);
  if (file.version == 6) {
    writeVersion6(to, file);
  } else {
    Version7(to, file).write();
  }
  return to.take();
}

}  // namespace

void Page::data(u64 delta, Blob payload, bool forceLong) {
  records.push_back(
      {forceLong ? Record::Kind::LongData : Record::Kind::Data, delta, std::move(payload)});
}
void Page::discarded(u64 delta, std::size_t size) {
  records.push_back({Record::Kind::Discarded, delta, Blob(size)});
}
void Page::extend(u64 amount) { records.push_back({Record::Kind::Extend, amount, {}}); }
void Page::stamp(u64 at) { records.push_back({Record::Kind::Stamp, at, {}}); }
void Page::zeros(std::size_t size) { records.push_back({Record::Kind::Zeros, 0, Blob(size)}); }

Blob write(const DatFile& file) { return writeAll(file, false).bytes; }
Written writeWithPlaces(const DatFile& file) { return writeAll(file, true); }

void append(Blob& to, Order order, u32 width, u64 value) {
  for (u32 i = 0; i < width; ++i) {
    const u32 shift = 8 * (order == Order::Little ? i : width - 1 - i);
    to.push_back(static_cast<u8>(value >> shift));
  }
}

Blob packed(Order order, std::initializer_list<Number> numbers) {
  Blob out;
  for (const Number& number : numbers) append(out, order, number.width, number.value);
  return out;
}

Blob compressed(Codec codec, std::span<const u8> plain) {
  if (codec == Codec::None) return {plain.begin(), plain.end()};
  if (codec == Codec::Zlib) {
    uLongf size = compressBound(plain.size());
    Blob out(size);
    if (compress(out.data(), &size, plain.data(), plain.size()) != Z_OK) {
      throw std::runtime_error("zlib cannot pack");
    }
    out.resize(size);
    return out;
  }
  // The recorder leaves the content size out of its frames; a reader must not need it.
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  Blob out(ZSTD_compressBound(plain.size()));
  const std::size_t size =
      ZSTD_compress2(context, out.data(), out.size(), plain.data(), plain.size());
  ZSTD_freeCCtx(context);
  if (ZSTD_isError(size)) throw std::runtime_error("zstd cannot pack");
  out.resize(size);
  return out;
}

Blob pageBytes(const DatFile& file, const Page& page) {
  Sink to(file, false);
  writePage(to, file, page, "page");
  return to.take().bytes;
}

std::string defaultHeaderPage(const DatFile& file) {
  return fmt::format(
      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
      "\tfield: local_t commit;\toffset:8;\tsize:{};\tsigned:1;\n"
      "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
      "\tfield: char data;\toffset:{};\tsize:{};\tsigned:1;\n",
      file.word, file.dataStart(), file.pageSize - file.dataStart());
}

std::string defaultHeaderEvent() {
  return "# compressed entry header\n"
         "\ttype_len    :    5 bits\n"
         "\ttime_delta  :   27 bits\n"
         "\tarray       :   32 bits\n"
         "\n"
         "\tpadding     : type == 29\n"
         "\ttime_extend : type == 30\n"
         "\ttime_stamp : type == 31\n"
         "\tdata max type_len  == 28\n";
}

}  // namespace tickscope::support
