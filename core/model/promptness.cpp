// SPDX-License-Identifier: GPL-3.0-or-later
// Counts promptness over finished spans and brackets.
#include "core/model/promptness.h"

#include <algorithm>

#include "core/model/due_time.h"
#include "core/model/kernel_numbers.h"
#include "core/model/recorded_field.h"

namespace tickscope {

namespace {

using enum BlindSpotKind;

/// An outlier of the machine's own delays, not their tail.
constexpr double baselineFactor = 10;
/// A wheel timer may run in the jiffy behind its bucket's, and a healthy tick be late by as much again.
constexpr s64 wheelJiffies = 2;
constexpr s64 usualJiffy = 4'000'000;  ///< ns, HZ 250: where HZ is not known
/// Leaving deep idle takes less than this (ns).
constexpr s64 interruptNs = 1'000'000;
/// From one callback to the next the softirq does nothing but take locks (ns).
constexpr s64 betweenCallbacksNs = 5'000;
/// An interrupt this much before the next expiry came by the device's granularity (ns).
constexpr s64 earlyNs = 10'000;
/// What a device counts wrong over a wait, ppm: crystals and their rounded factors stay below.
constexpr s64 deviceError = 100;

struct Verdict {
  Known<bool> held;
  BlindSpotKind why = BeforeEvidence;
};
Verdict judged(bool held) { return {held, BeforeEvidence}; }
Verdict unjudged(BlindSpotKind why) { return {{}, why}; }

class Promptness {
 public:
  Promptness(const PromptnessInput& input, InvariantCounts& counts)
      : in_(input),
        store_(input.buffer.events),
        counts_(counts),
        ticks_(tickFunctionsOf(input.recording, input.clocks)),
        callsTraced_(!everywhere(ProgrammingNotTraced)),
        raisesTold_(hasRows(kindOf<SoftirqRaise>)),
        hrtimersTold_(hasRows(kindOf<HrtimerExpireEntry>)),
        interruptsTold_(hasRows(kindOf<LocalTimerEntry>) || hasRows(kindOf<IrqHandlerEntry>)) {
    if (const auto hz = in_.profile.hz.judged()) jiffy_ = ClockMap::tickNs(*hz);
    for (const BlindSpot& spot : in_.tables.blindSpots) {
      if (spot.kind == LostEvents || spot.kind == CpuOffline || spot.kind == ClockNotAnchored ||
          spot.kind == Suspended || spot.kind == CpuInferred || spot.kind == UnlikeClocks) {
        spots_.push_back(spot);
      }
    }
    for (const Loss& loss : store_.losses()) {
      if (loss.next) losses_.push_back({loss.cpu, *loss.next});
    }
  }

  void run() {
    for (const std::size_t i : {7U, 23U, 24U, 26U, 29U}) counts_[i] = {};
    findTaken();
    const s64 between = softLimit();
    for (const CpuBrackets& cpu : in_.activity.brackets) {
      interrupts(cpu);
      for (u32 i = 0; i < cpu.nested.size(); ++i) {
        const Bracket& bracket = cpu.nested[i];
        if (bracket.kind == BracketKind::WheelCallback && bracket.entry != noRow) {
          count(7, wheel(cpu, bracket));
        }
      }
      softCallbacks(cpu, [&](const SoftGap& gap) { count(26, soft(cpu, gap, between)); });
    }
    hotplug();
  }

 private:
  void count(std::size_t invariant, const Verdict& verdict) {
    InvariantCount& made = counts_[invariant];
    if (verdict.held) {
      ++(*verdict.held ? made.held : made.violated);
    } else {
      ++made.notJudged;
      ++made.why[number(verdict.why)];
    }
  }

  /// On a machine that is not slow as a whole its latest are what is looked for: they must not excuse themselves.
  [[nodiscard]] s64 limitOf(s64 usual, const DelayRange& own) const {
    return in_.activity.baseline.limit(usual, baselineFactor,
                                       in_.activity.baseline.slow ? own : DelayRange{});
  }

