// SPDX-License-Identifier: GPL-3.0-or-later
// Files with exactly one thing wrong: what is saved, what is said, and that nothing breaks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/support/imported.h"
#include "tests/support/isolated.h"
#include "tests/support/payload_fields.h"
#include "tests/support/recordings.h"

namespace tickscope::support {
namespace {

using Counters = std::vector<Counter>;

/// What the kinds of messages of cases.tsv are here (an error or one of these counters).
const std::map<std::string, Counters>& countersOfKind() {
  using enum Counter;
  static const std::map<std::string, Counters> all{
      {"truncated", {RangeCut, PagePartial}},
      {"bad-size", {RangeCut, PagePartial}},
      {"bad-offset", {RangeCut, PagePartial}},
      {"bad-count", {RangeCut, PagePartial}},
      {"unfinished", {SalvagedPages}},
      {"header", {HeaderBad}},
      {"bad-option", {OptionsCut, OptionBad}},
      {"bad-format", {FormatBad, FormatTooBig, PrintFormatBad}},
      {"bad-chunk", {ChunkBad, ChunkShort, ChunkSize}},
      {"bad-page", {PageBadCommit, PagePartial}},
      {"bad-record", {RecordOverrun, RecordShort, StringBad}},
      {"loop", {SectionLoop}},
      {"duplicate", {CpuTwice, Overlap, FormatTwice}},
      {"time-back", {TimeBackward}},
      {"time", {TimeBackward}},
      {"unknown-event", {EventUnknown}},
      {"unknown-option", {UnknownOption}},
      {"bad-cmdline", {BadCmdline}},
      {"lost", {MissedEvents, MissedUnknown}},
  };
  return all;
}

/// What must be saved. Ranges where the README accepts several answers; a file that may be refused needs an error
/// with words, one that opens needs one of the counters.
struct Expected {
  const char* name;
  u32 least = 0, most = 0;  ///< rows
  u32 withoutFormat = 0;    ///< of these, rows whose id has no format
  bool mayRefuse = false;
  Counters also{};  ///< counters that say the same as the kind of cases.tsv
};

const std::vector<Expected>& expectations() {
  using enum Counter;
  static const std::vector<Expected> all{
      {.name = "00-control-v6.dat", .least = 230, .most = 230},
      {.name = "01-control-v6-be.dat", .least = 230, .most = 230},
      {.name = "02-control-v7.dat", .least = 230, .most = 230},
      {.name = "03-control-v7-zstd.dat", .least = 230, .most = 230},
      {.name = "04-empty.dat", .mayRefuse = true},
      {.name = "05-version-overflow.dat", .mayRefuse = true},
      {.name = "06-cut-v6-header-size.dat", .mayRefuse = true},
      {.name = "07-cut-v6-format.dat", .least = 0, .most = 0, .mayRefuse = true},
      {.name = "08-cut-v6-page.dat", .least = 113, .most = 113},
      {.name = "09-cut-v6-cpu0.dat", .least = 160, .most = 160},
      {.name = "10-cut-v7-options2.dat", .least = 230, .most = 230, .also = {SalvagedPages}},
      // The 8 whole records of the cut chunk are saved as well.
      {.name = "11-cut-v7-chunk.dat", .least = 168, .most = 168, .also = {SalvagedPages}},
      {.name = "12-v7-options-zero.dat", .least = 230, .most = 230},
      {.name = "13-endian-2.dat", .mayRefuse = true},
      {.name = "14-endian-lies.dat",
       .least = 230,
       .most = 230,
       .mayRefuse = true,
       .also = {EndianFlagWrong}},
      {.name = "15-long-0.dat", .least = 230, .most = 230, .mayRefuse = true, .also = {HeaderBad}},
      {.name = "16-page-0.dat", .least = 230, .most = 230, .mayRefuse = true},
      {.name = "17-page-3000.dat", .least = 230, .most = 230, .mayRefuse = true},
      {.name = "18-page-4g.dat", .least = 230, .most = 230, .mayRefuse = true},
      {.name = "19-v7-page-0.dat", .least = 230, .most = 230},
      {.name = "20-hp-empty.dat", .least = 230, .most = 230},
      {.name = "21-hp-commit-3.dat", .least = 230, .most = 230, .mayRefuse = true},
      {.name = "22-cmdlines-junk.dat", .least = 230, .most = 230},
      {.name = "23-cpus-minus-1.dat", .least = 230, .most = 230},
      {.name = "24-ftrace-count-max.dat", .least = 0, .most = 230, .mayRefuse = true},
      {.name = "25-format-size-2e63.dat", .least = 0, .most = 230, .mayRefuse = true},
      {.name = "26-kallsyms-size-max.dat", .least = 0, .most = 230, .mayRefuse = true},
      {.name = "27-option-size-max.dat", .least = 230, .most = 230},
      // The page of CPU 1 is found by scanning what no stream covers.
      {.name = "28-data-offset-beyond.dat", .least = 160, .most = 230},
      {.name = "29-data-unaligned.dat", .least = 70, .most = 230, .also = {Overlap}},
      {.name = "30-bit-flip-format.dat", .least = 230, .most = 230},
      {.name = "31-loop-self.dat", .least = 230, .most = 230},
      {.name = "32-loop-pair.dat", .least = 230, .most = 230},
      {.name = "33-section-size-max.dat", .least = 230, .most = 230},
      {.name = "34-option-without-done.dat", .least = 230, .most = 230},
      {.name = "35-unknown-ids.dat", .least = 230, .most = 230},
      {.name = "36-compression-unknown.dat",
       .least = 0,
       .most = 0,
       .mayRefuse = true,
       .also = {ChunkBad}},
      {.name = "37-bomb-claim.dat", .least = 70, .most = 70},
      {.name = "38-bomb-real.dat", .least = 70, .most = 70},
      {.name = "39-chunk-count-max.dat", .least = 230, .most = 230},
      {.name = "40-chunk-content-short.dat", .least = 150, .most = 150},
      {.name = "41-chunk-flip.dat", .least = 70, .most = 70},
      // Without its formats all but the records of the ftrace system are unknown.
      {.name = "42-meta-bomb.dat",
       .least = 230,
       .most = 230,
       .withoutFormat = 184,
       .mayRefuse = true,
       .also = {ChunkSize}},
      {.name = "43-buffer-cpus-max.dat", .least = 230, .most = 230},
      {.name = "44-buffer-cpu-ids.dat", .least = 0, .most = 230, .also = {RangeCut}},
      {.name = "45-buffer-same-data.dat", .least = 160, .most = 320},
      {.name = "46-options-weird.dat", .least = 230, .most = 230},
      {.name = "47-fmt-empty.dat", .least = 230, .most = 230, .withoutFormat = 46},
      {.name = "48-fmt-no-fields.dat", .least = 230, .most = 230, .withoutFormat = 46},
      {.name = "49-fmt-parens.dat", .least = 230, .most = 230},
      {.name = "50-fmt-string-endless.dat", .least = 230, .most = 230},
      {.name = "51-fmt-percent.dat", .least = 230, .most = 230},
      {.name = "52-fmt-div-zero.dat", .least = 230, .most = 230},
      {.name = "53-fmt-helpers.dat", .least = 230, .most = 230},
      {.name = "54-fmt-offset-beyond.dat", .least = 230, .most = 230},
      {.name = "55-fmt-size-0.dat", .least = 230, .most = 230},
      {.name = "56-fmt-array-max.dat", .least = 230, .most = 230},
      {.name = "57-fmt-common-moved.dat", .least = 230, .most = 230},
      {.name = "58-fmt-duplicate-id.dat", .least = 230, .most = 230, .withoutFormat = 46},
      {.name = "59-fmt-id-huge.dat", .least = 230, .most = 230, .withoutFormat = 46},
      {.name = "60-fmt-name-html.dat", .least = 230, .most = 230},
      {.name = "61-fmt-dynamic.dat", .least = 230, .most = 230},
      {.name = "62-commit-beyond.dat", .least = 150, .most = 230},
      {.name = "63-commit-max.dat", .least = 150, .most = 230},
      {.name = "64-commit-short.dat", .least = 183, .most = 183},
      {.name = "65-missed-flag.dat", .least = 230, .most = 230},
      {.name = "66-missed-no-room.dat", .least = 230, .most = 230},
      {.name = "67-record-length-0.dat", .least = 170, .most = 180},
      {.name = "68-record-length-max.dat", .least = 170, .most = 170},
      {.name = "69-record-over-end.dat", .least = 170, .most = 170},
      {.name = "70-padding-loops.dat", .least = 170, .most = 180},
      {.name = "71-time-extend-overflow.dat", .least = 230, .most = 230},
      {.name = "72-time-stamp-back.dat", .least = 230, .most = 230},
      {.name = "73-page-time-back.dat", .least = 230, .most = 230},
      {.name = "74-page-ff.dat", .least = 150, .most = 150},
      {.name = "75-page-random.dat", .least = 150, .most = 230},
      {.name = "76-events-unknown.dat", .least = 290, .most = 290, .withoutFormat = 60},
      {.name = "77-payload-short.dat", .least = 260, .most = 260},
      {.name = "78-strings-no-end.dat", .least = 250, .most = 250},
      {.name = "79-expires-extreme.dat", .least = 238, .most = 238},
  };
  return all;
}

struct Case {
  std::string file, wrong, kind, salvaged;
};

std::vector<Case> cases(const std::filesystem::path& folder) {
  std::vector<Case> all;
  std::ifstream in(folder / "cases.tsv");
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> columns;
    std::istringstream row(line);
    for (std::string column; std::getline(row, column, '\t');) columns.push_back(column);
    if (columns.size() >= 5 && columns[0].ends_with(".dat"))
      all.push_back({columns[0], columns[2], columns[3], columns[4]});
  }
  return all;
}

/// What the child has to say of a file.
struct Seen {
  bool opened = false;
  u32 rows = 0, withoutFormat = 0;
  u32 cpu0 = 0;
  bool orderKept = true;
  std::string text;  ///< error, or the log
};

std::string look(const std::string& path, int threads) {
  const Result<ByteSource> source = ByteSource::file(path);
  if (!source) return "error: " + describe(source.error());
  Result<Recording> recording = tryImport(*source, threads);
  if (!recording) return "error: " + describe(recording.error());
  u32 rows = 0;
  u32 unknown = 0;
  for (const Buffer& buffer : recording->buffers) {
    rows += buffer.events.size();
    for (u32 row = 0; row < buffer.events.size(); ++row)
      unknown += buffer.events.type(Row{row}).id == 0;
  }
  printAll(*recording);
  return fmt::format("opened {} {}\n{}", rows, unknown, logText(recording->log));
}

Seen seen(const std::string& output) {
  Seen found;
  std::istringstream in(output);
  std::string word;
  in >> word;
  found.opened = word == "opened";
  if (found.opened) in >> found.rows >> found.withoutFormat;
  found.text = output;
  return found;
}

bool logSays(const std::string& text, const Counters& counters) {
  return std::any_of(counters.begin(), counters.end(), [&](Counter c) {
    return text.find("\n" + std::string(nameOf(c)) + " (") != std::string::npos;
  });
}

/// The counters that the kind column allows; empty: no message is expected.
Counters allowed(const std::string& kind, const Expected& expected) {
  Counters counters = expected.also;
  for (const auto& [word, of] : countersOfKind()) {
    for (std::size_t at = kind.find(word); at != std::string::npos; at = kind.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      if (end < kind.size() &&
          (kind[end] == '-' || std::isalpha(static_cast<unsigned char>(kind[end]))))
        continue;
      counters.insert(counters.end(), of.begin(), of.end());
    }
  }
  return counters;
}

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.name; }

