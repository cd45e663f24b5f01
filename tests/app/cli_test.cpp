// SPDX-License-Identifier: GPL-3.0-or-later
// tickscope-cli as a program: arguments, exit status, golden outputs, standard input, threads and
// locales.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/support/golden.h"
#include "tests/support/program.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

using support::ProgramInput;
using support::ProgramRun;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

/// Runs it beside the bundled recordings, so that outputs name files without their folder.
ProgramRun cli(const std::vector<std::string>& arguments, ProgramInput input = {}) {
  if (input.folder.empty()) input.folder = support::bundledRecordings().string();
  return support::runProgram(TICKSCOPE_BINARY_DIR "/tickscope-cli", arguments, input);
}

std::string bytesOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Rows of the kernel's text form: no comments, losses or continued lines.
std::vector<std::string> rowsOf(const std::string& text) {
  std::vector<std::string> rows = linesOf(text);
  std::erase_if(rows, [](const std::string& line) {
    return line.starts_with("#") || line.starts_with("CPU:") ||
           line.find("] ") == std::string::npos;
  });
  return rows;
}

// --- Usage --------------------------------------------------------------------------------------

TEST(CliUsage, HelpNamesEveryCommandAndOnlyWhatWorks) {
  const ProgramRun run = cli({"--help"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.output,
              AllOf(HasSubstr("  info "), HasSubstr("  events "), HasSubstr("  state "),
                    HasSubstr("  selfcheck "), HasSubstr("  findings "), HasSubstr("  check "),
                    HasSubstr("  compare "), HasSubstr("  latency "), HasSubstr("  timers "),
                    HasSubstr("--version")));
  EXPECT_THAT(run.output, Not(HasSubstr("report")));
  for (const char* command : {"info", "events", "state", "selfcheck", "findings", "check",
                              "compare", "latency", "timers"}) {
    const ProgramRun help = cli({command, "--help"});
    EXPECT_EQ(help.status, 0);
    for (const char* option : {"--json", "--buffer", "--from", "--to", "--cpu", "--formats-from",
                               "--strict", "--max-memory", "--max-unpack", "--threads", "--quiet",
                               "--no-color", "--help", "--version"}) {
      EXPECT_THAT(help.output, HasSubstr(option)) << command;
    }
    EXPECT_THAT(help.output, Not(HasSubstr("--redact"))) << command;
    for (const char* option : {"--profile", "--fact", "--timer-list"}) {
      if (std::string(command) == "events")
        EXPECT_THAT(help.output, Not(HasSubstr(option))) << "events use no model";
      else
        EXPECT_THAT(help.output, HasSubstr(option)) << command;
    }
  }
}

TEST(CliUsage, PrintsItsVersion) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--version"},
                                                    {"info", "--version"},
                                                    {"events", "x", "--version"}}) {
    const ProgramRun run = cli(arguments);
    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.output, StartsWith("tickscope-cli 0."));
  }
}

TEST(CliUsage, RefusesWhatItCannotDo) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {},
           {"report", "base-v7-zstd.dat"},
           {"--json", "info", "base-v7-zstd.dat"},
           {"info"},
           {"info", "base-v7-zstd.dat", "--redact"},
           {"events", "base-v7-zstd.dat", "--profile", "x"},
           {"info", "base-v7-zstd.dat", "--fact", "hz"},
           {"info", "base-v7-zstd.dat", "--fact", "nosuch=1"},
           {"info", "base-v7-zstd.dat", "--match", "cpu==1"},
           {"info", "base-v7-zstd.dat", "base-v6.dat"},
           {"info", "base-v7-zstd.dat", "--threads", "0"},
           {"info", "base-v7-zstd.dat", "--threads", "two"},
           {"info", "base-v7-zstd.dat", "--max-memory", "much"},
           {"info", "base-v7-zstd.dat", "--max-unpack", "0"},
           {"info", "base-v7-zstd.dat", "--cpu", "1-"},
           {"info", "base-v7-zstd.dat", "--cpu", "2-1"},
           {"info", "base-v7-zstd.dat", "--from", "soon"},
           {"info", "base-v7-zstd.dat", "--from", "mono:12.5"},
           {"info", "base-v7-zstd.dat", "--to", "jiffies:4294900000"},
           {"info", "base-v7-zstd.dat", "--to", "event:-1"},
           {"info", "base-v7-zstd.dat", "--buffer", "nosuch"},
           {"events", "base-v7-zstd.dat", "--match", "nosuch==1"},
           {"events", "base-v7-zstd.dat", "--match", "cpu=="},
           {"events", "base-v7-zstd.dat", "--limit", "-1"},
           {"info", "", "--quiet"},
           {"info", "base-v7-zstd.dat", "--from", ""},
           {"info", "base-v7-zstd.dat", "--to", ""},
           {"info", "base-v7-zstd.dat", "--cpu", ""},
           {"info", "base-v7-zstd.dat", "--formats-from", ""},
           {"info", "base-v7-zstd.dat", "--max-memory", ""},
           {"info", "base-v7-zstd.dat", "--max-unpack", ""}}) {
    const ProgramRun run = cli(arguments);
    EXPECT_EQ(run.status, 2) << ::testing::PrintToString(arguments) << "\n" << run.error;
    EXPECT_THAT(run.output, IsEmpty()) << ::testing::PrintToString(arguments);
    EXPECT_THAT(run.error, StartsWith("tickscope-cli")) << ::testing::PrintToString(arguments);
  }
}

