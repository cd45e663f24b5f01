// SPDX-License-Identifier: GPL-3.0-or-later
// F10: late expiries, with the parts of their lateness.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/findings/dead_time.h"
#include "core/findings/detector.h"
#include "core/findings/figure_text.h"
#include "core/stats/lateness_split.h"

namespace tickscope {

namespace {

constexpr BlindSpotSet blindKinds = blindSpots(
    {BlindSpotKind::LostEvents, BlindSpotKind::Suspended, BlindSpotKind::CpuOffline,
     BlindSpotKind::ClockNotAnchored, BlindSpotKind::UnlikeClocks, BlindSpotKind::CpuInferred});
constexpr BlindSpotSet contextKinds = blindSpots({BlindSpotKind::ContextNotVisible});

enum class Kind : u8 { Hard, Soft, Wheel };
constexpr std::array<std::string_view, 3> kindNames{"hrtimer", "soft hrtimer", "wheel timer"};
constexpr std::size_t callbacksShown = 12;
/// In a key: each of them has few instances.
constexpr Pid severalTasks{-1};

class LateExpiry final : public Detector {
 public:
  std::vector<Judged> detect(const Material& material, std::vector<NotJudged>& notJudged) override {
    if (material.clocks.fitted().kind == "none") {
      NotJudged item;
      item.why.words("the trace clock cannot be brought onto the timers' clock");
      notJudged.push_back(std::move(item));
      return {};
    }
    setLimits(material);
    const LatenessSplitter splitter(material.recording, material.buffer, material.tables,
                                    material.clocks, material.brackets);
    Judged judged;
    judged.judgedNs = material.judgedNs(blindKinds);
    for (u32 i = 0; i < material.tables.spans.size(); ++i) judge(material, splitter, i, judged);
    poolRareTasks(judged);
    return only(std::move(judged));
  }

  void describe(const Material& material, const Cluster& cluster, Finding& finding) const override {
    const Key& key = keys_[cluster.causeKey];
    const s64 limit = limits_[static_cast<u8>(key.kind)];
    const s64 most = finding.distribution.greatest().value_or(0);
    const bool notOurs = key.part == LatePart::Armed || key.part == LatePart::Device ||
                         key.part == LatePart::Interrupt;
    finding.grade = most >= 100 * limit && !notOurs ? Grade::S2
                    : most >= 10 * limit            ? Grade::S3
                                                    : Grade::S4;
    // What came late by the device, the hypervisor or the caller is no fault of the timer code.
    if (key.part == LatePart::Device || key.part == LatePart::Armed || silent(cluster)) {
      finding.grade = Grade::S4;
    }
    // Rows inside the locks of the timer code have interrupts off whatever ran around them: one such last row proves
    // no long section.
    if (notOurs && finding.count < material.thresholds.count(Limit::MinInstances)) {
      finding.grade = Grade::S4;
    }
    finding.confidence = Confidence(Proof::B, "due time and expiry are known, and the way between");
    if (key.kind == Kind::Wheel) {
      finding.confidence.times(material.profile.hz.confidence, "HZ, for the bucket's due time");
    }
    finding.byClockMap = true;
    finding.what = "late by";
    finding.unit = "ns";
    title(material, key, finding, most);
    claim(material, key, cluster, finding);
    finding.predicted.words("expiry at most {} behind its due time", nsWords(limit));
    finding.observed.words("{} later than that, {} at most", finding.count, nsWords(most));
    finding.disproof.words("a due time other than {}",
                           key.kind == Kind::Wheel ? "the begin of the bucket's jiffy"
                                                   : "the hard expiry that its start shows");
    counter(key, cluster, finding);
    if (notOurs) finding.claim.words(" That is not a fault of the timer code.");
    for (const Instance& instance : finding.worst) evidence(material, instance, finding);
    finding.tables.push_back(table(material, cluster));
  }

