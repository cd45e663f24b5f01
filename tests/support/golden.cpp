// SPDX-License-Identifier: GPL-3.0-or-later
// Compares with a file, or writes it.
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "tests/support/recordings.h"

namespace tickscope::support {

namespace {

bool blesses() {
  const char* const bless = std::getenv("TICKSCOPE_BLESS");
  return bless && std::string_view(bless) == "1";
}

std::string firstDifference(const std::string& expected, const std::string& actual) {
  std::istringstream left(expected);
  std::istringstream right(actual);
  std::string a;
  std::string b;
  for (int line = 1;; ++line) {
    const bool more = static_cast<bool>(std::getline(left, a));
    const bool others = static_cast<bool>(std::getline(right, b));
    if (!more && !others) return "only the end of the last line differs";
    if (more != others || a != b) {
      return "line " + std::to_string(line) + "\n  expected: " + (more ? a : "(end)") +
             "\n  actual:   " + (others ? b : "(end)");
    }
  }
}

}  // namespace

void expectGolden(const std::string& name, const std::string& actual) {
  const std::filesystem::path path = sourceFolder() / "tests" / "golden" / name;
  if (blesses()) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing; TICKSCOPE_BLESS=1 writes it";
  std::ostringstream expected;
  expected << file.rdbuf();
  if (expected.str() == actual) return;
  ADD_FAILURE() << path << " differs at " << firstDifference(expected.str(), actual)
                << "\nTICKSCOPE_BLESS=1 writes the new text; read the difference then.";
}

}  // namespace tickscope::support
