// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses the kind of map by the clock's name and by how it behaves, and follows the other bases.
#include "core/model/clock_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/model/clock_scan.h"

namespace tickscope {

namespace {

/// What NTP and an unsteered oscillator can make of the rate of a clock of ns.
constexpr RateRule nearOne{1 - 2e-3, 1 + 2e-3};
constexpr RateRule exactlyOne{1, 1}, freeRate{0, 0};
constexpr s64 tenMs = 10'000'000;
constexpr s64 second = 1'000'000'000;
/// Suspends are longer; what is left of BOOT - MONO below this is the latency of interrupts.
constexpr s64 leastSuspend = 1'000'000;
/// A clock set moves REAL by more than the error of two readings and this.
constexpr s64 leastStep = 1'000;

s64 minus(s64 a, s64 b) { return static_cast<s64>(static_cast<u64>(a) - static_cast<u64>(b)); }
s64 plus(s64 a, s64 b) { return static_cast<s64>(static_cast<u64>(a) + static_cast<u64>(b)); }

}  // namespace

class MapFit {
 public:
  MapFit(const Buffer& buffer, Known<u8> wordBits)
      : buffer_(buffer), wordBits_(wordBits), scan_(scanClocks(buffer.events)) {}

  ClockMap run() {
    for (const PassAnchor& anchor : scan_.anchors) anchors_.push_back(anchor.at);
    map_.fitted_.anchors = static_cast<u32>(anchors_.size());
    map_.fitted_.kind = "none";
    findResolution();
    chooseMap();
    followOffsets();
    followJiffies();
    return std::move(map_);
  }

 private:
  static void sortByNow(std::vector<ClockAnchor>& anchors) {
    std::stable_sort(anchors.begin(), anchors.end(), [](const auto& a, const auto& b) {
      return a.now != b.now ? a.now < b.now : a.stamp < b.stamp;
    });
  }

  void note(std::string text) { map_.fitted_.notes.push_back(std::move(text)); }

  /// Text has stamps rounded to the nearest us.
  void findResolution() {
    if (buffer_.clock.unit == ClockUnit::Jiffies100Hz || buffer_.clock.unit == ClockUnit::Events ||
        anchors_.size() < 10) {
      return;
    }
    const bool rounded = std::all_of(anchors_.begin(), anchors_.end(),
                                     [](const auto& a) { return a.stamp % 1000 == 0; });
    if (!rounded) return;
    map_.resolution_ = 500;
    note("stamps are rounded to 1 us");
  }

  void chooseMap() {
    const std::string& name = buffer_.clock.name;
    const ClockUnit unit = buffer_.clock.unit;
    if (unit == ClockUnit::Events || name == "counter") return betweenAnchors();
    if (unit == ClockUnit::Jiffies100Hz) return tenMsUnits();
    if (unit == ClockUnit::Cycles || name == "x86-tsc" || name == "ppc-tb") {
      return lines(freeRate, false);
    }
    const bool claimsMono = name == "mono" && unit == ClockUnit::Nanoseconds;
    if (claimsMono && anchors_.empty()) {
      map_.way_ = ClockMap::Way::Identity;
      map_.fitted_.kind = "identity";
      note("no hrtimer expiry to check it by");
      return;
    }
    if ((claimsMono || name == "boot" || name.empty()) && isMono(claimsMono)) return;
    if (claimsMono) note("the clock is called mono but does not follow CLOCK_MONOTONIC");
    if (name == "boot" || name == "tai") return lines(exactlyOne, false);
    if (unit == ClockUnit::Unknown) return;
    lines(nearOne, name == "local");
  }

  /// Identity, if the stamps bear it out: never before `now`, and not long after it.
  bool isMono(bool claimed) {
    std::vector<s64> residuals;
    for (const ClockAnchor& anchor : anchors_) {
      residuals.push_back(minus(anchor.stamp, anchor.now));
    }
    if (residuals.empty()) return false;
    const auto middle = residuals.begin() + static_cast<std::ptrdiff_t>(residuals.size() / 2);
    std::nth_element(residuals.begin(), middle, residuals.end());
    const s64 median = *middle;
    const auto [least, worst] = std::minmax_element(residuals.begin(), residuals.end());
    const auto early = std::count_if(residuals.begin(), residuals.end(),
                                     [&](s64 r) { return r < -map_.resolution_; });
    const bool few = static_cast<std::size_t>(early) * 20 <= residuals.size();
    const bool fits =
        few && median >= -map_.resolution_ && median < (claimed ? second : leastSuspend);
    if (!fits) return false;
    if (early > 0) {
      note(fmt::format("{} of {} expiries are stamped before their own time, the worst by {} ns",
                       early, residuals.size(), minus(0, *least)));
    }
    map_.way_ = ClockMap::Way::Identity;
    ClockMap::Fit& fit = map_.fitted_;
    fit.kind = "identity";
    fit.rate = 1;
    fit.offset = 0;
    fit.leastResidual = Ns{*least};
    fit.medianResidual = Ns{median};
    fit.worstResidual = Ns{*worst};
    fit.halfWidth = Ns{map_.resolution_};
    return true;
  }

