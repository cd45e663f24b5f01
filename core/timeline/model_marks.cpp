// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of bars, density of armed timers, and the step line with its scale.
#include "core/timeline/model_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tickscope {

namespace {

// Logical pixels, look.md 3 and 5.
constexpr double barHeight = 9;
constexpr double rowHeight = 5, lowRowHeight = 4;
constexpr double manyHeight = 6, lowManyHeight = 4;
constexpr double glyphHeight = 13;
constexpr double padding = 2;
constexpr s32 tall = 30;
constexpr double flagRoom = 9;
constexpr double leastLate = 3;
/// So many spans are looked at one by one: each costs some 300 ns, and more have no room for their flags.
constexpr u32 mostSpans = 256;
/// Device pixels of a cell where there are more.
constexpr s32 cellWidth = 2;
/// Steps that are drawn one by one: at least so many pixels each on the whole.
constexpr double pixelsAStep = 2;
constexpr double peakLabelRoom = 52;

float cut(double x, const ViewWindow& window) {
  return static_cast<float>(std::clamp(x, 0.0, window.width));
}

class ArmedMarks {
 public:
  ArmedMarks(SceneStrip& strip, const ModelLanes& model, const SceneRequest& request,
             const ViewWindow& window)
      : strip_(strip),
        model_(model),
        request_(request),
        window_(window),
        lane_(model.armed(strip.track, strip.lane)),
        foot_(strip.height - 1 - padding) {}

  void run() {
    const bool few = lane_.touching(window_.from, window_.to) <= mostSpans;
    if (few) collect();
    const bool low = strip_.height < tall;
    const double inRows = foot_ - padding - glyphHeight;
    const double row = low ? lowRowHeight : rowHeight;
    const u32 most = static_cast<u32>(std::clamp(inRows / row, low ? 2.0 : 1.0, 8.0));
    if (few && timers_.size() <= most) {
      bars(timers_.size() > 1 ? row : barHeight);
    } else {
      many(low ? lowManyHeight : manyHeight);
    }
    select();
  }

 private:
  void collect() {
    const u32 end = lane_.begins.lowerBound(window_.to);
    const auto leaf = [&](u32 i) { return model_.endOf(model_.span(lane_.byBegin[i])); };
    lane_.latest.forEachFrom(end, window_.from, leaf, [&](u32 i) {
      spans_.push_back(lane_.byBegin[i]);
      return true;
    });
    for (const SpanId id : spans_) timers_.push_back(model_.span(id).timer);
    std::ranges::sort(timers_);
    timers_.erase(std::unique(timers_.begin(), timers_.end()), timers_.end());
  }

  void bars(double row) {
    strip_.armedHeight = static_cast<float>(
        std::max(barHeight, row * static_cast<double>(std::max<std::size_t>(timers_.size(), 1))));
    double flagBefore = -flagRoom;
    for (const SpanId id : spans_) {
      SceneArmed bar = barOf(model_, id, window_);
      const auto place = std::ranges::lower_bound(timers_, model_.span(id).timer) - timers_.begin();
      bar.top = static_cast<float>(
          foot_ - row * static_cast<double>(timers_.end() - timers_.begin() - place));
      bar.height = static_cast<float>(timers_.size() > 1 ? row - 1 : row);
      if (bar.due && static_cast<double>(*bar.due) - flagBefore >= flagRoom) {
        bar.flag = true;
        flagBefore = static_cast<double>(*bar.due);
      }
      strip_.armed.push_back(std::move(bar));
    }
  }