 private:
  struct Key {
    Kind kind{};
    LatePart part{};
    LateBy by{};
    Address callback{};  ///< that it waited for
    Pid task{};          ///< that had interrupts off, or ran instead of the softirq
    auto operator<=>(const Key&) const = default;
  };
  struct Note {
    LatenessSplit split;
    Address function{};
    bool silent = false;
  };

  void setLimits(const Material& material) {
    // Where the machine is not slow as a whole, its latest expiries are what is looked for.
    const CpuBaseline& all = material.baseline.all;
    const DelayRange none;
    const bool slow = material.baseline.slow;
    limits_[0] = material.scaled(Limit::LateHard, slow ? all.deviceDelay : none);
    limits_[1] = material.scaled(Limit::LateSoft, slow ? all.softWait : none);
    limits_[2] = material.scaled(Limit::LateWheel, slow ? all.softWait : none);
    // An expiry is at the next tick without high resolution.
    if (material.profile.highRes.judged() == false) {
      const s64 tick = material.tickNs().value_or(0);
      limits_[0] += tick;
      limits_[1] += tick;
    }
  }

  static Kind kindOfSpan(const Material& material, const ArmedSpan& span) {
    if (!material.isHrtimer(span)) return Kind::Wheel;
    return material.events.context(span.ended).hardIrq() ? Kind::Hard : Kind::Soft;
  }

  void judge(const Material& material, const LatenessSplitter& splitter, u32 at, Judged& judged) {
    const ArmedSpan& span = material.tables.spans[at];
    if (span.end != SpanEnd::Expired || span.ended == noRow || span.armed == noRow) return;
    const auto due = material.dueMono(span);
    const auto ran = material.mono(span.ended);
    if (!due || !ran) return;
    if (span.has(ArmedSpan::Deferrable)) {
      ++deferrable_;
      return;
    }
    ++judged.opportunities;
    const Kind kind = kindOfSpan(material, span);
    const s64 late = (ran->value - due->value).value;
    const s64 error = due->error.value + ran->error.value;
    if (late - error < limits_[static_cast<u8>(kind)]) return;
    const auto split = splitter.of(span);
    if (!split) return;
    const Cpu cpu = material.events.cpu(span.ended);
    const TraceTime end = material.time(span.ended);
    const auto dueAt = material.dueTime(span);
    const TraceTime begin = dueAt ? std::min(dueAt->value, end) : end;
    Row from = material.rowBefore(cpu, begin);
    if (from == noRow) from = span.ended;
    const LatePart part = split->greatest();
    const bool byContext = part == LatePart::Device || part == LatePart::Interrupt;
    if (material.isBlind(cpu, from, span.ended, blindKinds) ||
        (byContext && kind != Kind::Hard &&
         material.isBlind(cpu, from, span.ended, contextKinds)) ||
        span.has(ArmedSpan::Uncertain) || span.has(ArmedSpan::Resynced) ||
        material.hotplugOrSuspend(cpu, begin, end) ||
        (kind != Kind::Wheel && hardOf(span.clockBase()) != ClockBase::Mono &&
         material.clockStep(hardOf(span.clockBase()), from, span.ended))) {
      ++judged.dropped;
      return;
    }
    // A tick that idle exit armed for the past is the tick's way of starting again.
    if (part == LatePart::Armed && material.isTick(span)) return;
    Instance& made = judged.instances.emplace_back();
    made.when = {begin, end};
    made.cpu = cpu;
    made.magnitude = late;
    made.evidence = {
        span.armed,
        part == LatePart::Queue || part == LatePart::Within ? split->callback : split->byRow,
        split->entry, span.ended};
    made.timer = span.timer;
    made.causeKey = keyOf(material, kind, *split, cpu);
    made.detail = static_cast<u32>(notes_.size());
    Note note{*split, material.timerOf(span).function, false};
    // K4: it may not have run for half of that time.
    if (byContext || part == LatePart::Wait) {
      note.silent = 2 * deadNs(material, from, span.ended) >= late && split->by != LateBy::IrqsOff;
    }
    notes_.push_back(note);
  }

