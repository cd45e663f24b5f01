// SPDX-License-Identifier: GPL-3.0-or-later
// One pass over the events of each CPU fills its lanes, their checkpoints and pyramids.
#include "core/timeline/lane_builder.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>

#include "core/base/parallel.h"
#include "core/timeline/lane_walk.h"

namespace tickscope {

u8 classOf(const EventStore& store, LaneRole role, Row row) {
  if (role.lane == LaneKind::Softirq) {
    u32 vector = 0;
    switch (role.part) {
      case LanePart::Raise:
        vector = store.as<SoftirqRaise>(row).vec;
        break;
      case LanePart::Entry:
        vector = store.as<SoftirqEntry>(row).vec;
        break;
      default:
        vector = store.as<SoftirqExit>(row).vec;
        break;
    }
    return vector == 1 ? lane_class::timer : vector == 8 ? lane_class::hrtimer : lane_class::other;
  }
  if (role.lane == LaneKind::Hrtimer || role.lane == LaneKind::Wheel) {
    switch (role.part) {
      case LanePart::Arm:
        return lane_class::arm;
      case LanePart::Cancel:
        return lane_class::cancel;
      default:
        return lane_class::expiry;
    }
  }
  return 0;
}

namespace {

constexpr u32 pollEvery = 1U << 15U;

/// A lane while it grows.
class LaneBuild {
 public:
  LaneBuild(const Timeline& timeline, const CpuTrack& track, Lane& lane, u64 events, bool keepTimes)
      : store_(timeline.store),
        lane_(&lane),
        walk_(timeline, track, lane.kind),
        keepTimes_(keepTimes) {
    lane.rows.reserve(events);
    if (keepTimes) lane.times.reserve(events);
    lane.checkpoints.reserve((events + Lane::checkpointEvery - 1) / Lane::checkpointEvery);
    if (events >= fewestForPyramid) lane.pyramid = Pyramid(timeline.last, events);
  }

  void add(s64 time, Row row, LaneRole role) {
    if (lane_->rows.size() % Lane::checkpointEvery == 0)
      lane_->checkpoints.push_back(walk_.state());
    lane_->rows.push_back(row);
    if (keepTimes_) lane_->times.push_back(time);
    walk_.step(time, row, role.part, *this);
    if (role.part == LanePart::Exit || lane_->pyramid.empty()) return;
    lane_->pyramid.add(time, walk_.counted() ? 1 : 0, classOf(*store_, role, row));
  }
  void finish() {
    walk_.finish(*this);
    lane_->pyramid.finish();
  }

  void span(const LaneSpan& span) {
    if (span.depth == 0 && !span.idle && !lane_->pyramid.empty()) {
      lane_->pyramid.addBusy(span.from, span.to);
    }
  }
  void point(s64, Row) {}

