// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses timers for rows and draws their lives.
#include "core/timeline/timer_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/timeline/lane_marks.h"
#include "core/timeline/model_marks.h"

namespace tickscope {

namespace {

// Logical pixels, look.md 5.
constexpr double barHeight = 9;
constexpr double padding = 2;
constexpr double wide = 2;
constexpr double flagRoom = 9;
/// Lives that are looked at one by one to count whose they are, and to draw those of one timer.
constexpr u32 mostCounted = 256, mostDrawn = 256;

/// The lives of one timer, by begin.
class Lives {
 public:
  Lives(const ModelLanes& model, const ArmedLane& lane, const LaneTimer& timer)
      : model_(model), ids_(lane.byTimer.data() + timer.first), size_(timer.count) {}

  [[nodiscard]] u32 size() const { return size_; }
  [[nodiscard]] SpanId id(u32 i) const { return ids_[i]; }
  [[nodiscard]] const ArmedSpan& span(u32 i) const { return model_.span(ids_[i]); }
  [[nodiscard]] s64 begin(u32 i) const { return model_.beginOf(span(i)); }
  [[nodiscard]] s64 end(u32 i) const { return model_.endOf(span(i)); }
  /// The first from `place` on that does not begin before `time`; searched with growing steps.
  [[nodiscard]] u32 gallop(s64 time, u32 place) const {
    u32 step = 1;
    u32 high = place;
    while (high < size_ && begin(high) < time) {
      place = high + 1;
      high = size_ - high > step ? high + step : size_;
      step *= 2;
    }
    while (place < high) {
      const u32 middle = place + (high - place) / 2;
      if (begin(middle) < time) {
        place = middle + 1;
      } else {
        high = middle;
      }
    }
    return place;
  }
  /// How many begin or are armed in a window of time.
  [[nodiscard]] u32 touching(s64 from, s64 to) const {
    const u32 first = gallop(from, 0);
    const u32 count = gallop(to, first) - first;
    return count + (first > 0 && end(first - 1) >= from ? 1 : 0);
  }

 private:
  const ModelLanes& model_;
  const SpanId* ids_;
  u32 size_;
};

struct Candidate {
  u32 place = 0;
  u32 rank = ~u32{0};  // of the whole recording
  u32 lives = 0;       // in view
  bool selected = false, lost = false;
};

/// A life in view is still armed long after it was due.
bool isLostIn(const ModelLanes& model, const Lives& lives, s64 from, s64 to) {
  const u32 behind = lives.gallop(to, 0);
  for (u32 i = behind; i > 0 && behind - i < 2; --i) {
    const ArmedSpan& span = lives.span(i - 1);
    const Known<s64> due = model.dueOf(span);
    if (model.isLate(span, due) && *due < to && lives.end(i - 1) > from) return true;
  }
  return false;
}

/// Lives in view by place of their timer, each with its first and the rest behind it.
std::vector<u32> placesInView(const ModelLanes& model, const ArmedLane& lane, s64 from, s64 to) {
  std::vector<u32> places;
  const auto leaf = [&](u32 i) { return model.endOf(model.span(lane.byBegin[i])); };
  lane.latest.forEachFrom(lane.begins.lowerBound(to), from, leaf, [&](u32 i) {
    if (const Known<u32> place = lane.placeOf(model.span(lane.byBegin[i]).timer))
      places.push_back(*place);
    return true;
  });
  std::ranges::sort(places);
  return places;
}

/// The task for callbacks that only wake one.
std::string nameOfTimer(const ModelLanes& model, const SceneNames& names, const ArmedLane& lane,
                        const LaneTimer& timer) {
  const ModelTimer& known = model.tables->timers[number(timer.timer)];
  const Address shown = known.function == Address{} ? known.address : known.function;
  std::string name = names.symbol ? names.symbol(shown) : fmt::format("0x{:x}", number(shown));
  if ((name == "hrtimer_wakeup" || name == "process_timeout") && names.task) {
    const Row armed = model.span(lane.byTimer[timer.first + timer.count - 1]).armed;
    if (armed != noRow) {
      const Pid pid = model.timeline->store->pid(armed);
      if (pid != Pid{0}) return fmt::format("{}-{}", names.task(pid), number(pid));
    }
  }
  return name;
}

class RowMarks {
 public:
  RowMarks(SceneStrip& strip, const ModelLanes& model, const SceneRequest& request,
           const ViewWindow& window, const Lives& lives)
      : strip_(strip),
        model_(model),
        request_(request),
        window_(window),
        lives_(lives),
        foot_(strip.height - 1 - padding) {}