TEST(CliUsage, ShowsWhereAFilterIsWrong) {
  const ProgramRun run = cli({"events", "base-v7-zstd.dat", "--match", "cpu==1 && nosuch==1"});
  EXPECT_EQ(run.error,
            "tickscope-cli: --match: No event of this recording has a field `nosuch`.\n"
            "  cpu==1 && nosuch==1\n"
            "            ^^^^^^\n");
}

TEST(CliUsage, SaysWhichOptionWasRepeated) {
  const ProgramRun run = cli({"events", "base-v7-zstd.dat", "--cpu", "0", "--cpu", "1"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.error, HasSubstr("--cpu is given more than once"));
}

TEST(CliUsage, ListsTheBuffersThatThereAre) {
  const ProgramRun run = cli({"events", "instances.dat", "--buffer", "nosuch"});
  EXPECT_THAT(run.error,
              AllOf(HasSubstr("'' (the top buffer)"), HasSubstr("'foo'"), HasSubstr("'bar'")));
}

// --- What cannot be opened ----------------------------------------------------------------------

TEST(CliOpen, EndsWith3WhenTheInputIsNoTrace) {
  const support::TemporaryFolder folder;
  const std::string text = "nothing that a tracer wrote\n";
  const std::string prose =
      folder.write("prose.txt", {reinterpret_cast<const u8*>(text.data()), text.size()});
  const std::string empty = folder.write("empty.dat", {});
  for (const std::string& path :
       {std::string("/nonexistent/trace.dat"), std::string("/"), prose, empty}) {
    for (const char* command : {"info", "events"}) {
      const ProgramRun run = cli({command, path});
      EXPECT_EQ(run.status, 3) << path << "\n" << run.error;
      EXPECT_THAT(run.output, IsEmpty()) << path;
      EXPECT_THAT(run.error, StartsWith("tickscope-cli: ")) << path;
    }
  }
  EXPECT_EQ(cli({"info", "killed-cpu0.raw"}).status, 3) << "raw pages need --formats-from";
}

TEST(CliOpen, BlamesTheFileThatIsWrong) {
  const ProgramRun formats = cli({"info", "--formats-from", "killed-cpu1.raw", "killed-cpu0.raw"});
  EXPECT_EQ(formats.status, 3);
  EXPECT_THAT(formats.error, StartsWith("tickscope-cli: killed-cpu1.raw: "));
  const ProgramRun trace = cli({"info", "--formats-from", "base-v6.dat", "base-v7-zstd.dat"});
  EXPECT_EQ(trace.status, 3);
  EXPECT_THAT(trace.error, StartsWith("tickscope-cli: base-v7-zstd.dat: This is a trace.dat"));
  EXPECT_THAT(trace.output, IsEmpty());
}

TEST(CliOpen, SaysHowMuchOfStandardInputIsTooMuch) {
  ProgramInput input;
  input.standardInput = bytesOf(support::bundledRecordings() / "base-v6.dat");
  const ProgramRun run = cli({"info", "-", "--max-memory", "100K"}, input);
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.error,
            "tickscope-cli: standard input: It gives more than 100 KiB, the most that may be kept "
            "in memory.\n");
}

