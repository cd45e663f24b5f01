// SPDX-License-Identifier: GPL-3.0-or-later
// Expected texts that are kept in files and read when they change.
#pragma once

#include <string>

namespace tickscope::support {

/// Fails the test when `actual` is not the text of tests/golden/NAME, and shows the first line that
/// differs. With TICKSCOPE_BLESS=1 in the environment the file is written instead: then read the
/// difference.
void expectGolden(const std::string& name, const std::string& actual);

}  // namespace tickscope::support
