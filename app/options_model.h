// SPDX-License-Identifier: GPL-3.0-or-later
// The options of commands that use the kernel profile or the reference model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/analysis.h"
#include "core/base/result.h"

namespace CLI {
class App;
}

namespace tickscope {

struct ModelOptions {
  std::string profile;                  ///< path; empty: none
  std::vector<std::string> facts;       ///< NAME=VALUE
  std::vector<std::string> timerLists;  ///< paths
  ProfileOverrides overrides;           ///< filled by readFacts()
};

/// Adds --profile, --fact and --timer-list. `options` must outlive `app`.
void addModelOptions(CLI::App& app, ModelOptions& options);

/// Reads what --profile and --fact state; of the same fact --fact holds. Call it once, before the recording is read: a
/// pipe tells its facts only once. Errors: Usage; those of reading the file.
Result<void> readFacts(ModelOptions& options);

struct GivenTimerList {
  std::string path;
  std::shared_ptr<const TimerListDump> dump;
};
/// Reads the dumps of --timer-list, by the time at which they were taken. Errors: those of the importer.
Result<std::vector<GivenTimerList>> readTimerLists(const ModelOptions& options);

/// An analysis and the dumps that are left to be compared with it: all but the one that seeded it.
struct Modelled {
  Analysis analysis;
  std::vector<GivenTimerList> toCompare;
  std::string seededFrom;  ///< path; empty: no dump was taken before the recording
};
/// Replays a buffer with the given facts and the last of the dumps that were taken before its first row.
Result<Modelled> modelled(std::shared_ptr<const Recording> recording, u32 buffer,
                          const ModelOptions& options, Progress& progress);

}  // namespace tickscope
