// SPDX-License-Identifier: GPL-3.0-or-later
// tickscope-cli info: what the input is, what is in it and what it lost.
#include "app/cli/command.h"
#include "app/cli/info_report.h"

namespace tickscope {

namespace {

class InfoCommand : public Command {
 public:
  Result<void> run(const Opened& opened, const CommonOptions& options, Output& out,
                   Progress& progress) override {
    if (opened.timerList) return timerList(opened, options, out);
    const Recording& recording = *opened.recording;
    // A recording of text alone has no buffer, and still something to say.
    if (recording.buffers.empty() && !options.buffer) {
      return print({&opened, 0, {}, false}, options, out);
    }
    const auto chosen = chosenBuffer(recording, options);
    if (!chosen) return tl::unexpected(chosen.error());
    const Buffer& buffer = recording.buffers[*chosen];
    const auto selection = chosenRows(buffer, options);
    if (!selection) return tl::unexpected(selection.error());
    progress.begin("counting events", selection->to() - selection->from());
    auto summary = summarise(buffer, *selection, progress);
    if (!summary) return tl::unexpected(summary.error());
    return print({&opened, *chosen, std::move(*summary), !selection->everything()}, options, out);
  }

 private:
  static Result<void> print(const RecordingFacts& facts, const CommonOptions& options,
                            Output& out) {
    if (options.json)
      printInfoJson(facts, out);
    else
      printInfo(facts, out);
    return {};
  }

  static Result<void> timerList(const Opened& opened, const CommonOptions& options, Output& out) {
    if (options.buffer || !options.from.empty() || !options.to.empty() || !options.cpus.empty()) {
      return fail(
          Error::Kind::Usage,
          "--buffer, --from, --to and --cpu choose events; a /proc/timer_list dump has none.");
    }
    if (options.json)
      printTimerListInfoJson(opened, out);
    else
      printTimerListInfo(opened, out);
    return {};
  }
};

}  // namespace

std::unique_ptr<Command> makeInfoCommand() { return std::make_unique<InfoCommand>(); }

}  // namespace tickscope