  u64 keyOf(const Material& material, Kind kind, const LatenessSplit& split, Cpu cpu) {
    Key key;
    key.kind = kind;
    key.part = split.greatest();
    switch (key.part) {
      case LatePart::Queue:
      case LatePart::Within:
        if (split.callback != noRow) key.callback = functionAt(material, split.callback);
        break;
      case LatePart::Interrupt:
        key.by = split.by;
        // The task that the interrupt came upon.
        if (split.by == LateBy::IrqsOff || split.by == LateBy::Silent) {
          if (split.entry != noRow) key.task = material.events.pid(split.entry);
        }
        break;
      case LatePart::Wait:
        if (const CpuBrackets* const made = material.bracketsOf(cpu);
            made && split.raise != noRow) {
          if (const Bracket* const task = made->taskAt(split.raise)) {
            key.task = material.events.as<SchedSwitch>(task->entry).next.pid;
          } else {
            key.task = material.events.pid(split.raise);
          }
        }
        break;
      default:
        key.by = split.by;
        break;
    }
    const auto [at, isNew] = keyAt_.try_emplace(key, keys_.size());
    if (isNew) keys_.push_back(key);
    return at->second;
  }

  /// A finding for each task that the interrupt happened to come upon tells nothing: only for those with a tenth.
  void poolRareTasks(Judged& judged) {
    std::map<Key, u64> all;
    std::vector<u64> counts(keys_.size());
    const auto pooled = [](Key key) {
      key.task = severalTasks;
      return key;
    };
    for (const Instance& instance : judged.instances) {
      ++counts[instance.causeKey];
      ++all[pooled(keys_[instance.causeKey])];
    }
    for (Instance& instance : judged.instances) {
      const Key pool = pooled(keys_[instance.causeKey]);
      if (keys_[instance.causeKey].task == Pid{} && !hasTask(pool)) continue;
      if (10 * counts[instance.causeKey] >= all[pool]) continue;
      const auto [at, isNew] = keyAt_.try_emplace(pool, keys_.size());
      if (isNew) {
        keys_.push_back(pool);
        counts.push_back(0);
      }
      instance.causeKey = at->second;
    }
  }
  static bool hasTask(const Key& key) {
    return key.part == LatePart::Wait || key.by == LateBy::IrqsOff || key.by == LateBy::Silent;
  }

  /// The task of a key, with its pid.
  static Sentence taskOf(const Material& material, const Key& key) {
    Sentence made;
    if (key.task == severalTasks) return made.words("several tasks");
    return made.task(material.text.comm(key.task)).words("-").pid(key.task);
  }

  static Address functionAt(const Material& material, Row row) {
    const EventStore& events = material.events;
    if (events.kind(row) == kindOf<HrtimerExpireEntry>) {
      return events.as<HrtimerExpireEntry>(row).function;
    }
    if (events.kind(row) == kindOf<TimerExpireEntry>) {
      return events.as<TimerExpireEntry>(row).function;
    }
    return {};
  }

  [[nodiscard]] bool silent(const Cluster& cluster) const {
    const auto count = std::ranges::count_if(
        cluster.instances, [&](const Instance& i) { return notes_[i.detail].silent; });
    return 2 * static_cast<std::size_t>(count) >= cluster.instances.size();
  }

