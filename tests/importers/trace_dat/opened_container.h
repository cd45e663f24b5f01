// SPDX-License-Identifier: GPL-3.0-or-later
// Small trace.dat files for tests of the container reader, and what it says about them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "importers/trace_dat/container.h"
#include "importers/trace_dat/page_walk.h"
#include "tests/support/trace_dat_writer.h"

namespace tickscope::trace_dat {

/// A container with what is needed to look at it.
struct Opened {
  ByteSource source;
  ImportLog log;
  Result<Container> container = Container{};

  [[nodiscard]] u64 count(Counter counter) const { return log.count(counter); }
  /// All entries, for messages of tests.
  [[nodiscard]] std::string words() const {
    std::string text;
    for (const LogEntry& entry : log.entries()) {
      text += std::string(nameOf(entry.counter)) + ": " + sentenceOf(entry) + "\n";
    }
    if (!container) text += "error: " + describe(container.error()) + "\n";
    return text;
  }
  /// Something was lost, damaged or put right.
  [[nodiscard]] bool quiet() const { return container && !log.lossOrDamage(); }

  /// Records on the pages of one CPU of a buffer; of all streams of that CPU.
  [[nodiscard]] u64 records(u32 cpu, std::size_t buffer = 0) const {
    if (!container || buffer >= container->buffers.size()) return 0;
    const BufferPlaces& places = container->buffers[buffer];
    u64 found = 0;
    BlockReader reader;
    for (const PageStream& stream : places.streams) {
      if (number(stream.cpu) != cpu) continue;
      for (const Block& block : stream.blocks) {
        const Bytes bytes = reader.read(source, block).bytes;
        for (std::size_t at = 0; at < bytes.size(); at += places.pageSize) {
          const Bytes page =
              bytes.subspan(at, std::min<std::size_t>(places.pageSize, bytes.size() - at));
          PageHead head;
          if (!readPageHead(page, container->ring, places.pageSize, head)) continue;
          walkRecords(page.subspan(container->ring.dataOffset, head.data), head.time,
                      container->ring, [&found](u64, const u8*, u32) {
                        ++found;
                        return true;
                      });
        }
      }
    }
    return found;
  }
  /// A block cannot be unpacked as it is announced, which is told when its events are read.
  [[nodiscard]] bool anyBlockDamaged() const {
    BlockReader reader;
    for (const BufferPlaces& buffer : container->buffers) {
      for (const PageStream& stream : buffer.streams) {
        for (const Block& block : stream.blocks) {
          if (reader.read(source, block).damaged) return true;
        }
      }
    }
    return false;
  }
  [[nodiscard]] u64 records() const {
    u64 found = 0;
    if (!container) return 0;
    for (std::size_t b = 0; b < container->buffers.size(); ++b) {
      std::vector<u32> cpus;
      for (const PageStream& stream : container->buffers[b].streams) {
        if (cpus.empty() || cpus.back() != number(stream.cpu)) cpus.push_back(number(stream.cpu));
      }
      for (const u32 cpu : cpus) found += records(cpu, b);
    }
    return found;
  }
};

inline Opened opened(ByteSource source, u64 maxUnpack = u64{1} << 30U) {
  Opened result{std::move(source), {}, {}};
  Progress progress;
  result.container = readContainer(result.source, maxUnpack, result.log, progress);
  return result;
}
inline Opened opened(const support::Blob& bytes, u64 maxUnpack = u64{1} << 30U) {
  return opened(ByteSource::memory(bytes), maxUnpack);
}

inline constexpr u16 idleId = 40, switchId = 41;

/// Formats of two events, as a 64-bit kernel writes them.
inline std::string commonFields() {
  return "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
         "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
         "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
         "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
}
inline std::string idleFormat() {
  return "name: cpu_idle\nID: 40\nformat:\n" + commonFields() +
         "\tfield:u32 state;\toffset:8;\tsize:4;\tsigned:0;\n"
         "\tfield:u32 cpu_id;\toffset:12;\tsize:4;\tsigned:0;\n\n"
         "print fmt: \"state=%lu cpu_id=%lu\", REC->state, REC->cpu_id\n";
}
inline std::string switchFormat() {
  return "name: sched_switch\nID: 41\nformat:\n" + commonFields() +
         "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
         "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
         "\tfield:char next_comm[16];\toffset:28;\tsize:16;\tsigned:0;\n"
         "\tfield:pid_t next_pid;\toffset:44;\tsize:4;\tsigned:1;\n\n"
         "print fmt: \"%d\", REC->prev_pid\n";
}
inline std::string plainFormat() {
  return "name: tick\nID: 42\nformat:\n" + commonFields() +
         "\tfield:u64 value;\toffset:8;\tsize:8;\tsigned:0;\n\nprint fmt: \"%llu\", REC->value\n";
}

inline support::Blob idleRecord(support::Order order, u32 cpu) {
  return support::packed(order, {{2, idleId}, {1, 0}, {1, 0}, {4, 0}, {4, 1}, {4, cpu}});
}
inline support::Blob plainRecord(support::Order order, u64 value) {
  return support::packed(order, {{2, 42}, {1, 0}, {1, 0}, {4, 7}, {8, value}});
}

/// Two CPUs with `pages` pages of 20 records each; with `proof`, one of them says its CPU.
inline support::DatFile smallFile(int version, support::Codec codec = support::Codec::None,
                                  std::size_t pages = 3, bool proof = false) {
  support::DatFile file;
  file.version = version;
  file.codec = codec;
  file.pagesPerChunk = 2;
  file.ftraceFormats = {plainFormat()};
  file.systems = {{"power", {idleFormat()}}, {"sched", {switchFormat()}}};
  file.kallsyms = "ffffffff81000000 T one\nffffffff81000100 t two\n";
  file.printkFormats = "0xffffffff82000000 : \"text\\n\"\n";
  file.cmdlines = "7 worker\n8 other\n";
  const std::string clock = "local global [mono] boot\n";
  const std::string uname = "Linux host 6.1.0 x86_64";
  file.options = {{4, support::Blob(clock.begin(), clock.end())},
                  {5, support::Blob(uname.begin(), uname.end())}};
  support::Buffer top{"", "mono", {}};
  for (u32 cpu = 0; cpu < 2; ++cpu) {
    support::Stream stream;
    stream.cpu = cpu;
    for (std::size_t p = 0; p < pages; ++p) {
      support::Page page;
      page.time = 1'000'000 + p * 100'000;
      for (u32 i = 0; i < 20; ++i) {
        page.data(1'000,
                  proof && i == 0 ? idleRecord(file.order, cpu) : plainRecord(file.order, i));
      }
      stream.pages.push_back(std::move(page));
    }
    top.streams.push_back(std::move(stream));
  }
  file.buffers = {std::move(top)};
  return file;
}

/// The same with another value in place of the named number.
inline support::Blob changed(support::DatFile file, const std::string& name, u64 value) {
  file.forced[name] = value;
  return support::write(file);
}

}  // namespace tickscope::trace_dat
