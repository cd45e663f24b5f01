// SPDX-License-Identifier: GPL-3.0-or-later
// Looks at the environment and the file system on behalf of tests.
#include "tests/support/recordings.h"

#include <stdlib.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace tickscope::support {

std::optional<std::string> recording(const std::string& name) {
  const char* folder = std::getenv("TICKSCOPE_TRACES");
  if (folder == nullptr) return {};
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  if (!std::filesystem::is_regular_file(path)) return {};
  return path.string();
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