  [[nodiscard]] bool hasRows(EventKind kind) const {
    return store_.firstPossible(kind).has_value();
  }
  [[nodiscard]] bool everywhere(BlindSpotKind kind) const {
    return std::ranges::any_of(in_.tables.blindSpots, [&](const BlindSpot& spot) {
      return spot.kind == kind && !spot.cpu && spot.to == noRow;
    });
  }
  /// A blind spot of that CPU that touches the rows.
  [[nodiscard]] Known<BlindSpotKind> blind(Cpu cpu, Row from, Row to) const {
    for (const BlindSpot& spot : spots_) {
      if (spot.cpu && *spot.cpu != cpu) continue;
      if (spot.from <= to && from < spot.to) return spot.kind;
    }
    for (const auto& [of, next] : losses_) {
      if (of == cpu && from < next && next <= to) return LostEvents;
    }
    return {};
  }
  [[nodiscard]] Known<s64> mono(Row row) const {
    if (row == noRow) return {};
    const auto at = in_.clocks.mono(store_.time(row), store_.cpu(row));
    return at ? Known<s64>(at->value.value) : Known<s64>{};
  }
  [[nodiscard]] Known<s64> between(Row from, Row to) const {
    const auto begin = mono(from), end = mono(to);
    if (!begin || !end) return {};
    return *end - *begin;
  }
  [[nodiscard]] Row before(Row row) const {
    const u32 place = store_.placeInStream(row);
    return place ? store_.rowsOfStream(store_.streamOf(row))[place - 1] : noRow;
  }
  [[nodiscard]] Row after(Row row) const {
    const auto rows = store_.rowsOfStream(store_.streamOf(row));
    const u32 place = store_.placeInStream(row) + 1;
    return place < rows.size() ? rows[place] : noRow;
  }
  [[nodiscard]] bool notHighRes(Cpu cpu) const {
    return std::ranges::any_of(in_.tables.blindSpots, [&](const BlindSpot& spot) {
      return spot.kind == NotHighRes && (!spot.cpu || *spot.cpu == cpu);
    });
  }
  [[nodiscard]] bool isHrtimer(const ArmedSpan& span) const {
    return in_.tables.timers[number(span.timer)].of == TimerClass::Hrtimer;
  }

  // --- I07

  [[nodiscard]] Verdict wheel(const CpuBrackets& cpu, const Bracket& bracket) const {
    if (!bracket.hasSpan()) return unjudged(in_.filtered ? Filtered : BeforeEvidence);
    const ArmedSpan& span = in_.tables.spans[number(bracket.span)];
    if (span.has(ArmedSpan::Deferrable)) return unjudged(OutsideModel);
    if (!span.secondKnown) return unjudged(BeforeEvidence);
    if (span.has(ArmedSpan::Uncertain)) return unjudged(LostEvents);
    if (span.has(ArmedSpan::Resynced)) return unjudged(Identity);
    if (!store_.type(bracket.entry).recorded(placeOf<TimerExpireEntry>("now"))) {
      return unjudged(FieldMissing);
    }
    const auto now = jiffiesOf(store_.as<TimerExpireEntry>(bracket.entry).now);
    s64 due = static_cast<s64>(in_.clocks.unwrapped(static_cast<u64>(span.second)));
    // Armed behind its bucket on a base that is itself behind: it cannot run before it is armed.
    if (span.armed != noRow && store_.kind(span.armed) == kindOf<TimerStart>) {
      due = std::max(due, jiffiesOf(store_.as<TimerStart>(span.armed).now));
    }
    const s64 limit = limitOf(wheelJiffies * jiffy_, in_.activity.baseline.all.softWait);
    const bool remote = span.owner != noCpu && span.owner != cpu.cpu;
    const s64 allowed = (remote ? 2 : 1) + (limit + jiffy_ - 1) / jiffy_;
    const s64 late = now - due;
    if (late <= allowed) return judged(true);
    if (remote) return unjudged(RemoteRunNotVisible);
    if (span.has(ArmedSpan::MovedHere)) return unjudged(CpuOffline);
    const Row from = span.armed != noRow ? span.armed : Row{0};
    if (const auto why = blind(cpu.cpu, from, bracket.entry)) return unjudged(*why);
    return lateWheel(cpu, bracket, due, late, allowed);
  }

