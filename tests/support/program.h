// SPDX-License-Identifier: GPL-3.0-or-later
// Starts a program and keeps what it says.
#pragma once

#include <string>
#include <vector>

namespace tickscope::support {

struct ProgramRun {
  int status = -1;  ///< exit status; 128 + signal when it was killed
  std::string output, error;
};

struct ProgramInput {
  std::string standardInput;             ///< bytes
  std::vector<std::string> environment;  ///< NAME=VALUE in addition to the test's own
  std::string folder;                    ///< working directory; empty: the test's own
  std::string outputTo;                  ///< a path standard output goes to; empty: it is kept
  int interruptAfterMs = -1;             ///< sends SIGINT then; below 0: never
};

/// Runs `program` with its arguments and waits for it. Throws std::runtime_error when it cannot be
/// started.
ProgramRun runProgram(const std::string& program, const std::vector<std::string>& arguments,
                      const ProgramInput& input = {});

}  // namespace tickscope::support
