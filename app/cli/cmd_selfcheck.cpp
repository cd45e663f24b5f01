// SPDX-License-Identifier: GPL-3.0-or-later
// tickscope-cli selfcheck: how far the reference model and the recording agree, and on what.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "app/cli/columns.h"
#include "app/cli/command.h"
#include "app/cli/model_report.h"
#include "core/base/shown_text.h"
#include "core/base/time_text.h"
#include "core/trace/event_text.h"

namespace tickscope {

namespace {

/// Rows of a kind of discrepancy that are shown.
constexpr std::size_t mostRows = 5;
constexpr std::size_t timerListInvariant = 30;

struct NamedRatio {
  std::string_view name;     ///< in JSON
  std::string_view meaning;  ///< a clause
  Ratio CheckRatios::*ratio;
};
constexpr std::array<NamedRatio, 10> ratios{{
    {"wheel_index", "timer_start: idx comes out of the formula", &CheckRatios::wheelIndex},
    {"bucket_expiry", "bucket expiry from idx alone is the recorded one",
     &CheckRatios::bucketExpiry},
    {"base_clk", "wheel expiries at the time of their bucket", &CheckRatios::baseClk},
    {"programming", "operations with the predicted programming calls", &CheckRatios::programming},
    {"programming_as_observed", "the same by the observed rule (hrule)", &CheckRatios::asObserved},
    {"was_armed", "was_armed as the model has it", &CheckRatios::wasArmed},
    {"soft_expires", "hrtimers not before softexpires", &CheckRatios::softExpires},
    {"arms", "arms judged by any check, after warm-up", &CheckRatios::arms},
    {"expiries", "expiries judged by any check, after warm-up", &CheckRatios::expiries},
    {"matched", "expiries of timers that the model has armed", &CheckRatios::matched},
}};

struct KindCount {
  u64 reported = 0;
  std::vector<const Discrepancy*> first;
};

struct Report {
  const Opened& opened;
  const Modelled& modelled;
  std::vector<ComparedList> lists;
  InvariantCounts invariants{};
  std::array<KindCount, discrepancyKindCount> kinds{};
  std::array<u64, discrepancyKindCount> warmUp{};
};

Report reportOf(const Opened& opened, const Modelled& modelled) {
  const ReplayTables& tables = modelled.analysis.tables;
  Report report{opened,
                modelled,
                compared(modelled),
                invariantsOf(modelled.analysis, activityOf(modelled.analysis, 1)),
                {},
                tables.warmUp};
  for (const Discrepancy& one : tables.discrepancies) {
    KindCount& kind = report.kinds[static_cast<std::size_t>(one.kind)];
    if (++kind.reported <= mostRows) kind.first.push_back(&one);
  }
  // The replay knows nothing of dumps.
  InvariantCount& lists = report.invariants[timerListInvariant];
  KindCount& kind = report.kinds[static_cast<std::size_t>(DiscrepancyKind::TimerListDiffers)];
  const auto facts = factTexts(modelled.analysis.profile);
  report.kinds[static_cast<std::size_t>(DiscrepancyKind::ProfileContradiction)].reported +=
      static_cast<u64>(std::ranges::count_if(facts, &FactText::contradicted));
  for (const ComparedList& list : report.lists) {
    lists.held += list.comparison.agreeing();
    lists.violated += list.comparison.violations();
    lists.notJudged += list.comparison.notJudged();
    kind.reported += list.comparison.violations();
  }
  return report;
}

std::string whyText(const InvariantCount& count) {
  std::string text;
  for (std::size_t i = 1; i < blindSpotKindCount; ++i) {
    if (!count.why[i]) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", codeOf(static_cast<BlindSpotKind>(i)),
                        grouped(count.why[i]));
  }
  return text;
}

// --- Text ---------------------------------------------------------------------------------------

void printTime(const ClockMap::Fit& fit, Output& out) {
  out.text("\nTime\n");
  out.print("  map to the monotonic clock: {}, {} anchors, {} steps\n", fit.kind,
            grouped(fit.anchors), fit.steps);
  if (fit.rate) out.print("  rate {:.9f} ns a unit of the trace clock\n", *fit.rate);
  if (fit.offset) out.print("  offset {} ns\n", *fit.offset);
  const auto ns = [](const Known<Ns>& value) {
    return value ? fmt::format("{} ns", value->value) : std::string("unknown");
  };
  out.print("  residuals: least {}, median {}, worst {}; half-width {}\n", ns(fit.leastResidual),
            ns(fit.medianResidual), ns(fit.worstResidual), ns(fit.halfWidth));
  for (const std::string& note : fit.notes) out.print("  {}\n", shown(note));
}

void printInvariants(const InvariantCounts& counts, Output& out) {
  out.text("\nInvariants\n");
  Columns table;
  table.row({"", "held", "violated", "judged", "all"});
  for (std::size_t i = 1; i < invariantCount; ++i) {
    const InvariantCount& count = counts[i];
    std::string meaning(invariantText(i));
    if (const std::string why = whyText(count); !why.empty()) {
      meaning += " (not judged: " + why + ")";
    }
    table.row({fmt::format("I{:02}", i), grouped(count.held), grouped(count.violated),
               grouped(count.judged()), grouped(count.all())},
              std::move(meaning));
  }
  table.print(out);
}

void printDiscrepancies(const Report& report, Output& out) {
  out.text("\nDiscrepancies\n");
  const EventText text(*report.modelled.analysis.recording, report.modelled.analysis.opened());
  bool any = false;
  for (std::size_t i = 1; i < discrepancyKindCount; ++i) {
    const KindCount& kind = report.kinds[i];
    if (!kind.reported && !report.warmUp[i]) continue;
    any = true;
    const auto which = static_cast<DiscrepancyKind>(i);
    out.print("  {} {}: {}", codeOf(which), titleOf(which), grouped(kind.reported));
    if (report.warmUp[i]) out.print(", and {} while warming up", grouped(report.warmUp[i]));
    out.text("\n");
    for (const Discrepancy* one : kind.first) {
      out.print("      event:{} CPU {}", number(one->at), number(one->cpu));
      const auto value = [](const Known<s64>& known) {
        return known ? fmt::format("{}", *known) : std::string("unknown");
      };
      if (one->model || one->trace) {
        out.print(", model {}, trace {}", value(one->model), value(one->trace));
      }
      if (one->timer) {
        const ModelTimer& timer = report.modelled.analysis.tables.timers[number(*one->timer)];
        if (timer.function != Address{0}) out.print(", {}", shown(text.symbol(timer.function)));
      }
      out.text("\n");
    }
    if (kind.first.size() < kind.reported && !kind.first.empty()) {
      out.print("      and {} more\n", grouped(kind.reported - kind.first.size()));
    }
  }
  if (!any) out.text("  None.\n");
}

void printRatios(const CheckRatios& all, Output& out) {
  out.text("\nChecks\n");
  Columns table;
  table.row({"", "held", "judged", "all"});
  for (const NamedRatio& one : ratios) {
    const Ratio& ratio = all.*one.ratio;
    table.row(
        {std::string(one.meaning), grouped(ratio.held), grouped(ratio.judged), grouped(ratio.all)});
  }
  table.print(out);
}

void printRules(const RuleFit& fit, Output& out) {
  out.text("\nProgramming rules, by operations in which they differ\n");
  Columns table;
  table.row({"rule", "fits", "misses"});
  for (std::size_t i = 0; i < hrtimerRuleCount; ++i) {
    table.row(
        {valueText(static_cast<HrtimerRule>(i)), grouped(fit.fits[i]), grouped(fit.misses[i])});
  }
  table.print(out);
}

/// `rows`: of the recording.
void printBlindSpots(const std::vector<BlindSpot>& spots, u32 rows, Output& out) {
  std::array<u64, blindSpotKindCount> counts{};
  for (const BlindSpot& spot : spots) ++counts[static_cast<std::size_t>(spot.kind)];
  out.text("\nBlind spots\n");
  if (spots.empty()) out.text("  None.\n");
  for (std::size_t i = 1; i < blindSpotKindCount; ++i) {
    if (!counts[i]) continue;
    const auto kind = static_cast<BlindSpotKind>(i);
    out.print("  {} {}: {}\n", codeOf(kind), reasonOf(kind), grouped(counts[i]));
    std::size_t shownSpots = 0;
    for (const BlindSpot& spot : spots) {
      if (spot.kind != kind || ++shownSpots > mostRows) continue;
      out.print("      {}, event:{} to {}\n",
                spot.cpu ? fmt::format("CPU {}", number(*spot.cpu)) : std::string("all CPUs"),
                number(spot.from),
                number(spot.to) < rows ? fmt::format("event:{}", number(spot.to)) : "the end");
    }
    if (shownSpots > mostRows) out.print("      and {} more\n", grouped(shownSpots - mostRows));
  }
}

void printText(const Report& report, Output& out) {
  const Analysis& analysis = report.modelled.analysis;
  out.print("{}: {} events, {} timers, {} armed spans\n", shown(report.opened.path),
            grouped(analysis.events().size()), grouped(analysis.tables.timers.size()),
            grouped(analysis.tables.spans.size()));
  if (analysis.seeded) {
    out.print("Hrtimers armed before the recording are known from {}\n",
              shown(report.modelled.seededFrom));
  }
  printInvariants(report.invariants, out);
  printDiscrepancies(report, out);
  printRatios(analysis.tables.ratios, out);
  printTimerLists(report.lists, out);
  printBlindSpots(analysis.tables.blindSpots, analysis.events().size(), out);
  printRules(analysis.tables.ruleFit, out);
  printTime(analysis.clocks.fitted(), out);
  printProfile(analysis.profile, true, out);
}

// --- JSON ---------------------------------------------------------------------------------------

template <class T>
OrderedJson valueOrNull(const Known<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}
OrderedJson nsOrNull(const Known<Ns>& value) {
  return value ? OrderedJson(value->value) : OrderedJson();
}

OrderedJson timeJson(const ClockMap::Fit& fit) {
  OrderedJson notes = OrderedJson::array();
  for (const std::string& note : fit.notes) notes.push_back(shown(note));
  return {{"map", fit.kind},
          {"rate", valueOrNull(fit.rate)},
          {"offset_ns", valueOrNull(fit.offset)},
          {"anchors", fit.anchors},
          {"steps", fit.steps},
          {"least_residual_ns", nsOrNull(fit.leastResidual)},
          {"median_residual_ns", nsOrNull(fit.medianResidual)},
          {"worst_residual_ns", nsOrNull(fit.worstResidual)},
          {"half_width_ns", nsOrNull(fit.halfWidth)},
          {"notes", std::move(notes)}};
}

OrderedJson invariantsJson(const InvariantCounts& counts) {
  OrderedJson list = OrderedJson::array();
  for (std::size_t i = 1; i < invariantCount; ++i) {
    const InvariantCount& count = counts[i];
    OrderedJson why = OrderedJson::object();
    for (std::size_t k = 1; k < blindSpotKindCount; ++k) {
      if (count.why[k]) why[std::string(codeOf(static_cast<BlindSpotKind>(k)))] = count.why[k];
    }
    list.push_back({{"id", fmt::format("I{:02}", i)},
                    {"text", invariantText(i)},
                    {"counted", isCounted(i)},
                    {"held", count.held},
                    {"violated", count.violated},
                    {"judged", count.judged()},
                    {"all", count.all()},
                    {"not_judged", std::move(why)}});
  }
  return list;
}

OrderedJson discrepanciesJson(const Report& report) {
  const EventText text(*report.modelled.analysis.recording, report.modelled.analysis.opened());
  OrderedJson list = OrderedJson::array();
  for (std::size_t i = 1; i < discrepancyKindCount; ++i) {
    const KindCount& kind = report.kinds[i];
    if (!kind.reported && !report.warmUp[i]) continue;
    OrderedJson first = OrderedJson::array();
    for (const Discrepancy* one : kind.first) {
      OrderedJson function;
      if (one->timer) {
        const ModelTimer& timer = report.modelled.analysis.tables.timers[number(*one->timer)];
        if (timer.function != Address{0}) function = textOrNull(text.symbol(timer.function));
      }
      first.push_back({{"row", number(one->at)},
                       {"cpu", number(one->cpu)},
                       {"function", std::move(function)},
                       {"model", valueOrNull(one->model)},
                       {"trace", valueOrNull(one->trace)}});
    }
    const auto which = static_cast<DiscrepancyKind>(i);
    list.push_back({{"kind", codeOf(which)},
                    {"title", titleOf(which)},
                    {"count", kind.reported},
                    {"warm_up", report.warmUp[i]},
                    {"first", std::move(first)}});
  }
  return list;
}

void printReportJson(const Report& report, Output& out) {
  const Analysis& analysis = report.modelled.analysis;
  OrderedJson json;
  json["schema"] = "tickscope.selfcheck/1";
  json["file"] = {{"path", shown(report.opened.path, Breaks::Keep)},
                  {"fingerprint", report.opened.fingerprint},
                  {"size", report.opened.size}};
  json["buffer"] = shown(analysis.opened().name, Breaks::Keep);
  json["events"] = analysis.events().size();
  json["timers"] = analysis.tables.timers.size();
  json["spans"] = analysis.tables.spans.size();
  json["seeded_from"] = textOrNull(report.modelled.seededFrom);
  json["invariants"] = invariantsJson(report.invariants);
  json["discrepancies"] = discrepanciesJson(report);
  json["ratios"] = OrderedJson::object();
  for (const NamedRatio& one : ratios) {
    const Ratio& ratio = analysis.tables.ratios.*one.ratio;
    json["ratios"][std::string(one.name)] = {
        {"held", ratio.held}, {"judged", ratio.judged}, {"all", ratio.all}};
  }
  json["timer_lists"] = timerListsJson(report.lists);
  json["blind_spots"] = OrderedJson::array();
  for (const BlindSpot& spot : analysis.tables.blindSpots) {
    json["blind_spots"].push_back(
        {{"kind", codeOf(spot.kind)},
         {"reason", reasonOf(spot.kind)},
         {"cpu", spot.cpu ? OrderedJson(number(*spot.cpu)) : OrderedJson()},
         {"from_row", number(spot.from)},
         {"to_row", std::min(number(spot.to), analysis.events().size())}});
  }
  json["rules"] = OrderedJson::object();
  for (std::size_t i = 0; i < hrtimerRuleCount; ++i) {
    json["rules"][valueText(static_cast<HrtimerRule>(i))] = {
        {"fits", analysis.tables.ruleFit.fits[i]}, {"misses", analysis.tables.ruleFit.misses[i]}};
  }
  json["time"] = timeJson(analysis.clocks.fitted());
  json["profile"] = profileJson(analysis.profile);
  printJson(json, out);
}

class SelfcheckCommand : public Command {
 public:
  void addOptions(CLI::App& app) override {
    addModelOptions(app, model_);
    app.footer(
        "Replays the whole recording and counts, for each rule of a healthy kernel, where it "
        "held,\n"
        "where it was violated, and where the recording does not tell. The exit status is 0\n"
        "whatever was found.");
  }

  Result<void> check() override { return readFacts(model_); }

  Result<void> run(const Opened& opened, const CommonOptions& options, Output& out,
                   Progress& progress) override {
    if (!opened.recording) {
      return fail(Error::Kind::NotATrace,
                  "A /proc/timer_list dump has no events to check; tickscope-cli state prints it.");
    }
    if (!options.from.empty() || !options.to.empty() || !options.cpus.empty()) {
      return fail(Error::Kind::Usage,
                  "selfcheck judges a whole recording; --from, --to and --cpu cannot narrow it.");
    }
    const auto chosen = chosenBuffer(*opened.recording, options);
    if (!chosen) return tl::unexpected(chosen.error());
    const auto modelled = tickscope::modelled(opened.recording, *chosen, model_, progress);
    if (!modelled) return tl::unexpected(modelled.error());
    const Report report = reportOf(opened, *modelled);
    if (options.json)
      printReportJson(report, out);
    else
      printText(report, out);
    return {};
  }

 private:
  ModelOptions model_;
};

}  // namespace

std::unique_ptr<Command> makeSelfcheckCommand() { return std::make_unique<SelfcheckCommand>(); }

}  // namespace tickscope