  /// Late by more than allowed: by how much of it the softirq waited and the tick that raised it was late.
  [[nodiscard]] Verdict lateWheel(const CpuBrackets& cpu, const Bracket& bracket, s64 bucket,
                                  s64 late, s64 allowed) const {
    if (bracket.outer == Bracket::none) return unjudged(ContextNotVisible);
    const Bracket& run = cpu.nested[bracket.outer];
    if (run.kind != BracketKind::Softirq || run.raised == noRow) {
      return unjudged(raisesTold_ ? BeforeEvidence : NotRecorded);
    }
    const auto ran = mono(bracket.entry), raised = mono(run.raised);
    if (!ran || !raised) return unjudged(ClockNotAnchored);
    const auto within = [&](s64 since) { return late - (*ran - since) / jiffy_ <= allowed; };
    if (within(*raised)) return judged(true);
    const Bracket* const interrupt = cpu.at(run.raised, BracketKind::TimerInterrupt);
    if (!interrupt) return unjudged(ContextNotVisible);
    if (notHighRes(cpu.cpu)) return unjudged(NotHighRes);
    const auto due = tickDue(cpu, *interrupt, run.raised);
    if (!due) return unjudged(BeforeEvidence);
    if (within(std::min(*due, *raised))) return judged(true);
    return jiffiesStood(cpu, *interrupt, bucket, *ran - late * jiffy_) ? unjudged(ClockNotAnchored)
                                                                       : judged(false);
  }

  /// An earlier tick of this CPU came behind the bucket's time (`since`, ns mono), and nobody printed jiffies that had reached it: the CPU
  /// that counts them may have been held up.
  [[nodiscard]] bool jiffiesStood(const CpuBrackets& cpu, const Bracket& raising, s64 bucket,
                                  s64 since) const {
    Row earlier = noRow;
    for (const Bracket* b = &raising; b != cpu.nested.data() && earlier == noRow;) {
      --b;
      if (b->kind != BracketKind::HrtimerCallback || b->entry == noRow) continue;
      const Address function = store_.as<HrtimerExpireEntry>(b->entry).function;
      if (std::ranges::find(ticks_, function) != ticks_.end()) earlier = b->entry;
    }
    const auto ticked = mono(earlier);
    if (!ticked || *ticked < since) return false;
    for (u32 r = number(earlier); r > 0; --r) {
      const Row row{r - 1};
      const EventKind kind = store_.kind(row);
      if (kind != kindOf<TimerStart> && kind != kindOf<TimerExpireEntry>) continue;
      // Jiffies do not go back: the last that were printed are the most.
      return jiffiesOf(kind == kindOf<TimerStart> ? store_.as<TimerStart>(row).now
                                                  : store_.as<TimerExpireEntry>(row).now) < bucket;
    }
    return true;
  }

  /// When the tick of an interrupt that raised was due, ns mono.
  [[nodiscard]] Known<s64> tickDue(const CpuBrackets& cpu, const Bracket& interrupt,
                                   Row raise) const {
    const auto outer = static_cast<u32>(&interrupt - cpu.nested.data());
    for (u32 i = outer + 1; i < cpu.nested.size(); ++i) {
      const Bracket& inner = cpu.nested[i];
      if (inner.entry != noRow && inner.entry > raise) break;
      if (inner.outer != outer || inner.kind != BracketKind::HrtimerCallback || !inner.hasSpan()) {
        continue;
      }
      const Address function = store_.as<HrtimerExpireEntry>(inner.entry).function;
      if (std::ranges::find(ticks_, function) == ticks_.end()) continue;
      const auto due = dueTimeOf(in_.tables.spans[number(inner.span)], in_.tables, in_.clocks);
      return due ? Known<s64>(due->value.value) : Known<s64>{};
    }
    return {};
  }
  [[nodiscard]] s64 jiffiesOf(Jiffies value) const {
    return static_cast<s64>(in_.clocks.unwrapped(static_cast<u64>(value.value)));
  }

  // --- I23, I24

  void interrupts(const CpuBrackets& cpu) {
    const bool lowRes = notHighRes(cpu.cpu);
    const std::vector<Taken>& taken = taken_[indexOf(cpu.cpu)];
    std::size_t next = 0;
    const auto lines = std::ranges::find(in_.tables.cpus, cpu.cpu, &CpuLines::cpu);
    const CpuBaseline* own = nullptr;
    for (const CpuBaseline& one : in_.activity.baseline.cpus) {
      if (one.cpu == cpu.cpu) own = &one;
    }
    const DelayRange usual = own ? own->deviceDelay : in_.activity.baseline.all.deviceDelay;
    const s64 limit = limitOf(interruptNs, usual);
    const Bracket* last = nullptr;
    bool lastWorked = false;
    for (const Bracket& bracket : cpu.nested) {
      if (bracket.kind != BracketKind::TimerInterrupt || bracket.entry == noRow) continue;
      bool forOne = false;
      const auto entered = mono(bracket.entry);
      for (; next < taken.size() && taken[next].row < bracket.entry; ++next) {
        forOne = forOne || (entered && taken[next].due <= *entered + earlyNs);
      }
      if (bracket.has(Bracket::Inferred)) {
        count(23, unjudged(ContextNotVisible));
        count(24, unjudged(ContextNotVisible));
        continue;
      }
      if (lowRes) {
        count(23, unjudged(NotHighRes));
        count(24, unjudged(NotHighRes));
        continue;
      }
      const bool seen = lines != in_.tables.cpus.end();
      if (seen) count(23, onTime(cpu, *lines, bracket, limit));
      const bool explained = forOne || (lastWorked && isLatched(last, bracket)) ||
                             (seen && entered && isEarly(*lines, bracket, *entered));
      const Content content = contentOf(bracket);
      count(24, useful(cpu, bracket, content, explained, last == nullptr));
      lastWorked = content == Content::Work;
      last = &bracket;
    }
  }

