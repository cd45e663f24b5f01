// SPDX-License-Identifier: GPL-3.0-or-later
// tickscope-cli state: what every CPU's wheel and hrtimer trees hold at one instant.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "app/cli/command.h"
#include "app/cli/info_report.h"
#include "app/cli/model_report.h"
#include "app/cli/point.h"
#include "core/base/shown_text.h"
#include "core/base/time_text.h"
#include "core/trace/event_text.h"

namespace tickscope {

namespace {

/// All clocks of the recording from its first to its last row, for who asked for an instant outside.
std::string rangeWords(const Analysis& analysis) {
  const EventStore& events = analysis.events();
  const Row first{0};
  const Row last{events.size() - 1};
  const ClockUnit unit = analysis.opened().clock.unit;
  std::string words = fmt::format("{} to {}", timeText(events.time(first), unit),
                                  timeText(events.time(last), unit));
  const auto begin = analysis.clocks.mono(events.time(first), events.cpu(first));
  const auto end = analysis.clocks.mono(events.time(last), events.cpu(last));
  if (begin && end) {
    words += fmt::format(", mono:{} to mono:{}", secondsText(static_cast<u64>(begin->value.value)),
                         secondsText(static_cast<u64>(end->value.value)));
    const auto from = analysis.clocks.jiffies(begin->value);
    const auto to = analysis.clocks.jiffies(end->value);
    if (from && to) {
      words +=
          fmt::format(", jiffies:{} to jiffies:{}", analysis.clocks.recordedJiffies(from->latest),
                      analysis.clocks.recordedJiffies(to->latest));
    }
  }
  return words + fmt::format(", event:0 to event:{}", number(last));
}

class Instants {
 public:
  Instants(const Analysis& analysis, const Known<std::string>& at)
      : analysis_(analysis), events_(analysis.events()), at_(at) {}

  Result<StateInstant> find() const {
    const Row last{events_.size() - 1};
    if (!at_) return ofRow(last);
    const auto point = readPoint("--at", *at_, analysis_.opened().clock.unit, true);
    if (!point) return tl::unexpected(point.error());
    switch (point->of) {
      case Point::Of::AtRow:
        if (point->value > number(last)) return outside();
        return ofRow(Row{static_cast<u32>(point->value)});
      case Point::Of::AtTime:
        return ofTime({static_cast<s64>(point->value)});
      case Point::Of::AtMono:
        return ofMono({{static_cast<s64>(point->value)}, {}});
      case Point::Of::AtJiffies:
        break;
    }
    const auto mono = analysis_.clocks.monoOf(point->value);
    // The recording tells jiffies, but none ever reach that number.
    if (!mono && analysis_.clocks.monoOf(0)) return outside();
    if (!mono) return noSuchClock("jiffies", "HZ and the phase of jiffies");
    return ofMono({*mono, {}});
  }

 private:
  using Found = Result<StateInstant>;

  [[nodiscard]] Found outside() const {
    return fail(Error::Kind::Usage, fmt::format("--at {} lies outside the recording: {}.",
                                                shown(*at_), rangeWords(analysis_)));
  }
  [[nodiscard]] Found noSuchClock(std::string_view clock, std::string_view what) const {
    return fail(Error::Kind::Usage,
                fmt::format("--at {}: no time of {} can be found in this recording, which does not "
                            "tell {}. It has {}.",
                            shown(*at_), clock, what, rangeWords(analysis_)));
  }
  [[nodiscard]] StateInstant ofRow(Row row) const {
    return {row, analysis_.clocks.mono(events_.time(row), events_.cpu(row))};
  }
  /// The last row at or before that time.
  [[nodiscard]] Known<Row> rowAt(TraceTime time) const {
    const auto wanted = static_cast<u64>(time.value);
    const Row last{events_.size() - 1};
    if (wanted < static_cast<u64>(events_.time(Row{0}).value)) return {};
    if (wanted > static_cast<u64>(events_.time(last).value)) return {};
    const u32 after = events_.lowerBound({time.value + 1});
    return after ? Known<Row>(Row{after - 1}) : Known<Row>{};
  }
  [[nodiscard]] Found ofTime(TraceTime time) const {
    const auto row = rowAt(time);
    if (!row) return outside();
    return StateInstant{*row, analysis_.clocks.mono(time, events_.cpu(*row))};
  }
  [[nodiscard]] Found ofMono(Bounded<MonoTime> mono) const {
    const auto time = analysis_.clocks.trace(mono.value, events_.cpu(Row{0}));
    if (!time) return noSuchClock("the monotonic clock", "how its clock runs against that one");
    const auto row = rowAt(time->value);
    if (!row) return outside();
    // What is asked for is exact; the place among the rows is not.
    return StateInstant{*row, mono};
  }