class Hostile : public testing::TestWithParam<Expected> {};

TEST_P(Hostile, IsSavedAndSaid) {
  TICKSCOPE_NEED_TRACES_FOLDER(traces);
  const Expected& expected = GetParam();
  const auto all = cases(traces / "hostile");
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Case& c) { return c.file == expected.name; });
  ASSERT_NE(found, all.end()) << expected.name << " is not in cases.tsv";
  const std::string path = traces / "hostile" / expected.name;
  std::string first;
  for (const int threads : {1, 2}) {
    const Outcome outcome = isolated([&] { return look(path, threads); }, {.cpuSeconds = 1});
    ASSERT_TRUE(outcome.ended) << expected.name << " (" << found->wrong << ") " << outcome.how
                               << "\n"
                               << outcome.output;
    if (!underSanitizer()) {
      EXPECT_LT(outcome.peakBytes, u64{200} << 20U) << expected.name;
    }
    if (threads == 1) first = outcome.output;
    EXPECT_EQ(first, outcome.output) << expected.name << " with " << threads << " threads";
  }
  const Seen result = seen(first);
  const auto isControl = [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n'; };
  EXPECT_TRUE(std::none_of(first.begin(), first.end(), isControl))
      << expected.name << ": control characters in " << first;
  SCOPED_TRACE(fmt::format("{}: {}\n  message: {}, saved: {}\n{}", expected.name, found->wrong,
                           found->kind, found->salvaged, first));
  const bool refuse = found->kind.starts_with("refuse");
  if (!result.opened) {
    EXPECT_TRUE(refuse || expected.mayRefuse) << "refused";
    EXPECT_GT(first.size(), std::string("error: ").size() + 10) << "without words";
    return;
  }
  EXPECT_GE(result.rows, expected.least);
  EXPECT_LE(result.rows, expected.most);
  EXPECT_EQ(result.withoutFormat, expected.withoutFormat);
  const Counters counters = allowed(found->kind, expected);
  const bool silent = found->kind.starts_with("none");
  if (counters.empty()) {
    EXPECT_TRUE(silent) << "no counter is known for this kind";
  } else if (!silent || !logSays(first, counters)) {
    EXPECT_TRUE(silent || logSays(first, counters)) << "the log does not say so";
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Hostile, testing::ValuesIn(expectations()), [](const auto& test) {
  std::string name = test.param.name;
  name.resize(name.rfind('.'));
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST(HostileList, IsComplete) {
  TICKSCOPE_NEED_TRACES_FOLDER(traces);
  std::set<std::string> names;
  for (const Expected& expected : expectations()) names.insert(expected.name);
  const auto all = cases(traces / "hostile");
  EXPECT_EQ(all.size(), 80U);
  for (const Case& c : all) EXPECT_TRUE(names.contains(c.file)) << c.file << " has no expectation";
}

}  // namespace
}  // namespace tickscope::support