  [[nodiscard]] Verdict onTime(const CpuBrackets& cpu, const CpuLines& lines,
                               const Bracket& bracket, s64 limit) const {
    if (!callsTraced_) return unjudged(ProgrammingNotTraced);
    if (in_.filtered) return unjudged(Filtered);
    if (number(bracket.entry) == 0) return unjudged(BeforeEvidence);
    const Row last{number(bracket.entry) - 1};
    // Calls without their value: what the model has had them program.
    const StepLine& line = lines.programmed.at(last) ? lines.programmed : lines.expiresNext;
    auto value = line.at(last);
    if (!value) return unjudged(BeforeEvidence);
    if (*value == never.value) return unjudged(OutsideModel);
    const auto entered = mono(bracket.entry);
    if (!entered) return unjudged(ClockNotAnchored);
    const Row previous = before(bracket.entry);
    if (previous == noRow) return unjudged(BeforeEvidence);
    // What has passed when it is programmed comes at once.
    if (const auto since = mono(line.previousChange(bracket.entry)))
      value = std::max(*value, *since);
    if (*entered - *value <= limit) return judged(true);
    if (const auto why = blind(cpu.cpu, previous, bracket.entry)) return unjudged(*why);
    if (cpu.idleAt(previous)) return unjudged(OutsideModel);
    bool off = false;
    for (Row row = previous; row != noRow; row = before(row)) {
      const auto at = mono(row);
      if (!at) return unjudged(ClockNotAnchored);
      if (*at <= *value) break;
      const Context context = store_.context(row);
      if (context.irqsOff() || context.hardIrq()) {
        off = true;
      } else {
        // Interrupts were on here: it could have come.
        return judged(*at - *value <= limit);
      }
    }
    return off ? judged(true) : unjudged(ContextNotVisible);
  }

  struct Taken {
    Row row;
    s64 due;
  };
  /// Hrtimers that were taken out before they expired; their interrupt comes all the same where another CPU took
  /// them, or this one with interrupts off when the time came. Where the owner is not known, any CPU's.
  void findTaken() {
    taken_.resize(in_.tables.cpus.size() + 1);
    for (const ArmedSpan& span : in_.tables.spans) {
      if (span.ended == noRow || span.end == SpanEnd::Expired || !isHrtimer(span)) continue;
      const auto due = dueTimeOf(span, in_.tables, in_.clocks);
      if (!due) continue;
      const Taken made{span.ended, due->value.value - due->error.value};
      if (span.owner != noCpu) {
        taken_[indexOf(span.owner)].push_back(made);
      } else {
        for (auto& ofCpu : taken_) ofCpu.push_back(made);
      }
    }
    for (auto& ofCpu : taken_) std::ranges::sort(ofCpu, {}, &Taken::row);
  }
  /// Its place in the tables; one behind the last for a CPU without.
  [[nodiscard]] std::size_t indexOf(Cpu cpu) const {
    const auto found = std::ranges::find(in_.tables.cpus, cpu, &CpuLines::cpu);
    return static_cast<std::size_t>(found - in_.tables.cpus.begin());
  }

  /// Work: a callback, or HRTIMER raised. Other: what only callbacks do, without one.
  enum class Content : u8 { Work, Other, Nothing };
  [[nodiscard]] Content contentOf(const Bracket& bracket) const {
    if (bracket.callbacks > 0) return Content::Work;
    Content content = Content::Nothing;
    for (Row row = after(bracket.entry); row != noRow && row < bracket.exit; row = after(row)) {
      const EventKind kind = store_.kind(row);
      if (kind == kindOf<SoftirqRaise>) {
        if (store_.as<SoftirqRaise>(row).vec == hrtimerVector) return Content::Work;
        content = Content::Other;
      }
      if (kind == kindOf<SchedWaking> || kind == kindOf<SchedWakeup> ||
          kind == kindOf<HrtimerStart> || kind == kindOf<HrtimerCancel>) {
        content = Content::Other;
      }
    }
    return content;
  }

