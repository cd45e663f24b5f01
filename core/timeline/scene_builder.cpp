// SPDX-License-Identifier: GPL-3.0-or-later
// Turns what lanes show in a window into strips: bars, columns, glyphs, badges, hatches, words.
#include "core/timeline/scene_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "core/base/time_text.h"
#include "core/timeline/lane_marks.h"
#include "core/timeline/model_marks.h"
#include "core/timeline/scene_words.h"
#include "core/timeline/timer_rows.h"

namespace tickscope {

namespace {

/// Bars shorter than this get no name: not one letter would fit.
constexpr double shortestNamed = 24;
constexpr float leastHatch = 3;
/// Height of the foot of a programming lane in which calls stand when the step line is above, as of a strip.
constexpr s32 callsUnderLine = 17;
/// Events that are walked over for a picture: shared by its lanes, as each event costs some 20 ns.
constexpr u64 walkInAll = 48'000, leastWalk = 2048, mostWalk = 16'384;

/// Cells of dense rows of timers in a picture, shared by these: each costs some 300 ns.
constexpr u32 cellsInAll = 6144, leastCells = 128, mostCells = 862;

/// A length of a few digits for the label column.
std::string roughly(s64 ns) {
  const auto figure = static_cast<double>(ns);
  if (ns < 1000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return fmt::format("{:.3g} µs", figure / 1e3);
  if (ns < 1'000'000'000) return fmt::format("{:.3g} ms", figure / 1e6);
  return fmt::format("{:.4g} s", figure / 1e9);
}

/// All lanes of one CPU in the window, made once for its header and its strips.
struct TrackView {
  u32 track{};
  std::array<LaneView, laneCount> lanes;
};

struct TimersOfRows {
  u32 track{};
  LaneKind lane{};
  std::vector<TimerId> timers;
  std::vector<std::string> names;
};

class Builder {
 public:
  Builder(const Timeline& timeline, const SceneNames& names, const SceneRequest& request)
      : timeline_(timeline),
        names_(names),
        request_(request),
        window_(ViewWindow::bounded(request.from, request.to, request.width, request.ratio)) {}

  Scene run() {
    Scene scene;
    scene.from = window_.from;
    scene.to = window_.to;
    scene.width = window_.width;
    scene.ratio = window_.ratio;
    view();
    for (const StripPlace& place : request_.places) {
      if (place.track >= timeline_.tracks.size()) continue;
      scene.strips.push_back(place.header     ? header(place)
                             : place.timerRow ? timerRow(place)
                                              : lane(place));
    }
    return scene;
  }

 private:
  [[nodiscard]] const TrackView& viewOf(u32 track) const {
    return *std::lower_bound(views_.begin(), views_.end(), track,
                             [](const TrackView& view, u32 wanted) { return view.track < wanted; });
  }

  void view() {
    std::vector<u32> tracks;
    for (const StripPlace& place : request_.places) {
      if (place.track < timeline_.tracks.size()) tracks.push_back(place.track);
    }
    std::sort(tracks.begin(), tracks.end());
    tracks.erase(std::unique(tracks.begin(), tracks.end()), tracks.end());
    views_.resize(tracks.size());
    const u64 lanes = std::max<u64>(tracks.size() * laneCount, 1);
    const u32 walk = static_cast<u32>(std::clamp<u64>(walkInAll / lanes, leastWalk, mostWalk));
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      const CpuTrack& track = timeline_.tracks[tracks[i]];
      views_[i].track = tracks[i];
      for (std::size_t l = 0; l < laneCount; ++l) {
        views_[i].lanes[l] = viewLane(timeline_, track, track.lanes[l], window_, walk);
        most_[l] = std::max(most_[l], mostOf(views_[i].lanes[l], window_));
      }
    }
  }

  SceneStrip begin(const StripPlace& place) const {
    SceneStrip strip;
    strip.track = place.track;
    strip.header = place.header;
    strip.folded = place.folded;
    strip.lane = place.lane;
    strip.timerRow = place.timerRow;
    strip.y = static_cast<s32>(std::clamp<s64>(place.y - request_.top, -(1 << 20), 1 << 20));
    strip.height = place.height;
    return strip;
  }

  SceneStrip header(const StripPlace& place) const {
    SceneStrip strip = begin(place);
    const CpuTrack& track = timeline_.tracks[place.track];
    const TrackView& view = viewOf(place.track);
    strip.name = fmt::format("CPU{}", number(track.cpu));
    if (place.track > 0 && timeline_.tracks[place.track - 1].cpu == track.cpu)
      strip.name += ", second stream";
    strip.words = headerWords(timeline_, track, names_, window_, view.lanes, request_.durations);
    if (place.folded) {
      const LaneKind kinds[] = {LaneKind::Wheel, LaneKind::Hrtimer};
      for (const LaneKind kind : kinds) {
        const Marks marks = marksOfInstants(view.lanes[number(kind)], kind, window_,
                                            {place.height, most_[number(kind)], true});
        strip.columns.insert(strip.columns.end(), marks.columns.begin(), marks.columns.end());
      }
    }
    addHatches(strip, track, true);
    return strip;
  }

  SceneStrip lane(const StripPlace& place) {
    SceneStrip strip = begin(place);
    // The selected timer is marked in its row, not here too.
    if (place.timerRows)
      strip.chosen = std::ranges::count(rowsOf(place).timers, selectedTimer()) > 0;
    strip.name = nameOf(place.lane);
    const CpuTrack& track = timeline_.tracks[place.track];
    const std::size_t l = number(place.lane);
    const LaneView& view = viewOf(place.track).lanes[l];
    addModel(strip);
    strip.chosen = false;
    if (track.lanes[l].rows.empty()) {
      if (!strip.armed.empty() || !strip.left.empty()) {
        // The model knows of timers that were armed, or what was due, from other events.
        if (!timeline_.roles.recorded(place.lane)) strip.detailBelow = "calls not recorded";
      } else if (timeline_.roles.recorded(place.lane)) {
        strip.words = "none on this CPU";
      } else {
        strip.hatches.push_back(
            {0, static_cast<float>(window_.width), std::string(neededFor(place.lane))});
      }
      addHatches(strip, track, false);
      return strip;
    }
    // Above armed timers, and under the step line.
    const s32 room = strip.left.empty()
                         ? place.height - static_cast<s32>(std::lround(strip.armedHeight))
                         : std::min(place.height, callsUnderLine);
    const MarkSpace space{room, most_[l], false};
    Marks marks = isLaneOfTime(place.lane) ? marksOfTime(*timeline_.store, view, place.lane,
                                                         window_, space, request_.durations)
                                           : marksOfInstants(view, place.lane, window_, space);
    if (!marks.dense) addTimerCount(strip);
    strip.columns = std::move(marks.columns);
    strip.glyphs = std::move(marks.glyphs);
    strip.links = std::move(marks.links);
    addBars(strip, view, place.lane);
    addDetail(strip, view, marks.dense);
    addHatches(strip, track, false);
    return strip;
  }

  [[nodiscard]] const ModelLanes* model(u32 track) const {
    return request_.model && track < request_.model->tracks.size() ? request_.model : nullptr;
  }

  [[nodiscard]] Known<TimerId> selectedTimer() const {
    if (!request_.model || !request_.selected) return {};
    return request_.model->span(*request_.selected).timer;
  }

  /// The timers that have the rows of a lane, in their order.
  const TimersOfRows& rowsOf(const StripPlace& place) {
    for (const TimersOfRows& rows : rows_) {
      if (rows.track == place.track && rows.lane == place.lane) return rows;
    }
    TimersOfRows rows{place.track, place.lane, {}, {}};
    if (const ModelLanes* const lanes = model(place.track)) {
      const ArmedLane& lane = lanes->armed(place.track, place.lane);
      const std::vector<u32> chosen =
          timersInRows(*lanes, lane, window_.from, window_.to, place.timerRows, selectedTimer());
      for (const u32 timer : chosen) rows.timers.push_back(lane.timers[timer].timer);
      rows.names = namesOfTimers(*lanes, names_, lane, chosen);
    }
    return rows_.emplace_back(std::move(rows));
  }

  SceneStrip timerRow(const StripPlace& place) {
    SceneStrip strip = begin(place);
    const TimersOfRows& rows = rowsOf(place);
    if (place.timerRow <= rows.timers.size()) {
      strip.timer = rows.timers[place.timerRow - 1];
      strip.name = rows.names[place.timerRow - 1];
      strip.chosen = strip.timer == selectedTimer();
      const u32 inView = static_cast<u32>(std::ranges::count_if(
          request_.places, [](const StripPlace& one) { return one.timerRow > 0; }));
      addTimerRow(strip, *request_.model, request_, window_,
                  std::clamp(cellsInAll / inView, leastCells, mostCells));
    }
    addHatches(strip, timeline_.tracks[place.track], false);
    return strip;
  }

  /// Whose lane it is, or of how many.
  void addTimerCount(SceneStrip& strip) const {
    const ModelLanes* const lanes = model(strip.track);
    if (!lanes || isLaneOfTime(strip.lane) || strip.lane == LaneKind::Programming) return;
    const ArmedLane& lane = lanes->armed(strip.track, strip.lane);
    if (lane.timers.size() == 1) strip.detail = namesOfTimers(*lanes, names_, lane, {0})[0];
    if (lane.timers.size() > 1)
      strip.detail = fmt::format("{} timers", grouped(lane.timers.size()));
  }

  void addModel(SceneStrip& strip) const {
    if (!request_.model || strip.track >= request_.model->tracks.size()) return;
    if (strip.lane == LaneKind::Programming) {
      addStepLine(strip, request_.model->tracks[strip.track].due, request_.model->nanoseconds,
                  window_);
    } else if (!isLaneOfTime(strip.lane)) {
      addArmed(strip, *request_.model, request_, window_);
    }
  }

  void addBars(SceneStrip& strip, const LaneView& view, LaneKind kind) const {
    for (const LaneSpan& span : view.spans) {
      if (!isWide(span, window_)) continue;
      SceneBar bar;
      const double from = window_.x(span.from);
      const double to = window_.x(span.to);
      bar.from = static_cast<float>(std::max(from, 0.0));
      bar.to = static_cast<float>(std::min(to, window_.width));
      bar.depth = span.depth;
      // An edge is only drawn where the span begins or ends, not where the picture does.
      bar.beginKnown = span.beginKnown && from >= 0;
      bar.endKnown = span.endKnown && to <= window_.width;
      bar.idle = span.idle;
      bar.row = span.row;
      bar.ink = inkOfRow(*timeline_.store, kind, span.row, !span.beginKnown);
      if (!span.idle && bar.to - bar.from >= shortestNamed) {
        bar.label = nameOfRow(*timeline_.store, names_, span.row,
                              kind == LaneKind::Task && !span.beginKnown);
      }
      strip.bars.push_back(std::move(bar));
    }
    // By begin, the outer ones first: what is inside is painted over what is around it.
    std::stable_sort(strip.bars.begin(), strip.bars.end(),
                     [](const SceneBar& a, const SceneBar& b) {
                       return a.depth != b.depth ? a.depth < b.depth : a.from < b.from;
                     });
  }

  void addDetail(SceneStrip& strip, const LaneView& view, bool dense) const {
    if (!dense) return;
    if (isLaneOfTime(strip.lane)) {
      if (request_.durations) strip.detail = "share";
      return;
    }
    strip.detail = fmt::format("max {}", grouped(mostOf(view, window_)));
    const std::string_view what = strip.lane == LaneKind::Programming ? "calls" : "operations";
    if (view.slice && request_.durations && strip.height >= 30) {
      strip.detailBelow = fmt::format("{} in {}", what, roughly(view.slice));
    } else if (strip.height >= 30) {
      strip.detailBelow = fmt::format("{} a pixel", what);
    }
  }

  void addHatches(SceneStrip& strip, const CpuTrack& track, bool withWords) const {
    addLosses(strip, track, withWords);
    addBlind(strip, withWords);
    std::ranges::stable_sort(strip.hatches, {}, &SceneHatch::from);
  }

  /// While a CPU is offline it holds no timers and nothing runs on it.
  void addBlind(SceneStrip& strip, bool withWords) const {
    if (!request_.model || strip.track >= request_.model->tracks.size()) return;
    for (const LaneBlind& blind : request_.model->tracks[strip.track].blind) {
      if (blind.to < window_.from || blind.from >= window_.to) continue;
      const float x = static_cast<float>(std::max(window_.x(blind.from), 0.0));
      const float behind = static_cast<float>(std::min(window_.x(blind.to), window_.width));
      const bool covered = std::ranges::any_of(strip.hatches, [&](const SceneHatch& hatch) {
        return hatch.from <= x && hatch.to >= behind;
      });
      if (covered) continue;
      strip.hatches.push_back({x, std::max(behind, x + leastHatch),
                               withWords ? std::string(reasonOf(blind.kind)) : ""});
    }
  }

  void addLosses(SceneStrip& strip, const CpuTrack& track, bool withWords) const {
    for (const LaneLoss& loss : track.losses) {
      if (loss.to < window_.from || loss.from >= window_.to) continue;
      const s64 from = loss.atBegin ? window_.from : loss.from;
      const s64 to = loss.atEnd ? window_.to : loss.to;
      const float x = static_cast<float>(std::max(window_.x(from), 0.0));
      const float behind = static_cast<float>(std::min(window_.x(to), window_.width));
      if (!strip.hatches.empty() && x <= strip.hatches.back().to) {
        SceneHatch& last = strip.hatches.back();
        if (strip.hatches.size() == 1 && last.from <= 0 &&
            last.to >= static_cast<float>(window_.width))
          return;
        last.to = std::max(last.to, behind);
        if (withWords) last.reason = "events lost, several times";
        continue;
      }
      strip.hatches.push_back(
          {x, std::max(behind, x + leastHatch), withWords ? lossWords(loss) : ""});
    }
  }

  const Timeline& timeline_;
  const SceneNames& names_;
  const SceneRequest& request_;
  ViewWindow window_;
  std::vector<TrackView> views_;
  std::deque<TimersOfRows> rows_;  // keeps its places
  std::array<u32, laneCount> most_{};
};

}  // namespace

Scene buildScene(const Timeline& timeline, const SceneNames& names, const SceneRequest& request) {
  if (!timeline.store) return {};
  return Builder(timeline, names, request).run();
}

}  // namespace tickscope
