// SPDX-License-Identifier: GPL-3.0-or-later
// Writes trace.dat files for tests, healthy ones and ones with any number in them replaced.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope::support {

using Blob = std::vector<u8>;

enum class Codec : u8 { None, Zlib, Zstd };
enum class Order : u8 { Little, Big };

/// One thing in a ring buffer page. `amount` is the time since the record before (27 bits fit);
/// for Extend the time that it adds, for Stamp the absolute time (59 bits of either are stored).
struct Record {
  enum class Kind : u8 { Data, LongData, Discarded, PageEnd, Extend, Stamp, Zeros };
  Kind kind{};
  u64 amount{};
  Blob payload;  ///< Zeros, PageEnd: the bytes behind the header, Zeros has no header
};

/// The mark of lost events in front of a page; without a number the kernel had no room for it.
struct Lost {
  std::optional<u64> count{};
};

struct Page {
  u64 time{};
  std::vector<Record> records;
  std::optional<Lost> lost{};
  Blob tail;  ///< what lies behind the data, where the kernel leaves old bytes

  /// `payload` up to 112 bytes becomes a short record, unless `forceLong`.
  void data(u64 delta, Blob payload, bool forceLong = false);
  void discarded(u64 delta, std::size_t size);
  void extend(u64 amount);
  void stamp(u64 time);
  void zeros(std::size_t size);
};

struct Stream {
  u32 cpu{};
  std::vector<Page> pages;
  std::optional<Blob> stored{};  ///< these bytes stand in the file instead of the pages
};

struct Buffer {
  std::string name, clock;
  std::vector<Stream> streams;
};

struct System {
  std::string name;
  std::vector<std::string> formats;
};

struct Option {
  u16 id{};
  Blob data;
};

/// A section of version 7 that the writer would not write by itself, behind the options.
struct Section {
  u16 id{};
  u16 flags{};
  Blob data;
};

/// All that a file says. Every number that the writer derives has a name (see FieldPlace) and
/// `forced` replaces it: `file.forced["buffer.0.cpu.1.page.0.commit"] = 5000`.
struct DatFile {
  int version = 7;
  Codec codec = Codec::None;
  Order order = Order::Little;
  u32 word = 8;        ///< bytes of the kernel's long: 8 or 4
  u32 dataOffset = 0;  ///< of a page; 0: 8 + word
  u32 pageSize = 4096;
  u32 pagesPerChunk = 10;
  std::string magic = "\x17\x08\x44tracing";
  std::optional<std::string> versionText, codecText, codecVersion;
  std::optional<std::string> headerPage, headerEvent;  ///< empty: written for `word`
  std::vector<std::string> ftraceFormats;
  std::vector<System> systems;
  std::string kallsyms, printkFormats, cmdlines;
  std::vector<Option> options;  ///< those that hold no file offset
  std::vector<Buffer> buffers;  ///< the first is the top buffer
  std::optional<u32> cpuCount;  ///< possible CPUs; empty: highest CPU + 1
  std::set<u16> leftOut;        ///< version 7: sections that are not written
  std::vector<Section> sections;
  std::map<std::string, u64> forced;

  [[nodiscard]] u32 dataStart() const { return dataOffset != 0 ? dataOffset : 8 + word; }
};

/// Where a number stands. The offset is empty for one inside packed bytes (use DatFile::forced).
/// Names: order, long_size, page_size, first_options, header_page.size,
/// header_event.size, ftrace.count, ftrace.N.size, systems.count, system.N.count,
/// system.N.format.M.size, kallsyms.size, printk.size, cmdlines.size, cpus;
/// section.ID.{id,flags,name,size,packed,plain} (options: section.options.N.*, buffers:
/// section.buffer.N.*); options.N.option.M.{id,size}, options.N.next (v6: options.end);
/// buffer.N.{offset,page_size,cpus}, buffer.N.cpu.C.{id,offset,size,chunks},
/// buffer.N.cpu.C.chunk.K.{packed,plain}, buffer.N.cpu.C.page.P.{time,commit,lost},
/// buffer.N.cpu.C.page.P.record.R.{head,length}, buffer.N.clock.size.
struct FieldPlace {
  std::string name;
  std::optional<u64> offset;
  u32 width{};
  u64 value{};
};

struct Written {
  Blob bytes;
  std::vector<FieldPlace> places;
};

Blob write(const DatFile&);
/// The same bytes with the place of every number in them; meant for small files.
Written writeWithPlaces(const DatFile&);

struct Number {
  u32 width;  ///< 1, 2, 4, 8
  u64 value;
};
/// The numbers one behind the other, as payloads and options hold them.
Blob packed(Order, std::initializer_list<Number>);
/// Appends the low `width` bytes of `value`.
void append(Blob&, Order, u32 width, u64 value);
/// One frame or stream of the codec; None: the bytes.
Blob compressed(Codec, std::span<const u8>);
/// One page as it lies in memory, `file.pageSize` bytes, longer if the records do not fit.
Blob pageBytes(const DatFile& file, const Page&);

std::string defaultHeaderPage(const DatFile&);
std::string defaultHeaderEvent();

}  // namespace tickscope::support
