// SPDX-License-Identifier: GPL-3.0-or-later
// tickscope-cli state and selfcheck as a program: instants, timer lists, facts, JSON, golden outputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/quantity.h"
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

ProgramRun cliIn(const std::string& folder, const std::vector<std::string>& arguments) {
  ProgramInput input;
  input.folder = folder;
  return support::runProgram(TICKSCOPE_BINARY_DIR "/tickscope-cli", arguments, input);
}
/// Beside the bundled recordings.
ProgramRun cli(const std::vector<std::string>& arguments) {
  return cliIn(support::bundledRecordings().string(), arguments);
}
/// Beside the bundled sample.
ProgramRun sample(const std::vector<std::string>& arguments) {
  return cliIn((support::sourceFolder() / "resources/samples").string(), arguments);
}

std::string pathOf(const support::TemporaryFolder& folder, const std::string& name,
                   const std::string& text) {
  return folder.write(name, {reinterpret_cast<const u8*>(text.data()), text.size()});
}

std::string textOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The part of `state` that a timer list has too.
std::string timerListOf(const std::string& output) {
  return output.substr(0, output.find("\nState after "));
}

/// Lines of a diff but those of the clock offsets, which no recording tells.
std::vector<std::string> differences(const std::string& a, const std::string& b) {
  std::vector<std::string> found;
  std::istringstream left(a);
  std::istringstream right(b);
  std::string one;
  std::string other;
  while (true) {
    const bool more = static_cast<bool>(std::getline(left, one));
    const bool moreRight = static_cast<bool>(std::getline(right, other));
    if (!more && !moreRight) return found;
    if (!more) one = "(end)";
    if (!moreRight) other = "(end)";
    if (one != other && other != "  .offset:     unknown") found.push_back(one + " | " + other);
    if (!more || !moreRight) return found;
  }
}

/// What a value lacks of the keys that the schema requires, with those of all its parts.
void expectKeys(const Json& schema, const Json& value, const Json& root, const std::string& at) {
  if (schema.contains("$ref")) {
    const std::string name = schema["$ref"];
    expectKeys(root["$defs"][name.substr(name.rfind('/') + 1)], value, root, at);
    return;
  }
  if (value.is_object() && schema.contains("required")) {
    for (const auto& key : schema["required"]) {
      EXPECT_TRUE(value.contains(key)) << key << " is missing at " << at;
    }
  }
  if (value.is_object() && schema.contains("properties")) {
    for (const auto& [key, part] : value.items()) {
      EXPECT_TRUE(schema["properties"].contains(key)) << key << " at " << at;
      if (schema["properties"].contains(key))
        expectKeys(schema["properties"][key], part, root, at + "/" + key);
    }
  }
  if (value.is_array() && schema.contains("items")) {
    for (const Json& part : value) expectKeys(schema["items"], part, root, at + "[]");
  }
}

Json schemaOf(const std::string& name) {
  return Json::parse(
      textOf(support::sourceFolder() / "resources/schema" / (name + ".schema.json")));
}

// --- state --------------------------------------------------------------------------------------

TEST(CliState, IsPrintedAsItWasRead) {
  const ProgramRun ncm = sample({"state", "02-ncm-double.dat", "--at", "event:4711"});
  EXPECT_EQ(ncm.status, 0) << ncm.error;
  support::expectGolden("cli/state-ncm-double.txt", ncm.output);
  const ProgramRun s390x = cli({"state", "arch-s390x-v6.dat", "--cpu", "1"});
  EXPECT_EQ(s390x.status, 0) << s390x.error;
  support::expectGolden("cli/state-s390x.txt", s390x.output);
}