 private:
  const EventStore* store_;
  Lane* lane_;
  LaneWalk walk_;
  bool keepTimes_;
};

constexpr u32 none = ~u32{0};

/// Streams with events, and those of CPUs of which nothing is left but the fact of a loss.
std::vector<u32> tracksOf(const EventStore& store) {
  std::vector<bool> hasEvents(1U << 16U), hasLoss(1U << 16U);
  for (const Loss& loss : store.losses()) hasLoss[number(loss.cpu)] = true;
  for (const Stream& stream : store.streams()) {
    if (stream.count) hasEvents[number(stream.cpu)] = true;
  }
  std::vector<u32> streams;
  for (u32 s = 0; s < store.streams().size(); ++s) {
    const Stream& stream = store.streams()[s];
    const bool onlyLoss = hasLoss[number(stream.cpu)] && !hasEvents[number(stream.cpu)];
    if (!stream.count && !onlyLoss) continue;
    streams.push_back(s);
    if (onlyLoss) hasLoss[number(stream.cpu)] = false;
  }
  std::stable_sort(streams.begin(), streams.end(),
                   [&](u32 a, u32 b) { return store.streams()[a].cpu < store.streams()[b].cpu; });
  return streams;
}

/// The track of a loss is that of its next row, else the first of its CPU.
void placeLosses(const EventStore& store, Timeline& timeline) {
  std::vector<u32> ofStream(store.streams().size(), none), ofCpu(1U << 16U, none);
  for (u32 t = static_cast<u32>(timeline.tracks.size()); t-- > 0;) {
    ofStream[timeline.tracks[t].stream] = t;
    ofCpu[number(timeline.tracks[t].cpu)] = t;
  }
  for (const Loss& loss : store.losses()) {
    const u32 track = loss.next ? ofStream[store.streamOf(*loss.next)] : ofCpu[number(loss.cpu)];
    if (track == none) continue;
    LaneLoss placed;
    placed.count = loss.count;
    placed.atBegin = !loss.from;
    placed.atEnd = !loss.to;
    placed.to = loss.to ? std::max<s64>(timeline.relative(*loss.to), 0) : timeline.last;
    placed.from = loss.from ? std::clamp<s64>(timeline.relative(*loss.from), 0, placed.to) : 0;
    if (loss.next) placed.nextRow = number(*loss.next);
    timeline.tracks[track].losses.push_back(placed);
  }
  for (CpuTrack& track : timeline.tracks) {
    std::stable_sort(track.losses.begin(), track.losses.end(),
                     [](const LaneLoss& a, const LaneLoss& b) { return a.nextRow < b.nextRow; });
  }
}

/// Times of a track without its lanes: the origin must be known before.
void measure(const EventStore& store, Timeline& timeline) {
  std::vector<TraceTime> firsts, lasts;
  for (const CpuTrack& track : timeline.tracks) {
    const auto rows = store.rowsOfStream(track.stream);
    if (rows.empty()) continue;
    firsts.push_back(store.time(rows.front()));
    lasts.push_back(store.time(rows.back()));
  }
  if (firsts.empty()) return;
  timeline.origin = *std::min_element(firsts.begin(), firsts.end());
  // A time that steps back is drawn where the latest time before it was, so the end is the greatest of all.
  for (const BackwardStep& step : store.backwardSteps()) {
    const u32 place = store.placeInStream(step.row);
    if (place) lasts.push_back(store.time(store.rowsOfStream(store.streamOf(step.row))[place - 1]));
  }
  for (const TraceTime time : lasts)
    timeline.last = std::max(timeline.last, timeline.relative(time));
}

/// Empty rows for the events of all tracks.
void lineUpOverview(Timeline& timeline) {
  while ((static_cast<u64>(timeline.last) >> timeline.overviewShift) >= Timeline::overviewBins) {
    ++timeline.overviewShift;
  }
  const auto tracks = static_cast<u32>(timeline.tracks.size());
  const u32 together = (tracks + Timeline::overviewRows - 1) / Timeline::overviewRows;
  for (u32 first = 0; first < tracks; first += together) {
    OverviewRow row{first, std::min(together, tracks - first), {}};
    row.counts.resize((static_cast<u64>(timeline.last) >> timeline.overviewShift) + 1);
    timeline.overview.push_back(std::move(row));
  }
}

/// An event on its way to its lane.
struct Sorted {
  s64 time;
  Row row;
  LaneRole role;
};

/// Sorts a track's events by lane, a few at a time, so that they stay in the cache: within a lane entries and exits
/// follow each other in a rhythm that the processor foresees, across the lanes they do not.
class LaneSorter {
 public:
  static constexpr u32 atOnce = 1024;

  LaneSorter() : events_((laneCount + 1) * atOnce) {}
  /// Without a branch, as there is no telling which lane is next; events of no lane go to one behind the last.
  void add(s64 time, Row row, LaneRole role) {
    const std::size_t lane = role.part == LanePart::None ? laneCount : number(role.lane);
    events_[lane * atOnce + filled_[lane]++] = {time, row, role};
  }
  void empty(std::vector<LaneBuild>& builds) {
    for (std::size_t l = 0; l < laneCount; ++l) {
      const Sorted* const first = events_.data() + l * atOnce;
      for (const Sorted* event = first; event != first + filled_[l]; ++event)
        builds[l].add(event->time, event->row, event->role);
    }
    filled_ = {};
  }

