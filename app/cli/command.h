// SPDX-License-Identifier: GPL-3.0-or-later
// What a command of tickscope-cli is: options, and what it prints of an opened input.
#pragma once

#include <memory>
#include <string_view>

#include "app/cli/output.h"
#include "app/load.h"
#include "app/options.h"
#include "core/base/progress.h"
#include "core/trace/row_selection.h"

namespace tickscope {

class Command {
 public:
  virtual ~Command() = default;
  /// Adds the command's own options.
  virtual void addOptions(CLI::App& app) { (void)app; }
  /// Refuses what is wrong without looking at the input. Error: Usage.
  virtual Result<void> check() { return {}; }
  /// Prints. Errors: Usage, Cancelled, Unsupported (this kind of input has nothing for the
  /// command).
  virtual Result<void> run(const Opened& opened, const CommonOptions& options, Output& out,
                           Progress& progress) = 0;
  /// Of a command that takes two traces: the second one, before run().
  virtual void second(Opened opened) { (void)opened; }
  /// After run(): something was found that the exit status tells (check).
  [[nodiscard]] virtual bool found() const { return false; }
};

/// A line of the list of commands.
struct CommandInfo {
  std::string_view name;
  std::string_view purpose;  ///< a line of --help
  std::unique_ptr<Command> (*make)();
  bool twoTraces = false;
};

std::unique_ptr<Command> makeInfoCommand();
std::unique_ptr<Command> makeEventsCommand();
std::unique_ptr<Command> makeStateCommand();
std::unique_ptr<Command> makeSelfcheckCommand();
std::unique_ptr<Command> makeFindingsCommand();
std::unique_ptr<Command> makeCheckCommand();
std::unique_ptr<Command> makeTimersCommand();
std::unique_ptr<Command> makeCompareCommand();
std::unique_ptr<Command> makeLatencyCommand();

/// The buffer that the options name, or the one that opens first. Error: Usage with the names that
/// there are; NotATrace for a recording without buffers.
Result<u32> chosenBuffer(const Recording& recording, const CommonOptions& options);
/// What --from, --to and --cpu leave of a buffer. Error: Usage.
Result<RowSelection> chosenRows(const Buffer& buffer, const CommonOptions& options);

}  // namespace tickscope