TEST(CliState, IsThatOfTheLastRowAtOrBeforeTheInstant) {
  const Json row =
      Json::parse(sample({"state", "02-ncm-double.dat", "--at", "event:4711", "--json"}).output);
  EXPECT_EQ(row["row"], 4711);
  const std::string time = row["time"];
  // The clock is the monotonic one.
  for (const std::string& at : {time, "mono:" + time, row["ts_ns"].dump() + "ns"}) {
    const Json same =
        Json::parse(sample({"state", "02-ncm-double.dat", "--at", at, "--json"}).output);
    EXPECT_EQ(same["row"], 4711) << at;
    EXPECT_EQ(same["cpus"], row["cpus"]) << at;
  }
  const Json later =
      Json::parse(sample({"state", "02-ncm-double.dat", "--at", "event:4712", "--json"}).output);
  const auto between = (row["ts_ns"].get<s64>() + later["ts_ns"].get<s64>()) / 2;
  const Json middle = Json::parse(
      sample({"state", "02-ncm-double.dat", "--at", std::to_string(between) + "ns", "--json"})
          .output);
  EXPECT_EQ(middle["row"], 4711);
  EXPECT_EQ(middle["mono_ns"], between);
  const Json end = Json::parse(sample({"state", "02-ncm-double.dat", "--json"}).output);
  EXPECT_EQ(end["row"], 9609);
}

TEST(CliState, FindsAJiffy) {
  const ProgramRun run =
      sample({"state", "02-ncm-double.dat", "--at", "jiffies:4294893880", "--json"});
  ASSERT_EQ(run.status, 0) << run.error;
  // HZ is 250 and the tick lies on the grid.
  EXPECT_EQ(Json::parse(run.output)["mono_ns"].get<s64>() % 4'000'000, 0) << run.output;
}

TEST(CliState, RefusesWhatIsNoInstantOfTheRecording) {
  for (const char* at : {"soon", "", "-1", "event:", "event:9610", "event:-1", "mono:", "mono:1",
                         "jiffies:x", "jiffies:12", "6.0", "7s"}) {
    const ProgramRun run = sample({"state", "02-ncm-double.dat", "--at", at});
    EXPECT_EQ(run.status, 2) << at;
    EXPECT_THAT(run.output, IsEmpty()) << at;
    EXPECT_THAT(run.error, StartsWith("tickscope-cli: --at")) << at;
  }
  EXPECT_THAT(sample({"state", "02-ncm-double.dat", "--at", "6.0"}).error,
              AllOf(HasSubstr("6.392148543 to 6.671418391"), HasSubstr("event:0 to event:9609")));
  EXPECT_THAT(sample({"state", "02-ncm-double.dat", "--at", "soon"}).error,
              AllOf(HasSubstr("mono:"), HasSubstr("jiffies:"), HasSubstr("event:ROW")));
  for (const char* option : {"--from", "--to"}) {
    EXPECT_EQ(sample({"state", "02-ncm-double.dat", option, "6.4"}).status, 2) << option;
  }
}

TEST(CliState, IsValidJsonWithTheKeysOfTheSchema) {
  const Json schema = schemaOf("state");
  for (const char* name :
       {"base-v7-zstd.dat", "lost.dat", "arch-armhf.dat", "probes.dat", "synthetic.dat"}) {
    const ProgramRun run = cli({"state", name, "--json"});
    ASSERT_EQ(run.status, 0) << name << ": " << run.error;
    const Json json = Json::parse(run.output, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << name;
    expectKeys(schema, json, schema, name);
  }
}

TEST(CliState, ShowsOnlyTheCpusAskedFor) {
  const Json json =
      Json::parse(sample({"state", "02-ncm-double.dat", "--cpu", "1", "--json"}).output);
  ASSERT_EQ(json["cpus"].size(), 1U);
  EXPECT_EQ(json["cpus"][0]["cpu"], 1);
}

TEST(CliState, GoesByTheFactsOfTheUser) {
  const ProgramRun run =
      sample({"state", "02-ncm-double.dat", "--fact", "hres=no", "--fact", "HZ=250"});
  EXPECT_EQ(run.status, 0) << run.error;
  EXPECT_THAT(run.output,
              AllOf(HasSubstr("  .hres_active    : 0\n"), HasSubstr("resolution: 4000000 nsecs")));
  const support::TemporaryFolder folder;
  const std::string profile = pathOf(folder, "facts", "# of the lab\nhres=yes\n");
  EXPECT_THAT(
      sample({"state", "02-ncm-double.dat", "--profile", profile, "--fact", "hres=no"}).output,
      HasSubstr("  .hres_active    : 0\n"))
      << "--fact holds over --profile";
  const std::string wrong = pathOf(folder, "wrong", "hres=yes\nhrule=R9\n");
  const ProgramRun refused = sample({"state", "02-ncm-double.dat", "--profile", wrong});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.error, AllOf(HasSubstr("hrule"), HasSubstr("R9"), HasSubstr("line 2")));
  EXPECT_EQ(sample({"state", "02-ncm-double.dat", "--profile", "/nonexistent"}).status, 3);
}

