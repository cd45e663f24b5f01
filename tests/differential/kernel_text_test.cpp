// SPDX-License-Identifier: GPL-3.0-or-later
// Compares printed rows with the kernel's own `trace` file of the same buffer, line by line.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>

#include "core/trace/event_text.h"
#include "importers/import.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

/// Events of a kernel text; lines that continue an event are joined to it.
std::vector<std::string> eventsOf(const std::string& path) {
  static const std::regex prefix(R"(^.{16}-\d+ .*\[\d{3}\] .*)");
  std::ifstream file(path);
  std::vector<std::string> events;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') && events.empty()) continue;
    if (line.starts_with("##### CPU")) continue;
    if (std::regex_match(line, prefix)) {
      events.push_back(line);
    } else if (!events.empty()) {
      events.back() += '\n' + line;
    }
  }
  // The texts are cut after some hundred lines: a stack at the end is not whole.
  if (!events.empty() && events.back().find('\n') != std::string::npos) events.pop_back();
  return events;
}

/// Nanoseconds in our line's time, rounded to the microseconds that the kernel prints.
std::string inMicroseconds(const std::string& line) {
  static const std::regex time(R"((\s*)(\d+)\.(\d{9}): )");
  std::smatch found;
  if (!std::regex_search(line, found, time)) return line;
  const u64 ns = std::stoull(found[2]) * 1'000'000'000 + std::stoull(found[3]) + 500;
  const std::string rounded =
      fmt::format("{:>{}}.{:06}: ", ns / 1'000'000'000, found[1].length() + found[2].length(),
                  ns / 1000 % 1'000'000);
  return found.prefix().str() + rounded + found.suffix().str();
}

/// Replaces the kernel's hashed pointers by ours, in order of appearance; each stands for one
/// address.
class Pointers {
 public:
  explicit Pointers(std::size_t digits)
      : pointer_(fmt::format("([=: ])([0-9a-f]{{{}}})(?![0-9a-f])", digits)) {}

  std::string asOurs(const std::string& kernel, const std::string& ours) {
    const auto inKernel = all(kernel);
    const auto inOurs = all(ours);
    if (inKernel.size() != inOurs.size()) return kernel;
    std::string text;
    std::size_t from = 0;
    for (std::size_t i = 0; i < inKernel.size(); ++i) {
      const auto [at, hashed] = inKernel[i];
      const auto [known, isNew] = real_.try_emplace(hashed, inOurs[i].second);
      if (isNew && !taken_.insert({inOurs[i].second, hashed}).second)
        return kernel + "  [one address, two hashes]";
      text += kernel.substr(from, at - from) + known->second;
      from = at + hashed.size();
    }
    return text + kernel.substr(from);
  }

 private:
  [[nodiscard]] std::vector<std::pair<std::size_t, std::string>> all(
      const std::string& line) const {
    std::vector<std::pair<std::size_t, std::string>> found;
    for (std::sregex_iterator at(line.begin(), line.end(), pointer_), end; at != end; ++at) {
      found.emplace_back(static_cast<std::size_t>(at->position(2)), at->str(2));
    }
    return found;
  }

  std::regex pointer_;
  std::map<std::string, std::string> real_, taken_;
};

/// What this test takes out of a line before it compares.
enum class Leave : u8 {
  Nothing,
  Tgid,   ///< the column of record-tgid
  Values  ///< what this kernel prints empty with hash-ptr off
};

struct Pair {
  std::string text, recording;
  Leave leave = Leave::Nothing;
  std::size_t least = 0;  ///< events that must be there
};

void PrintTo(const Pair& pair, std::ostream* to) { *to << pair.text << " and " << pair.recording; }

std::string without(Leave leave, const std::string& line) {
  static const std::regex tgid(R"(^(.{16}-\d+ +)\((\d| |-){7}\) )");
  static const std::regex values(
      R"(((mode|flags|action|dependency|ret|prev_state|clockid| comm|prev_comm)=)[^ \]]*)");
  switch (leave) {
    case Leave::Nothing:
      return line;
    case Leave::Tgid:
      return std::regex_replace(line, tgid, "$1");
    case Leave::Values:
      return std::regex_replace(line, values, "$1");
  }
  return line;
}

/// Bytes that are no UTF-8 stand in the kernel's text as they are, in ours escaped.
std::string withoutBytes(const std::string& line) {
  static const std::regex escape(R"(\\x[0-9a-f]{2})");
  std::string plain;
  for (const char c : std::regex_replace(line, escape, "?"))
    plain += static_cast<unsigned char>(c) >= 0x80 ? '?' : c;
  return plain;
}

