// SPDX-License-Identifier: GPL-3.0-or-later
// Holds who may include whom, and what every file begins with, over all sources.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/recordings.h"

namespace tickscope {
namespace {

using Names = std::vector<std::string_view>;

// --- The table ----------------------------------------------------------------------------------

/// What a folder may include besides itself, the standard library, fmt and tl::expected. An entry
/// of `folders` that ends in .h is that one header.
struct Room {
  std::string_view name;
  Names places;  ///< beginnings of the paths that belong to it; the longest match decides
  Names folders;
  Names libraries;
};

const std::vector<Room>& rooms() {
  static const Names core = {"core/base",     "core/trace",    "core/model",  "core/stats",
                             "core/findings", "core/timeline", "core/report", "core/analysis"};
  static const auto with = [](Names names, std::initializer_list<std::string_view> more) {
    names.insert(names.end(), more);
    return names;
  };
  static const std::vector<Room> all = {
      {"core/base", {"core/base/"}, {}, {}},
      {"core/trace", {"core/trace/"}, {"core/base", "core/trace"}, {}},
      // Regular expressions of filters: linear time and bounded memory on any input, which std::regex
      // lacks.
      {"core/trace/filter_terms",
       {"core/trace/filter_terms"},
       {"core/base", "core/trace"},
       {"re2"}},
      {"core/model", {"core/model/"}, {"core/base", "core/trace"}, {"boost", "robin-map"}},
      {"core/stats", {"core/stats/"}, {"core/base", "core/trace", "core/model"}, {}},
      {"core/findings",
       {"core/findings/"},
       {"core/base", "core/trace", "core/model", "core/stats"},
       {"json"}},
      {"core/timeline",
       {"core/timeline/"},
       {"core/base", "core/trace", "core/model", "core/findings/finding.h"},
       {}},
      {"core/analysis",
       {"core/analysis"},
       {"core/base", "core/trace", "core/model", "core/stats", "core/findings", "core/timeline"},
       {}},
      {"core/report", {"core/report/"}, core, {"json"}},
      {"importers",
       {"importers/"},
       {"importers", "core/base", "core/trace"},
       {"zlib", "zstd", "lzma"}},
      // The one user of libtraceevent.
      {"importers/trace_dat/traceevent_text",
       {"importers/trace_dat/traceevent_text"},
       {"importers", "core/base", "core/trace"},
       {"traceevent"}},
      {"views", {"views/"}, core, {"qt"}},
      {"app/load, options, cli",
       {"app/load", "app/options", "app/cli/"},
       with(core, {"importers", "app/load", "app/options"}),
       {"cli11", "json"}},
      {"app/window",
       {"app/window/"},
       with(core, {"importers", "views", "app/load", "app/options"}),
       {"cli11", "json", "qt", "boost", "robin-map"}},
      {"tests",
       {"tests/"},
       with(core, {"importers", "views", "app"}),
       {"cli11", "json", "qt", "boost", "re2", "robin-map", "zlib", "zstd", "lzma", "traceevent",
        "tests"}},
  };
  return all;
}

/// Libraries by how their headers begin. Qt's are found by their form, QWidget or QtWidgets/...
const std::map<std::string_view, Names>& libraries() {
  static const std::map<std::string_view, Names> all = {
      {"boost", {"boost/"}},
      {"robin-map", {"tsl/"}},
      {"re2", {"re2/"}},
      {"json", {"nlohmann/"}},
      {"cli11", {"CLI/"}},
      {"zlib", {"zlib.h"}},
      {"zstd", {"zstd.h", "zstd_errors.h"}},
      {"lzma", {"lzma.h"}},
      {"traceevent", {"event-parse.h", "event-utils.h", "trace-seq.h", "kbuffer.h", "traceevent/"}},
      {"tests",
       {"gtest/", "gmock/", "rapidcheck.h", "rapidcheck/", "benchmark/", "trace-cmd.h",
        "trace-cmd/", "tracefs.h", "libkshark", "kernelshark/", "json-c/", "sanitizer/"}},
  };
  return all;
}

/// Headers of C and POSIX that have the form of a library's.
const Names cHeaders = {"sys/",       "linux/",   "fcntl.h",  "unistd.h", "poll.h",   "pthread.h",
                        "signal.h",   "stdlib.h", "stdio.h",  "string.h", "stdint.h", "stddef.h",
                        "stdbool.h",  "errno.h",  "time.h",   "limits.h", "spawn.h",  "malloc.h",
                        "inttypes.h", "dirent.h", "locale.h", "math.h",   "assert.h", "elf.h"};

/// Headers that cost seconds for each file that sees them: only .cpp files may.
const Names slowHeaders = {"CLI/",   "nlohmann/json.hpp", "QtCharts",
                           "QChart", "event-parse.h",     "traceevent/event-parse.h"};

constexpr std::size_t longestFile = 600;

/// Files that may be longer than `longestFile` lines, and why.
const std::map<std::string_view, std::string_view> longFiles = {};

// --- Checks -------------------------------------------------------------------------------------

bool beginsWithOneOf(std::string_view text, const Names& beginnings) {
  return std::ranges::any_of(beginnings, [&](auto begin) { return text.starts_with(begin); });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// The room of a path from the top; null: none, the file is in the wrong place.
const Room* roomOf(std::string_view path) {
  const Room* found = nullptr;
  std::size_t length = 0;
  for (const Room& room : rooms()) {
    for (std::string_view place : room.places) {
      if (path.starts_with(place) && place.size() > length) {
        found = &room;
        length = place.size();
      }
    }
  }
  return found;
}

/// The library that a header in angle brackets belongs to: "" for the standard ones that everybody
/// may use, "?" for one that no rule knows.
std::string_view libraryOf(std::string_view header) {
  if (header.size() > 1 && header[0] == 'Q' && (std::isupper(header[1]) || header[1] == 't')) {
    return "qt";
  }
  for (const auto& [library, beginnings] : libraries()) {
    if (beginsWithOneOf(header, beginnings)) return library;
  }
  if (header.starts_with("fmt/") || header == "tl/expected.hpp") return "";
  if (header.find('.') == std::string_view::npos && header.find('/') == std::string_view::npos) {
    return "";
  }
  return beginsWithOneOf(header, cHeaders) ? "" : "?";
}

bool mayInclude(const Room& room, std::string_view header) {
  if (roomOf(header) == &room) return true;
  for (std::string_view folder : room.folders) {
    if (header == folder || header.starts_with(fmt::format("{}/", folder)) ||
        header.starts_with(fmt::format("{}.", folder)) ||
        (folder.starts_with("app/") && header.starts_with(folder))) {
      return true;
    }
  }
  return false;
}

/// One line of the file, if it is an include: its name and whether it stands in quotes.
struct Include {
  std::string_view header;
  bool quoted{};
};

std::optional<Include> includeOf(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('#')) return {};
  line = trimmed(line.substr(1));
  if (!line.starts_with("include")) return {};
  line = trimmed(line.substr(std::string_view("include").size()));
  if (line.size() < 2 || (line[0] != '"' && line[0] != '<')) return {};
  const bool quoted = line[0] == '"';
  const std::size_t end = line.find(quoted ? '"' : '>', 1);
  if (end == std::string_view::npos) return {};
  return Include{line.substr(1, end - 1), quoted};
}

/// What is wrong with one include; empty: nothing.
std::string wrongInclude(const Room& room, std::string_view path, const Include& include) {
  const std::string_view header = include.header;
  if (path.ends_with(".h") && beginsWithOneOf(header, slowHeaders)) {
    return fmt::format("{} is slow to compile: only .cpp files may include it", header);
  }
  if (include.quoted) {
    if (header.ends_with(".moc")) return {};
    if (header.find('/') == std::string_view::npos) {
      return fmt::format("write the include of {} from the top folder", header);
    }
    if (!mayInclude(room, header)) {
      return fmt::format("{} may not include {}", room.name, header);
    }
    return {};
  }
  const std::string_view library = libraryOf(header);
  if (library == "?") return fmt::format("no rule knows the library of <{}>", header);
  if (!library.empty() && std::ranges::find(room.libraries, library) == room.libraries.end()) {
    return fmt::format("{} may not include <{}>", room.name, header);
  }
  return {};
}

/// All that is wrong with a file, as `path:line: sentence`.
std::vector<std::string> violations(std::string_view path, std::string_view text) {
  std::vector<std::string> found;
  const auto report = [&](std::size_t line, std::string_view what) {
    found.push_back(fmt::format("{}:{}: {}", path, line, what));
  };
  const Room* room = roomOf(path);
  if (room == nullptr) report(1, "no room of the project has this file");

  std::istringstream lines{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (number == 1 && line != "// SPDX-License-Identifier: GPL-3.0-or-later" &&
        line != "/* SPDX-License-Identifier: GPL-3.0-or-later */") {
      report(1, "the first line is not the SPDX line");
    }
    if (number == 2 && !line.starts_with("// ") && !line.starts_with("/* ")) {
      report(2, "the second line does not say in a comment what the file is for");
    }
    if (const auto include = includeOf(line); include && room != nullptr) {
      if (const std::string wrong = wrongInclude(*room, path, *include); !wrong.empty()) {
        report(number, wrong);
      }
    }
  }
  if (number == 0) report(1, "empty file");
  if (number > longestFile && !longFiles.contains(path)) {
    report(number, fmt::format("longer than {} lines without a reason in this test", longestFile));
  }
  const std::string name = std::filesystem::path(path).stem().string();
  for (std::string_view vague : {"manager", "helper", "util", "common", "misc"}) {
    if (name.find(vague) != std::string::npos) {
      report(1, fmt::format("the name \"{}\" does not say what the file holds", vague));
    }
  }
  return found;
}

/// Paths from the top of all C and C++ files, in order.
std::vector<std::string> sources() {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  const fs::path top = support::sourceFolder();
  for (const char* folder : {"core", "importers", "views", "app", "tests"}) {
    if (!fs::is_directory(top / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(top / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".h" || extension == ".cpp" || extension == ".c") {
        found.push_back(entry.path().lexically_relative(top).string());
      }
    }
  }
  std::ranges::sort(found);
  return found;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string head() { return "// SPDX-License-Identifier: GPL-3.0-or-later\n// What it is for.\n"; }

// --- Tests --------------------------------------------------------------------------------------

TEST(IncludeRules, HoldInAllSources) {
  const std::vector<std::string> paths = sources();
  ASSERT_FALSE(paths.empty()) << "no sources below " << support::sourceFolder();
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    const auto more = violations(path, read(support::sourceFolder() / path));
    found.insert(found.end(), more.begin(), more.end());
  }
  EXPECT_TRUE(found.empty()) << fmt::format("{}\n({} faults in {} files)", fmt::join(found, "\n"),
                                            found.size(), paths.size());
}

TEST(IncludeRules, ScriptsSayTheirLicenceAndPurpose) {
  for (const char* path : {"app/run", "tests/run", ".ci/run"}) {
    std::istringstream lines(read(support::sourceFolder() / path));
    std::string shebang, licence, purpose;
    std::getline(lines, shebang);
    std::getline(lines, licence);
    std::getline(lines, purpose);
    EXPECT_EQ(shebang, "#!/usr/bin/env bash") << path;
    EXPECT_EQ(licence, "# SPDX-License-Identifier: GPL-3.0-or-later") << path;
    EXPECT_TRUE(purpose.starts_with("# ")) << path << ": " << purpose;
  }
}

TEST(IncludeRules, NamesFileLineAndHeader) {
  EXPECT_THAT(violations("views/document.cpp", head() + "#include \"importers/import.h\"\n"),
              testing::ElementsAre("views/document.cpp:3: views may not include "
                                   "importers/import.h"));
}

TEST(IncludeRules, KeepLibrariesInTheirRooms) {
  const auto wrong = [](std::string_view path, std::string_view include) {
    return violations(path, fmt::format("{}#include {}\n", head(), include)).size();
  };
  EXPECT_EQ(wrong("core/trace/event_store.cpp", "<QString>"), 1U);
  EXPECT_EQ(wrong("core/trace/event_store.cpp", "<nlohmann/json.hpp>"), 1U);
  EXPECT_EQ(wrong("core/trace/event_store.cpp", "<boost/intrusive/set.hpp>"), 1U);
  EXPECT_EQ(wrong("core/model/hrtimer_tree.cpp", "<boost/intrusive/set.hpp>"), 0U);
  EXPECT_EQ(wrong("core/base/result.cpp", "\"core/trace/event_store.h\""), 1U);
  EXPECT_EQ(wrong("core/timeline/scene.cpp", "\"core/findings/finding.h\""), 0U);
  EXPECT_EQ(wrong("core/timeline/scene.cpp", "\"core/findings/detector.h\""), 1U);
  EXPECT_EQ(wrong("core/analysis.cpp", "\"core/report/report.h\""), 1U);
  EXPECT_EQ(wrong("importers/import.cpp", "<zstd.h>"), 0U);
  EXPECT_EQ(wrong("importers/import.cpp", "<event-parse.h>"), 1U);
  EXPECT_EQ(wrong("importers/trace_dat/traceevent_text.cpp", "<event-parse.h>"), 0U);
  EXPECT_EQ(wrong("importers/import.cpp", "\"core/model/replay.h\""), 1U);
  EXPECT_EQ(wrong("app/cli/cmd_info.cpp", "\"app/load.h\""), 0U);
  EXPECT_EQ(wrong("app/cli/cmd_info.cpp", "\"views/theme.h\""), 1U);
  EXPECT_EQ(wrong("app/load.cpp", "<QString>"), 1U);
  EXPECT_EQ(wrong("app/window/main.cpp", "<QString>"), 0U);
  EXPECT_EQ(wrong("app/window/main.cpp", "\"app/cli/command.h\""), 1U);
  EXPECT_EQ(wrong("views/document.cpp", "<surprise/library.h>"), 1U);
}

TEST(IncludeRules, KeepSlowHeadersOutOfHeaders) {
  EXPECT_THAT(
      violations("app/options.h", head() + "#include <CLI/CLI.hpp>\n"),
      testing::ElementsAre("app/options.h:3: CLI/CLI.hpp is slow to compile: only .cpp files may "
                           "include it"));
  EXPECT_TRUE(violations("app/options.cpp", head() + "#include <CLI/CLI.hpp>\n").empty());
}

TEST(IncludeRules, WantLicencePurposeAndShortFiles) {
  EXPECT_THAT(violations("core/base/ids.h", "#pragma once\n\n"),
              testing::ElementsAre("core/base/ids.h:1: the first line is not the SPDX line",
                                   "core/base/ids.h:2: the second line does not say in a comment "
                                   "what the file is for"));
  std::string longText = head();
  for (std::size_t i = 0; i < longestFile; ++i) longText += "\n";
  EXPECT_EQ(violations("core/base/ids.h", longText).size(), 1U);
  EXPECT_EQ(violations("core/base/string_util.h", head()).size(), 1U);
  EXPECT_EQ(violations("core/lost.h", head()).size(), 1U);
}

}  // namespace
}  // namespace tickscope
