// SPDX-License-Identifier: GPL-3.0-or-later
// Looks at the environment and the file system on behalf of tests.
#include "tests/support/recordings.h"

#include <stdlib.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace tickscope::support {

namespace {

/// Where the full set is wanted, its absence must not look like success.
void failIfRequired(const std::string& what) {
  const char* required = std::getenv("TICKSCOPE_REQUIRE_TRACES");
  // Outside of a running test (names of parameters, for example) there is nothing to fail.
  if (required == nullptr || std::string_view(required) != "1" ||
      testing::UnitTest::GetInstance()->current_test_info() == nullptr) {
    return;
  }
  ADD_FAILURE() << "TICKSCOPE_REQUIRE_TRACES=1, but " << what << " is not in TICKSCOPE_TRACES";
}

/// The folder, if it is there; says nothing.
std::optional<std::filesystem::path> folderOfFullSet() {
  const char* folder = std::getenv("TICKSCOPE_TRACES");
  if (folder == nullptr || !std::filesystem::is_directory(folder)) return {};
  return folder;
}

}  // namespace

std::optional<std::filesystem::path> tracesFolder() {
  std::optional<std::filesystem::path> folder = folderOfFullSet();
  if (!folder) failIfRequired("the full set of recordings");
  return folder;
}

std::filesystem::path sourceFolder() { return TICKSCOPE_SOURCE_DIR; }

std::filesystem::path bundledRecordings() { return sourceFolder() / "tests" / "recordings"; }

std::optional<std::string> recording(const std::string& name) {
  if (const auto folder = folderOfFullSet()) {
    const std::filesystem::path path = *folder / name;
    if (std::filesystem::is_regular_file(path)) return path.string();
  }
  const std::filesystem::path file = std::filesystem::path(name).filename();
  for (const auto& folder : {bundledRecordings(), sourceFolder() / "resources" / "samples"}) {
    if (std::filesystem::is_regular_file(folder / file)) return (folder / file).string();
  }
  failIfRequired(name);
  return {};
}

std::vector<std::string> bundledAndOthers(const std::vector<std::string>& bundled,
                                          const std::vector<std::string>& others) {
  std::vector<std::string> paths;
  for (const std::string& name : bundled) paths.push_back((bundledRecordings() / name).string());
  if (const auto folder = tracesFolder()) {
    for (const std::string& name : others) paths.push_back((*folder / name).string());
  }
  return paths;
}

std::string needsRecordings(const std::string& what) {
  return "skipped: needs " + what + " of the full set of recordings, set TICKSCOPE_TRACES";
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "tickscope-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, std::span<const u8> bytes) const {
  const std::string file = path(name);
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
  return file;
}

}  // namespace tickscope::support
