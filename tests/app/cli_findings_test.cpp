// SPDX-License-Identifier: GPL-3.0-or-later
// tickscope-cli findings, check, timers, latency and compare as a program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/golden.h"
#include "tests/support/program.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

using support::ProgramInput;
using support::ProgramRun;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

const std::string ncm = "02-ncm-double.dat";

/// Beside the bundled sample.
ProgramRun cli(const std::vector<std::string>& arguments) {
  ProgramInput input;
  input.folder = (support::sourceFolder() / "resources/samples").string();
  return support::runProgram(TICKSCOPE_BINARY_DIR "/tickscope-cli", arguments, input);
}

Json schemaOf(const std::string& name) {
  std::ifstream file(support::sourceFolder() / "resources/schema" / (name + ".schema.json"));
  return Json::parse(file);
}

/// Keys that the schema requires are there, and no others.
void expectKeys(const Json& schema, const Json& value, const Json& root, const std::string& at) {
  if (schema.contains("$ref")) {
    const std::string name = schema["$ref"];
    expectKeys(root["$defs"][name.substr(name.rfind('/') + 1)], value, root, at);
    return;
  }
  if (value.is_object() && schema.contains("properties")) {
    for (const auto& key : schema["required"]) {
      EXPECT_TRUE(value.contains(key)) << key << " is missing at " << at;
    }
    for (const auto& [key, part] : value.items()) {
      EXPECT_TRUE(schema["properties"].contains(key)) << key << " at " << at;
      if (schema["properties"].contains(key)) {
        expectKeys(schema["properties"][key], part, root, at + "/" + key);
      }
    }
  }
  if (value.is_array() && schema.contains("items")) {
    for (const Json& part : value) expectKeys(schema["items"], part, root, at + "[]");
  }
}

Json jsonOf(const std::vector<std::string>& arguments, const std::string& schema) {
  const ProgramRun run = cli(arguments);
  EXPECT_EQ(run.status, 0) << run.error;
  Json json = Json::parse(run.output);
  expectKeys(schemaOf(schema), json, schemaOf(schema), schema);
  EXPECT_EQ(json["schema"], "tickscope/" + schema + "/1");
  return json;
}

TEST(CliFindings, AreListedAndExplainedAsTheyWereRead) {
  const ProgramRun list = cli({"findings", ncm});
  EXPECT_EQ(list.status, 0) << list.error;
  support::expectGolden("cli/findings-ncm-double.txt", list.output);
  const ProgramRun first = cli({"findings", ncm, "--explain", "1"});
  EXPECT_EQ(first.status, 0) << first.error;
  support::expectGolden("cli/findings-ncm-double-1.txt", first.output);
}

TEST(CliFindings, JsonFollowsItsSchema) {
  const Json json = jsonOf({"findings", ncm, "--json"}, "findings");
  const Json& first = json["findings"].at(0);
  EXPECT_EQ(first["id"], "F06");
  EXPECT_EQ(first["severity"], "S2");
  EXPECT_EQ(first["count"], 1282);
  EXPECT_EQ(first["cpus"], Json::array({1}));
  EXPECT_EQ(first["callbacks"], Json::array({"lab_ncm_timeout"}));
  EXPECT_EQ(first["upstream"].at(0)["hash"], "627ef5ae2df8");
  // Commits that nobody has checked are never named.
  EXPECT_THAT(cli({"findings", ncm, "--json"}).output, Not(HasSubstr("bd5956166d20")));
}

TEST(CliFindings, AreNarrowedAndNumberedAlike) {
  const ProgramRun only = cli({"findings", ncm, "--only", "F07", "--explain", "1"});
  EXPECT_EQ(only.status, 0) << only.error;
  EXPECT_THAT(only.output, StartsWith("  1  S3  F07"));
  const ProgramRun severe = cli({"findings", ncm, "--min-severity", "S2"});
  EXPECT_THAT(severe.output, HasSubstr("F06"));
  EXPECT_THAT(severe.output, Not(HasSubstr("S3  F07")));
  const ProgramRun beyond = cli({"findings", ncm, "--only", "F06", "--explain", "2"});
  EXPECT_EQ(beyond.status, 2);
  EXPECT_THAT(beyond.error, HasSubstr("numbers 1 to 1"));
}

