// SPDX-License-Identifier: GPL-3.0-or-later
// Parses texts that a kernel wrote, line by line; a line that is not understood is counted, nothing else.
#include "importers/trace_dat/metadata_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace tickscope::trace_dat {

namespace {

constexpr std::string_view blanks = " \t\r";
/// TASK_COMM_LEN without the NUL.
constexpr std::size_t longestName = 15;

std::string_view trimmedStart(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text;
}

/// Calls each(line, offset of the line in the text) for lines that are not empty.
template <class Each>
void forEachLine(std::string_view text, Each&& each) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    line = line.substr(0, std::min(line.find('\0'), line.size()));
    if (line.find_first_not_of(blanks) != std::string_view::npos) each(line, at);
    at = end + 1;
  }
}

template <class T>
Known<T> whole(std::string_view text, int base = 10) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc{} || stop != end) return {};
  return value;
}

std::string unescaped(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      plain += text[at];
      continue;
    }
    switch (text[++at]) {
      case 'n':
        plain += '\n';
        break;
      case 't':
        plain += '\t';
        break;
      case 'r':
        plain += '\r';
        break;
      case '"':
        plain += '"';
        break;
      case '\\':
        plain += '\\';
        break;
      default:
        (plain += '\\') += text[at];
    }
  }
  return plain;
}

/// Is there an address that is not zero? Unprivileged recorders see only zeros.
bool hasAddresses(std::string_view kallsyms) {
  bool found = false;
  std::size_t at = 0;
  while (!found && at < kallsyms.size()) {
    const std::size_t end = std::min(kallsyms.find('\n', at), kallsyms.size());
    const std::string_view line = trimmedStart(kallsyms.substr(at, end - at));
    const std::size_t digits = std::min(line.find_first_of(blanks), line.size());
    found = whole<u64>(line.substr(0, digits), 16).value_or(0) != 0;
    at = end + 1;
  }
  return found;
}

}  // namespace

std::string_view trimmedEnd(std::string_view text) {
  text = text.substr(0, std::min(text.find('\0'), text.size()));
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

void addTaskNames(std::string_view text, u64 offset, Metadata& metadata, ImportLog& log) {
  forEachLine(text, [&](std::string_view line, std::size_t at) {
    const std::string_view content = trimmedStart(line);
    const std::size_t size = std::min(content.find(' '), content.size());
    const auto pid = whole<s32>(content.substr(0, size));
    const bool separated = size < content.size();
    const std::string_view name = separated ? content.substr(size + 1) : std::string_view{};
    if (!pid || *pid < 0 || !separated || name.size() > longestName) {
      log.note(Counter::BadCmdline, {offset + at, {}, {}});
    } else if (*pid != 0) {
      metadata.tasks.add(Pid{*pid}, std::string(name));
    }
  });
}

void addPrintkFormats(std::string_view text, u64 offset, Metadata& metadata, ImportLog& log) {
  forEachLine(text, [&](std::string_view line, std::size_t at) {
    const std::string_view content = trimmedStart(line);
    const std::size_t colon = content.find(':');
    const std::size_t open = content.find('"', std::min(colon, content.size()));
    const std::size_t close = content.rfind('"');
    Known<u64> address;
    if (content.starts_with("0x") && colon != std::string_view::npos) {
      address = whole<u64>(trimmedEnd(content.substr(2, colon - 2)), 16);
    }
    if (!address || open == std::string_view::npos || close <= open) {
      log.note(Counter::BadPrintk, {offset + at, {}, {}});
      return;
    }
    metadata.printkFormats.emplace(*address, unescaped(content.substr(open + 1, close - open - 1)));
  });
}

void addSymbols(std::string text, Metadata& metadata) {
  if (!metadata.symbols->empty() || !hasAddresses(text)) return;
  metadata.symbols = std::make_shared<const Symbols>(std::move(text));
}

std::string chosenClock(std::string_view text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', std::min(open, text.size()));
  std::string_view word;
  if (close != std::string_view::npos) {
    word = text.substr(open + 1, close - open - 1);
  } else {
    word = trimmedStart(trimmedEnd(text));
  }
  const bool good =
      !word.empty() && word.size() <= 32 && std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
      });
  return good ? std::string(word) : std::string();
}

CpuStatistics parseStatistics(std::string_view text) {
  CpuStatistics statistics;
  statistics.text = trimmedEnd(text);
  forEachLine(text, [&](std::string_view line, std::size_t) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view name = trimmedStart(line.substr(0, colon));
    const auto value = whole<u64>(trimmedStart(trimmedEnd(line.substr(colon + 1))));
    if (!value) return;
    if (name == "overrun") statistics.overrun = value;
    if (name == "commit overrun") statistics.commitOverrun = value;
    if (name == "dropped events") statistics.dropped = value;
    if (name == "CPU" && *value <= 65'535) statistics.cpu = Cpu{static_cast<u16>(*value)};
  });
  return statistics;
}

Known<bool> nowHasPoint(std::string_view statistics) {
  constexpr std::string_view key = "now ts:";
  const std::size_t at = statistics.find(key);
  if (at == std::string_view::npos) return {};
  const std::size_t end = std::min(statistics.find('\n', at), statistics.size());
  const std::string_view value = statistics.substr(at + key.size(), end - at - key.size());
  // A time of zero is what was never set.
  if (value.find_first_of("123456789") == std::string_view::npos) return {};
  return value.find('.') != std::string_view::npos;
}

void setUname(std::string_view text, Metadata& metadata) {
  metadata.uname = trimmedEnd(text);
  std::vector<std::string_view> words;
  std::string_view rest = metadata.uname;
  while (!(rest = trimmedStart(rest)).empty()) {
    const std::size_t size = std::min(rest.find_first_of(blanks), rest.size());
    words.push_back(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  // System, node, release, then a version of several words, and the machine at the end.
  if (words.size() >= 3) metadata.release = words[2];
  if (words.size() >= 4) metadata.machine = words.back();
}

}  // namespace tickscope::trace_dat