  const Analysis& analysis_;
  const EventStore& events_;
  const Known<std::string>& at_;
};

class StateCommand : public Command {
 public:
  void addOptions(CLI::App& app) override {
    app.add_option_function<std::string>(
           "--at", [this](const std::string& text) { at_ = text; },
           "The instant: trace time as printed (12.345678901), a number with ns\n"
           "us ms s, mono:12.345678901, jiffies:N, or event:ROW for the state\n"
           "after that event. The end of the recording by default")
        ->type_name("T");
    addModelOptions(app, model_);
    app.footer(
        "First the armed hrtimers, in the lines and the order of /proc/timer_list, then what no\n"
        "timer list shows: the timer wheel, who armed the timers, where the recording tells too\n"
        "little. What it does not tell is the word unknown. TRACE may be a timer list dump: the\n"
        "same form, so that diff compares it with the state at its time.");
  }

  Result<void> check() override { return readFacts(model_); }

  Result<void> run(const Opened& opened, const CommonOptions& options, Output& out,
                   Progress& progress) override {
    if (!options.from.empty() || !options.to.empty()) {
      return fail(Error::Kind::Usage,
                  "state shows one instant, which --at names; --from and --to choose events.");
    }
    std::vector<u32> cpus;
    if (!options.cpus.empty()) cpus = readCpuList(options.cpus).value_or(cpus);
    if (opened.timerList) return dump(opened, options, cpus, out);

    const auto chosen = chosenBuffer(*opened.recording, options);
    if (!chosen) return tl::unexpected(chosen.error());
    if (opened.recording->buffers[*chosen].events.empty()) {
      return fail(Error::Kind::NotATrace, "There is no event, and so no state.");
    }
    const auto modelled = tickscope::modelled(opened.recording, *chosen, model_, progress);
    if (!modelled) return tl::unexpected(modelled.error());
    const Analysis& analysis = modelled->analysis;
    const auto instant = Instants(analysis, at_).find();
    if (!instant) return tl::unexpected(instant.error());
    const SystemState state = stateAt(analysis, instant->row);
    const auto lists = compared(*modelled);

    if (options.json) {
      OrderedJson json = stateJson(analysis, state, *instant, cpus);
      json["seeded_from"] = textOrNull(modelled->seededFrom);
      json["timer_lists"] = timerListsJson(lists);
      printJson(json, out);
      return {};
    }
    const StateText text(*analysis.recording, analysis.opened(), analysis.profile, analysis.clocks,
                         analysis.tables);
    out.text(text.timerList(state, *instant, cpus));
    out.text("\n");
    out.text(text.rest(state, *instant, cpus));
    if (analysis.seeded) {
      out.print("\nHrtimers armed before the recording are known from {}\n",
                shown(modelled->seededFrom));
    }
    printTimerLists(lists, out);
    return {};
  }

 private:
  Result<void> dump(const Opened& opened, const CommonOptions& options,
                    const std::vector<u32>& cpus, Output& out) const {
    if (at_ || options.buffer || !model_.timerLists.empty() || !model_.facts.empty() ||
        !model_.profile.empty()) {
      return fail(Error::Kind::Usage,
                  "A /proc/timer_list dump shows one instant and needs no model; --at, --buffer, "
                  "--timer-list, --profile and --fact are for recordings.");
    }
    if (options.json) {
      printTimerListInfoJson(opened, out);
    } else {
      out.text(timerListText(*opened.timerList, cpus));
    }
    return {};
  }

  Known<std::string> at_;
  ModelOptions model_;
};

}  // namespace

std::unique_ptr<Command> makeStateCommand() { return std::make_unique<StateCommand>(); }

}  // namespace tickscope
