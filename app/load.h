// SPDX-License-Identifier: GPL-3.0-or-later
// Opens what the user names, for both programs: the one place where lack of memory is caught.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/trace/recording.h"
#include "core/trace/timer_list_dump.h"
#include "importers/import.h"

namespace tickscope {

struct OpenRequest {
  std::vector<std::string>
      inputs;  ///< paths; "-": standard input. More than one: raw pages of one recorder
  std::string formatsFrom;  ///< a trace.dat whose formats raw pages are read with; empty: none
  ImportOptions import;
};

/// A recording or a dump; never both.
struct Opened {
  std::string path;         ///< the first input as given
  std::string fingerprint;  ///< of the first input
  u64 size = 0;             ///< bytes, of all inputs
  std::shared_ptr<const Recording> recording;
  std::shared_ptr<const TimerListDump> timerList;
};

/// Decides by content. Errors: those of the importers; Usage for inputs that do not go together;
/// TooLarge when memory runs out; Internal for anything else that was thrown.
Result<Opened> openInputs(const OpenRequest& request, Progress& progress);

/// The exception that is being handled, as an error.
Error errorOfCurrentException();

/// Calls `job`, which gives a Result, and turns what it throws into an error: TooLarge for lack of
/// memory, else Internal.
template <class Job>
auto withLastCatch(Job&& job) -> decltype(job()) {
  try {
    return job();
  } catch (...) {
    return tl::unexpected<Error>(errorOfCurrentException());
  }
}

/// What a command ends with.
enum class ExitStatus : u8 {
  Done = 0,
  Found = 1,  ///< check found something at or above --fail-on
  Usage = 2,
  Unreadable = 3,  ///< cannot be opened, or is no trace
  Damaged = 4,     ///< --strict, and the input was damaged or lost events
  Internal = 5,
  Cancelled = 130
};
ExitStatus exitStatusOf(const Error& error);

}  // namespace tickscope
