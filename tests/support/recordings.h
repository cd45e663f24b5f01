// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the recordings that tests read, and gives what tests write a place that goes away.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "core/base/quantity.h"

namespace tickscope::support {

/// A recording by its path below the folder that TICKSCOPE_TRACES names; empty when the variable
/// is not set or there is no such file: a test then skips.
std::optional<std::string> recording(const std::string& name);

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