TEST(CliOpen, SaysThatADumpHasNoEvents) {
  const auto dump = support::recording("11-timerlist.before.txt");
  if (!dump) GTEST_SKIP() << support::needsRecordings("11-timerlist.before.txt");
  const ProgramRun run = cli({"events", *dump});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.error, HasSubstr("has no events"));
}

// --- Golden outputs -----------------------------------------------------------------------------

TEST(CliGolden, InfoOfBundledRecordings) {
  for (const char* name : {"base-v7-zstd", "base-v6", "lost", "instances", "arch-s390x-v6",
                           "made-latency-v7", "made-tsc2nsec", "probes"}) {
    const ProgramRun run = cli({"info", std::string(name) + ".dat"});
    EXPECT_EQ(run.status, 0) << run.error;
    support::expectGolden(std::string("cli/info-") + name + ".txt", run.output);
  }
}

TEST(CliGolden, InfoAsJson) {
  for (const char* name : {"lost", "instances"}) {
    const ProgramRun run = cli({"info", std::string(name) + ".dat", "--json"});
    EXPECT_EQ(run.status, 0) << run.error;
    support::expectGolden(std::string("cli/info-") + name + ".json", run.output);
  }
}

TEST(CliGolden, EventsOfBundledRecordings) {
  struct Case {
    std::string golden;
    std::vector<std::string> arguments;
  };
  for (const auto& [golden, arguments] : std::vector<Case>{
           {"events-base", {"base-v7-zstd.dat", "--limit", "60"}},
           {"events-base-raw", {"base-v7-zstd.dat", "--limit", "20", "--raw"}},
           {"events-base-json", {"base-v7-zstd.dat", "--limit", "20", "--json"}},
           {"events-markers",
            {"markers.dat", "--match", "event==print || event=~\"bp\"", "--limit", "40"}},
           {"events-stack", {"stack-all.dat", "--limit", "12"}},
           {"events-probes", {"probes.dat", "--limit", "30"}},
           {"events-synthetic", {"synthetic.dat", "--limit", "30"}},
           {"events-foo", {"instances.dat", "--buffer", "foo", "--limit", "10"}},
           {"events-bar", {"instances.dat", "--buffer", "bar", "--limit", "10"}},
           {"events-s390x", {"arch-s390x-v6.dat", "--limit", "20"}}}) {
    std::vector<std::string> all{"events"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ProgramRun run = cli(all);
    EXPECT_EQ(run.status, 0) << run.error;
    support::expectGolden("cli/" + golden + ".txt", run.output);
  }
}

TEST(CliGolden, InfoOfATimerListDump) {
  const auto dump = support::recording("11-timerlist.before.txt");
  if (!dump) GTEST_SKIP() << support::needsRecordings("11-timerlist.before.txt");
  ProgramInput input;
  input.folder = std::filesystem::path(*dump).parent_path().string();
  const ProgramRun run = cli({"info", "11-timerlist.before.txt"}, input);
  EXPECT_EQ(run.status, 0) << run.error;
  support::expectGolden("cli/info-timer-list.txt", run.output);
  const Json json = Json::parse(cli({"info", *dump, "--json"}).output);
  EXPECT_EQ(json["schema"], "tickscope.timer_list/1");
  EXPECT_EQ(json["cpus"][0]["bases"][0]["timers"][0]["function"], "tick_sched_timer");
}

// --- The same bytes -----------------------------------------------------------------------------

TEST(CliOutput, IsTheSameForAnyNumberOfThreadsAndAnyLocale) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"info", "lost.dat"},
                                                    {"info", "lost.dat", "--json"},
                                                    {"events", "lost.dat"},
                                                    {"events", "synthetic.dat", "--json"}}) {
    const std::string expected = cli(arguments).output;
    EXPECT_FALSE(expected.empty());
    for (const char* threads : {"1", "2", "4"}) {
      std::vector<std::string> with = arguments;
      with.insert(with.end(), {"--threads", threads});
      EXPECT_EQ(cli(with).output, expected) << ::testing::PrintToString(with);
    }
    for (const char* locale : {"C", "C.UTF-8", "de_DE.UTF-8", "nonsense"}) {
      ProgramInput input;
      input.environment = {std::string("LC_ALL=") + locale};
      EXPECT_EQ(cli(arguments, input).output, expected) << locale;
    }
  }
}