 private:
  std::vector<Sorted> events_;
  std::array<u32, laneCount + 1> filled_{};
};

bool buildTrack(const Timeline& timeline, CpuTrack& track, bool backward, LaneSorter& sorter,
                std::vector<u32>& overview, Progress& progress) {
  const EventStore& store = *timeline.store;
  std::array<u64, laneCount> events{};
  for (u16 type = 0; type < store.types().size(); ++type) {
    const LaneRole role = timeline.roles.of(type);
    if (role.part != LanePart::None) events[number(role.lane)] += store.count(type, track.stream);
  }
  std::vector<LaneBuild> builds;
  builds.reserve(laneCount);
  for (std::size_t l = 0; l < laneCount; ++l) {
    track.lanes[l].kind = static_cast<LaneKind>(l);
    builds.emplace_back(timeline, track, track.lanes[l], events[l], backward);
  }
  s64 latest = 0;
  u32 polled = 0;
  const auto rows = store.rowsOfStream(track.stream);
  for (std::size_t begin = 0; begin < rows.size(); begin += LaneSorter::atOnce) {
    const auto some =
        rows.subspan(begin, std::min<std::size_t>(LaneSorter::atOnce, rows.size() - begin));
    for (const Row row : some) {
      const LaneRole role = timeline.roles.of(store.typeIndex(row));
      s64 time = std::max<s64>(timeline.relative(store.time(row)), 0);
      if (backward) time = latest = std::max(latest, time);
      const u64 bin = static_cast<u64>(time) >> timeline.overviewShift;
      ++overview[std::min<u64>(bin, overview.size() - 1)];
      sorter.add(time, row, role);
    }
    sorter.empty(builds);
    polled += static_cast<u32>(some.size());
    if (polled < pollEvery) continue;
    if (!progress.advance(polled)) return false;
    polled = 0;
  }
  if (backward) track.last = latest;
  for (LaneBuild& build : builds) build.finish();
  return progress.advance(polled);
}

/// Tracks by falling number of events: a long one begun last would leave the other threads idle.
std::vector<u32> longestFirst(const EventStore& store, const Timeline& timeline) {
  std::vector<u32> order(timeline.tracks.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto events = [&](u32 t) { return store.streams()[timeline.tracks[t].stream].count; };
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return events(a) > events(b); });
  return order;
}

}  // namespace

Result<std::shared_ptr<const Timeline>> buildTimeline(const EventStore& store, int threads,
                                                      Progress& progress) {
  auto timeline = std::make_shared<Timeline>();
  timeline->store = &store;
  timeline->roles = LaneRoles(store);
  for (const u32 stream : tracksOf(store)) {
    CpuTrack track;
    track.stream = stream;
    track.cpu = store.streams()[stream].cpu;
    timeline->tracks.push_back(std::move(track));
  }
  measure(store, *timeline);
  placeLosses(store, *timeline);
  std::vector<bool> backward(store.streams().size());
  for (const BackwardStep& step : store.backwardSteps()) backward[store.streamOf(step.row)] = true;
  lineUpOverview(*timeline);
  std::mutex overviewMutex;
  progress.begin("drawing up lanes", store.size());
  std::atomic<bool> cancelled{false};
  std::vector<std::unique_ptr<LaneSorter>> sorters(static_cast<std::size_t>(std::max(threads, 1)));
  const std::vector<u32> order = longestFirst(store, *timeline);
  parallelFor(static_cast<u32>(order.size()), threads, [&](u32 job, int worker) {
    if (cancelled) return;
    const u32 i = order[job];
    auto& sorter = sorters[static_cast<std::size_t>(worker)];
    if (!sorter) sorter = std::make_unique<LaneSorter>();
    CpuTrack& track = timeline->tracks[i];
    const auto rows = store.rowsOfStream(track.stream);
    if (!rows.empty()) {
      track.first = timeline->relative(store.time(rows.front()));
      track.last = timeline->relative(store.time(rows.back()));
    }
    OverviewRow& row = timeline->overview[i / timeline->overview.front().tracks];
    std::vector<u32> counts(row.counts.size());
    if (!buildTrack(*timeline, track, backward[track.stream], *sorter, counts, progress))
      cancelled = true;
    const std::scoped_lock lock(overviewMutex);
    for (std::size_t bin = 0; bin < counts.size(); ++bin) row.counts[bin] += counts[bin];
  });
  if (cancelled) return fail(Error::Kind::Cancelled, "Cancelled.");
  return std::shared_ptr<const Timeline>(std::move(timeline));
}

}  // namespace tickscope
