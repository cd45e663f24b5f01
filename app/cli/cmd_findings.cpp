// SPDX-License-Identifier: GPL-3.0-or-later
// tickscope-cli findings and check: what is wrong, how sure, and for a machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/command.h"
#include "app/cli/model_report.h"
#include "app/options_findings.h"
#include "core/base/shown_text.h"
#include "core/report/findings_json.h"
#include "core/report/findings_text.h"

namespace tickscope {

namespace {

struct JudgedRecording {
  Modelled modelled;
  Findings findings;
};

Result<JudgedRecording> judged(std::string_view command, const Opened& opened,
                               const CommonOptions& options, const ModelOptions& model,
                               const FindingOptions& wanted, Progress& progress) {
  if (!opened.recording) {
    return fail(Error::Kind::NotATrace,
                "A /proc/timer_list dump has no events to judge; tickscope-cli state prints it.");
  }
  if (!options.from.empty() || !options.to.empty() || !options.cpus.empty()) {
    return fail(Error::Kind::Usage,
                fmt::format("{} judges a whole recording; --from, --to and --cpu cannot narrow it.",
                            command));
  }
  const auto chosen = chosenBuffer(*opened.recording, options);
  if (!chosen) return tl::unexpected(chosen.error());
  auto analysed = tickscope::modelled(opened.recording, *chosen, model, progress);
  if (!analysed) return tl::unexpected(analysed.error());
  const int threads = threadsOf(options);
  auto found = findingsOf(analysed->analysis, activityOf(analysed->analysis, threads),
                          wanted.thresholds, threads, progress);
  if (!found) return tl::unexpected(found.error());
  return JudgedRecording{std::move(*analysed), std::move(*found)};
}

class FindingsCommand : public Command {
 public:
  void addOptions(CLI::App& app) override {
    addModelOptions(app, model_);
    addFindingOptions(app, wanted_, true);
    app.add_option("--explain", explain_,
                   "The finding of that number with evidence and the\narithmetic of its confidence")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
    app.add_flag("--thresholds", thresholds_, "The limits that findings are judged by");
    app.footer(
        "S1 bug, S2 likely problem, S3 inefficiency, S4 note. The figure behind the finding is "
        "its\n"
        "confidence. The exit status is 0 whatever was found; check is made for scripts.");
  }

  Result<void> check() override {
    if (const auto read = readFindingOptions(wanted_); !read) return read;
    return readFacts(model_);
  }

  Result<void> run(const Opened& opened, const CommonOptions& options, Output& out,
                   Progress& progress) override {
    if (thresholds_) {
      out.text(thresholdsText(wanted_.thresholds));
      return {};
    }
    auto made = judged("findings", opened, options, model_, wanted_, progress);
    if (!made) return tl::unexpected(made.error());
    narrow(made->findings, wanted_);
    const Analysis& analysis = made->modelled.analysis;
    if (explain_ > 0) {
      const auto text = explainedText(analysis, made->findings, explain_);
      if (!text) return tl::unexpected(text.error());
      if (!options.json) {
        out.text(*text);
        return {};
      }
      keepOnly(made->findings);
    }
    if (options.json) {
      out.text(findingsJson(
          analysis, made->findings,
          {opened.path, opened.fingerprint, "tickscope-cli " TICKSCOPE_VERSION, opened.size},
          profileJson(analysis.profile).dump()));
    } else {
      out.text(findingsText(analysis, made->findings));
    }
    return {};
  }

 private:
  void keepOnly(Findings& findings) const {
    const std::size_t index = explain_ - 1, strong = findings.findings.size();
    auto& list = index < strong ? findings.findings : findings.weak;
    auto& other = index < strong ? findings.weak : findings.findings;
    Finding kept = std::move(list[index < strong ? index : index - strong]);
    list.clear();
    other.clear();
    list.push_back(std::move(kept));
  }

  ModelOptions model_;
  FindingOptions wanted_;
  u32 explain_ = 0;
  bool thresholds_ = false;
};

class CheckCommand : public Command {
 public:
  void addOptions(CLI::App& app) override {
    addModelOptions(app, model_);
    addFindingOptions(app, wanted_, true);
    app.add_option("--fail-on", failOn_, "The exit status is 1 from this severity on (S2)")
        ->type_name("S1..S4");
    app.footer(
        "One line a finding: severity, finding, confidence, count, title. Weak findings, below\n"
        "conf.show, are left out.");
  }

  Result<void> check() override {
    if (const auto grade = readGrade("--fail-on", failOn_); !grade) {
      return tl::unexpected(grade.error());
    }
    if (const auto read = readFindingOptions(wanted_); !read) return read;
    return readFacts(model_);
  }

  Result<void> run(const Opened& opened, const CommonOptions& options, Output& out,
                   Progress& progress) override {
    auto made = judged("check", opened, options, model_, wanted_, progress);
    if (!made) return tl::unexpected(made.error());
    const Grade limit = *readGrade("--fail-on", failOn_);
    narrow(made->findings, wanted_);
    for (const Finding& f : made->findings.findings) {
      failed_ = failed_ || f.grade <= limit;
    }
    if (options.json) {
      out.text(findingsJson(
          made->modelled.analysis, made->findings,
          {opened.path, opened.fingerprint, "tickscope-cli " TICKSCOPE_VERSION, opened.size},
          profileJson(made->modelled.analysis.profile).dump()));
      return {};
    }
    for (const Finding& f : made->findings.findings) {
      out.print("{}: {} {} {:.2f} {} {}\n", shown(opened.path), nameOf(f.grade), f.name(),
                f.confidence.value(), f.count, shown(f.title.text()));
    }
    return {};
  }

  [[nodiscard]] bool found() const override { return failed_; }

 private:
  ModelOptions model_;
  FindingOptions wanted_;
  std::string failOn_ = "S2";
  bool failed_ = false;
};

}  // namespace

std::unique_ptr<Command> makeFindingsCommand() { return std::make_unique<FindingsCommand>(); }
std::unique_ptr<Command> makeCheckCommand() { return std::make_unique<CheckCommand>(); }

}  // namespace tickscope