  [[nodiscard]] Verdict useful(const CpuBrackets& cpu, const Bracket& bracket, Content content,
                               bool explained, bool first) const {
    if (content == Content::Work) return judged(true);
    if (bracket.exit == noRow) return unjudged(EndOfRecording);
    if (!hrtimersTold_) return unjudged(NotRecorded);
    if (in_.filtered || content == Content::Other) return unjudged(Filtered);
    if (!raisesTold_) return unjudged(NotRecorded);
    if (const auto why = blind(cpu.cpu, bracket.entry, bracket.exit)) return unjudged(*why);
    if (first) return unjudged(BeforeEvidence);
    if (explained || expiresSoon(bracket.exit)) return judged(true);
    return judged(false);
  }

  /// The device fired once more while interrupts were off (it was programmed for another timer meanwhile): the first of
  /// the two runs all that is due. No row between them has interrupts on.
  [[nodiscard]] bool isLatched(const Bracket* last, const Bracket& bracket) const {
    if (!last || last->exit == noRow) return false;
    for (Row row = after(last->exit); row != bracket.entry; row = after(row)) {
      if (row == noRow) return false;
      const Context context = store_.context(row);
      if (!context.irqsOff() && !context.hardIrq()) return false;
    }
    return true;
  }

  /// Before the time programmed by no more than the device counts wrong.
  [[nodiscard]] bool isEarly(const CpuLines& lines, const Bracket& bracket, s64 entered) const {
    if (number(bracket.entry) == 0) return false;
    const auto value = lines.expiresNext.at(Row{number(bracket.entry) - 1});
    if (!value || *value == never.value || *value < entered) return false;
    const auto since = mono(lines.expiresNext.previousChange(bracket.entry));
    const s64 waited = since ? entered - *since : 0;
    return *value - entered <= earlyNs + waited / 1'000'000 * deviceError;
  }

  [[nodiscard]] bool expiresSoon(Row exit) const {
    for (Row row = after(exit); row != noRow; row = after(row)) {
      const auto ns = between(exit, row);
      if (!ns || *ns > earlyNs) return false;
      if (store_.kind(row) == kindOf<HrtimerExpireEntry> && store_.context(row).hardIrq()) {
        return true;
      }
    }
    return false;
  }

  // --- I26

  struct SoftGap {
    Row from = noRow, to = noRow;  ///< entry of the softirq or exit of the callback before; entry
    s64 interrupted = 0;           ///< ns in interrupts
    bool known = true;
  };

  /// Calls f with the gap before each soft hrtimer.
  template <class F>
  void softCallbacks(const CpuBrackets& cpu, F&& f) const {
    u32 run = Bracket::none;
    SoftGap gap;
    for (u32 i = 0; i < cpu.nested.size(); ++i) {
      const Bracket& bracket = cpu.nested[i];
      if (bracket.kind == BracketKind::Softirq && bracket.vector == hrtimerVector) {
        run = i;
        gap = {bracket.entry, noRow, 0, bracket.entry != noRow};
        continue;
      }
      if (run == Bracket::none || bracket.outer != run) continue;
      if (bracket.kind == BracketKind::HrtimerCallback) {
        gap.to = bracket.entry;
        f(gap);
        gap = {bracket.exit, noRow, 0, bracket.exit != noRow};
      } else if (const auto ns = between(bracket.entry, bracket.exit)) {
        gap.interrupted += *ns;
      } else {
        gap.known = false;
      }
    }
  }

  [[nodiscard]] Known<s64> gapNs(const SoftGap& gap) const {
    if (!gap.known || gap.from == noRow) return {};
    const auto ns = between(gap.from, gap.to);
    return ns ? Known<s64>(*ns - gap.interrupted) : Known<s64>{};
  }

  /// The machine's own gaps decide, as the way from callback to callback is the kernel's and the tracer's.
  [[nodiscard]] s64 softLimit() const {
    std::vector<s64> gaps;
    for (const CpuBrackets& cpu : in_.activity.brackets) {
      softCallbacks(cpu, [&](const SoftGap& gap) {
        if (const auto ns = gapNs(gap)) gaps.push_back(*ns);
      });
    }
    DelayRange own;
    if (!gaps.empty()) {
      const std::size_t p99 = (gaps.size() * 99 + 99) / 100 - 1;
      std::ranges::nth_element(gaps, gaps.begin() + static_cast<std::ptrdiff_t>(p99));
      own.p99 = gaps[p99];
      own.count = gaps.size();
    }
    // Of a few gaps the greatest is the p99: it would excuse itself.
    constexpr std::size_t enough = 100;
    return limitOf(betweenCallbacksNs, own.count >= enough ? own : DelayRange{});
  }

