// SPDX-License-Identifier: GPL-3.0-or-later
// Opens recordings for tests.
#include "tests/support/imported.h"

#include <fmt/format.h>

#include <stdexcept>

#include "core/trace/event_text.h"

namespace tickscope::support {
namespace {

Recording orThrow(Result<Recording> result, const std::string& name) {
  if (!result) throw std::runtime_error(name + ": " + describe(result.error()));
  return std::move(*result);
}

}  // namespace

Result<Recording> tryImport(const ByteSource& source, int threads) {
  Progress progress;
  ImportOptions options;
  options.threads = threads;
  return importTrace(source, options, progress);
}

Recording imported(const std::string& path, int threads) {
  const Result<ByteSource> source = ByteSource::file(path);
  if (!source) throw std::runtime_error(path + ": " + describe(source.error()));
  return orThrow(tryImport(*source, threads), path);
}

Recording importedBytes(std::span<const u8> bytes, int threads) {
  return orThrow(tryImport(ByteSource::memory({bytes.begin(), bytes.end()}), threads), "memory");
}

std::string logText(const ImportLog& log) {
  std::string text;
  for (const LogEntry& entry : log.entries()) {
    text += fmt::format("{} ({}) x{}, amount {}: {}\n", nameOf(entry.counter),
                        nameOf(severityOf(entry.counter)), entry.count, entry.amount,
                        sentenceOf(entry));
    for (const LogExample& example : entry.examples) {
      text += fmt::format(
          "    at {} cpu {}: {}\n", example.offset ? fmt::format("{:#x}", *example.offset) : "-",
          example.cpu ? fmt::format("{}", number(*example.cpu)) : "-", example.detail);
    }
  }
  return text;
}

u64 printAll(const Recording& recording) {
  u64 bytes = 0;
  for (const Buffer& buffer : recording.buffers) {
    const EventText text(recording, buffer);
    for (u32 row = 0; row < buffer.events.size(); ++row) {
      bytes += text.line(Row{row}).size();
      for (const FieldValue& field : text.fields(Row{row})) bytes += field.name.size();
    }
  }
  return bytes;
}

}  // namespace tickscope::support