TEST(CliFindings, ThresholdsAreSetAndPrinted) {
  const ProgramRun listed = cli({"findings", ncm, "--thresholds", "--set", "double.share=90%"});
  EXPECT_THAT(listed.output, HasSubstr("double.share         90 %"));
  EXPECT_THAT(listed.output, HasSubstr("(default 5 %)"));
  const ProgramRun silent =
      cli({"findings", ncm, "--only", "F06", "--set", "double.share=200%", "--json"});
  EXPECT_EQ(Json::parse(silent.output)["findings"], Json::array());
  for (const std::string bad : {"double.share", "nothing=1", "double.share=5 us", "late.hard=x"}) {
    const ProgramRun run = cli({"findings", ncm, "--set", bad});
    EXPECT_EQ(run.status, 2) << bad;
    EXPECT_THAT(run.error, HasSubstr("--set")) << bad;
  }
}

TEST(CliFindings, WrongOptionsAreUsage) {
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"findings", ncm, "--only", "F99"},
                                             {"findings", ncm, "--min-severity", "S5"},
                                             {"findings", ncm, "--explain", "0"},
                                             {"findings", ncm, "--cpu", "1"},
                                             {"check", ncm, "--fail-on", "bad"},
                                             {"timers", ncm, "--by", "cpu"},
                                             {"timers", ncm, "--sort", "nothing"},
                                             {"compare", ncm}}) {
    const ProgramRun run = cli(bad);
    EXPECT_EQ(run.status, 2) << bad[0] << " " << bad.back();
    EXPECT_THAT(run.output, IsEmpty());
  }
}

TEST(CliCheck, FailsFromItsSeverityOn) {
  const ProgramRun failed = cli({"check", ncm});
  EXPECT_EQ(failed.status, 1);
  EXPECT_THAT(failed.output, StartsWith("02-ncm-double.dat: S2 F06 0.93 1282 "));
  EXPECT_EQ(cli({"check", ncm, "--fail-on", "S1"}).status, 0);
}

TEST(CliTimers, CountWhatTimersDid) {
  const Json json = jsonOf({"timers", ncm, "--json"}, "timers");
  const Json& table = json["tables"].at(0);
  EXPECT_EQ(table["rows"].at(0).at(0), "lab_ncm_timeout");
  EXPECT_EQ(table["rows"].at(0).at(2), 2000);
  const ProgramRun csv = cli({"timers", ncm, "--csv", "--by", "owner", "--sort", "expiries"});
  EXPECT_EQ(csv.status, 0) << csv.error;
  EXPECT_THAT(csv.output, StartsWith("armed by,callback,kind,arms,"));
  EXPECT_THAT(csv.output, HasSubstr("sh-72"));
}

TEST(CliLatency, FollowsItsSchema) {
  const Json json = jsonOf({"latency", ncm, "--json"}, "latency");
  EXPECT_EQ(json["tables"].size(), 4U);
}

TEST(CliCompare, FindsNothingChangedInARecordingBesideItself) {
  const Json json = jsonOf({"compare", ncm, ncm, "--json"}, "compare");
  EXPECT_EQ(json["gone"], 0);
  EXPECT_EQ(json["new"], 0);
  EXPECT_EQ(json["changed"], 0);
  EXPECT_EQ(json["no_longer_judged"], 0);
  EXPECT_EQ(json["tables"].size(), 3U);
}

TEST(CliCompare, SaysThatAFaultIsGone) {
  TICKSCOPE_NEED_RECORDING(stock, "02-ncm-stock.dat");
  const ProgramRun run = cli({"compare", ncm, stock, "--only", "F06"});
  EXPECT_EQ(run.status, 0) << run.error;
  EXPECT_THAT(run.output, HasSubstr("1 gone, 0 new, 0 changed, 0 no longer judged"));
}

/// The figures of the message of the kernel's commit 2fe59f507a65: there 506 jiffies for 1 at most.
TEST(CliCompare, PrintsTheTableOfTheGranularityFix) {
  TICKSCOPE_NEED_RECORDING(deep, "04-stalebase-deep.dat");
  TICKSCOPE_NEED_RECORDING(twin, "04-stalebase-deep-stock.dat");
  const ProgramRun run = cli({"compare", deep, twin, "--json"});
  ASSERT_EQ(run.status, 0) << run.error;
  const Json table = Json::parse(run.output)["tables"].at(1);
  EXPECT_EQ(table["rows"].at(0).at(0), "achieved");
  EXPECT_EQ(table["rows"].at(0).at(2), 508.0);
  EXPECT_EQ(table["rows"].at(1).at(2), 508.0);
  EXPECT_LE(table["rows"].at(1).at(6).get<double>(), 2.0);
}

}  // namespace
}  // namespace tickscope