  void many(double height) {
    strip_.armedHeight = static_cast<float>(height + 1);
    const s32 columns = window_.columns();
    std::vector<u32> counts;
    u32 begun = 0, ended = 0, most = 0;
    const auto armed = [&](s64 time) {
      begun = lane_.begins.gallop(time, begun);
      ended = lane_.ends.gallop(time, ended);
      return begun > ended ? begun - ended : 0;
    };
    u32 last = armed(window_.from);
    for (s32 c = 0; c < columns; c += cellWidth) {
      const u32 begunBefore = begun;
      const u32 now = armed(window_.timeOfColumn(std::min(c + cellWidth, columns)));
      // What was armed and gone within the cell is there, if only for a part of it.
      const u32 count = std::max({last, now, begun > begunBefore ? 1U : 0U});
      counts.push_back(count);
      most = std::max(most, count);
      last = now;
    }
    if (!most) return;
    const Ink ink = strip_.lane == LaneKind::Wheel ? Ink::Wheel : Ink::Hrtimer;
    const double scale = std::log2(1.0 + most);
    for (std::size_t i = 0; i < counts.size();) {
      std::size_t end = i + 1;
      while (end < counts.size() && counts[end] == counts[i]) ++end;
      if (counts[i]) {
        SceneArmed run;
        run.many = true;
        run.count = counts[i];
        run.ink = ink;
        run.from = static_cast<float>(static_cast<double>(i) * cellWidth / window_.ratio);
        run.to = static_cast<float>(
            std::min(static_cast<double>(end) * cellWidth / window_.ratio, window_.width));
        run.height = static_cast<float>(height * std::log2(1.0 + counts[i]) / scale);
        run.top = static_cast<float>(foot_) - run.height;
        strip_.armed.push_back(std::move(run));
      }
      i = end;
    }
    lateOfMany(height, ink);
    if (strip_.height >= tall && strip_.detailBelow.empty())
      strip_.detailBelow = fmt::format("up to {} armed", most);
  }

  void lateOfMany(double height, Ink ink) {
    double before = -1;
    auto at = std::ranges::lower_bound(lane_.late, window_.from, {}, &TimeRange::to);
    while (at != lane_.late.end() && at->from < window_.to) {
      const double from = std::max(window_.x(at->from), 0.0);
      const double to = std::min(std::max(window_.x(at->to), from + leastLate), window_.width);
      if (to > before) {
        SceneArmed late;
        late.many = true;
        late.count = 0;
        late.ink = ink;
        late.from = static_cast<float>(std::max(from, before));
        late.to = static_cast<float>(to);
        late.late = late.from;
        late.height = static_cast<float>(height);
        late.top = static_cast<float>(foot_ - height);
        strip_.armed.push_back(std::move(late));
        before = to;
      }
      // The next that reaches over what is drawn already: so many are looked at as there are pixels.
      const s64 reached = window_.timeOfColumn(static_cast<s32>(before * window_.ratio));
      at = std::ranges::lower_bound(at + 1, lane_.late.end(), reached, {}, &TimeRange::to);
    }
  }

  void select() {
    // With a row of its own, it is marked there.
    if (!request_.selected || strip_.chosen) return;
    const auto same = [&](const SceneArmed& bar) {
      return !bar.many && bar.span == *request_.selected;
    };
    auto at = std::ranges::find_if(strip_.armed, same);
    const ArmedSpan& span = model_.span(*request_.selected);
    if (at == strip_.armed.end()) {
      const ArmedLane& own = model_.isWheel(span) ? model_.tracks[strip_.track].wheel
                                                  : model_.tracks[strip_.track].hrtimers;
      if (&own != &lane_ || model_.timeline->tracks[strip_.track].cpu != span.owner) return;
      if (model_.beginOf(span) >= window_.to || model_.endOf(span) < window_.from) return;
      SceneArmed bar = barOf(model_, *request_.selected, window_);
      bar.height = static_cast<float>(
          std::max<double>(static_cast<double>(strip_.armedHeight) - 1, lowManyHeight));
      bar.top = static_cast<float>(foot_) - bar.height;
      strip_.armed.push_back(std::move(bar));
      at = std::prev(strip_.armed.end());
    }
    markSelected(*at, model_, request_, window_);
    // The selected bar is painted over the others.
    std::rotate(at, at + 1, strip_.armed.end());
  }

