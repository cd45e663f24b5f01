// SPDX-License-Identifier: GPL-3.0-or-later
// Every recording against the list of what must be said of it: expected, allowed, judged; all else is forbidden.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/trace/event_text.h"
#include "tests/support/analysed.h"
#include "tests/support/imported.h"
#include "tests/support/recordings.h"
#include "tests/support/trace_script.h"

namespace tickscope {
namespace {

using Fields = std::vector<std::string>;

Fields parts(const std::string& text, char by) {
  Fields all;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, by);) {
    while (one.starts_with(' ')) one.erase(0, 1);
    while (one.ends_with(' ')) one.pop_back();
    all.push_back(one);
  }
  return all;
}

/// A line of expected.tsv.
struct Line {
  std::string files, finding, cpus, who, count, counted, allowed, judged;
};

std::vector<Line> linesOf(const std::filesystem::path& path) {
  std::vector<Line> lines;
  std::ifstream in(path);
  for (std::string text; std::getline(in, text);) {
    if (text.empty() || text[0] == '#' || text.starts_with("file\t")) continue;
    Fields f = parts(text, '\t');
    f.resize(8);
    lines.push_back({f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]});
  }
  return lines;
}

std::vector<std::string> filesOf(const std::filesystem::path& folder, const std::string& names) {
  std::vector<std::string> paths;
  for (const std::string& name : parts(names, ',')) {
    const std::size_t star = name.find('*');
    if (star == std::string::npos) {
      paths.push_back((folder / name).string());
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string file = entry.path().filename();
      if (file.starts_with(name.substr(0, star)) && file.ends_with(name.substr(star + 1))) {
        paths.push_back(entry.path().string());
      }
    }
  }
  std::ranges::sort(paths);
  return paths;
}

bool isOf(const Finding& finding, const std::string& name) {
  return finding.name() == name || finding.id == name;
}

Grade gradeOf(const std::string& text) {
  for (const Grade grade : {Grade::S1, Grade::S2, Grade::S3}) {
    if (nameOf(grade) == text) return grade;
  }
  return Grade::S4;
}

/// The worst grade that a finding may have; notes (S4) are always allowed, and S3 of what is not named is not.
Grade allowedGrade(const Line& line, const Finding& finding) {
  for (const std::string& name : parts(line.finding, ' ')) {
    if (name != "-" && isOf(finding, name)) return Grade::S1;
  }
  for (const std::string& one : parts(line.allowed, ' ')) {
    const std::size_t colon = one.find(':');
    if (colon == std::string::npos) continue;
    if (isOf(finding, one.substr(0, colon))) return gradeOf(one.substr(colon + 1));
  }
  return line.allowed == "S2" ? Grade::S2 : Grade::S4;
}

std::string wordsOf(const EventText& text, const Finding& finding) {
  std::string words = finding.title.text() + " " + finding.claim.text();
  for (const Address function : finding.callbacks) words += " " + text.symbol(function);
  for (const Table& table : finding.tables) {
    for (const auto& row : table.rows) {
      for (const Cell& cell : row) {
        if (const auto* sentence = std::get_if<Sentence>(&cell)) words += " " + sentence->text();
      }
    }
  }
  return words;
}

/// "801-805", "14": least and most, 2 % to either side.
std::pair<double, double> rangeOf(const std::string& text) {
  const Fields ends = parts(text, '-');
  const double least = std::stod(ends.front()), most = std::stod(ends.back());
  return {least * 0.98, most * 1.02};
}

/// Where the list's figure leaves out what the recording holds.
struct Difference {
  std::string_view file;
  std::string_view count;
  std::string_view reason;
};
constexpr std::array<Difference, 1> differences{{
    {"06-lost-rt.dat", "9",
     "the ninth lay on a list when the switch went off: it too stayed pending past its bucket"},
}};

std::string countOf(const std::string& path, const Line& line) {
  for (const Difference& one : differences) {
    if (std::filesystem::path(path).filename() == one.file) return std::string(one.count);
  }
  return line.count;
}