/// The recordings hold a reduced list of symbols. Where the kernel names one that is not in it, our
/// word is taken: callbacks and markers must be addresses then, frames of a stack the nearest
/// symbol.
std::string withOurSymbols(const std::string& kernel, const std::string& ours,
                           const Symbols& symbols) {
  static const std::regex callback(R"(function=([^ ]+))");
  static const std::regex address(R"(0x[0-9a-f]+)");
  static const std::regex marker(R"(: (tracing_mark_write): )");
  static const std::regex place(R"(: (0x[0-9a-f]+): )");
  static const std::regex frame(R"(\n => ([^\n]+))");
  std::smatch a, b;
  if (std::regex_search(kernel, a, callback) && std::regex_search(ours, b, callback) &&
      !symbols.rangeOf(a.str(1)) && std::regex_match(b.str(1), address)) {
    return kernel.substr(0, static_cast<std::size_t>(a.position(1))) + b.str(1) + a.suffix().str();
  }
  if (std::regex_search(kernel, a, marker) && std::regex_search(ours, b, place) &&
      !symbols.rangeOf(a.str(1))) {
    return kernel.substr(0, static_cast<std::size_t>(a.position(1))) + b.str(1) + ": " +
           a.suffix().str();
  }
  std::string text;
  std::sregex_iterator theirs(kernel.begin(), kernel.end(), frame),
      mine(ours.begin(), ours.end(), frame), end;
  if (theirs == end) return kernel;
  text = theirs->prefix().str();
  for (; theirs != end; ++theirs) {
    const bool known = symbols.rangeOf(theirs->str(1)).has_value() || mine == end;
    text += "\n => " + (known ? theirs->str(1) : mine->str(1));
    if (mine != end) ++mine;
  }
  return text;
}

class KernelText : public testing::TestWithParam<Pair> {};

TEST_P(KernelText, EqualsEveryLine) {
  TICKSCOPE_NEED_RECORDING(path, GetParam().text);
  TICKSCOPE_NEED_RECORDING(file, GetParam().recording);
  const auto source = ByteSource::file(file);
  ASSERT_TRUE(source) << describe(source.error());
  Progress progress;
  const auto recording = importTrace(*source, {}, progress);
  ASSERT_TRUE(recording) << describe(recording.error());
  const Buffer& buffer = recording->buffers[recording->mainBuffer()];
  const EventText printer(*recording, buffer);
  const std::vector<std::string> events = eventsOf(path);
  ASSERT_GE(events.size(), GetParam().least);
  ASSERT_LE(events.size(), buffer.events.size());
  Pointers pointers(recording->metadata.wordSize == 4 ? 8 : 16);
  std::size_t different = 0;
  for (u32 row = 0; row < events.size() && different < 10; ++row) {
    const std::string ours =
        withoutBytes(without(GetParam().leave, inMicroseconds(printer.line(Row{row}))));
    const std::string text = withoutBytes(without(GetParam().leave, events[row]));
    const std::string kernel =
        withOurSymbols(pointers.asOurs(text, ours), ours, *recording->metadata.symbols);
    if (ours == kernel) continue;
    ++different;
    ADD_FAILURE() << "event " << row << " of " << GetParam().text << "\nkernel: " << kernel
                  << "\nours:   " << ours;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Recordings, KernelText,
    testing::Values(
        Pair{"text/k-default.txt", "text/k.dat", Leave::Nothing, 1'988},
        Pair{"text/k-tgid.txt", "text/k.dat", Leave::Tgid, 230},
        Pair{"text/k-nohash.txt", "text/k.dat", Leave::Values, 230},
        Pair{"text/k-no-header.txt", "text/k.dat", Leave::Nothing, 200},
        Pair{"text/m-markers.txt", "text/m-markers.dat", Leave::Nothing, 380},
        Pair{"text/s-stack.txt", "text/s-stack.dat", Leave::Nothing, 60},
        Pair{"text/l-overwritten.txt", "text/l-overwritten.dat", Leave::Nothing, 280},
        Pair{"text/clock-x86-tsc.txt", "text/clock-x86-tsc.dat", Leave::Nothing, 230},
        Pair{"arch/arch-arm64-text.txt", "arch/arch-arm64-text.dat", Leave::Nothing, 2'488},
        Pair{"arch/arch-armhf-text.txt", "arch/arch-armhf-text.dat", Leave::Nothing, 2'488},
        Pair{"arch/arch-i386-text.txt", "arch/arch-i386-text.dat", Leave::Nothing, 1'822},
        Pair{"arch/arch-ppc64el-text.txt", "arch/arch-ppc64el-text.dat", Leave::Nothing, 2'488},
        Pair{"arch/arch-s390x-text.txt", "arch/arch-s390x-text.dat", Leave::Nothing, 2'488}),
    [](const auto& tested) {
      std::string name = tested.param.text.substr(tested.param.text.find('/') + 1);
      for (char& c : name) {
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
      }
      return name;
    });

}  // namespace
}  // namespace tickscope
