// SPDX-License-Identifier: GPL-3.0-or-later
// Every recording must hold the events that trace-cmd reports: number, order, times, tasks, fields, losses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/imported.h"
#include "tests/support/recordings.h"
#include "tests/support/report_compare.h"
#include "tests/support/trace_cmd_report.h"
#include "tests/support/trace_dat_source.h"
#include "tests/support/trace_dat_writer.h"

namespace tickscope::support {
namespace {

/// Recordings by their path in the full set; the bundled ones where there is no full set.
std::vector<std::string> recordings() {
  std::vector<std::string> names;
  const char* const traces = std::getenv("TICKSCOPE_TRACES");
  const auto add = [&](const std::filesystem::path& folder, const std::string& prefix) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      // 20-big.dat takes minutes under a sanitizer: big_recording.sh compares it.
      if (entry.path().extension() == ".dat" && name != "20-big.dat")
        names.push_back(prefix + name);
    }
  };
  if (traces && std::filesystem::is_directory(traces)) {
    for (const char* folder : {"", "formats/", "arch/", "text/"})
      add(std::filesystem::path(traces) / folder, folder);
  } else {
    add(bundledRecordings(), "");
    add(sourceFolder() / "resources" / "samples", "");
  }
  std::sort(names.begin(), names.end());
  return names;
}

void expectSame(const std::string& path) {
  const Recording recording = imported(path, 2);
  const ReportComparison compared = compareWithReport(path, recording);
  std::string exceptions;
  for (const auto& [rule, count] : compared.exceptions)
    exceptions += fmt::format("\n  {} x {}", count, rule);
  for (const std::string& difference : compared.differences)
    ADD_FAILURE() << path << ": " << difference;
  fmt::print("{}: {} events, {} fields, {} losses{}\n", path, compared.events, compared.fields,
             compared.losses, exceptions);
}

class Report : public testing::TestWithParam<std::string> {};

TEST_P(Report, HasTheSameEvents) {
  TICKSCOPE_NEED_RECORDING(path, GetParam());
  if (!hasTraceCmd()) GTEST_SKIP() << "needs trace-cmd";
  expectSame(path);
}

INSTANTIATE_TEST_SUITE_P(Recordings, Report, testing::ValuesIn(recordings()), [](const auto& test) {
  std::string name = test.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

class WithoutSymbols : public testing::TestWithParam<const char*> {};

// A name stands for all addresses of a function: only without names is each bit of an address compared.
TEST_P(WithoutSymbols, HasTheSameAddresses) {
  TICKSCOPE_NEED_RECORDING(path, GetParam());
  if (!hasTraceCmd()) GTEST_SKIP() << "needs trace-cmd";
  DatFile file = readDat(readFile(path));
  file.kallsyms.clear();
  const TemporaryFolder folder;
  expectSame(folder.write("nameless.dat", write(file)));
}

INSTANTIATE_TEST_SUITE_P(Recordings, WithoutSymbols,
                         testing::Values("formats/base-v7-zstd.dat", "formats/driver.dat",
                                         "formats/hotplug.dat", "formats/graph-few.dat",
                                         "formats/vectors.dat", "formats/probes.dat",
                                         "arch/arch-armhf.dat", "arch/arch-s390x.dat",
                                         "arch/arch-ppc64el.dat", "09-hotplug.dat",
                                         "15-nohzfull.dat", "16-posix.dat", "19-kprobe.dat"));

TEST(ReportOfOneFileSlow, HasTheSameEvents) {
  const char* const path = std::getenv("TICKSCOPE_COMPARE");
  if (!path) GTEST_SKIP() << "TICKSCOPE_COMPARE names no recording; see big_recording.sh";
  expectSame(path);
}

}  // namespace
}  // namespace tickscope::support