  void run(u32 mostCells) {
    u32 first = lives_.gallop(window_.from, 0);
    const u32 behind = lives_.gallop(window_.to, first);
    if (first > 0 && lives_.end(first - 1) >= window_.from) --first;
    if (behind - first <= mostDrawn) {
      eachLife(first, behind);
    } else {
      cells(first, mostCells);
    }
    flushRun();
    const Marks marks = marksOfInstants(view_, strip_.lane, window_,
                                        {strip_.height, mostOf(view_, window_), false});
    strip_.columns = marks.columns;
    strip_.glyphs = marks.glyphs;
    if (strip_.chosen) select();
  }

 private:
  void eachLife(u32 first, u32 behind) {
    for (u32 i = first; i < behind; ++i) {
      const ArmedSpan& span = lives_.span(i);
      const s64 begin = lives_.begin(i), end = lives_.end(i);
      const double from = std::max(window_.x(begin), 0.0);
      const double to = std::min(window_.x(end), window_.width);
      if (to - from >= wide) {
        addBar(i);
      } else {
        addToRun(from, to);
      }
      if (span.armed != noRow && begin >= window_.from) {
        const bool again = i > 0 && lives_.span(i - 1).end == SpanEnd::Restarted &&
                           lives_.span(i - 1).ended == span.armed;
        add(begin, span.armed, again ? Shape::Restart : Shape::Arm);
      }
      if (span.ended == noRow || end < window_.from || end >= window_.to) continue;
      if (span.end == SpanEnd::Expired) add(end, span.ended, Shape::Expire);
      if (span.end == SpanEnd::Cancelled) add(end, span.ended, Shape::Cancel);
    }
    // A timer that is armed by its own callback begins anew before the expiry that it follows is drawn.
    std::ranges::stable_sort(view_.operations, {}, &LaneOperation::time);
  }

  void add(s64 time, Row row, Shape shape) {
    const u8 hint = shape == Shape::Expire   ? lane_class::expiry
                    : shape == Shape::Cancel ? lane_class::cancel
                                             : lane_class::arm;
    view_.operations.push_back({time, row, shape, hint, {}});
    ++view_.counted;
  }

  void cells(u32 place, u32 mostCells) {
    const s32 columns = window_.columns();
    const s32 width = std::max(
        2, (columns + static_cast<s32>(mostCells) - 1) / std::max(1, static_cast<s32>(mostCells)));
    Known<u32> drawn;
    for (s32 c = 0; c < columns; c += width) {
      const s32 last = std::min(c + width, columns);
      const s64 from = window_.timeOfColumn(c), to = window_.timeOfColumn(last);
      const u32 next = lives_.gallop(to, place);
      const bool armed = place > 0 && lives_.end(place - 1) > from;
      if (next == place && armed && drawn != place - 1) {
        drawn = place - 1;
        addBar(place - 1);
      } else if (next != place || armed) {
        addToRun(c / window_.ratio, last / window_.ratio);
      }
      if (next != place) {
        const u32 count = next - place;
        view_.cells.push_back({c, last - c, count, count, lane_class::arm, 0});
      }
      place = next;
    }
  }