TEST(CliOutput, IsTheSameFromStandardInput) {
  ProgramInput input;
  input.standardInput = bytesOf(support::bundledRecordings() / "base-v7-zstd.dat");
  const ProgramRun piped = cli({"events", "-"}, input);
  EXPECT_EQ(piped.status, 0) << piped.error;
  EXPECT_EQ(piped.output, cli({"events", "base-v7-zstd.dat"}).output);
  input.standardInput = bytesOf(support::bundledRecordings() / "synthetic.dat");
  const ProgramRun synthetic = cli({"events", "-"}, input);
  EXPECT_EQ(synthetic.output, cli({"events", "synthetic.dat"}).output)
      << "untyped events are read again";
}

TEST(CliOutput, SaysWhenItCannotBeWritten) {
  ProgramInput input;
  input.outputTo = "/dev/full";
  const ProgramRun run = cli({"events", "lost.dat"}, input);
  EXPECT_EQ(run.status, 5);
  EXPECT_THAT(run.error, HasSubstr("Standard output cannot be written"));
}

// --- events -------------------------------------------------------------------------------------

TEST(CliEvents, HaveOneLineAnEventAndALineALoss) {
  const ProgramRun run = cli({"events", "lost.dat"});
  const Json info = Json::parse(cli({"info", "lost.dat", "--json"}).output);
  EXPECT_EQ(rowsOf(run.output).size(), info["events"].get<std::size_t>());
  std::vector<std::string> losses = linesOf(run.output);
  std::erase_if(losses, [](const std::string& line) { return !line.starts_with("CPU:"); });
  EXPECT_THAT(losses, ::testing::UnorderedElementsAre("CPU:0 [LOST 2257 EVENTS]",
                                                      "CPU:1 [LOST 2156 EVENTS]"));
  EXPECT_THAT(run.error, HasSubstr("loss: "));
}

TEST(CliEvents, ShowLossesBeforeTheRowBehindTheGap) {
  const std::vector<std::string> lines = linesOf(cli({"events", "lost.dat", "--json"}).output);
  u64 expected = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const Json line = Json::parse(lines[i]);
    if (line.contains("lost")) {
      EXPECT_EQ(line["before_row"], expected);
      continue;
    }
    ASSERT_EQ(line["row"], expected++) << lines[i];
  }
  // A filter that leaves out the row behind the gap leaves the gap.
  const ProgramRun other = cli({"events", "lost.dat", "--match", "row==0 || row>18000"});
  EXPECT_THAT(other.output, HasSubstr("CPU:0 [LOST 2257 EVENTS]"));
  // Who asked for the first rows has not asked for what comes later.
  EXPECT_THAT(cli({"events", "lost.dat", "--limit", "3"}).output, Not(HasSubstr("LOST")));
  EXPECT_THAT(cli({"events", "lost.dat", "--cpu", "1"}).output,
              AllOf(HasSubstr("CPU:1 [LOST 2156"), Not(HasSubstr("CPU:0"))));
}

TEST(CliEvents, KeepTheBytesOfRecordsWithoutAFormat) {
  const auto hostile = support::recording("hostile/76-events-unknown.dat");
  if (!hostile) GTEST_SKIP() << support::needsRecordings("hostile/76-events-unknown.dat");
  const auto rows = rowsOf(cli({"events", *hostile, "--raw", "--match", "row==289"}).output);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_THAT(rows[0], HasSubstr("ff ff 11 00"));
}

TEST(CliEvents, AreNarrowedByRowTimeAndCpu) {
  const std::vector<std::string> all = rowsOf(cli({"events", "base-v7-zstd.dat"}).output);
  ASSERT_GT(all.size(), 100U);
  EXPECT_EQ(
      rowsOf(cli({"events", "base-v7-zstd.dat", "--from", "event:10", "--to", "event:20"}).output),
      std::vector<std::string>(all.begin() + 10, all.begin() + 20));
  const Json row = Json::parse(
      linesOf(cli({"events", "base-v7-zstd.dat", "--json", "--match", "row==50"}).output)[1]);
  const std::string time = row["time"];
  EXPECT_EQ(
      rowsOf(cli({"events", "base-v7-zstd.dat", "--from", time, "--limit", "1"}).output).at(0),
      all[50]);
  const auto before = rowsOf(cli({"events", "base-v7-zstd.dat", "--to", time}).output);
  EXPECT_EQ(before, std::vector<std::string>(all.begin(), all.begin() + 50));
  EXPECT_EQ(rowsOf(cli({"events", "base-v7-zstd.dat", "--match", "time<" + time}).output), before);
  std::size_t sum = 0;
  for (const char* cpu : {"0", "1"}) {
    const auto rows = rowsOf(cli({"events", "base-v7-zstd.dat", "--cpu", cpu}).output);
    for (const std::string& line : rows)
      EXPECT_THAT(line, HasSubstr(std::string("[00") + cpu + "]"));
    EXPECT_EQ(
        rowsOf(cli({"events", "base-v7-zstd.dat", "--match", std::string("cpu==") + cpu}).output),
        rows);
    sum += rows.size();
  }
  EXPECT_EQ(sum, all.size());
  EXPECT_THAT(cli({"events", "base-v7-zstd.dat", "--cpu", "7"}).error,
              HasSubstr("no events in this buffer on CPU 7"));
}

