// SPDX-License-Identifier: GPL-3.0-or-later
// Names, defaults and reasons; reading and printing of values.
#include "core/findings/thresholds.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace tickscope {

namespace {

constexpr double us = 1e3, ms = 1e6;
using enum LimitUnit;

struct UnitName {
  std::string_view name;
  LimitUnit unit;
  double factor;
};
constexpr std::array<UnitName, 14> unitNames{{{"ns", Time, 1},
                                              {"us", Time, us},
                                              {"ms", Time, ms},
                                              {"s", Time, 1e9},
                                              {"ticks", Ticks, 1},
                                              {"tick", Ticks, 1},
                                              {"jiffies", WheelTime, 1},
                                              {"jiffy", WheelTime, 1},
                                              {"%", Share, 0.01},
                                              {"/s", PerSecond, 1},
                                              {"ppm", Ppm, 1},
                                              {"x", Ratio, 1},
                                              {"", Count, 1},
                                              {"periods", Count, 1}}};

std::string number(double value) { return fmt::format("{:.9g}", value); }

}  // namespace

const std::array<ThresholdInfo, limitCount> thresholdInfos{{
    {"gen.min-instances", 3, Count, false, "fewer take 0.10 from the confidence"},
    {"gen.min-opportunities", 20, Count, false, "for findings that are a share of something"},
    {"conf.show", 0.5, Count, false, "below it a finding is weak and listed apart"},
    {"conf.s1", 0.8, Count, false, "below it nothing is S1"},
    {"vm.silence", 2, Ticks, false, "a running CPU with a tick always logs something"},
    {"storm.window", 200 * us, Time, false, "instants are compared by their begin"},
    {"storm.wakes", 8, Count, false, "wakes of an instant: twice a busy box of four CPUs"},
    {"storm.idle", 4, Count, false, "idle CPUs woken by an instant"},
    {"storm.p", 1e-6, Count, false, "chance of a coincidence"},
    {"storm.grid-share", 0.8, Share, false, "of the instants that lie on the grid"},
    {"storm.grid-tol", 50 * us, Time, false, "the default slack of user tasks"},
    {"tickwake.share", 0.5, Share, false, "of ticks in a row with nothing to expire"},
    {"tickwake.ticks", 20, Ticks, false, "ticks in a row that are looked at"},
    {"lost.grace", 2, Ticks, false, "the wheel may be a jiffy late"},
    {"base.k", 10, Ratio, false, "times the machine's own p99: an outlier, not the tail"},
    {"stall.hr", 1 * ms, Time, true, "above the exit of deep idle"},
    {"softstale.run", 8, Count, false, "empty interrupts in one storm"},
    {"softstale.gap", 0.5, Ticks, false, "between them; the state decides, not the gap"},
    {"double.share", 0.05, Share, false,
     "of the restarts of a first timer; since 5.15 there are none"},
    {"double.cost", 1 * us, Time, false, "a call, if nothing is measured"},
    {"rearm.rate", 200, PerSecond, false, "arms of a timeout"},
    {"rearm.expired", 0.1, Share, false, "of the arms of a timeout, at most"},
    {"rearm.ratio", 2, Ratio, false, "timeout over the median gap between arms"},
    {"stale.excess", 2, WheelTime, false, "over the predicted bucket"},
    {"stale.ratio", 2, Ratio, false, "a timer of one jiffy reaches 2 by rounding"},
    {"stale.s1-ratio", 10, Ratio, false, "the class of RCU stalls"},
    {"stale.s1-jiffies", 100, WheelTime, false, "the class of RCU stalls"},
    {"late.hard", 100 * us, Time, true, "S4; ten times as much S3, a hundred times S2"},
    {"late.soft", 500 * us, Time, true, "S4; ten times as much S3, a hundred times S2"},
    {"late.wheel", 2, WheelTime, true, "S4; ten times as much S3, a hundred times S2"},
    {"cb.hard", 100 * us, Time, true, "hard interrupt time: S3, ten times as much S2"},
    {"cb.tick", 200 * us, Time, true, "the tick handler does more: S4, five times as much S3"},
    {"cb.soft", 2 * ms, Time, false, "the softirq loop's own limit: S3, five times as much S2"},
    {"burst.n", 8, Count, false, "callbacks in one interrupt"},
    {"burst.time", 100 * us, Time, true, "of one interrupt"},
    {"rt.delay", 20 * us, Time, true, "the size of effects that are reported on RT"},
    {"idle.rate", 10, PerSecond, false, "wakes of idle by one cause"},
    {"spur.share", 0.2, Share, false, "of the timer interrupts"},
    {"spur.rate", 50, PerSecond, false, "empty timer interrupts"},
    {"spur.run", 8, Count, true, "in a row within a tick: a storm"},
    {"iso.disturb", 1, PerSecond, false, "a CPU; before 4.17 a tick of 1 Hz remains"},
    {"migr.flip", 0.5, Share, false, "of arms that change the CPU"},
    {"migr.rate", 100, PerSecond, false, "arms that change the CPU"},
    {"migr.loop", 100, Count, false, "remote handlings without an expiry within a tick"},
    {"starve.tick", 1, Ticks, true, "raise to entry: S3"},
    {"starve.s2", 10, Ticks, true, "raise to entry: S2"},
    {"jiffy.ticks", 8, Ticks, false,
     "finished on one CPU without a new jiffy; healthy kernels reach 5"},
    {"step.min", 1 * ms, Time, false, "below it a clock was slewed"},
    {"drift.ppm", 200, Ppm, false, "over 20 periods; crystals err by less than 100"},
    {"drift.miss", 1, Count, false, "missed periods"},
    {"slack.share", 0.2, Share, false, "of the timeout; any for RT tasks"},
}};