  SceneStrip& strip_;
  const ModelLanes& model_;
  const SceneRequest& request_;
  const ViewWindow& window_;
  const ArmedLane& lane_;
  double foot_;
  std::vector<SpanId> spans_;
  std::vector<TimerId> timers_;
};

/// A piece of the line before its scale is known.
struct Piece {
  s64 from, to;
  s64 begin, end;  // time left
  bool joined;
  bool many;
};

void piecesOfSteps(const DueLine& line, u32 first, u32 last, const ViewWindow& window,
                   std::vector<Piece>& pieces) {
  bool joined = false;
  for (u32 step = first; step < last; ++step) {
    const s64 from = std::max(line.at(step), window.from);
    const s64 to = std::min(line.endOf(step), window.to);
    if (line.known(step) && to >= from) {
      pieces.push_back({from, to, line.due(step) - from, line.due(step) - to, joined, false});
      joined = true;
    } else {
      joined = false;
    }
  }
}

void piecesOfColumns(const DueLine& line, u32 first, const ViewWindow& window,
                     std::vector<Piece>& pieces) {
  const s32 columns = window.columns();
  u32 place = first;
  pieces.reserve(static_cast<std::size_t>(columns / cellWidth + 1));
  for (s32 c = 0; c < columns; c += cellWidth) {
    const s64 from = window.timeOfColumn(c);
    const s64 to = window.timeOfColumn(std::min(c + cellWidth, columns));
    const u32 next = line.times().gallop(to, place);
    if (next == place) continue;
    // The step that is in force over several columns counts with its part of each.
    const u32 last = next - 1;
    if (next - place == 1 && line.known(last)) {
      const s64 begin = std::max(from, line.at(last));
      const s64 end = std::min(to, line.endOf(last));
      if (end >= begin)
        pieces.push_back({begin, end, line.due(last) - begin, line.due(last) - end, false, false});
    } else if (const s64 high = line.highest(place, next); high != RangeTop::none) {
      pieces.push_back({from, to, high, line.lowest(place, next), false, true});
    }
    place = last;
  }
}

/// No other peak rises through the label of one; the label covers what falls there.
bool hasRoomBehind(const std::vector<Piece>& pieces, const Piece& peak, const ViewWindow& window) {
  const double x = window.x(peak.from);
  for (std::size_t i = static_cast<std::size_t>(&peak - pieces.data()) + 1; i < pieces.size();
       ++i) {
    if (window.x(pieces[i].from) >= x + peakLabelRoom) return true;
    if (pieces[i].begin > pieces[i - 1].end) return false;
  }
  return true;
}

}  // namespace