  void addBar(u32 i) {
    flushRun();
    SceneArmed bar = barOf(model_, lives_.id(i), window_);
    bar.height = static_cast<float>(barHeight);
    bar.top = static_cast<float>(foot_ - barHeight);
    if (bar.due && static_cast<double>(*bar.due) - flagBefore_ >= flagRoom) {
      bar.flag = true;
      flagBefore_ = static_cast<double>(*bar.due);
    }
    strip_.armed.push_back(std::move(bar));
  }

  void addToRun(double from, double to) {
    to = std::max(to, from + 1 / window_.ratio);
    if (runTo_ && from - *runTo_ < wide) {
      runTo_ = std::max(*runTo_, to);
      return;
    }
    flushRun();
    runFrom_ = from;
    runTo_ = to;
  }

  void flushRun() {
    if (!runTo_) return;
    SceneArmed run;
    run.many = true;
    run.ink = inkOf(model_, lives_.span(0));
    run.from = static_cast<float>(runFrom_);
    run.to = static_cast<float>(std::min(*runTo_, window_.width));
    run.height = static_cast<float>(barHeight);
    run.top = static_cast<float>(foot_ - barHeight);
    strip_.armed.push_back(std::move(run));
    runTo_.reset();
  }

  void select() {
    const auto at = std::ranges::find_if(strip_.armed, [&](const SceneArmed& bar) {
      return !bar.many && bar.span == *request_.selected;
    });
    if (at != strip_.armed.end()) {
      markSelected(*at, model_, request_, window_);
      std::rotate(at, at + 1, strip_.armed.end());
      return;
    }
    const ArmedSpan& span = model_.span(*request_.selected);
    if (model_.beginOf(span) >= window_.to || model_.endOf(span) < window_.from) return;
    SceneArmed bar = barOf(model_, *request_.selected, window_);
    bar.height = static_cast<float>(barHeight);
    bar.top = static_cast<float>(foot_ - barHeight);
    markSelected(bar, model_, request_, window_);
    strip_.armed.push_back(std::move(bar));
  }