  [[nodiscard]] Verdict soft(const CpuBrackets& cpu, const SoftGap& gap, s64 limit) const {
    if (!gap.known) return unjudged(LostEvents);
    const auto ns = gapNs(gap);
    if (!ns) return unjudged(ClockNotAnchored);
    if (const auto why = blind(cpu.cpu, gap.from, gap.to)) return unjudged(*why);
    if (*ns <= limit) return judged(true);
    // What it did itself is seen in rows of its own. In a gap without any it waited for a lock, or did not run.
    Row own = noRow;
    for (Row row = after(gap.from); row != noRow && row < gap.to; row = after(row)) {
      const EventKind kind = store_.kind(row);
      if (kind == kindOf<SchedSwitch>) return unjudged(OutsideModel);  // a thread is preempted
      if (store_.context(row).hardIrq()) continue;
      // The restart of the timer before belongs to the way.
      if (kind != kindOf<HrtimerStart> && kind != kindOf<HrtimerCancel>) own = row;
    }
    if (!interruptsTold_ || own == noRow) return unjudged(ContextNotVisible);
    const auto busy = between(gap.from, own);
    return judged(!busy || *busy - gap.interrupted <= limit);
  }

  // --- I29

  void hotplug() {
    if (!hasRows(kindOf<CpuhpEnter>)) return;
    for (const BlindSpot& spot : in_.tables.blindSpots) {
      if (spot.kind != CpuOffline || !spot.cpu) continue;
      if (spot.to != noRow) count(29, cameBack(spot));
      for (const ArmedSpan& span : in_.tables.spans) {
        if (isHrtimer(span)) {
          if (span.has(ArmedSpan::MovedHere) && span.armed == spot.from &&
              span.end == SpanEnd::Expired) {
            count(29, onTarget(span));
          }
        } else if (span.owner == *spot.cpu && (span.armed == noRow || span.armed <= spot.from) &&
                   (span.ended == noRow || span.ended > spot.from)) {
          count(29, leftDead(span, spot));
        }
      }
    }
  }

  /// It is seen again only behind a step that brings it up.
  [[nodiscard]] Verdict cameBack(const BlindSpot& spot) const {
    for (u32 r = number(spot.from); r <= number(spot.to) && r < store_.size(); ++r) {
      if (store_.kind(Row{r}) != kindOf<CpuhpEnter>) continue;
      const auto event = store_.as<CpuhpEnter>(Row{r});
      if (event.cpu == number(*spot.cpu) && event.target > 0) return judged(true);
    }
    if (!losses_.empty()) return unjudged(LostEvents);
    return judged(false);
  }
  [[nodiscard]] Verdict onTarget(const ArmedSpan& span) const {
    if (span.has(ArmedSpan::Uncertain)) return unjudged(LostEvents);
    if (store_.cpu(span.ended) == span.owner) return judged(true);
    return in_.profile.isolated.judged() ? judged(false) : unjudged(OwnerUnknown);
  }
  [[nodiscard]] Verdict leftDead(const ArmedSpan& span, const BlindSpot& spot) const {
    if (span.has(ArmedSpan::Uncertain)) return unjudged(LostEvents);
    const auto trace = in_.profile.wheelTrace.judged();
    if (!trace || *trace < WheelTrace::WT2) return unjudged(StaleFlags);
    if (span.ended != noRow) return judged(spot.to == noRow || span.ended < spot.to);
    return spot.to == noRow ? unjudged(EndOfRecording) : judged(false);
  }

  const PromptnessInput& in_;
  const EventStore& store_;
  InvariantCounts& counts_;
  std::vector<Address> ticks_;
  std::vector<BlindSpot> spots_;
  std::vector<std::vector<Taken>> taken_;
  std::vector<std::pair<Cpu, Row>> losses_;
  s64 jiffy_ = usualJiffy;
  bool callsTraced_, raisesTold_, hrtimersTold_, interruptsTold_;
};

}  // namespace

void countPromptness(const PromptnessInput& input, InvariantCounts& counts) {
  Promptness(input, counts).run();
}

}  // namespace tickscope