  /// What the key's part was spent on.
  static Sentence blame(const Material& material, const Key& key) {
    Sentence made;
    switch (key.part) {
      case LatePart::Armed:
        made.words("it was armed after it was due");
        break;
      case LatePart::Device:
        made.words(
            "no interrupt of the clock event device came, and nothing on this CPU explains it");
        break;
      case LatePart::Interrupt:
        if (key.by == LateBy::IrqsOff) {
          made.words("interrupts were off at the last event, in ");
          made.append(taskOf(material, key));
        } else if (key.by == LateBy::Interrupt) {
          made.words("another interrupt ran");
        } else if (key.by == LateBy::IdleExit) {
          made.words("the CPU left idle");
        } else {
          made.append(taskOf(material, key))
              .words(
                  " ran and the CPU logged nothing: interrupts off or not running, not recorded");
        }
        break;
      case LatePart::Queue:
      case LatePart::Within:
        if (key.callback == Address{}) {
          made.words("entry of the {} itself",
                     key.part == LatePart::Queue ? "interrupt" : "softirq");
        } else {
          made.words("earlier callbacks, the longest ").symbol(material.callback(key.callback));
        }
        break;
      case LatePart::Raise:
        made.words("the softirq was not raised before");
        break;
      case LatePart::Wait:
        made.words("the softirq waited, ").append(taskOf(material, key));
        made.words(" current at its raise");
        break;
    }
    return made;
  }

  static void title(const Material& material, const Key& key, Finding& finding, s64 most) {
    finding.title.words("{} up to {} late on {}: ",
                        countWords(finding.count, std::string(kindNames[static_cast<u8>(key.kind)]),
                                   std::string(kindNames[static_cast<u8>(key.kind)]) + "s"),
                        nsWords(most), cpuWords(finding.cpus));
    finding.title.append(blame(material, key));
  }

  void claim(const Material& material, const Key& key, const Cluster& cluster,
             Finding& finding) const {
    const Instance& worst = finding.worst.front();
    const Note& note = notes_[worst.detail];
    finding.claim.words("{} ", kindNames[static_cast<u8>(key.kind)])
        .symbol(material.callback(note.function))
        .words(" fired {} late:", nsWords(note.split.late));
    bool first = true;
    for (std::size_t i = 0; i < latePartCount; ++i) {
      if (note.split.parts[i] == 0) continue;
      finding.claim.words("{} {} {}", first ? "" : ",", nsWords(note.split.parts[i]),
                          clauseOf(static_cast<LatePart>(i)));
      first = false;
    }
    finding.claim.words(". ");
    s64 part = 0, whole = 0;
    for (const Instance& instance : cluster.instances) {
      part += notes_[instance.detail].split[key.part];
      whole += notes_[instance.detail].split.late;
    }
    finding.claim.words(
        "Of {} that exceed {}, {:.3g} % of the lateness is part {}: ",
        countWords(finding.count, "expiry", "expiries"),
        nsWords(limits_[static_cast<u8>(key.kind)]),
        whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0,
        codeOf(key.part));
    finding.claim.append(blame(material, key)).words(".");
  }

  void counter(const Key& key, const Cluster& cluster, Finding& finding) const {
    using enum CounterEvidence::Result;
    const auto add = [&](std::string_view id, CounterEvidence::Result result, std::string note) {
      finding.counterEvidence.push_back({id, result, Sentence(std::move(note))});
    };
    add("K1", Absent,
        key.part == LatePart::Interrupt ? "interrupts off are what the finding says"
                                        : "interrupts off are part I; it is not the greatest");
    add("K2", Absent,
        key.part == LatePart::Wait ? "softirqs that wait are what the finding says"
                                   : "softirqs that wait are part S");
    add("K3", finding.dropped ? Excluded : Absent,
        finding.dropped ? fmt::format("{} touch lost events, hotplug, suspend or a clock step and "
                                      "are left out",
                                      countWords(finding.dropped, "expiry", "expiries"))
                        : std::string("no late expiry touches a gap"));
    add("K4", Absent,
        silent(cluster) ? "the CPU was silent: it may not have run at all; so it is a note only"
                        : "the CPU logged other events, or was idle");
    add("K5", Absent, "no single traced event takes as long");
    add("K6", Absent, "no expiry spans hotplug or suspend");
    add("K7", Absent, "no expiry spans a clock step");
    add("K8", Absent, "leaving idle is part I up to 1 ms");
    add("K9", Absent, "due times are those of the timers, not of the device");
    add("K10", Absent, "callbacks before it in the interrupt are part Q");
    add("K11", Absent, "a hang of the interrupt is F14, which takes what it explains");
    add("K12", deferrable_ ? Excluded : Absent,
        deferrable_
            ? fmt::format("{} left out; late is only what is behind the hard expiry or the "
                          "bucket",
                          countWords(deferrable_, "deferrable expiry", "deferrable expiries"))
            : std::string("late is only what is behind the hard expiry or the bucket"));
    add("K13", Absent, "without high resolution a tick is added to the limit");
    add("K14", Absent, "of wheel timers the bucket counts, which a silent change keeps");
    add("K15", Absent, "remote runs are judged on the CPU that ran the timer");
  }