  SceneStrip& strip_;
  const ModelLanes& model_;
  const SceneRequest& request_;
  const ViewWindow& window_;
  const Lives& lives_;
  double foot_;
  LaneView view_;
  double flagBefore_ = -flagRoom;
  double runFrom_ = 0;
  Known<double> runTo_;
};

}  // namespace

void fitTimerRows(LaneLayout& layout, const ModelLanes& model, s64 page) {
  std::vector<TimerRows> rows(layout.tracks());
  struct Room {
    u32 track;
    LaneKind lane;
    u32 most;
  };
  std::vector<Room> rooms;
  for (u32 t = 0; t < rows.size() && t < model.tracks.size(); ++t) {
    for (const LaneKind kind : {LaneKind::Hrtimer, LaneKind::Wheel}) {
      const ArmedLane& lane = model.armed(t, kind);
      u32 most = std::min(lane.lost, mostTimerRows);
      rows[t].ofTimers(kind).count = most;
      // A timer that was armed but once, or is the only one, tells no more in a row of its own.
      const bool alone = lane.timers.size() < 2;
      for (std::size_t i = alone ? lane.ranked.size() : lane.lost;
           i < lane.ranked.size() && most < mostTimerRows; ++i)
        most += lane.timers[lane.ranked[i]].count > 1;
      if (!layout.folded(t)) rooms.push_back({t, kind, most});
    }
  }
  layout.setTimerRows(rows);
  // The selected row is higher, which must not make the lanes scroll.
  page -= layout.heightOfTimerRow(true) - layout.heightOfTimerRow(false);
  for (u32 wanted = 1; wanted <= mostTimerRows; ++wanted) {
    for (const Room& room : rooms) {
      u32& count = rows[room.track].ofTimers(room.lane).count;
      if (count >= std::min(wanted, room.most)) continue;
      ++count;
      layout.setTimerRows(rows);
      if (layout.height() <= page) continue;
      --count;
      layout.setTimerRows(rows);
      return;
    }
  }
}

std::vector<u32> timersInRows(const ModelLanes& model, const ArmedLane& lane, s64 from, s64 to,
                              u32 rows, Known<TimerId> selected) {
  std::vector<Candidate> all;
  const auto candidate = [&](u32 place) -> Candidate& {
    const auto at = std::ranges::find(all, place, &Candidate::place);
    return at != all.end() ? *at : all.emplace_back(Candidate{place});
  };
  for (u32 rank = 0; rank < lane.ranked.size(); ++rank) {
    Candidate& one = candidate(lane.ranked[rank]);
    one.rank = rank;
    if (rank < lane.lost)
      one.lost = isLostIn(model, {model, lane, lane.timers[one.place]}, from, to);
  }
  if (lane.touching(from, to) <= mostCounted) {
    const std::vector<u32> places = placesInView(model, lane, from, to);
    for (std::size_t i = 0; i < places.size();) {
      std::size_t end = i + 1;
      while (end < places.size() && places[end] == places[i]) ++end;
      candidate(places[i]).lives = static_cast<u32>(end - i);
      i = end;
    }
  } else {
    for (Candidate& one : all)
      one.lives = Lives(model, lane, lane.timers[one.place]).touching(from, to);
  }
  if (selected) {
    if (const Known<u32> place = lane.placeOf(*selected)) candidate(*place).selected = true;
  }
  std::ranges::sort(all, [](const Candidate& a, const Candidate& b) {
    if (a.selected != b.selected) return a.selected;
    if (a.lost != b.lost) return a.lost;
    if (a.lives != b.lives) return a.lives > b.lives;
    return a.rank != b.rank ? a.rank < b.rank : a.place < b.place;
  });
  if (all.size() > rows) all.resize(rows);
  // Rows that change places with each step of the view could not be followed.
  std::ranges::sort(all, [](const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.place < b.place;
  });
  std::vector<u32> chosen;
  for (const Candidate& one : all) chosen.push_back(one.place);
  return chosen;
}

std::vector<std::string> namesOfTimers(const ModelLanes& model, const SceneNames& names,
                                       const ArmedLane& lane, const std::vector<u32>& places) {
  std::vector<std::string> bare;
  for (const u32 place : places)
    bare.push_back(nameOfTimer(model, names, lane, lane.timers[place]));
  std::vector<std::string> told = bare;
  for (std::size_t i = 0; i < bare.size(); ++i) {
    if (std::ranges::count(bare, bare[i]) < 2) continue;
    const TimerId timer = lane.timers[places[i]].timer;
    told[i] +=
        fmt::format(" …{:05x}", number(model.tables->timers[number(timer)].address) & 0xfffffU);
  }
  return told;
}

void addTimerRow(SceneStrip& strip, const ModelLanes& model, const SceneRequest& request,
                 const ViewWindow& window, u32 mostCells) {
  const ArmedLane& lane = model.armed(strip.track, strip.lane);
  const Known<u32> place = strip.timer ? lane.placeOf(*strip.timer) : Known<u32>();
  if (!place) return;
  const Lives lives(model, lane, lane.timers[*place]);
  RowMarks(strip, model, request, window, lives).run(mostCells);
}

Known<Row> nearestOfTimer(const ModelLanes& model, const ArmedLane& lane, TimerId timer, s64 time,
                          s64 reach) {
  const Known<u32> place = lane.placeOf(timer);
  if (!place) return {};
  const Lives lives(model, lane, lane.timers[*place]);
  const u32 behind = lives.gallop(time, 0);
  Known<Row> best;
  s64 least = reach;
  const auto look = [&](Row row) {
    if (row == noRow) return;
    const s64 apart = std::abs(model.timeline->relative(model.timeline->store->time(row)) - time);
    if (apart > least) return;
    least = apart;
    best = row;
  };
  for (u32 i = behind > 2 ? behind - 2 : 0; i < std::min(behind + 2, lives.size()); ++i) {
    look(lives.span(i).ended);
    look(lives.span(i).armed);
  }
  return best;
}

}  // namespace tickscope