Thresholds::Thresholds() {
  for (std::size_t i = 0; i < limitCount; ++i) values_[i] = thresholdInfos[i].value;
}

Result<void> Thresholds::set(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    return fail(Error::Kind::Usage, fmt::format("--set takes NAME=VALUE, not '{}'.", assignment));
  }
  const std::string_view name = assignment.substr(0, equals);
  std::string_view text = assignment.substr(equals + 1);
  for (std::size_t i = 0; i < limitCount; ++i) {
    const ThresholdInfo& info = thresholdInfos[i];
    if (info.name != name) continue;
    double value = 0;
    std::string defaultUnit;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    std::string_view unit = text.substr(static_cast<std::size_t>(read.ptr - text.data()));
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    if (read.ec != std::errc{} || !std::isfinite(value) || value < 0) {
      return fail(Error::Kind::Usage,
                  fmt::format("--set {}: '{}' is no value; it is {} unless set.", name, text,
                              limitText(info.unit, info.value)));
    }
    if (unit.empty()) {
      // A bare figure has the unit that the default is written in.
      const std::string shown = limitText(info.unit, info.value);
      const std::size_t blank = shown.find(' ');
      defaultUnit = blank == std::string::npos ? "" : shown.substr(blank + 1);
      unit = defaultUnit;
    }
    for (const UnitName& known : unitNames) {
      if (known.name != unit || known.unit != info.unit) continue;
      values_[i] = value * known.factor;
      return {};
    }
    return fail(Error::Kind::Usage,
                fmt::format("--set {}: '{}' is not a unit of it; it is {} unless set.", name, unit,
                            limitText(info.unit, info.value)));
  }
  return fail(
      Error::Kind::Usage,
      fmt::format("--set {}: there is no such threshold; findings --thresholds lists them.", name));
}

std::string limitText(LimitUnit unit, double value) {
  switch (unit) {
    case Time:
      if (value >= ms && std::fmod(value, ms) == 0) return number(value / ms) + " ms";
      if (value >= us) return number(value / us) + " us";
      return number(value) + " ns";
    case Ticks:
      return number(value) + (value == 1 ? " tick" : " ticks");
    case WheelTime:
      return number(value) + (value == 1 ? " jiffy" : " jiffies");
    case Share:
      return number(value * 100) + " %";
    case PerSecond:
      return number(value) + " /s";
    case Ppm:
      return number(value) + " ppm";
    case Ratio:
      return number(value) + " x";
    case Count:
      break;
  }
  return number(value);
}

}  // namespace tickscope
