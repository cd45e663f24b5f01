// SPDX-License-Identifier: GPL-3.0-or-later
// Pairs the lines of a dump with armed spans: first those that are equal, then those that nearly are.
#include "core/model/timer_list_compare.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "core/model/state_text.h"
#include "core/trace/address_text.h"

namespace tickscope {

namespace {

constexpr std::string_view armedBefore = "armed before the recording, perhaps";
constexpr std::string_view changed = "it changed while the list was printed";

/// A span that was open at some time of the printing.
struct Candidate {
  SpanId id{};
  const ArmedSpan* span{};
  const ModelTimer* timer{};
  std::string function;
  bool whole = false;  ///< open during all of it
  bool taken = false;
};

struct Line {
  Cpu cpu{};
  u32 base = 0;
  const ListedTimer* timer{};
  Known<Address> address;
  bool paired = false;
};

class Comparison {
 public:
  Comparison(const Recording& recording, const Buffer& buffer, const ReplayTables& tables,
             const ClockMap& clocks, const TimerListDump& dump)
      : recording_(recording),
        events_(buffer.events),
        tables_(tables),
        clocks_(clocks),
        dump_(dump) {}

  TimerListComparison run() {
    place();
    if (result_.taken == TimerListComparison::Taken::Unknown ||
        result_.taken == TimerListComparison::Taken::Before) {
      return std::move(result_);
    }
    collectLines();
    collectCandidates();
    pairEqual();
    pairUnlike();
    leftInDump();
    leftInModel();
    expiresNext();
    std::erase_if(result_.bases, [](const BaseAgreement& base) {
      return base.listed + base.extra + base.notJudged == 0;
    });
    return std::move(result_);
  }

 private:
  using Kind = ListedDifference::Kind;
  using Taken = TimerListComparison::Taken;

  /// The last row at or before a monotonic time. Empty: before the first row.
  [[nodiscard]] Known<Row> rowAt(MonoTime t) const {
    const auto trace = clocks_.trace(t, events_.cpu(Row{0}));
    if (!trace) return {};
    const u32 after = events_.lowerBound({trace->value.value + 1});
    if (!after) return {};
    return Row{after - 1};
  }

  void place() {
    if (!dump_.now || events_.empty()) return;
    const Row last{events_.size() - 1};
    const auto begin = clocks_.mono(events_.time(Row{0}), events_.cpu(Row{0}));
    const auto end = clocks_.mono(events_.time(last), events_.cpu(last));
    if (!begin || !end) return;
    if (*dump_.now < begin->value) {
      result_.taken = Taken::Before;
      return;
    }
    const auto at = rowAt(*dump_.now);
    if (!at) return;
    from_ = result_.row = *at;
    const MonoTime printed = *dump_.now + printingTime;
    covered_ = printed <= end->value;
    to_ = covered_ ? rowAt(printed).value_or(last) : last;
    result_.taken = *dump_.now > end->value ? Taken::After : Taken::During;
  }

  BaseAgreement& tally(Cpu cpu, u32 base) {
    for (BaseAgreement& known : result_.bases) {
      if (known.cpu == cpu && known.base == base) return known;
    }
    BaseAgreement& made = result_.bases.emplace_back();
    made.cpu = cpu;
    made.base = base;
    return made;
  }

  void collectLines() {
    for (const ListedCpu& cpu : dump_.cpus) {
      for (const ListedBase& base : cpu.bases) {
        if (base.index >= clockBaseCount) continue;
        tally(cpu.cpu, base.index).listed += static_cast<u32>(base.timers.size());
        for (const ListedTimer& timer : base.timers) {
          lines_.push_back({cpu.cpu, base.index, &timer, plainPointer(timer.pointer), false});
        }
      }
    }
  }