TEST(CliEvents, AreValidJsonWithTheKeysOfTheSchema) {
  const Json schema =
      Json::parse(bytesOf(support::sourceFolder() / "resources/schema/events.schema.json"));
  for (const char* name : {"markers.dat", "probes.dat", "lost.dat", "arch-armhf.dat"}) {
    const std::vector<std::string> lines =
        linesOf(cli({"events", name, "--json", "--limit", "4000"}).output);
    ASSERT_GT(lines.size(), 1U) << name;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Json line = Json::parse(lines[i], nullptr, false);
      ASSERT_FALSE(line.is_discarded()) << name << ":" << i + 1 << ": " << lines[i];
      const char* const kind = i == 0 ? "head" : line.contains("lost") ? "loss" : "row";
      for (const auto& key : schema["$defs"][kind]["required"]) {
        ASSERT_TRUE(line.contains(key)) << key << " is missing in " << name << ":" << i + 1;
      }
      ASSERT_EQ(line.size(), schema["$defs"][kind]["properties"].size()) << lines[i];
    }
  }
}

TEST(CliEvents, EndQuietlyWhenTheReaderLeaves) {
  const std::string command = std::string("'") + TICKSCOPE_BINARY_DIR
                              "/tickscope-cli' events lost.dat --quiet | head -1; "
                              "echo status ${PIPESTATUS[0]}";
  ProgramInput input;
  input.folder = support::bundledRecordings().string();
  const ProgramRun run = support::runProgram("/bin/bash", {"-c", command}, input);
  EXPECT_EQ(run.output, "# tracer: nop\nstatus 0\n");
  EXPECT_THAT(run.error, IsEmpty());
}

// --- info ---------------------------------------------------------------------------------------