std::string lengthInShort(s64 ns) {
  const auto figure = static_cast<double>(ns);
  if (ns < 1000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return fmt::format("{:.4g} µs", figure / 1e3);
  if (ns < 1'000'000'000) return fmt::format("{:.4g} ms", figure / 1e6);
  return fmt::format("{:.4g} s", figure / 1e9);
}

Ink inkOf(const ModelLanes& model, const ArmedSpan& span) {
  if (model.isWheel(span)) return Ink::Wheel;
  return isSoft(span.clockBase()) ? Ink::HrtimerSoft : Ink::Hrtimer;
}

SceneArmed barOf(const ModelLanes& model, SpanId id, const ViewWindow& window) {
  const ArmedSpan& span = model.span(id);
  SceneArmed bar;
  bar.span = id;
  const s64 begin = model.beginOf(span);
  const s64 end = model.endOf(span);
  bar.from = cut(window.x(begin), window);
  bar.to = cut(window.x(end), window);
  bar.beginKnown = span.armed != noRow && begin >= window.from;
  bar.endKnown = span.ended != noRow && span.end != SpanEnd::Unknown && end <= window.to;
  bar.ink = inkOf(model, span);
  bar.replaced = span.end == SpanEnd::Restarted || span.end == SpanEnd::Cancelled ||
                 span.end == SpanEnd::ReInitialised;
  const Known<s64> due = model.dueOf(span);
  if (due && *due >= window.from && *due < window.to) bar.due = static_cast<float>(window.x(*due));
  if (due && model.isLate(span, due)) {
    bar.replaced = false;
    bar.late = cut(window.x(std::max(*due, begin)), window);
  }
  return bar;
}

void markSelected(SceneArmed& bar, const ModelLanes& model, const SceneRequest& request,
                  const ViewWindow& window) {
  const ArmedSpan& span = model.span(bar.span);
  bar.selected = true;
  bar.flag = bar.due.has_value();
  if (span.armed != noRow) bar.arm = cut(window.x(model.beginOf(span)), window);
  if (span.armed == noRow) bar.label = "armed before the recording";
  const Known<s64> due = model.dueOf(span);
  if (!due) return;
  if (!bar.label.empty()) bar.label += "  ";
  bar.label += "due ";
  bar.label += request.timeWords ? request.timeWords(*due) : fmt::format("{}", *due);
  if (model.nanoseconds && span.armed != noRow) {
    const s64 ahead = *due - model.beginOf(span);
    bar.label += fmt::format("  {}{}", ahead < 0 ? "−" : "+", lengthInShort(std::abs(ahead)));
  }
  if (!bar.late) return;
  bar.label += fmt::format("  {} {} late", span.end == SpanEnd::Expired ? "expired" : "still armed",
                           lengthInShort(*model.latenessOf(span)));
}

void addArmed(SceneStrip& strip, const ModelLanes& model, const SceneRequest& request,
              const ViewWindow& window) {
  ArmedMarks(strip, model, request, window).run();
}

void addStepLine(SceneStrip& strip, const DueLine& line, bool nanoseconds,
                 const ViewWindow& window) {
  if (line.empty() || line.at(0) >= window.to || line.end() < window.from) return;
  const u32 first = line.stepAt(window.from).value_or(0);
  const u32 last = line.times().lowerBound(window.to);
  std::vector<Piece> pieces;
  const bool single = (last - first) * pixelsAStep <= window.width;
  if (single) {
    piecesOfSteps(line, first, last, window, pieces);
  } else {
    piecesOfColumns(line, first, window, pieces);
  }
  // The scale: the 80th percentile of the peaks in view, so that one long sleep does not flatten the rest.
  std::vector<s64> peaks;
  for (const Piece& piece : pieces) {
    if (piece.begin > 0) peaks.push_back(piece.begin);
  }
  if (pieces.empty()) return;
  s64 scale = 1;
  if (!peaks.empty()) {
    const auto at = peaks.begin() + static_cast<std::ptrdiff_t>((peaks.size() - 1) * 8 / 10);
    std::nth_element(peaks.begin(), at, peaks.end());
    scale = std::max<s64>(*at, 1);
  }
  const auto share = [&](s64 left) {
    return static_cast<float>(
        std::clamp(static_cast<double>(left) / static_cast<double>(scale), -4.0, 4.0));
  };
  double labelled = -peakLabelRoom;
  strip.left.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    SceneLeft left;
    left.from = cut(window.x(piece.from), window);
    left.to = cut(window.x(piece.to), window);
    left.begin = share(piece.begin);
    left.end = share(piece.end);
    left.joined = piece.joined;
    left.many = piece.many;
    const double x = static_cast<double>(left.from);
    if (nanoseconds && single && piece.begin > scale && x - labelled >= peakLabelRoom &&
        hasRoomBehind(pieces, piece, window)) {
      left.label = lengthInShort(piece.begin);
      labelled = x;
    }
    strip.left.push_back(std::move(left));
  }
  if (!nanoseconds) return;
  if (strip.detail.empty()) strip.detail = lengthInShort(scale);
  if (strip.detailBelow.empty()) strip.detailBelow = "to expires_next";
}

Known<SpanId> armedAt(const SceneStrip& strip, double x, double y) {
  constexpr double reach = 2;
  Known<SpanId> found;
  for (const SceneArmed& bar : strip.armed) {
    if (bar.many) continue;
    const double top = static_cast<double>(bar.top);
    if (x < static_cast<double>(bar.from) - reach || x > static_cast<double>(bar.to) + reach ||
        y < top - 1 || y > top + static_cast<double>(bar.height) + 1)
      continue;
    found = bar.span;
    if (x >= static_cast<double>(bar.from) && x < static_cast<double>(bar.to)) break;
  }
  return found;
}

}  // namespace tickscope