  void describe(const std::vector<ClockPiece>& pieces) {
    ClockMap::Fit& fit = map_.fitted_;
    for (const ClockPiece& piece : pieces) {
      const auto least = [](Known<Ns>& to, s64 value) {
        to = to ? std::min(*to, Ns{value}) : Ns{value};
      };
      const auto most = [](Known<Ns>& to, s64 value) {
        to = to ? std::max(*to, Ns{value}) : Ns{value};
      };
      least(fit.leastResidual, piece.leastResidual);
      most(fit.medianResidual, piece.medianResidual);
      most(fit.worstResidual, piece.worstResidual);
      most(fit.halfWidth, plus(piece.halfWidth, map_.resolution_));
      fit.steps += piece.stepBefore;
      if (!piece.envelope) {
        note(fmt::format("the clock keeps to no line: stamps are up to {} ns too early or too late",
                         piece.halfWidth));
      }
    }
    if (pieces.size() == 1 && !fit.rate) fit.rate = pieces.front().rate;
    if (pieces.size() == 1 && pieces.front().rate == 1 && !fit.offset) {
      fit.offset = minus(pieces.front().nowAt, pieces.front().stampAt);
    }
  }

  void lines(RateRule rule, bool perCpu) {
    sortByNow(anchors_);
    map_.common_ = fitClock(anchors_, rule);
    if (map_.common_.empty()) return;
    map_.way_ = ClockMap::Way::Pieces;
    if (!perCpu) {
      map_.fitted_.kind = rule.given() ? "constant offset" : "line";
      describe(map_.common_);
      return;
    }
    std::vector<std::vector<ClockAnchor>> ofCpu;
    for (const PassAnchor& anchor : scan_.anchors) {
      if (number(anchor.cpu) >= ofCpu.size()) ofCpu.resize(number(anchor.cpu) + std::size_t{1});
      ofCpu[number(anchor.cpu)].push_back(anchor.at);
    }
    for (std::size_t cpu = 0; cpu < ofCpu.size(); ++cpu) {
      // A few anchors make no line; such a CPU takes that of all.
      if (ofCpu[cpu].size() < 10) continue;
      sortByNow(ofCpu[cpu]);
      map_.own_.push_back({static_cast<Cpu>(cpu), fitClock(ofCpu[cpu], rule)});
      describe(map_.own_.back().pieces);
    }
    map_.fitted_.kind = map_.own_.empty() ? "line" : "line a CPU";
    if (map_.own_.empty()) return describe(map_.common_);
    compareCpus();
  }

  /// CPUs whose clocks differ: then a CPU without a line of its own has none.
  void compareCpus() {
    bool apart = false;
    const ClockMap::OneCpu& first = map_.own_.front();
    for (const ClockMap::OneCpu& other : map_.own_) {
      const ClockPiece &a = first.pieces.front(), &b = other.pieces.front();
      const s64 at = std::max(a.first.stamp, b.first.stamp);
      const s64 off = minus(b.monoOf(at), a.monoOf(at));
      const s64 bound = std::min(std::max(a.halfWidth, b.halfWidth), second) * 3;
      if (-bound <= off && off <= bound) continue;
      apart = true;
      note(fmt::format("the clock of CPU {} is {} ns off that of CPU {}", number(other.cpu), -off,
                       number(first.cpu)));
    }
    if (apart || map_.own_.size() < 2) map_.common_.clear();
  }