  void collectCandidates() {
    const AddressText names(*recording_.metadata.symbols, recording_.metadata.wordSize);
    for (u32 i = 0; i < tables_.spans.size(); ++i) {
      const ArmedSpan& span = tables_.spans[i];
      const ModelTimer& timer = tables_.timers[number(span.timer)];
      if (timer.of != TimerClass::Hrtimer) continue;
      const bool seeded = span.has(ArmedSpan::Seeded);
      // Of a timer from before the recording nothing is known before its first event, only that it was armed.
      if (span.armed != noRow && span.armed > to_) continue;
      if (span.leftAt() != noRow && span.leftAt() <= from_) continue;
      Candidate made{static_cast<SpanId>(i), &span, &timer, {}, false, false};
      if (timer.function != Address{0}) {
        names.function(made.function, static_cast<u64>(timer.function));
      }
      made.whole = covered_ && (span.armed == noRow || seeded || span.armed <= from_) &&
                   (span.leftAt() == noRow || span.leftAt() > to_);
      candidates_.push_back(std::move(made));
    }
  }

  // --- Pairs ------------------------------------------------------------------------------------

  static bool sameTimes(const Line& line, const Candidate& candidate) {
    const ArmedSpan& span = *candidate.span;
    if (!span.expiryKnown || span.expires != line.timer->expires.value) return false;
    return !span.secondKnown || span.second == line.timer->softExpires.value;
  }
  static bool sameFunction(const Line& line, const Candidate& candidate) {
    return candidate.function.empty() || candidate.function == line.timer->function;
  }
  /// Empty: one side does not tell.
  static Known<bool> sameAddress(const Line& line, const Candidate& candidate) {
    if (!line.address || candidate.timer->address == Address{0}) return {};
    return *line.address == candidate.timer->address;
  }
  static bool samePlace(const Line& line, const Candidate& candidate) {
    return candidate.span->owner == line.cpu && candidate.span->base == line.base;
  }
  /// The model says where the timer is no more exactly than the line does.
  static bool placeMayBe(const Line& line, const Candidate& candidate) {
    const bool cpu = candidate.span->owner == line.cpu || candidate.span->owner == noCpu;
    return cpu && (candidate.span->base == line.base || candidate.timer->baseGuessed);
  }

  template <class Fits>
  Candidate* unlessTaken(Fits&& fits) {
    const auto found = std::ranges::find_if(candidates_, [&](const Candidate& candidate) {
      return !candidate.taken && fits(candidate);
    });
    return found == candidates_.end() ? nullptr : &*found;
  }

  void pairEqual() {
    for (const bool loosely : {false, true}) {
      for (Line& line : lines_) {
        if (line.paired) continue;
        Candidate* const found = unlessTaken([&](const Candidate& candidate) {
          return sameTimes(line, candidate) && sameFunction(line, candidate) &&
                 sameAddress(line, candidate).value_or(true) &&
                 (loosely ? placeMayBe(line, candidate) : samePlace(line, candidate));
        });
        if (!found) continue;
        found->taken = line.paired = true;
        ++tally(line.cpu, line.base).agree;
      }
    }
  }

  using LineKind = std::tuple<Cpu, u32, std::string_view>;
  static LineKind kindOf(const Line& line) { return {line.cpu, line.base, line.timer->function}; }

  void pairUnlike() {
    for (const Line& line : lines_) {
      if (!line.paired) ++left_[kindOf(line)];
    }
    for (Line& line : lines_) {
      if (line.paired) continue;
      Candidate* found = unlessTaken([&](const Candidate& candidate) {
        return sameAddress(line, candidate).value_or(false) && candidate.whole;
      });
      if (!found) {
        found = unlessTaken([&](const Candidate& candidate) {
          return sameAddress(line, candidate).value_or(false);
        });
      }
      if (!found && !line.address) found = onlyOneLikeIt(line);
      if (!found) continue;
      found->taken = line.paired = true;
      --left_[kindOf(line)];
      ListedDifference difference = of(line, Kind::Different);
      fill(difference, *found);
      difference.judged = found->whole && trusted(*found);
      difference.why = found->whole ? whyNot(*found) : changed;
      report(std::move(difference));
    }
  }

