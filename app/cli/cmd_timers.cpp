// SPDX-License-Identifier: GPL-3.0-or-later
// tickscope-cli timers: what timers did, by callback, owner or timer.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "app/cli/command.h"
#include "app/cli/model_report.h"
#include "app/options_findings.h"
#include "core/base/shown_text.h"
#include "core/model/brackets.h"
#include "core/report/findings_text.h"
#include "core/report/table_json.h"
#include "core/report/write_csv.h"
#include "core/stats/timer_stats.h"

namespace tickscope {

namespace {

constexpr std::array<std::string_view, 3> groupings{"callback", "owner", "timer"};

/// Greatest first; names ascending; what is unknown last.
void sortBy(Table& table, std::size_t column) {
  const auto less = [&](const std::vector<Cell>& a, const std::vector<Cell>& b) {
    const auto value = [&](const std::vector<Cell>& row) -> Known<double> {
      if (const auto* whole = std::get_if<s64>(&row[column])) return static_cast<double>(*whole);
      if (const auto* figure = std::get_if<Figure>(&row[column])) return figure->value;
      return {};
    };
    const auto* wordsA = std::get_if<Sentence>(&a[column]);
    const auto* wordsB = std::get_if<Sentence>(&b[column]);
    if (wordsA && wordsB) return wordsA->text() < wordsB->text();
    const auto x = value(a), y = value(b);
    if (!x || !y) return x.has_value() && !y;
    return *x > *y;
  };
  std::ranges::stable_sort(table.rows, less);
}

class TimersCommand : public Command {
 public:
  void addOptions(CLI::App& app) override {
    addModelOptions(app, model_);
    app.add_option("--by", by_, "callback (the default), owner or timer")
        ->check(CLI::IsMember(std::vector<std::string>(groupings.begin(), groupings.end())))
        ->type_name("WHAT");
    app.add_option("--sort", sort_, "A column, as its head names it; arms unless given")
        ->type_name("FIELD");
    app.add_flag("--csv", csv_, "Comma-separated values");
    app.footer(
        "Lateness counts from the hard expiry, of wheel timers from the begin of their bucket's\n"
        "jiffy. Efficiency: expiries a span that ended, 1 for a timer that always fires. A median\n"
        "needs 5 values, a 99th percentile 200; - stands for what is not known.");
  }

  Result<void> check() override { return readFacts(model_); }

  Result<void> run(const Opened& opened, const CommonOptions& options, Output& out,
                   Progress& progress) override {
    if (!opened.recording) {
      return fail(Error::Kind::NotATrace,
                  "A /proc/timer_list dump has no events to count; tickscope-cli state prints it.");
    }
    if (!options.from.empty() || !options.to.empty() || !options.cpus.empty()) {
      return fail(Error::Kind::Usage,
                  "timers counts a whole recording; --from, --to and --cpu cannot narrow it.");
    }
    const auto chosen = chosenBuffer(*opened.recording, options);
    if (!chosen) return tl::unexpected(chosen.error());
    const auto modelled = tickscope::modelled(opened.recording, *chosen, model_, progress);
    if (!modelled) return tl::unexpected(modelled.error());
    const Analysis& analysis = modelled->analysis;
    const auto brackets = bracketsOf(analysis.events(), analysis.tables, threadsOf(options));
    const auto by = static_cast<StatsBy>(std::ranges::find(groupings, by_) - groupings.begin());
    Table table = timerTable(
        timerStatsOf(analysis.opened(), analysis.tables, analysis.clocks, brackets, by),
        *analysis.recording, analysis.opened(), analysis.tables, by, recordedSeconds(analysis));
    if (!sort_.empty()) {
      const auto column = std::ranges::find(table.columns, sort_, &Column::name);
      if (column == table.columns.end()) {
        std::string names;
        for (const Column& one : table.columns) names += (names.empty() ? "" : ", ") + one.name;
        return fail(
            Error::Kind::Usage,
            fmt::format("--sort: there is no column '{}'; there are {}.", shown(sort_), names));
      }
      sortBy(table, static_cast<std::size_t>(column - table.columns.begin()));
    }
    if (options.json) {
      OrderedJson json;
      json["schema"] = "tickscope/timers/1";
      json["file"] = {{"path", shown(opened.path, Breaks::Keep)},
                      {"fingerprint", opened.fingerprint},
                      {"size", opened.size}};
      json["by"] = by_;
      json["tables"] = OrderedJson::array({tableJson(table)});
      printJson(json, out);
    } else {
      out.text(csv_ ? csvOf(table) : tableText(table, 0));
    }
    return {};
  }

 private:
  ModelOptions model_;
  std::string by_ = "callback", sort_;
  bool csv_ = false;
};

}  // namespace

std::unique_ptr<Command> makeTimersCommand() { return std::make_unique<TimersCommand>(); }

}  // namespace tickscope
