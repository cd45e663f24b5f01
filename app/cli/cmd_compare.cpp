// SPDX-License-Identifier: GPL-3.0-or-later
// tickscope-cli compare: two recordings, before and after a patch.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "app/cli/command.h"
#include "app/cli/model_report.h"
#include "app/options_findings.h"
#include "core/base/shown_text.h"
#include "core/report/comparison.h"
#include "core/report/findings_text.h"
#include "core/report/table_json.h"

namespace tickscope {

namespace {

struct Side {
  Modelled modelled;
  Findings findings;
  std::vector<StatsRow> callbacks;
  LatencyTable latency;
  double seconds = 0;

  [[nodiscard]] ComparedSide compared() const {
    return {modelled.analysis, findings, callbacks, latency, seconds};
  }
};

class CompareCommand : public Command {
 public:
  void addOptions(CLI::App& app) override {
    addModelOptions(app, model_);
    addFindingOptions(app, wanted_, true);
    app.footer(
        "A is the first recording, B the second. Findings are joined by id and callback, "
        "callbacks\n"
        "by name; a rate has changed when it differs by a tenth. Rates count by judged time.");
  }

  Result<void> check() override {
    if (const auto read = readFindingOptions(wanted_); !read) return read;
    return readFacts(model_);
  }

  Result<void> run(const Opened& opened, const CommonOptions& options, Output& out,
                   Progress& progress) override {
    if (!options.from.empty() || !options.to.empty() || !options.cpus.empty()) {
      return fail(Error::Kind::Usage,
                  "compare judges whole recordings; --from, --to and --cpu cannot narrow it.");
    }
    auto before = sideOf(opened, options, progress);
    if (!before) return tl::unexpected(before.error());
    auto after = sideOf(*other_, options, progress);
    if (!after) return tl::unexpected(after.error());
    const Comparison made = compare(before->compared(), after->compared());
    if (options.json) {
      printJsonOf(opened, made, out);
    } else {
      out.print("A {}\nB {}\n\n", shown(opened.path), shown(other_->path));
      out.print("{} gone, {} new, {} changed, {} no longer judged\n\n", made.gone, made.appeared,
                made.changed, made.noLongerJudged);
      print(made.findings, out);
      print(made.latency, out);
      print(made.callbacks, out);
    }
    return {};
  }

  void second(Opened opened) override { other_ = std::move(opened); }

 private:
  static void print(const Table& table, Output& out) {
    out.print("{}\n{}\n", table.title, tableText(table, 2));
  }

  void printJsonOf(const Opened& opened, const Comparison& made, Output& out) const {
    OrderedJson json;
    json["schema"] = "tickscope/compare/1";
    for (const auto& [name, file] : {std::pair{"a", &opened}, std::pair{"b", &*other_}}) {
      json[name] = {{"path", shown(file->path, Breaks::Keep)},
                    {"fingerprint", file->fingerprint},
                    {"size", file->size}};
    }
    json["gone"] = made.gone;
    json["new"] = made.appeared;
    json["changed"] = made.changed;
    json["no_longer_judged"] = made.noLongerJudged;
    json["tables"] = OrderedJson::array(
        {tableJson(made.findings), tableJson(made.latency), tableJson(made.callbacks)});
    printJson(json, out);
  }

  Result<Side> sideOf(const Opened& opened, const CommonOptions& options, Progress& progress) {
    if (!opened.recording) {
      return fail(Error::Kind::NotATrace,
                  fmt::format("{} is a /proc/timer_list dump, which has no events to compare.",
                              shown(opened.path)));
    }
    const auto chosen = chosenBuffer(*opened.recording, options);
    if (!chosen) return tl::unexpected(chosen.error());
    auto modelled = tickscope::modelled(opened.recording, *chosen, model_, progress);
    if (!modelled) return tl::unexpected(modelled.error());
    const int threads = threadsOf(options);
    const Activity activity = activityOf(modelled->analysis, threads);
    auto found = findingsOf(modelled->analysis, activity, wanted_.thresholds, threads, progress);
    if (!found) return tl::unexpected(found.error());
    narrow(*found, wanted_);
    const Analysis& analysis = modelled->analysis;
    auto callbacks = timerStatsOf(analysis.opened(), analysis.tables, analysis.clocks,
                                  activity.brackets, StatsBy::Callback);
    auto latency = latencyOf(analysis.events(), analysis.tables, analysis.profile);
    const double seconds = recordedSeconds(analysis);
    return Side{std::move(*modelled), std::move(*found), std::move(callbacks), std::move(latency),
                seconds};
  }

  ModelOptions model_;
  FindingOptions wanted_;
  Known<Opened> other_;
};

}  // namespace

std::unique_ptr<Command> makeCompareCommand() { return std::make_unique<CompareCommand>(); }

}  // namespace tickscope
