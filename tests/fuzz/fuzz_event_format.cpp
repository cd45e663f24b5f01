// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzes format texts: their field table, and the text of records that they describe.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "core/trace/event_text.h"
#include "importers/import.h"
#include "tests/support/trace_dat_writer.h"

namespace tickscope {
namespace {

constexpr u64 mostMemory = 64 << 20;

constexpr std::string_view known =
    "name: softirq_raise\nID: 60000\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n\nprint fmt: \"vec=%u\", REC->vec\n";

/// The id that the text gives, so that records are found to be of this format.
u16 idOf(std::string_view text) {
  const auto at = text.find("ID: ");
  if (at == std::string_view::npos) return 0;
  return static_cast<u16>(std::strtoul(std::string(text.substr(at + 4, 8)).c_str(), nullptr, 10));
}

}  // namespace
}  // namespace tickscope

/// The input is a format text, a NUL, and the bytes of a record behind the common fields.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tickscope;
  const uint8_t* const nul = std::find(data, data + size, 0);
  const std::string text(data, nul);
  const std::span<const u8> rest(nul == data + size ? nul : nul + 1, data + size);

  support::DatFile file;
  file.version = 6;
  file.systems = {{"irq", {std::string(known)}}, {"timer", {text}}};
  file.kallsyms = "ffffffff81100000 T _stext\nffffffff81100100 t tick_sched_timer\n";
  file.printkFormats = "0xffffffff82000000 : \"text\"\n";
  file.cmdlines = "1 init\n";
  support::Page page{1000, {}, {}, {}};
  for (const std::size_t length : {rest.size(), rest.size() / 2, std::size_t{0}}) {
    support::Blob record =
        support::packed(file.order, {{2, idOf(text)}, {1, 0x11}, {1, 0}, {4, 1}});
    const auto part = rest.first(std::min<std::size_t>(length, 1000));
    record.insert(record.end(), part.begin(), part.end());
    page.data(100, std::move(record));
  }
  file.buffers = {{"", "local", {{0, {page}, {}}}}};

  const ByteSource source = ByteSource::memory(support::write(file));
  ImportOptions options;
  options.maxMemory = mostMemory;
  options.maxUnpack = mostMemory;
  Progress progress;
  const auto recording = importTrace(source, options, progress);
  if (!recording) return 0;
  std::size_t length = 0;
  for (const Buffer& buffer : recording->buffers) {
    const EventText printer(*recording, buffer);
    for (u32 i = 0; i < buffer.events.size(); ++i) {
      length += printer.line(Row{i}).size() + printer.fields(Row{i}).size();
    }
  }
  // Somebody must look at the length, or the compiler may drop what made it.
  if (length == std::numeric_limits<std::size_t>::max()) std::abort();
  return 0;
}