// --- Timer lists --------------------------------------------------------------------------------

struct Dump {
  const char* file;
  const char* at;
};
constexpr std::array<Dump, 6> dumps{{{"11-timerlist.before1.txt", "mono:2.098649925"},
                                     {"11-timerlist.after1.txt", "mono:2.153168104"},
                                     {"11-timerlist.before2.txt", "mono:2.407496743"},
                                     {"11-timerlist.after2.txt", "mono:2.461939974"},
                                     {"11-timerlist.before3.txt", "mono:2.716394288"},
                                     {"11-timerlist.after3.txt", "mono:2.770752601"}}};

TEST(CliState, SaysWhichInstantsThereAreForAJiffyThatNeverComes) {
  const ProgramRun run =
      sample({"state", "02-ncm-double.dat", "--at", "jiffies:18446744073709551615"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.error, AllOf(HasSubstr("lies outside the recording"), HasSubstr("jiffies:")));
}

TEST(CliState, NamesAllJiffiesThatItsTimeMayMean) {
  const auto recording = support::recording("12-clocks-uptime.dat");
  if (!recording) GTEST_SKIP() << support::needsRecordings("12-clocks-uptime.dat");
  const ProgramRun run = cli({"state", *recording, "--at", "event:1500", "--quiet"});
  ASSERT_EQ(run.status, 0) << run.error;
  EXPECT_THAT(run.output, HasSubstr(" +- 10000000 ns\n"));
  std::istringstream text(run.output.substr(run.output.find("\nJiffies ") + 9));
  u64 from = 0;
  u64 to = 0;
  std::string word;
  text >> from >> word >> to;
  // 10 ms to both sides, at 250 a second.
  EXPECT_GE(to - from, 5U) << from << " " << word << " " << to;
}

TEST(CliModel, TakesFactsFromAPipe) {
  ProgramInput input;
  input.folder = (support::sourceFolder() / "resources/samples").string();
  for (const std::string command : {"info", "selfcheck"}) {
    const ProgramRun run =
        support::runProgram("/bin/sh",
                            {"-c", "echo hz=100 | " TICKSCOPE_BINARY_DIR "/tickscope-cli " +
                                       command + " 02-ncm-double.dat --json --profile /dev/stdin"},
                            input);
    ASSERT_EQ(run.status, 0) << command << run.error;
    EXPECT_EQ(Json::parse(run.output)["profile"]["hz"]["expected"], "100") << command;
  }
}

TEST(CliTimerList, DiffersFromTheStateAtItsTimeInNothingButTheOffsetsOfClocks) {
  TICKSCOPE_NEED_RECORDING(recording, "11-timerlist.dat");
  const std::string folder = std::filesystem::path(recording).parent_path().string();
  for (const Dump& dump : dumps) {
    const ProgramRun listed = cliIn(folder, {"state", dump.file});
    const ProgramRun state = cliIn(folder, {"state", "11-timerlist.dat", "--at", dump.at});
    ASSERT_EQ(listed.status, 0) << listed.error;
    ASSERT_EQ(state.status, 0) << state.error;
    EXPECT_THAT(listed.output, HasSubstr("hrtimer_wakeup, S:01")) << dump.file;
    std::vector<std::string> found = differences(listed.output, timerListOf(state.output));
    // CPU 1 had its tick while CPU 0 was being printed.
    if (std::string_view(dump.file) == "11-timerlist.before2.txt") {
      std::erase(found,
                 "  .expires_next   : 2409870686 nsecs |   .expires_next   : 2408000000 nsecs");
    }
    EXPECT_THAT(found, IsEmpty()) << dump.file;
  }
}

TEST(CliTimerList, AgreesWithTheModelTimerByTimer) {
  TICKSCOPE_NEED_RECORDING(recording, "11-timerlist.dat");
  const std::string folder = std::filesystem::path(recording).parent_path().string();
  std::vector<std::string> arguments{"selfcheck", "11-timerlist.dat", "--json"};
  for (const Dump& dump : dumps) arguments.insert(arguments.end(), {"--timer-list", dump.file});
  const ProgramRun run = cliIn(folder, arguments);
  ASSERT_EQ(run.status, 0) << run.error;
  const Json json = Json::parse(run.output);
  ASSERT_EQ(json["timer_lists"].size(), dumps.size());
  u64 agree = 0;
  for (const Json& list : json["timer_lists"]) {
    EXPECT_EQ(list["taken"], "during") << list["path"];
    for (const Json& base : list["bases"]) {
      EXPECT_EQ(base["agree"], base["listed"]) << list["path"] << base;
      agree += base["agree"].get<u64>();
    }
    EXPECT_THAT(list["differences"], IsEmpty()) << list["path"];
    for (const Json& next : list["expires_next"]) EXPECT_EQ(next["agrees"], true) << next;
  }
  EXPECT_GE(agree, 60U);
  const Json& lists = json["invariants"][29];
  EXPECT_EQ(lists["id"], "I30");
  EXPECT_EQ(lists["held"], agree);
  EXPECT_EQ(lists["violated"], 0);
}

TEST(CliTimerList, IsReportedWhereItDiffers) {
  TICKSCOPE_NEED_RECORDING(recording, "11-timerlist.dat");
  const std::filesystem::path traces = std::filesystem::path(recording).parent_path();
  std::string text = textOf(traces / "11-timerlist.before1.txt");
  // lab_periodic_hard of 2.34 s, far from the printing.
  const std::string expires = "2340758819-2340758819";
  ASSERT_NE(text.find(expires), std::string::npos);
  text.replace(text.find(expires), expires.size(), "2340758819-2340758820");
  const support::TemporaryFolder folder;
  const std::string changed = pathOf(folder, "changed.txt", text);
  const ProgramRun run =
      cliIn(traces.string(), {"state", "11-timerlist.dat", "--timer-list", changed});
  EXPECT_EQ(run.status, 0) << run.error;
  EXPECT_THAT(run.output,
              HasSubstr("X18 CPU 1 clock 0 lab_periodic_hard: listed 2340758819-2340758820, model "
                        "2340758819-2340758819\n"));
}

TEST(CliTimerList, SeedsWhatWasArmedBeforeTheRecording) {
  const std::string none =
      sample({"state", "02-ncm-double.dat", "--at", "event:0", "--cpu", "0"}).output;
  EXPECT_THAT(none, HasSubstr("# expires at unknown-unknown nsecs"));
  const support::TemporaryFolder folder;
  const std::string list = pathOf(
      folder, "before.txt",
      "Timer List Version: v0.9\nHRTIMER_MAX_CLOCK_BASES: 8\nnow at 6390000000 nsecs\n\ncpu: 0\n "
      "clock 0:\n  .base:       ffff88801f21db40\n  .index:      0\n  .resolution: 1 nsecs\n  "
      ".get_time:   ktime_get\n  .offset:     0 nsecs\nactive timers:\n #0: <ffff88801f21df80>, "
      "tick_sched_timer, S:01\n # expires at 6396000000-6396000000 nsecs [in 6000000 to 6000000 "
      "nsecs]\n  .expires_next   : 6396000000 nsecs\n  .hres_active    : 1\n");
  const ProgramRun seeded =
      sample({"state", "02-ncm-double.dat", "--at", "event:0", "--cpu", "0", "--timer-list", list});
  EXPECT_EQ(seeded.status, 0) << seeded.error;
  EXPECT_THAT(seeded.output,
              AllOf(HasSubstr("tick_sched_timer, S:01\n # expires at 6396000000-6396000000 nsecs"),
                    HasSubstr("armed before the recording, known from the timer list"),
                    HasSubstr("are known from " + list)));
}

/// A dump of two CPUs, CPU 1 without timers, with lines of CPU 0 as "pointer function expires".
std::string dumpAt(const std::string& now, const std::vector<std::array<std::string, 3>>& timers) {
  const std::string base =
      " clock 0:\n  .base:       ffff88801f21db40\n  .index:      0\n  .resolution: 1 nsecs\n  "
      ".get_time:   ktime_get\n  .offset:     0 nsecs\nactive timers:\n";
  std::string text = "Timer List Version: v0.9\nHRTIMER_MAX_CLOCK_BASES: 8\nnow at " + now +
                     " nsecs\n\ncpu: 0\n" + base;
  for (std::size_t i = 0; i < timers.size(); ++i) {
    const auto& [pointer, function, expires] = timers[i];
    text += " #" + std::to_string(i) + ": <" + pointer + ">, " + function +
            ", S:01\n # expires at " + expires + "-" + expires + " nsecs [in 1 to 1 nsecs]\n";
  }
  return text + "\ncpu: 1\n" + base;
}

TEST(CliTimerList, SeedsOnlyWhatTheRecordingBearsOut) {
  const std::array<std::string, 3> right{"ffff88801f21df80", "tick_sched_timer", "6396000000"};
  const std::array<std::string, 3> ranBefore{"ffff888003fffe68", "hrtimer_wakeup", "6391000000"};
  const std::array<std::string, 3> neverRuns{"ffff888003fffd68", "hrtimer_wakeup", "6500000000"};
  const std::array<std::string, 3> movedOn{"ffff88801f21df80", "tick_sched_timer", "9000000000"};
  const std::array<std::string, 3> hashed{"00000000abcdef01", "hrtimer_wakeup", "6500000000"};
  const support::TemporaryFolder folder;
  const auto discrepanciesWith = [&](const std::string& list) {
    std::vector<std::string> arguments{"selfcheck", "02-ncm-double.dat", "--json"};
    if (!list.empty()) arguments.insert(arguments.end(), {"--timer-list", list});
    return Json::parse(sample(arguments).output)["discrepancies"];
  };
  const Json without = discrepanciesWith("");
  const std::string mixed =
      pathOf(folder, "mixed.txt", dumpAt("6390000000", {ranBefore, right, neverRuns, hashed}));
  EXPECT_EQ(discrepanciesWith(mixed), without);
  const std::string state =
      sample({"state", "02-ncm-double.dat", "--at", "event:0", "--timer-list", mixed}).output;
  EXPECT_THAT(state, AllOf(HasSubstr("# expires at 6396000000-6396000000 nsecs"),
                           Not(HasSubstr("6391000000-")), Not(HasSubstr("6500000000-")),
                           HasSubstr("are known from " + mixed)));

  const std::string wrong =
      pathOf(folder, "wrong.txt", dumpAt("6390000000", {movedOn, ranBefore, neverRuns}));
  EXPECT_EQ(discrepanciesWith(wrong), without);
  EXPECT_THAT(
      sample({"state", "02-ncm-double.dat", "--at", "event:0", "--timer-list", wrong}).output,
      AllOf(Not(HasSubstr("9000000000-")), Not(HasSubstr("are known from")),
            HasSubstr("does not tell what was armed when that began")));
}

TEST(CliTimerList, NeedsNoneOfTheOptionsOfARecording) {
  const auto dump = support::recording("11-timerlist.before.txt");
  if (!dump) GTEST_SKIP() << support::needsRecordings("11-timerlist.before.txt");
  EXPECT_EQ(cli({"state", *dump, "--at", "2.1"}).status, 2);
  EXPECT_EQ(cli({"state", *dump, "--fact", "hz=250"}).status, 2);
  EXPECT_EQ(cli({"selfcheck", *dump}).status, 3);
  EXPECT_THAT(cli({"state", *dump, "--cpu", "1"}).output,
              AllOf(HasSubstr("cpu: 1\n"), Not(HasSubstr("cpu: 0\n"))));
  EXPECT_EQ(Json::parse(cli({"state", *dump, "--json"}).output)["schema"],
            "tickscope.timer_list/1");
  EXPECT_EQ(cli({"state", "base-v7-zstd.dat", "--timer-list", "base-v7-zstd.dat"}).status, 3);
}

// --- selfcheck ----------------------------------------------------------------------------------

TEST(CliSelfcheck, SeesTheDoubleProgrammingOfTheSample) {
  const ProgramRun run = sample({"selfcheck", "02-ncm-double.dat", "--json"});
  ASSERT_EQ(run.status, 0) << run.error;
  const Json json = Json::parse(run.output);
  EXPECT_EQ(json["profile"]["hrule"]["expected"], "R3");
  EXPECT_EQ(json["profile"]["hrule"]["observed"], "R1");
  EXPECT_GE(json["rules"]["R1"]["fits"], 1000);
  EXPECT_EQ(json["rules"]["R1"]["misses"], 0);
  const Json& calls = json["invariants"][20];
  EXPECT_EQ(calls["id"], "I21");
  EXPECT_GE(calls["violated"], 1000);
  u64 counted = 0;
  for (const Json& one : json["discrepancies"]) {
    if (one["kind"] == "X11") counted = one["count"].get<u64>();
    EXPECT_TRUE(one["kind"] == "X11" || one["count"] == 0) << one;
  }
  EXPECT_EQ(calls["violated"], counted);
}

TEST(CliSelfcheck, SaysTheSameAsTextAndAsJson) {
  const Json json = Json::parse(sample({"selfcheck", "02-ncm-double.dat", "--json"}).output);
  const std::string text = sample({"selfcheck", "02-ncm-double.dat"}).output;
  std::size_t place = 0;
  for (const char* head : {"\nInvariants\n", "\nDiscrepancies\n", "\nChecks\n", "\nBlind spots\n",
                           "\nProgramming rules", "\nTime\n", "\nKernel facts\n"}) {
    const std::size_t found = text.find(head);
    EXPECT_NE(found, std::string::npos) << head;
    EXPECT_GE(found, place) << head;
    place = found;
  }
  for (const Json& invariant : json["invariants"]) {
    EXPECT_THAT(text, HasSubstr("  " + invariant["id"].get<std::string>() + "  "));
    EXPECT_EQ(invariant["held"].get<u64>() + invariant["violated"].get<u64>(),
              invariant["judged"].get<u64>());
    EXPECT_LE(invariant["judged"], invariant["all"]);
  }
  for (const auto& [name, ratio] : json["ratios"].items()) {
    EXPECT_LE(ratio["held"], ratio["judged"]) << name;
    EXPECT_LE(ratio["judged"], ratio["all"]) << name;
  }
}

TEST(CliSelfcheck, IsValidJsonWithTheKeysOfTheSchema) {
  const Json schema = schemaOf("selfcheck");
  for (const auto& entry : std::filesystem::directory_iterator(support::bundledRecordings())) {
    if (entry.path().extension() != ".dat") continue;
    const std::string name = entry.path().filename().string();
    const ProgramRun run = cli({"selfcheck", name, "--json"});
    if (run.status == 3) {
      EXPECT_THAT(run.error, HasSubstr("has no buffer of events")) << name;
      continue;
    }
    ASSERT_EQ(run.status, 0) << name << ": " << run.error;
    const Json json = Json::parse(run.output, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << name;
    expectKeys(schema, json, schema, name);
  }
}

TEST(CliSelfcheck, NamesNoRowBehindTheRecording) {
  const Json json = Json::parse(
      sample({"selfcheck", "02-ncm-double.dat", "--json", "--fact", "hres=off"}).output);
  ASSERT_FALSE(json["blind_spots"].empty());
  for (const Json& spot : json["blind_spots"]) {
    EXPECT_LE(spot["to_row"].get<u64>(), json["events"].get<u64>()) << spot;
  }
  EXPECT_THAT(sample({"selfcheck", "02-ncm-double.dat", "--fact", "hres=off"}).output,
              AllOf(HasSubstr("event:0 to the end"), Not(HasSubstr("4294967295"))));
}

TEST(CliSelfcheck, CountsEveryInvariant) {
  const Json json = Json::parse(sample({"selfcheck", "02-ncm-double.dat", "--json"}).output);
  for (const Json& invariant : json["invariants"]) {
    EXPECT_TRUE(invariant["counted"].get<bool>()) << invariant;
    // Those that are counted behind the replay.
    for (const char* id : {"I07", "I23", "I24", "I26"}) {
      if (invariant["id"] == id) {
        EXPECT_GT(invariant["judged"].get<int>(), 0) << invariant;
      }
    }
  }
  EXPECT_THAT(sample({"selfcheck", "02-ncm-double.dat"}).output, Not(HasSubstr("not counted")));
}

TEST(CliSelfcheck, ReportsFactsThatContradictTheRecording) {
  const auto contradictions = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"selfcheck", "02-ncm-double.dat", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Json json = Json::parse(sample(arguments).output);
    for (const Json& one : json["discrepancies"]) {
      if (one["kind"] == "X19") return one["count"].get<u64>();
    }
    return u64{0};
  };
  EXPECT_EQ(contradictions({}), 0);
  EXPECT_EQ(contradictions({"--fact", "hres=off"}), 1);
}

TEST(CliSelfcheck, JudgesAWholeRecording) {
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--from", "6.4"}, {"--to", "6.4"}, {"--cpu", "0"}, {"--fact", "hz=0"}}) {
    std::vector<std::string> arguments{"selfcheck", "02-ncm-double.dat"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(sample(arguments).status, 2) << more.front();
  }
  EXPECT_EQ(cli({"selfcheck", "lost.dat", "--strict"}).status, 4);
}

TEST(CliSelfcheck, IsTheSameForAnyNumberOfThreads) {
  for (const char* command : {"state", "selfcheck"}) {
    const std::string one = cli({command, "lost.dat", "--threads", "1"}).output;
    EXPECT_FALSE(one.empty());
    EXPECT_EQ(cli({command, "lost.dat", "--threads", "4"}).output, one) << command;
  }
}

// --- Hostile files ------------------------------------------------------------------------------

TEST(CliModelHostile, EndsWithAKnownStatusAndAMessage) {
  const auto control = support::recording("hostile/00-control-v6.dat");
  if (!control) GTEST_SKIP() << support::needsRecordings("hostile");
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(*control).parent_path())) {
    if (entry.path().extension() != ".dat") continue;
    for (const char* command : {"state", "selfcheck"}) {
      const ProgramRun run = cli({command, entry.path().string(), "--quiet"});
      EXPECT_TRUE(run.status == 0 || run.status == 3)
          << command << " " << entry.path() << ": " << run.status << "\n"
          << run.error;
      for (const char c : run.output + run.error) {
        ASSERT_TRUE(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20)
            << command << " " << entry.path() << ": " << int{c};
      }
    }
  }
}

}  // namespace
}  // namespace tickscope