TEST(CliInfo, IsValidJsonWithTheKeysOfTheSchema) {
  const Json schema =
      Json::parse(bytesOf(support::sourceFolder() / "resources/schema/info.schema.json"));
  for (const auto& entry : std::filesystem::directory_iterator(support::bundledRecordings())) {
    if (entry.path().extension() != ".dat") continue;
    const ProgramRun run = cli({"info", entry.path().filename().string(), "--json"});
    EXPECT_EQ(run.status, 0) << run.error;
    const Json json = Json::parse(run.output, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << entry.path();
    for (const auto& key : schema["$defs"]["recording"]["required"]) {
      EXPECT_TRUE(json.contains(key)) << key << " is missing for " << entry.path();
    }
    EXPECT_EQ(json.size(), schema["$defs"]["recording"]["properties"].size()) << entry.path();
    u64 events = 0;
    for (const Json& type : json["events_by_type"]) events += type["events"].get<u64>();
    EXPECT_EQ(json["events"], events) << entry.path();
  }
}

TEST(CliInfo, CountsWhatWasChosen) {
  const Json all = Json::parse(cli({"info", "base-v7-zstd.dat", "--json"}).output);
  const Json part = Json::parse(cli({"info", "base-v7-zstd.dat", "--json", "--from", "event:5",
                                     "--to", "event:25", "--cpu", "0"})
                                    .output);
  EXPECT_EQ(part["chosen"], true);
  EXPECT_EQ(part["cpus"], Json::array({0}));
  const auto rows = rowsOf(
      cli({"events", "base-v7-zstd.dat", "--from", "event:5", "--to", "event:25", "--cpu", "0"})
          .output);
  EXPECT_EQ(part["events"], rows.size());
  EXPECT_EQ(all["chosen"], false);
}

TEST(CliInfo, ReadsRawPagesOfAKilledRecorder) {
  const ProgramRun run = cli({"info", "killed-cpu0.raw", "killed-cpu1.raw", "--formats-from",
                              "base-v7-zstd.dat", "--json"});
  ASSERT_EQ(run.status, 0) << run.error;
  const Json json = Json::parse(run.output);
  EXPECT_EQ(json["cpus"], Json::array({0, 1}));
  EXPECT_EQ(json["events"], 5089);
}

TEST(CliInfo, LooksForStatisticsOnlyOfChosenCpus) {
  const std::string output = cli({"info", "lost.dat", "--cpu", "7", "--quiet"}).output;
  EXPECT_THAT(output, AllOf(HasSubstr("None within the recording as it was chosen."),
                            Not(HasSubstr("statistics are not in the file"))));
}

TEST(CliInfo, DoesNotCallADamagedFileWhole) {
  const support::TemporaryFolder folder;
  std::string bytes = bytesOf(support::bundledRecordings() / "base-v6.dat");
  bytes.resize(bytes.size() - 5000);
  const std::string cut =
      folder.write("cut.dat", {reinterpret_cast<const u8*>(bytes.data()), bytes.size()});
  EXPECT_THAT(cli({"info", cut}).output,
              AllOf(HasSubstr("None that the kernel noted; what could not be read stands below."),
                    Not(HasSubstr("None within the recording"))));
}

TEST(CliInfo, IsStrictAboutLosses) {
  EXPECT_EQ(cli({"info", "lost.dat"}).status, 0);
  const ProgramRun strict = cli({"info", "lost.dat", "--strict"});
  EXPECT_EQ(strict.status, 4);
  EXPECT_FALSE(strict.output.empty());
  EXPECT_EQ(cli({"info", "base-v7-zstd.dat", "--strict"}).status, 0);
  EXPECT_THAT(cli({"info", "lost.dat", "--quiet"}).error, IsEmpty());
}

// --- Hostile files ------------------------------------------------------------------------------

TEST(CliHostile, EndsWithAKnownStatusAndAMessage) {
  const auto control = support::recording("hostile/00-control-v6.dat");
  if (!control) GTEST_SKIP() << support::needsRecordings("hostile");
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(*control).parent_path())) {
    if (entry.path().extension() == ".dat") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  EXPECT_GE(files.size(), 80U);
  for (const auto& path : files) {
    for (const char* command : {"info", "events"}) {
      const ProgramRun run = cli({command, path.string()});
      EXPECT_TRUE(run.status == 0 || run.status == 3) << path << ": " << run.status << "\n"
                                                      << run.error;
      if (run.status == 3) {
        EXPECT_THAT(run.output, IsEmpty()) << path;
        EXPECT_THAT(run.error, HasSubstr("tickscope-cli: ")) << path;
      }
      // Nothing that a terminal would obey reaches it.
      for (const char c : run.output + run.error) {
        ASSERT_TRUE(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20)
            << path << ": " << int{c};
      }
    }
    const ProgramRun json = cli({"info", path.string(), "--json"});
    if (json.status == 0) {
      EXPECT_FALSE(Json::parse(json.output, nullptr, false).is_discarded()) << path;
    }
  }
}

TEST(CliCancel, EndsWith130) {
  const auto big = support::recording("20-big.dat");
  if (!big) GTEST_SKIP() << support::needsRecordings("20-big.dat");
  // Printing all rows takes seconds, so the signal meets a running job wherever it is.
  ProgramInput input;
  input.interruptAfterMs = 100;
  input.outputTo = "/dev/null";
  EXPECT_EQ(cli({"events", *big, "--match", "nosuchword"}, input).status, 130);
}

TEST(CliCancel, EndsAtOnceWhileNobodyWritesToAPipe) {
  const support::TemporaryFolder folder;
  const std::string pipe = folder.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // A writer that comes late, should the signal not have ended the program.
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    const int writer = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK);
    if (writer >= 0) ::close(writer);
  });
  ProgramInput input;
  input.interruptAfterMs = 100;
  const ProgramRun run = cli({"info", pipe}, input);
  EXPECT_EQ(run.status, 130) << run.error;
  late.join();
}

}  // namespace
}  // namespace tickscope
