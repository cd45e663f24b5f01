// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the recordings that tests read, and gives what tests write a place that goes away.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope::support {

/// The folder of the full set of recordings, which TICKSCOPE_TRACES names; empty when the variable
/// is not set. When TICKSCOPE_REQUIRE_TRACES=1, an empty answer also fails the running test.
std::optional<std::filesystem::path> tracesFolder();

/// tests/recordings: the small set that every clone has.
std::filesystem::path bundledRecordings();

/// The top folder of the sources.
std::filesystem::path sourceFolder();

/// A recording by its path in the full set ("formats/lost.dat"). Without the full set the bundled
/// copy is taken, if there is one. Empty when there is neither: the test then skips, or has failed
/// by this call when TICKSCOPE_REQUIRE_TRACES=1.
std::optional<std::string> recording(const std::string& name);

/// Paths of bundled recordings, and with the full set of others in it.
std::vector<std::string> bundledAndOthers(const std::vector<std::string>& bundled,
                                          const std::vector<std::string>& others);

/// What a test says that skips because of `what`.
std::string needsRecordings(const std::string& what);

/// In a test body: the path of a recording, or the test is skipped (or fails, see recording()).
#define TICKSCOPE_NEED_RECORDING(variable, name)                                            \
  const std::optional<std::string> variable##Found = ::tickscope::support::recording(name); \
  if (!variable##Found) GTEST_SKIP() << ::tickscope::support::needsRecordings(name);        \
  const std::string& variable = *variable##Found

/// In a test body: the folder of the full set, or the test is skipped (or fails).
#define TICKSCOPE_NEED_TRACES_FOLDER(variable)                                        \
  const std::optional<std::filesystem::path> variable##Found =                        \
      ::tickscope::support::tracesFolder();                                           \
  if (!variable##Found) GTEST_SKIP() << ::tickscope::support::needsRecordings("all"); \
  const std::filesystem::path& variable = *variable##Found

/// A folder of its own that is removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Writes a file and returns its path.
  [[nodiscard]] std::string write(const std::string& name, std::span<const u8> bytes) const;
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace tickscope::support