  void evidence(const Material& material, const Instance& instance, Finding& finding) const {
    const Note& note = notes_[instance.detail];
    finding.evidence.push_back({instance.evidence[0], Sentence("armed")});
    if (instance.evidence[1] != noRow) {
      const Key& key = keys_[instance.causeKey];
      finding.evidence.push_back({instance.evidence[1], blame(material, key)});
    }
    if (note.split.raise != noRow) {
      finding.evidence.push_back({note.split.raise, Sentence("raised")});
    }
    if (instance.evidence[2] != noRow) finding.evidence.push_back({instance.evidence[2], {}});
    Sentence end;
    end.words("{} late", nsWords(note.split.late));
    finding.evidence.push_back({instance.evidence[3], std::move(end)});
  }

  [[nodiscard]] Table table(const Material& material, const Cluster& cluster) const {
    struct Row {
      Histogram late;
      std::array<double, latePartCount> parts{};
    };
    std::map<Address, Row> rows;
    for (const Instance& instance : cluster.instances) {
      const Note& note = notes_[instance.detail];
      Row& row = rows[note.function];
      row.late.add(note.split.late);
      for (std::size_t i = 0; i < latePartCount; ++i) {
        row.parts[i] += static_cast<double>(note.split.parts[i]);
      }
    }
    Table made;
    made.title = "Lateness by callback and part";
    made.columns = {{"callback", ""}, {"late", ""}, {"most", "us"}};
    for (std::size_t i = 0; i < latePartCount; ++i) {
      made.columns.push_back({std::string(codeOf(static_cast<LatePart>(i))), "us"});
    }
    std::vector<std::pair<Address, const Row*>> most;
    for (const auto& [function, row] : rows) most.emplace_back(function, &row);
    std::ranges::stable_sort(most, std::ranges::greater{},
                             [](const auto& r) { return r.second->late.count(); });
    if (most.size() > callbacksShown) most.resize(callbacksShown);
    for (const auto& [function, row] : most) {
      Sentence name;
      name.symbol(material.callback(function));
      std::vector<Cell> cells{name, static_cast<s64>(row->late.count()),
                              Figure{static_cast<double>(*row->late.greatest()) / 1e3, 1}};
      for (const double part : row->parts) {
        cells.emplace_back(Figure{part / 1e3 / static_cast<double>(row->late.count()), 1});
      }
      made.rows.push_back(std::move(cells));
    }
    return made;
  }

  std::array<s64, 3> limits_{};
  std::map<Key, std::size_t> keyAt_;
  std::vector<Key> keys_;
  std::vector<Note> notes_;
  u64 deferrable_ = 0;
};

}  // namespace

extern const DetectorInfo f10LateExpiry;
constinit const DetectorInfo f10LateExpiry{
    .id = "F10",
    .name = "late-expiry",
    .line = "late expiries, split into what they waited for",
    .needs = {Needs{Need::H}, Needs{Need::W}},
    .record = "stall",
    .byTimeAlone = "*",
    .make = makeDetector<LateExpiry>,
};

}  // namespace tickscope