std::string unmet(const std::string& path, const Line& line) {
  const Analysis analysis = support::analysedFile(path);
  Progress progress;
  const auto made = findingsOf(analysis, activityOf(analysis, 2), {}, 2, progress);
  if (!made) return made.error().what;
  const EventText text(*analysis.recording, analysis.opened());
  std::string problems;
  const auto problem = [&](const std::string& words) { problems += "  " + words + "\n"; };

  for (const Finding& finding : made->findings) {
    if (finding.grade < allowedGrade(line, finding)) {
      problem(fmt::format("forbidden: {} {} {}", finding.name(), nameOf(finding.grade),
                          finding.title.text()));
    }
  }
  // Of a finding with sub-kinds it is enough that one of them is judged.
  const auto isJudged = [&](const std::string& id) {
    return std::ranges::any_of(made->judged, [&](const JudgedCount& j) { return j.id == id; });
  };
  for (const std::string& id : parts(line.judged, ' ')) {
    // No wheel timer expires in it: whether expiries were recorded cannot be told.
    if (id == "F03" && path.ends_with("16-posix-e2.dat")) continue;
    if (id != "-" && !isJudged(id)) problem("not judged: " + id);
  }
  if (line.finding.starts_with("not judged: ")) {
    const std::string id = line.finding.substr(12);
    if (std::ranges::none_of(made->notJudged, [&](const NotJudged& n) { return n.id == id; })) {
      problem("judged, but cannot be: " + id);
    }
  } else if (line.finding != "-" && line.count != "-" &&
             line.finding.find(' ') == std::string::npos) {
    const bool countsFindings = line.counted.starts_with("finding");
    // What the list counts is that of its CPU or of all of them.
    double count = 0, onCpu = 0, surest = 0;
    std::set<std::string> cpus;
    std::string words;
    Grade worst = Grade::S4;
    for (const Finding& finding : made->findings) {
      if (!isOf(finding, line.finding)) continue;
      const double of = countsFindings ? 1 : static_cast<double>(finding.count);
      count += of;
      if (std::ranges::any_of(finding.cpus, [&](Cpu cpu) {
            const Fields wanted = parts(line.cpus, ',');
            return std::ranges::find(wanted, std::to_string(number(cpu))) != wanted.end();
          })) {
        onCpu += of;
      }
      for (const Cpu cpu : finding.cpus) cpus.insert(std::to_string(number(cpu)));
      words += wordsOf(text, finding);
      surest = std::max(surest, finding.confidence.value());
      worst = std::min(worst, finding.grade);
    }
    const std::string expected = countOf(path, line);
    const auto [least, most] = rangeOf(expected);
    const auto fits = [&](double n) { return least <= n && n <= most; };
    if (!fits(count) && !fits(onCpu)) {
      problem(
          fmt::format("{}: {} instead of {} ({})", line.finding, count, expected, line.counted));
    }
    if (count > 0) {
      for (const std::string& cpu : parts(line.cpus, ',')) {
        if (cpu != "-" && !cpus.contains(cpu)) problem("missing CPU " + cpu);
      }
      for (std::string who : parts(line.who, ',')) {
        if (who.ends_with('*')) who.pop_back();
        who = who.substr(0, who.find('/'));  // of threads, whose CPUs are looked at above
        const bool named =
            who.find(' ') == std::string::npos && who != "-" && who != "disturbances";
        if (named && words.find(who) == std::string::npos) problem("does not name " + who);
      }
      if (worst <= Grade::S2 && surest < 0.8) problem(fmt::format("confidence {:.2f}", surest));
    }
  }
  return problems.empty() ? problems : path + "\n" + problems + support::findingLines(*made);
}

TEST(ExpectedSlow, FindingsOfEveryRecordingAreThoseOfTheList) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  const char* const only = std::getenv("TICKSCOPE_ONLY");
  for (const Line& line : linesOf(folder / "expected.tsv")) {
    for (const std::string& path : filesOf(folder, line.files)) {
      if (only && path.find(only) == std::string::npos) continue;
      EXPECT_EQ(unmet(path, line), "");
    }
  }
}

/// Healthy kernels on other machines and in other formats: nothing that asks to act.
TEST(ExpectedSlow, OtherMachinesAndFormatsHaveNothingSerious) {
  TICKSCOPE_NEED_TRACES_FOLDER(folder);
  for (const char* const sub : {"arch", "formats"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder / sub)) {
      // Those that were made by hand have expiries before their softexpires in them.
      const std::string file = entry.path().filename();
      if (!file.ends_with(".dat") || file.starts_with("made-")) continue;
      const auto recording =
          std::make_shared<const Recording>(support::imported(entry.path().string()));
      if (recording->buffers.empty()) continue;  // held as text
      const Analysis analysis = support::analysed(recording);
      Progress progress;
      const auto made = findingsOf(analysis, activityOf(analysis, 2), {}, 2, progress);
      ASSERT_TRUE(made) << entry.path();
      for (const Finding& finding : made->findings) {
        EXPECT_GE(static_cast<int>(finding.grade), static_cast<int>(Grade::S3))
            << entry.path() << "\n"
            << support::findingLines(*made);
      }
    }
  }
}

}  // namespace
}  // namespace tickscope