  /// The kernel counts jiffies in units of 10 ms: a stamp stands for the 10 ms from there on.
  void tenMsUnits() {
    if (anchors_.empty()) return;
    sortByNow(anchors_);
    constexpr s64 limit = std::numeric_limits<s64>::max() / tenMs;
    s64 least = std::numeric_limits<s64>::max(), most = std::numeric_limits<s64>::min();
    for (const ClockAnchor& anchor : anchors_) {
      if (anchor.stamp > limit || anchor.stamp < -limit) return;
      const s64 off = minus(anchor.now, anchor.stamp * tenMs);
      least = std::min(least, off);
      most = std::max(most, off);
    }
    ClockPiece piece;
    piece.rate = static_cast<double>(tenMs);
    piece.nowAt = plus(least, tenMs / 2);
    piece.first = anchors_.front();
    piece.last = anchors_.back();
    piece.anchors = static_cast<u32>(anchors_.size());
    piece.halfWidth = std::max(tenMs, minus(most, piece.nowAt));
    map_.common_.push_back(piece);
    map_.way_ = ClockMap::Way::Pieces;
    map_.fitted_.kind = "units of 10 ms";
    map_.fitted_.rate = piece.rate;
    map_.fitted_.halfWidth = Ns{piece.halfWidth};
  }

  /// An event lies behind the `now` of all passes that it follows, and before the next reading of
  /// the CPU of any later event.
  void betweenAnchors() {
    if (anchors_.empty()) return;
    std::vector<s64> next;  // of a CPU, read backwards
    std::vector<ClockMap::Place> reached, notYet;
    for (auto anchor = scan_.anchors.rbegin(); anchor != scan_.anchors.rend(); ++anchor) {
      if (number(anchor->cpu) >= next.size()) {
        next.resize(number(anchor->cpu) + std::size_t{1}, std::numeric_limits<s64>::max());
      }
      s64& after = next[number(anchor->cpu)];
      if (after != std::numeric_limits<s64>::max()) notYet.push_back({anchor->at.stamp, after});
      if (anchor->hard) after = anchor->at.now;
    }
    for (const PassAnchor& anchor : scan_.anchors) {
      reached.push_back({anchor.at.stamp, anchor.at.now});
    }
    const auto earlier = [](const auto& a, const auto& b) { return a.stamp < b.stamp; };
    std::stable_sort(reached.begin(), reached.end(), earlier);
    std::stable_sort(notYet.begin(), notYet.end(), earlier);
    s64 most = std::numeric_limits<s64>::min(), least = std::numeric_limits<s64>::max();
    for (auto& place : reached) most = place.now = std::max(most, place.now);
    for (auto place = notYet.rbegin(); place != notYet.rend(); ++place) {
      least = place->now = std::min(least, place->now);
    }
    map_.reached_ = std::move(reached);
    map_.notYet_ = std::move(notYet);
    map_.way_ = ClockMap::Way::Between;
    map_.fitted_.kind = "between anchors";
  }

  /// base - mono lies between what the row's own time and what the CPU's last monotonic reading
  /// allow.
  void followOffsets() {
    for (const BaseReading& reading : scan_.readings) {
      const auto mono = map_.mono({reading.stamp}, reading.cpu);
      if (!mono && !reading.monoBefore) continue;
      Bounds seen;
      if (mono) {
        seen.value = minus(reading.now, mono->value.value);
        seen.error = mono->error.value;
        seen.least = minus(seen.value, seen.error);
      }
      if (reading.monoBefore) seen.most = minus(reading.now, *reading.monoBefore);
      std::vector<ClockMap::Epoch>& epochs = map_.epochs_[number(reading.base)];
      Bounds& state = states_[number(reading.base)];
      const bool ahead =
          state.most != Bounds::unbounded && seen.least > plus(state.most, leastStep);
      const bool behind =
          seen.most != Bounds::unbounded && plus(seen.most, leastStep) < state.least;
      const bool fits = !epochs.empty() && !ahead && !behind;
      if (!fits) {
        epochs.push_back({reading.row, reading.row, 0, 0, 0});
        state = {};
      }
      // Two bases of one pass give the same difference again and again, two passes do not.
      state.times = seen.most == state.most  ? state.times + 1
                    : seen.most < state.most ? 1
                                             : state.times;
      state.most = std::min(state.most, seen.most);
      if (seen.least >= state.least) state.value = seen.value, state.error = seen.error;
      state.least = std::max(state.least, seen.least);
      ClockMap::Epoch& epoch = epochs.back();
      epoch.last = reading.row;
      ++epoch.readings;
      settle(epoch, state, reading.base);
    }
    for (const ClockBase base : {ClockBase::Real, ClockBase::Boot, ClockBase::Tai}) noteSteps(base);
  }

  struct Bounds {
    static constexpr s64 unbounded = std::numeric_limits<s64>::max();
    s64 least = std::numeric_limits<s64>::min(), most = unbounded;
    s64 value = 0, error = 0;  ///< by the row that came soonest after its pass read the clock
    u32 times = 0;             ///< readings that give `most`
  };

