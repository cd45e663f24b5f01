// SPDX-License-Identifier: GPL-3.0-or-later
// tickscope-cli latency: what timers asked for against what they got.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "app/cli/command.h"
#include "app/cli/model_report.h"
#include "core/base/shown_text.h"
#include "core/report/findings_text.h"
#include "core/report/table_json.h"
#include "core/report/write_csv.h"
#include "core/stats/latency_table.h"
#include "core/trace/event_text.h"

namespace tickscope {

namespace {

class LatencyCommand : public Command {
 public:
  void addOptions(CLI::App& app) override {
    addModelOptions(app, model_);
    app.add_flag("--csv", csv_, "Comma-separated values, an empty line between tables");
    app.footer(
        "Of wheel timers that are not deferrable: jiffies got over jiffies asked for. assigned: "
        "to\n"
        "the bucket that the wheel chose, at most 2 on a healthy kernel; achieved: to the expiry.\n"
        "An average needs 5 values, a median 20, a 99th percentile 200.");
  }

  Result<void> check() override { return readFacts(model_); }

  Result<void> run(const Opened& opened, const CommonOptions& options, Output& out,
                   Progress& progress) override {
    if (!opened.recording) {
      return fail(Error::Kind::NotATrace,
                  "A /proc/timer_list dump has no expiries; tickscope-cli state prints it.");
    }
    if (!options.from.empty() || !options.to.empty() || !options.cpus.empty()) {
      return fail(Error::Kind::Usage,
                  "latency counts a whole recording; --from, --to and --cpu cannot narrow it.");
    }
    const auto chosen = chosenBuffer(*opened.recording, options);
    if (!chosen) return tl::unexpected(chosen.error());
    const auto modelled = tickscope::modelled(opened.recording, *chosen, model_, progress);
    if (!modelled) return tl::unexpected(modelled.error());
    const Analysis& analysis = modelled->analysis;
    const EventText text(*analysis.recording, analysis.opened());
    const auto name = [&](Address function) { return text.symbol(function); };
    const LatencyTable latency = latencyOf(analysis.events(), analysis.tables, analysis.profile);
    const std::vector<Table> tables{
        latencyTable(latency, Requested::Assigned, LatencyRows::All, name),
        latencyTable(latency, Requested::Achieved, LatencyRows::All, name),
        levelTable(latency, analysis.tables.wheelBases), hrtimerLatencyTable(latency, name)};
    if (options.json) {
      OrderedJson json;
      json["schema"] = "tickscope/latency/1";
      json["file"] = {{"path", shown(opened.path, Breaks::Keep)},
                      {"fingerprint", opened.fingerprint},
                      {"size", opened.size}};
      json["tables"] = OrderedJson::array();
      for (const Table& table : tables) json["tables"].push_back(tableJson(table));
      printJson(json, out);
      return {};
    }
    bool first = true;
    for (const Table& table : tables) {
      if (!std::exchange(first, false)) out.text(csv_ ? "\r\n" : "\n");
      if (csv_) {
        out.text(csvOf(table));
      } else {
        out.print("{}\n{}", table.title, tableText(table, 2));
      }
    }
    return {};
  }

 private:
  ModelOptions model_;
  bool csv_ = false;
};

}  // namespace

std::unique_ptr<Command> makeLatencyCommand() { return std::make_unique<LatencyCommand>(); }

}  // namespace tickscope
