// SPDX-License-Identifier: GPL-3.0-or-later
// F20: timers that change CPU with each arm, a hierarchy that spins, and idle CPUs that nobody will wake.
#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>

#include "core/findings/detector.h"
#include "core/findings/figure_text.h"
#include "core/findings/timer_series.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds =
    blindSpots({BlindSpotKind::LostEvents, BlindSpotKind::CpuOffline, BlindSpotKind::Suspended,
                BlindSpotKind::Filtered});
/// KTIME_MAX in the wakeup of tmigr_cpu_idle: the CPU wakes for nobody.
constexpr u64 neverWakes = static_cast<u64>(std::numeric_limits<s64>::max());

class MigrationStorm final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    std::vector<Judged> all;
    all.push_back(flips(material));
    if (!material.recorded.has(Need::M)) {
      for (const char kind : {'b', 'c'}) {
        NotJudged item;
        item.kind = kind;
        item.why.words("timer_migration:* not recorded");
        item.missing = {"timer_migration:*"};
        notJudged.push_back(std::move(item));
      }
      return all;
    }
    Judged spin{.kind = 'b', .judgedNs = all.front().judgedNs, .instances = {}};
    for (const Stream& stream : material.events.streams()) spins(material, stream.cpu, spin);
    all.push_back(std::move(spin));
    if (material.recorded.has(Need::W)) {
      Judged lost{.kind = 'c', .judgedNs = all.front().judgedNs, .instances = {}};
      lostWakers(material, lost);
      all.push_back(std::move(lost));
    }
    return all;
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    if (cluster.kind == 'a') {
      describeFlips(material, cluster, finding);
    } else if (cluster.kind == 'b') {
      describeSpins(finding);
    } else {
      describeLost(finding);
    }
    finding.counterEvidence.push_back(
        {"K6", CounterEvidence::Result::Absent, Sentence("no CPU went offline in between")});
    finding.counterEvidence.push_back(
        {"K15", CounterEvidence::Result::Absent,
         Sentence(cluster.kind == 'a' ? "arms are counted, not expiries"
                                      : "rows of all CPUs were looked at")});
  }

 private:
  struct Flips {
    u64 arms = 0, changes = 0;
    Row first = noRow, last = noRow;
    std::map<Cpu, u64> cpus;
  };

  Judged flips(const Material& material) {
    Judged judged{.kind = 'a', .judgedNs = material.judgedNs(blindKinds), .instances = {}};
    const TimerUsers users(material);
    users_ = users.users();
    std::vector<Known<SpanId>> before(material.tables.timers.size());
    for (u32 i = 0; i < material.tables.spans.size(); ++i) {
      const ArmedSpan& span = material.tables.spans[i];
      // Only owners that the trace names tell of a change.
      if (span.armed == noRow || span.owner == noCpu || span.has(ArmedSpan::MovedHere) ||
          material.isTick(span)) {
        continue;
      }
      Known<SpanId>& last = before[number(span.timer)];
      const Known<SpanId> previous = std::exchange(last, SpanId{i});
      if (!previous) continue;
      ++judged.opportunities;
      const u32 user = users.userOf(SpanId{i});
      Flips& of = flips_[user];
      ++of.arms;
      ++of.cpus[span.owner];
      if (of.first == noRow) of.first = span.armed;
      of.last = span.armed;
      const ArmedSpan& old = material.span(*previous);
      if (old.owner == span.owner) continue;
      ++of.changes;
      Instance& instance = judged.instances.emplace_back();
      instance.when = {material.time(old.armed), material.time(span.armed)};
      instance.cpu = span.owner;
      instance.causeKey = user;
      instance.magnitude = material.nsBetween(old.armed, span.armed).value_or(0);
      instance.evidence = {old.armed, span.armed, noRow, noRow};
      instance.timer = span.timer;
    }
    std::erase_if(judged.instances, [&](const Instance& instance) {
      const Flips& of = flips_.at(static_cast<u32>(instance.causeKey));
      const double share = static_cast<double>(of.changes) / static_cast<double>(of.arms);
      return share < material.thresholds[Limit::MigrationFlip] ||
             rateOf(material, of) < material.thresholds[Limit::MigrationRate] ||
             of.arms < material.thresholds.count(Limit::MinOpportunities);
    });
    return judged;
  }

  /// Changes a second while the timer was in use.
  static double rateOf(const Material& material, const Flips& of) {
    const s64 ns = material.nsBetween(of.first, of.last).value_or(0);
    return ns > 0 ? 1e9 * static_cast<double>(of.changes) / static_cast<double>(ns) : 0;
  }

  /// Remote handling again and again within a tick, without any wheel timer expiring.
  static void spins(const Material& material, Cpu cpu, Judged& judged) {
    const auto tick = material.tickNs();
    if (!tick) return;
    const u64 most = material.thresholds.count(Limit::MigrationLoop);
    Row first = noRow, last = noRow;
    u64 count = 0;
    const auto flush = [&] {
      if (count >= most) {
        if (material.isBlind(cpu, first, last, blindKinds)) {
          ++judged.dropped;
        } else {
          Instance& instance = judged.instances.emplace_back();
          instance.when = {material.time(first), material.time(last)};
          instance.cpu = cpu;
          instance.causeKey = number(cpu);
          instance.magnitude = static_cast<s64>(count);
          instance.evidence = {first, last, noRow, noRow};
        }
      }
      first = last = noRow;
      count = 0;
    };
    for (const Row row : material.events.rowsOf(cpu)) {
      const EventKind kind = material.events.kind(row);
      if (kind == kindOf<TimerExpireEntry>) flush();
      if (kind != kindOf<TmigrHandleRemote>) continue;
      ++judged.opportunities;
      // The pace counts: `most` of them within a tick.
      if (last != noRow &&
          material.nsBetween(last, row).value_or(*tick) * static_cast<s64>(most) > *tick) {
        flush();
      }
      if (first == noRow) first = row;
      last = row;
      ++count;
    }
    flush();
  }

  /// The last CPU of the hierarchy goes idle and wakes for nobody although a global timer is due at a known time.
  static void lostWakers(const Material& material, Judged& judged) {
    const auto tick = material.tickNs();
    if (!tick || material.profile.bases.judged() != WheelBases::LocalGlobalDef) return;
    std::map<u32, bool> idle;
    for (const Stream& stream : material.events.streams()) idle[number(stream.cpu)] = false;
    GlobalTimers globals(material);
    for (u32 r = 0; r < material.events.size(); ++r) {
      const Row row{r};
      const EventKind kind = material.events.kind(row);
      if (kind == kindOf<TmigrCpuActive>) idle[material.events.as<TmigrCpuActive>(row).cpu] = false;
      if (kind != kindOf<TmigrCpuIdle>) continue;
      const auto event = material.events.as<TmigrCpuIdle>(row);
      idle[event.cpu] = true;
      const bool all = std::ranges::all_of(idle, [](const auto& of) { return of.second; });
      if (!all) continue;
      ++judged.opportunities;
      if (event.wakeup != neverWakes) continue;
      const SpanId first = globals.firstDue(row);
      if (number(first) == ~u32{0}) continue;
      const ArmedSpan& span = material.span(first);
      // A CPU that comes back within a tick, or before the timer is due, was about to.
      const Row until = nextActive(material, row);
      if (until == noRow) continue;
      const s64 late = lateNs(material, span, until, *tick);
      if (late <= *tick || material.nsBetween(row, until).value_or(0) <= *tick) continue;
      const bool blind = std::ranges::any_of(material.brackets, [&](const CpuBrackets& cpu) {
        return material.isBlind(cpu.cpu, row, until, blindKinds);
      });
      if (blind || material.filtered) {
        ++judged.dropped;
        continue;
      }
      Instance& instance = judged.instances.emplace_back();
      instance.when = {material.time(row), material.time(until)};
      instance.cpu = static_cast<Cpu>(event.cpu);
      instance.magnitude = late;
      instance.evidence = {span.armed, row, until, span.ended};
      instance.timer = span.timer;
    }
  }

  /// How far `until` lies behind the bucket; where jiffies have no time, by the jiffies of its expiry. 0: not known.
  static s64 lateNs(const Material& material, const ArmedSpan& span, Row until, s64 tick) {
    const auto due = material.dueMono(span);
    const auto end = material.mono(until);
    if (due && end) return (end->value - due->value).value;
    if (span.end != SpanEnd::Expired ||
        material.events.kind(span.ended) != kindOf<TimerExpireEntry>) {
      return 0;
    }
    return (material.events.as<TimerExpireEntry>(span.ended).now.value - span.second) * tick;
  }

  /// Global wheel timers by their arm, to find those that are open at a row.
  class GlobalTimers {
   public:
    explicit GlobalTimers(const Material& material) : material_(material) {
      for (u32 i = 0; i < material.tables.spans.size(); ++i) {
        const ArmedSpan& span = material.tables.spans[i];
        if (material.isHrtimer(span) || span.armed == noRow || !span.secondKnown ||
            span.has(ArmedSpan::Uncertain) || span.has(ArmedSpan::Deferrable) ||
            span.wheelBase() != WheelBaseKind::Global) {
          continue;
        }
        spans_.push_back(SpanId{i});
      }
    }
    /// The first to be due of those that are armed at that row; ~0: none. Rows must not go back.
    SpanId firstDue(Row row) {
      for (; next_ < spans_.size() && material_.span(spans_[next_]).armed <= row; ++next_) {
        open_.emplace(material_.span(spans_[next_]).second, spans_[next_]);
      }
      while (!open_.empty()) {
        const SpanId id = open_.top().second;
        const Row ended = material_.span(id).ended;
        if (ended == noRow || ended > row) return id;
        open_.pop();
      }
      return SpanId{~u32{0}};
    }

   private:
    using Due = std::pair<s64, SpanId>;  ///< jiffies of the bucket
    const Material& material_;
    std::vector<SpanId> spans_;  ///< by their arm
    std::size_t next_ = 0;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> open_;
  };

  static Row nextActive(const Material& material, Row row) {
    for (u32 r = number(row) + 1; r < material.events.size(); ++r) {
      const EventKind kind = material.events.kind(Row{r});
      if (kind == kindOf<TmigrCpuActive> || kind == kindOf<LocalTimerEntry>) return Row{r};
    }
    return noRow;
  }

  void describeFlips(const Material& material, const Cluster& cluster, Finding& finding) const {
    const TimerUser& user = users_[cluster.causeKey];
    const Flips& of = flips_.at(static_cast<u32>(cluster.causeKey));
    const std::string name = material.callback(user.function);
    const double rate = rateOf(material, of);
    finding.grade = Grade::S3;
    finding.confidence =
        Confidence(user.hrtimer ? Proof::B : Proof::A,
                   user.hrtimer ? "the CPU of an hrtimer is that of its arm or expiry"
                                : "timer_start names the CPU");
    finding.what = "from one arm to the next by";
    finding.unit = "ns";
    finding.title.symbol(name)
        .words(" armed ")
        .append(ownerWords(material, user))
        .words(": {} of {} arms change the CPU", of.changes, of.arms);
    finding.claim.symbol(name)
        .words(" armed ")
        .append(ownerWords(material, user))
        .words(" changed its CPU in {} of {} arms, {:.4g} times a second, between {} CPUs.",
               of.changes, of.arms, rate, of.cpus.size());
    finding.predicted.words("fewer than {:.3g} % of arms, or fewer than {:.4g} changes a second",
                            100 * material.thresholds[Limit::MigrationFlip],
                            material.thresholds[Limit::MigrationRate]);
    finding.observed.words("{:.3g} %, {:.4g}/s",
                           100 * static_cast<double>(of.changes) / static_cast<double>(of.arms),
                           rate);
    finding.disproof.words("arms of different timers at one address");
    Table table;
    table.title = "Arms by CPU";
    table.columns = {{"CPU", ""}, {"arms", ""}};
    for (const auto& [cpu, arms] : of.cpus) {
      table.rows.push_back({s64{number(cpu)}, static_cast<s64>(arms)});
    }
    finding.tables.push_back(std::move(table));
    for (const Instance& instance : finding.worst) {
      finding.evidence.push_back({instance.evidence[0], Sentence("armed")});
      Sentence there;
      there.words("armed again, now for CPU {}", number(instance.cpu));
      finding.evidence.push_back({instance.evidence[1], std::move(there)});
    }
  }

  static void describeSpins(Finding& finding) {
    finding.grade = Grade::S1;
    finding.confidence = Confidence(Proof::A, "the rows of remote handling themselves");
    finding.what = "remote handlings in a row";
    finding.unit = "";
    const s64 most = finding.distribution.greatest().value_or(0);
    finding.title.words("CPU {} handles remote timers {} times in a row without an expiry",
                        number(finding.cpus.front()), most);
    finding.claim.words(
        "tmigr_handle_remote repeated up to {} times on CPU {} at a pace of many in a tick, and "
        "no wheel timer expired there in between, {}.",
        most, number(finding.cpus.front()), countWords(finding.count, "time", "times"));
    finding.predicted.words("an expiry, or an end of the walk");
    finding.observed.words("{} rows without timer_expire_entry", most);
    finding.disproof.words("a wheel timer that expired on that CPU between the rows");
    finding.upstream = {"U30", "U35"};
    for (const Instance& instance : finding.worst) {
      finding.evidence.push_back({instance.evidence[0], Sentence("the first")});
      Sentence last;
      last.words("the last of {}", instance.magnitude);
      finding.evidence.push_back({instance.evidence[1], std::move(last)});
    }
  }

  static void describeLost(Finding& finding) {
    finding.grade = Grade::S1;
    finding.confidence = Confidence(Proof::B, "global timers are known by their arms");
    finding.what = "behind its bucket nobody woke by";
    finding.unit = "ns";
    const s64 most = finding.distribution.greatest().value_or(0);
    finding.title.words("all CPUs idle and no waker although a global timer is due, {}",
                        countWords(finding.count, "time", "times"));
    finding.claim.words(
        "The last CPU went idle with \"never\" as its planned wakeup while a global timer was "
        "armed; nothing woke until up to {} behind its bucket, {}.",
        nsWords(most), countWords(finding.count, "time", "times"));
    finding.predicted.words("a wakeup at the bucket of the earliest global timer at the latest");
    finding.observed.words("wakeup=9223372036854775807");
    finding.disproof.words("a CPU that was active in the hierarchy in between");
    finding.upstream = {"U28", "U29", "U31", "U32", "U33", "U34"};
    for (const Instance& instance : finding.worst) {
      finding.evidence.push_back({instance.evidence[0], Sentence("armed, on a global base")});
      finding.evidence.push_back(
          {instance.evidence[1], Sentence("the last CPU: wakes for nobody")});
      finding.evidence.push_back({instance.evidence[2], Sentence("the first sign of life")});
      if (instance.evidence[3] != noRow) finding.evidence.push_back({instance.evidence[3], {}});
    }
  }

  std::vector<TimerUser> users_;
  std::map<u32, Flips> flips_;
};

}  // namespace

extern const DetectorInfo f20MigrationStorm;
constinit const DetectorInfo f20MigrationStorm{
    .id = "F20",
    .name = "migration-storm",
    .line = "timers or hierarchy bounce, spin, or lose the last waker",
    .needs = {Needs{Need::W}, Needs{Need::H}},
    .record = "stall",
    .byTimeAlone = "",
    .make = makeDetector<MigrationStorm>,
};

}  // namespace tickscope