  void settle(ClockMap::Epoch& epoch, const Bounds& state, ClockBase base) const {
    const bool mapped = state.least != std::numeric_limits<s64>::min();
    const bool bounded = state.most != std::numeric_limits<s64>::max() && state.times > 0;
    if (base == ClockBase::Boot && mapped && -leastSuspend < state.value &&
        state.value < leastSuspend && state.error < leastSuspend) {
      // It has not slept since boot.
      epoch.offset = epoch.error = 0;
      return;
    }
    if (bounded && state.times >= 2) {
      epoch.offset = state.most;
      epoch.error = 0;
      return;
    }
    if (!mapped) {
      epoch.offset = state.most;
      epoch.error = tenMs;
      return;
    }
    // An exact map leaves the time from reading the clock to the row; others have the least of it
    // in them.
    s64 bias = 0, error = state.error;
    if (map_.way_ == ClockMap::Way::Identity && map_.fitted_.leastResidual) {
      bias = std::max<s64>(0, map_.fitted_.leastResidual->value);
      error = plus(error, std::max<s64>(bias, map_.fitted_.medianResidual->value - bias) + 1'000);
    }
    epoch.offset = plus(state.value, bias);
    if (bounded) epoch.offset = std::min(epoch.offset, state.most);
    epoch.error = error;
  }

  void noteSteps(ClockBase base) {
    const std::vector<ClockMap::Epoch>& epochs = map_.epochs_[number(base)];
    for (std::size_t i = 1; i < epochs.size(); ++i) {
      note(fmt::format("{} was set by {} ns between rows {} and {}",
                       base == ClockBase::Real   ? "CLOCK_REALTIME"
                       : base == ClockBase::Boot ? "CLOCK_BOOTTIME"
                                                 : "CLOCK_TAI",
                       minus(epochs[i].offset, epochs[i - 1].offset), number(epochs[i - 1].last),
                       number(epochs[i].first)));
    }
  }

  void followJiffies() {
    std::vector<JiffyPoint> points;
    points.reserve(scan_.jiffies.size());
    for (const JiffyReading& reading : scan_.jiffies) {
      JiffyPoint point{};
      point.stamp = reading.stamp;
      point.jiffies = reading.jiffies;
      point.notAfter = reading.monoAfter;
      if (const auto mono = map_.mono({reading.stamp}, reading.cpu)) {
        point.mono = mono->value.value;
        point.error = mono->error.value;
      }
      points.push_back(point);
    }
    StampUnit unit = StampUnit::None;
    if (buffer_.clock.unit == ClockUnit::Nanoseconds) unit = StampUnit::Nanoseconds;
    if (buffer_.clock.unit == ClockUnit::Jiffies100Hz) unit = StampUnit::TenMs;
    map_.jiffyMap_ = JiffyMap::fit(points, scan_.arms, unit, wordBits_);
  }

  const Buffer& buffer_;
  Known<u8> wordBits_;
  ClockScan scan_;
  std::vector<ClockAnchor> anchors_;
  std::array<Bounds, 4> states_;
  ClockMap map_;
};

ClockMap ClockMap::fit(const Buffer& buffer, Known<u8> wordBits) {
  return MapFit(buffer, wordBits).run();
}

const std::vector<ClockPiece>* ClockMap::piecesOf(Cpu cpu) const {
  const auto own = std::lower_bound(own_.begin(), own_.end(), cpu,
                                    [](const OneCpu& one, Cpu c) { return one.cpu < c; });
  if (own != own_.end() && own->cpu == cpu) return &own->pieces;
  return common_.empty() ? nullptr : &common_;
}

Known<Bounded<MonoTime>> ClockMap::between(TraceTime t) const {
  const auto next = std::partition_point(reached_.begin(), reached_.end(),
                                         [&](const Place& p) { return p.stamp <= t.value; });
  const auto after = std::partition_point(notYet_.begin(), notYet_.end(),
                                          [&](const Place& p) { return p.stamp < t.value; });
  if (next == reached_.begin() || after == notYet_.end()) return {};
  const s64 least = std::prev(next)->now, most = std::max(after->now, least);
  const s64 half = minus(most, least) / 2;
  return Bounded<MonoTime>{{plus(least, half)}, {half + 1}};
}

Known<Bounded<MonoTime>> ClockMap::mono(TraceTime t, Cpu cpu) const {
  if (way_ == Way::Identity) return Bounded<MonoTime>{{t.value}, {resolution_}};
  if (way_ == Way::Between) return between(t);
  const std::vector<ClockPiece>* pieces = way_ == Way::Pieces ? piecesOf(cpu) : nullptr;
  if (pieces == nullptr) return {};
  const ClockPiece* of = nullptr;
  for (std::size_t i = 0; i < pieces->size(); ++i) {
    const ClockPiece& piece = (*pieces)[i];
    const bool begun = i == 0 || t.value >= piece.first.stamp;
    const bool ended = i + 1 < pieces->size() && t.value > piece.last.stamp;
    if (!begun || ended) continue;
    // The clock was set back: this time was there twice.
    if (of != nullptr && piece.stepBefore) return {};
    of = &piece;
  }
  if (of == nullptr) {
    // Between two pieces: blind if the clock stepped there, else the earlier line still holds.
    for (std::size_t i = 1; i < pieces->size(); ++i) {
      const ClockPiece &before = (*pieces)[i - 1], &after = (*pieces)[i];
      if (t.value <= before.last.stamp || t.value >= after.first.stamp) continue;
      if (after.stepBefore) return {};
      of = &before;
    }
  }
  if (of == nullptr) return {};
  const s64 mono = of->monoOf(t.value);
  return Bounded<MonoTime>{{mono}, {plus(of->errorAt(mono), resolution_)}};
}

Known<Bounded<TraceTime>> ClockMap::trace(MonoTime t, Cpu cpu) const {
  if (way_ == Way::Identity) return Bounded<TraceTime>{{t.value}, {resolution_}};
  if (way_ == Way::Between) {
    const auto next = std::partition_point(reached_.begin(), reached_.end(),
                                           [&](const Place& p) { return p.now <= t.value; });
    if (next == reached_.begin() || next == reached_.end()) return {};
    const s64 before = std::prev(next)->stamp;
    return Bounded<TraceTime>{{before}, {minus(next->stamp, before)}};
  }
  const std::vector<ClockPiece>* pieces = way_ == Way::Pieces ? piecesOf(cpu) : nullptr;
  if (pieces == nullptr) return {};
  const ClockPiece* of = nullptr;
  for (std::size_t i = 0; i < pieces->size(); ++i) {
    const ClockPiece& piece = (*pieces)[i];
    if (i > 0 && t.value < piece.first.now) {
      if (piece.stepBefore && t.value > of->last.now) return {};
      break;
    }
    of = &piece;
  }
  const s64 error = of->errorAt(t.value);
  const double units = static_cast<double>(plus(error, resolution_)) / of->rate;
  return Bounded<TraceTime>{{of->stampOf(t.value)}, {static_cast<s64>(units) + 1}};
}

Known<Bounded<s64>> ClockMap::boundedOffset(ClockBase base, Row at) const {
  if (hardOf(base) == ClockBase::Mono) return Bounded<s64>{0, {0}};
  const std::vector<Epoch>& of = epochs(base);
  if (of.empty()) return {};
  // The first epoch reaches back to the first row, the last one on to the last.
  const auto next =
      std::partition_point(of.begin(), of.end(), [&](const Epoch& e) { return e.first <= at; });
  const Epoch& epoch = next == of.begin() ? *next : *std::prev(next);
  if (next != of.begin() && next != of.end() && at > epoch.last) return {};
  return Bounded<s64>{epoch.offset, {epoch.error}};
}

Known<s64> ClockMap::offset(ClockBase base, Row at) const {
  const auto found = boundedOffset(base, at);
  return found ? Known<s64>{found->value} : Known<s64>{};
}

Known<JiffyRange> ClockMap::jiffies(const Bounded<MonoTime>& t) const {
  const auto first = jiffyMap_.at({minus(t.value.value, t.error.value)});
  const auto last = jiffyMap_.at({plus(t.value.value, t.error.value)});
  if (!first || !last) return {};
  return JiffyRange{first->earliest, last->latest};
}

Known<JiffyRange> ClockMap::jiffies(MonoTime t) const {
  const auto range = jiffyMap_.at(t);
  if (!range) return {};
  return JiffyRange{range->earliest, range->latest};
}

std::vector<TimeSpan> ClockMap::blindSpans() const {
  std::vector<TimeSpan> spans;
  const auto add = [&](const std::vector<ClockPiece>& pieces) {
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      if (!pieces[i].stepBefore) continue;
      const auto [from, to] = std::minmax(pieces[i - 1].last.stamp, pieces[i].first.stamp);
      spans.push_back({{from}, {to}});
    }
  };
  add(common_);
  for (const OneCpu& one : own_) add(one.pieces);
  return spans;
}

}  // namespace tickscope