  /// Without addresses: the one timer of that callback that is left in the base, if one line is left too.
  Candidate* onlyOneLikeIt(const Line& line) {
    const auto like = [&](const Candidate& candidate) {
      return !candidate.taken && samePlace(line, candidate) && !candidate.function.empty() &&
             candidate.function == line.timer->function;
    };
    if (left_.at(kindOf(line)) != 1) return nullptr;
    if (std::ranges::count_if(candidates_, like) != 1) return nullptr;
    return unlessTaken(like);
  }

  // --- What is left -----------------------------------------------------------------------------

  /// What the model knows of a timer that is only in the dump.
  struct Life {
    bool ended = false;      ///< a life of it ended before the printing
    bool meanwhile = false;  ///< it was armed during the printing
  };

  [[nodiscard]] std::unordered_map<u64, Life> livesOfUnpaired() const {
    std::unordered_map<u64, Life> lives;
    for (const Line& line : lines_) {
      if (!line.paired && line.address) lives.emplace(static_cast<u64>(*line.address), Life{});
    }
    if (lives.empty()) return lives;
    for (const ArmedSpan& span : tables_.spans) {
      const ModelTimer& timer = tables_.timers[number(span.timer)];
      if (timer.of != TimerClass::Hrtimer) continue;
      const auto life = lives.find(static_cast<u64>(timer.address));
      if (life == lives.end()) continue;
      life->second.ended |=
          span.ended != noRow && span.ended <= from_ && span.end != SpanEnd::Unknown;
      life->second.meanwhile |= span.armed != noRow && span.armed > from_ && span.armed <= to_;
    }
    return lives;
  }

  void leftInDump() {
    const std::unordered_map<u64, Life> lives = livesOfUnpaired();
    for (const Line& line : lines_) {
      if (line.paired) continue;
      ListedDifference difference = of(line, Kind::OnlyListed);
      difference.why = covered_ ? armedBefore : "the recording ends before";
      if (covered_ && line.address) {
        // The timer is known to be idle when its life is known up to here and it was not armed meanwhile.
        const Life life = lives.at(static_cast<u64>(*line.address));
        difference.judged = life.ended && !life.meanwhile;
        if (life.meanwhile) difference.why = changed;
      }
      report(std::move(difference));
    }
  }

  void leftInModel() {
    for (const Candidate& candidate : candidates_) {
      if (candidate.taken || !candidate.whole) continue;
      const ArmedSpan& span = *candidate.span;
      ListedDifference difference;
      difference.kind = Kind::OnlyModel;
      difference.cpu = span.owner;
      difference.base = span.base;
      difference.function = candidate.function;
      fill(difference, candidate);
      const auto listed = std::ranges::find(dump_.cpus, span.owner, &ListedCpu::cpu);
      if (listed == dump_.cpus.end()) {
        difference.why = "its CPU is not in the list";
      } else if (isCutOff(*listed)) {
        difference.why = "the list ends among the timers of its CPU";
      } else {
        difference.judged = trusted(candidate);
        difference.why = whyNot(candidate);
      }
      report(std::move(difference));
    }
  }

  /// Behind the timers of a CPU come its values, another CPU or the tick devices.
  [[nodiscard]] bool isCutOff(const ListedCpu& cpu) const {
    return cpu.values.empty() && &cpu == &dump_.cpus.back() && dump_.devices.empty();
  }

  static bool trusted(const Candidate& candidate) { return whyNot(candidate).empty(); }
  static std::string_view whyNot(const Candidate& candidate) {
    const ArmedSpan& span = *candidate.span;
    if (!span.expiryKnown) return "armed before the recording";
    if (span.has(ArmedSpan::Uncertain)) return "events were lost";
    if (span.owner == noCpu) return "the model does not know its CPU";
    return {};
  }

