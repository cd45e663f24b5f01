// SPDX-License-Identifier: GPL-3.0-or-later
// The options that all commands share.
#pragma once

#include <string>
#include <vector>

#include "app/load.h"
#include "core/base/quantity.h"
#include "core/base/result.h"

namespace CLI {
class App;
}

namespace tickscope {

struct CommonOptions {
  std::vector<std::string> inputs;
  std::string formatsFrom;
  Known<std::string> buffer;  ///< by name; empty text: the top buffer
  std::string from, to;       ///< as written; empty: no bound
  std::string cpus;           ///< as written; empty: all
  std::string maxMemory, maxUnpack;
  int threads = 0;  ///< 0: one a CPU
  bool json = false, strict = false, quiet = false, noColor = false;
};

/// Adds the options and the trace arguments to a command. `options` must outlive `app`.
void addCommonOptions(CLI::App& app, CommonOptions& options);

/// What to open. Error: Usage, with the option in its sentence.
Result<OpenRequest> openRequest(const CommonOptions& options);

/// The CPUs of a list as the kernel writes it: "0,2-5". Sorted, each once. Error: Usage.
Result<std::vector<u32>> readCpuList(const std::string& text);

}  // namespace tickscope
