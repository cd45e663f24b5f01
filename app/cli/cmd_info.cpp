// SPDX-License-Identifier: GPL-3.0-or-later
// tickscope-cli info: what the input is, what is in it and what it lost.
#include "app/cli/command.h"
#include "app/cli/info_report.h"
#include "app/options_model.h"

namespace tickscope {

namespace {

class InfoCommand : public Command {
 public:
  void addOptions(CLI::App& app) override { addModelOptions(app, model_); }

  Result<void> check() override { return readFacts(model_); }

  Result<void> run(const Opened& opened, const CommonOptions& options, Output& out,
                   Progress& progress) override {
    if (opened.timerList) return timerList(opened, options, out);
    const Recording& recording = *opened.recording;
    // A recording of text alone has no buffer, and still something to say.
    if (recording.buffers.empty() && !options.buffer) {
      return print({&opened, 0, {}, false, {}}, options, out);
    }
    const auto chosen = chosenBuffer(recording, options);
    if (!chosen) return tl::unexpected(chosen.error());
    const Buffer& buffer = recording.buffers[*chosen];
    const auto selection = chosenRows(buffer, options);
    if (!selection) return tl::unexpected(selection.error());
    progress.begin("counting events", selection->to() - selection->from());
    auto summary = summarise(buffer, *selection, progress);
    if (!summary) return tl::unexpected(summary.error());
    auto profile = learned(recording, buffer, progress);
    if (!profile) return tl::unexpected(profile.error());
    return print(
        {&opened, *chosen, std::move(*summary), !selection->everything(), std::move(*profile)},
        options, out);
  }

 private:
  /// Of the whole buffer, whatever was chosen. Without a replay, which takes much longer than all the rest: rules that
  /// only a replay sees are not observed here, but in selfcheck.
  Result<KernelProfile> learned(const Recording& recording, const Buffer& buffer,
                                Progress& progress) const {
    const auto lists = readTimerLists(model_);
    if (!lists) return tl::unexpected(lists.error());
    progress.begin("learning kernel facts", 0);
    const ClockMap clocks = ClockMap::fit(buffer, static_cast<u8>(recording.metadata.wordSize * 8));
    if (!progress.advance(0)) return fail(Error::Kind::Cancelled, "Cancelled.");
    return learnProfile(recording, buffer, model_.overrides, clocks.hz(),
                        lists->empty() ? nullptr : lists->front().dump.get());
  }

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

  ModelOptions model_;
};

}  // namespace

std::unique_ptr<Command> makeInfoCommand() { return std::make_unique<InfoCommand>(); }

}  // namespace tickscope