  [[nodiscard]] static ListedDifference of(const Line& line, Kind kind) {
    ListedDifference difference;
    difference.kind = kind;
    difference.cpu = line.cpu;
    difference.base = line.base;
    difference.pointer = line.timer->pointer;
    difference.function = line.timer->function;
    difference.listedSoft = line.timer->softExpires;
    difference.listedHard = line.timer->expires;
    return difference;
  }
  static void fill(ListedDifference& difference, const Candidate& candidate) {
    difference.span = candidate.id;
    if (candidate.span->expiryKnown) difference.modelHard = BaseTime{candidate.span->expires};
    if (candidate.span->expiryKnown && candidate.span->secondKnown) {
      difference.modelSoft = BaseTime{candidate.span->second};
    }
  }

  void report(ListedDifference difference) {
    if (difference.judged) difference.why = {};
    BaseAgreement& base = tally(difference.cpu, difference.base);
    if (!difference.judged) {
      ++base.notJudged;
    } else if (difference.kind == Kind::Different) {
      ++base.different;
    } else if (difference.kind == Kind::OnlyListed) {
      ++base.missing;
    } else {
      ++base.extra;
    }
    result_.differences.push_back(std::move(difference));
  }

  void expiresNext() {
    for (const ListedCpu& listed : dump_.cpus) {
      ExpiresNextAgreement made;
      made.cpu = listed.cpu;
      for (const ListedValue& value : listed.values) {
        if (value.name != ".expires_next") continue;
        u64 ns = 0;
        const char* const first = value.value.data();
        const auto [stop, error] = std::from_chars(first, first + value.value.size(), ns);
        if (error == std::errc{} && stop != first) made.listed = MonoTime{static_cast<s64>(ns)};
      }
      const auto lines = std::ranges::find(tables_.cpus, listed.cpu, &CpuLines::cpu);
      if (lines != tables_.cpus.end()) {
        const StepLine& line = lines->expiresNext;
        if (const auto value = line.at(from_)) made.model = MonoTime{*value};
        // Any value of the printing agrees; one that differs is judged only when nothing moved.
        bool moved = !covered_;
        bool equal = made.model == made.listed;
        for (Row at = line.nextChange(from_); at != noRow && at <= to_; at = line.nextChange(at)) {
          moved = true;
          const auto value = line.at(at);
          if (value && made.listed && *value == made.listed->value) {
            made.model = made.listed;
            equal = true;
          }
        }
        if (made.listed && made.model && (equal || !moved)) made.agrees = equal;
      }
      result_.expiresNext.push_back(made);
    }
  }

  const Recording& recording_;
  const EventStore& events_;
  const ReplayTables& tables_;
  const ClockMap& clocks_;
  const TimerListDump& dump_;
  Row from_{}, to_{};
  bool covered_ = false;  ///< the recording goes on until the printing has ended
  std::vector<Line> lines_;
  std::map<LineKind, u32> left_;  ///< lines without a pair
  std::vector<Candidate> candidates_;
  TimerListComparison result_;
};

u32 sum(const std::vector<BaseAgreement>& bases, u32 (*of)(const BaseAgreement&)) {
  return std::accumulate(bases.begin(), bases.end(), u32{0},
                         [&](u32 all, const BaseAgreement& base) { return all + of(base); });
}

}  // namespace

u32 TimerListComparison::agreeing() const {
  return sum(bases, [](const BaseAgreement& base) { return base.agree; });
}
u32 TimerListComparison::violations() const {
  return sum(bases,
             [](const BaseAgreement& base) { return base.different + base.missing + base.extra; });
}
u32 TimerListComparison::notJudged() const {
  return sum(bases, [](const BaseAgreement& base) { return base.notJudged; });
}

TimerListComparison compareTimerList(const Recording& recording, const Buffer& buffer,
                                     const ReplayTables& tables, const ClockMap& clocks,
                                     const TimerListDump& dump) {
  return Comparison(recording, buffer, tables, clocks, dump).run();
}

}  // namespace tickscope
