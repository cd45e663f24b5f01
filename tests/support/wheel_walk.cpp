// SPDX-License-Identifier: GPL-3.0-or-later
// A loop of its own over timer rows, without a replay: bases by CPU and flags, timers by address.
#include "tests/support/wheel_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace tickscope::support {
namespace {

constexpr u32 deferrableFlag = 1U << 19U, pinnedFlag = 1U << 20U;

class Walk {
 public:
  Walk(const Recording& recording, const Buffer& buffer, const WheelWalkOptions& options)
      : store_(buffer.events), options_(options) {
    rules_.geometry.wordBits = static_cast<u8>(8 * recording.metadata.wordSize);
    for (const EventType& type : store_.types()) {
      if (type.kind == kindOf<TmigrHandleRemoteCpu>) migrates_ = true;
      if (type.kind == kindOf<TimerCancel>) cancels_ = true;
    }
  }

  WheelFigures run() {
    std::vector<u32> gaps;
    for (const Loss& loss : store_.losses()) {
      if (loss.next) gaps.push_back(number(*loss.next));
      gaps.push_back(loss.from ? store_.lowerBound(*loss.from) + 1 : 0);
    }
    std::sort(gaps.begin(), gaps.end());
    auto gap = gaps.begin();
    for (u32 i = 0; i < store_.size(); ++i) {
      const Row row{i};
      for (; gap != gaps.end() && *gap <= i; ++gap) forget();
      const EventKind kind = store_.kind(row);
      if (kind == kindOf<TimerStart>) start(row, store_.as<TimerStart>(row));
      if (kind == kindOf<TimerCancel>) cancel(row, store_.as<TimerCancel>(row));
      if (kind == kindOf<TimerExpireEntry>) expire(row, store_.as<TimerExpireEntry>(row));
      if (kind == kindOf<SoftirqExit> && store_.as<SoftirqExit>(row).vec == 1) endOfRun(row);
      if (kind == kindOf<TickStop> && store_.as<TickStop>(row).success == 1) idle(row);
    }
    return std::move(figures_);
  }

 private:
  struct Armed {
    SpanId span;
    WheelModel* base;
    u64 expires;
    Row row;
  };

  WheelModel& base(u32 cpu, u32 kind) {
    return bases_.try_emplace(cpu * 3 + kind, rules_).first->second;
  }
  u32 kindOfBase(u32 flags) const {
    if (flags & deferrableFlag) return 2;
    return migrates_ && !(flags & pinnedFlag) ? 1 : 0;
  }
  std::string place(Row row) const {
    return fmt::format("row {} cpu {} time {}", number(row), number(store_.cpu(row)),
                       store_.time(row).value);
  }
  void see(u64 jiffies) {
    if (!jiffies_ || rules_.geometry.before(*jiffies_, jiffies)) jiffies_ = jiffies;
  }

  void forget() {
    // Any CPU arms on any other: nothing is certain behind a gap.
    for (auto& [key, model] : bases_) model.forgetClk();
    armed_.clear();
  }

  void start(Row row, const TimerStart& event) {
    const bool widthKnown = event.flags >> 22U < 576;
    RecordedArm arm{.expires = static_cast<u64>(event.expires.value),
                    .now = static_cast<u64>(event.now.value),
                    .index = static_cast<u16>(event.flags >> 22U),
                    .bucketExpiry = {}};
    see(arm.now);
    const bool recorded = store_.type(row).recorded(3);
    if (recorded && !options_.withoutBucketExpiry) {
      arm.bucketExpiry = static_cast<u64>(event.bucketExpiry.value);
    }
    const u16 index = *arm.index;
    if (options_.withoutIndex) {
      arm.index.reset();
      arm.bucketExpiry.reset();
    }
    const bool deferrable = event.flags & deferrableFlag;
    WheelModel& model = base(event.flags & 0x3ffffU, kindOfBase(event.flags));
    const SpanId span = static_cast<SpanId>(spans_++);
    if (const auto old = armed_.find(number(event.timer)); old != armed_.end()) {
      old->second.base->disarm(old->second.span);
    }
    const ArmResult result = model.arm(span, arm, deferrable);
    armed_[number(event.timer)] = {span, &model, arm.expires, row};
    rowOf_.push_back(row);

    ++figures_.arms;
    figures_.past += rules_.geometry.before(arm.expires, arm.now);
    const Known<u64> inferred = bucketExpiryOf(rules_.geometry, index, arm.expires, arm.now);
    figures_.inverse.add(widthKnown && inferred.has_value());
    if (recorded) {
      figures_.bucketExpiry.add(inferred == static_cast<u64>(event.bucketExpiry.value));
    }
    figures_.explained.add(result.explained);
    figures_.placed.add(result.bucket ? Known<bool>(result.bucket->index == index &&
                                                    result.bucket->expiry == inferred)
                                      : Known<bool>());
    if (options_.withoutIndex) return;
    if (result.explained.value_or(false)) return;
    figures_.unexplained.push_back(fmt::format(
        "{}{}: expires now{:+} index {} lag {}..{}", place(row),
        result.explained ? "" : " (silent)", rules_.geometry.distance(arm.expires, arm.now),
        *arm.index, result.lag ? result.lag->least : 0, result.lag ? result.lag->most : 0));
    if (result.explained) figures_.lags.push_back(result.lag ? result.lag->least : 0);
  }

  /// Every wheel expiry is announced by timer_cancel, with nothing but rows of interrupts between.
  bool announcesExpiry(Row row, Address timer) const {
    if (store_.context(row).hardIrq()) return false;
    const auto rows = store_.rowsOfStream(store_.streamOf(row));
    for (u32 at = store_.placeInStream(row) + 1; at < rows.size(); ++at) {
      const EventKind kind = store_.kind(rows[at]);
      if (store_.context(rows[at]).hardIrq()) continue;
      if (kind == kindOf<TimerExpireEntry>) {
        return store_.as<TimerExpireEntry>(rows[at]).timer == timer;
      }
      if (kind == kindOf<TimerStart> || kind == kindOf<TimerCancel>) return false;
      if (kind == kindOf<SchedSwitch> || kind == kindOf<SoftirqExit>) return false;
    }
    return false;
  }

  void cancel(Row row, const TimerCancel& event) {
    const auto found = armed_.find(number(event.timer));
    if (found == armed_.end() || announcesExpiry(row, event.timer)) return;
    found->second.base->disarm(found->second.span);
    armed_.erase(found);
  }

  void expire(Row row, const TimerExpireEntry& event) {
    see(static_cast<u64>(event.now.value));
    const auto found = armed_.find(number(event.timer));
    if (found == armed_.end()) return;
    const Armed armed = found->second;
    armed_.erase(found);
    ++figures_.expiries;
    const TimerStart start = store_.as<TimerStart>(armed.row);
    figures_.remote += (start.flags & 0x3ffffU) != number(store_.cpu(row));
    Known<u64> baseclk;
    if (store_.type(row).recorded(3)) baseclk = static_cast<u64>(event.baseclk.value);
    const WheelModel::Expiry expiry =
        armed.base->expire(armed.span, static_cast<u64>(event.now.value), baseclk);
    figures_.bucketClk.add(expiry.atItsBucket);
    figures_.order.add(expiry.inOrder);
    if (expiry.atItsBucket == false || expiry.inOrder == false) {
      figures_.differing.push_back(
          fmt::format("{}: armed at row {}, expires {}, baseclk {}, {}", place(row),
                      number(armed.row), armed.expires, baseclk.value_or(0),
                      expiry.atItsBucket == false ? "not its bucket" : "out of order"));
    }
    lost(row, expiry.lost, fmt::format("baseclk {}", baseclk.value_or(0)));
  }

  void lost(Row row, const std::vector<SpanId>& spans, const std::string& by) {
    if (!cancels_) return;
    for (const SpanId span : spans) {
      figures_.lost.push_back(fmt::format("{}: armed at {}, passed by {}", place(row),
                                          place(rowOf_[number(span)]), by));
    }
  }

  void endOfRun(Row row) {
    if (!jiffies_) return;
    for (u32 kind = 0; kind < 3; ++kind) {
      lost(row, base(number(store_.cpu(row)), kind).endOfRun(*jiffies_),
           fmt::format("the end of a run at {}", *jiffies_));
    }
  }

  void idle(Row row) {
    if (!jiffies_) return;
    for (u32 kind = 0; kind < 2; ++kind) base(number(store_.cpu(row)), kind).idle(*jiffies_);
  }

  const EventStore& store_;
  WheelWalkOptions options_;
  WheelRules rules_;
  bool migrates_ = false;
  bool cancels_ = false;  // else nobody knows which timers are still pending
  Known<u64> jiffies_;    // the latest that any event printed
  std::map<u32, WheelModel> bases_;
  std::unordered_map<u64, Armed> armed_;
  std::vector<Row> rowOf_;
  u32 spans_ = 0;
  WheelFigures figures_;
};

std::string textOf(const Tally& tally) {
  return fmt::format("{} of {}{}{}", tally.yes, tally.all(),
                     tally.no ? fmt::format(" ({} against)", tally.no) : "",
                     tally.silent ? fmt::format(" ({} silent)", tally.silent) : "");
}

}  // namespace

void WheelFigures::add(const WheelFigures& other) {
  inverse.add(other.inverse);
  bucketExpiry.add(other.bucketExpiry);
  explained.add(other.explained);
  placed.add(other.placed);
  bucketClk.add(other.bucketClk);
  order.add(other.order);
  arms += other.arms;
  expiries += other.expiries;
  past += other.past;
  remote += other.remote;
  lags.insert(lags.end(), other.lags.begin(), other.lags.end());
}

std::string WheelFigures::text() const {
  return fmt::format(
      "inverse {} ({} in the past), bucket_expiry {}, explained {}, baseclk {} ({} remote), order "
      "{}, "
      "lost {}",
      textOf(inverse), past, textOf(bucketExpiry), textOf(explained), textOf(bucketClk), remote,
      textOf(order), lost.size());
}

WheelFigures walkWheel(const Recording& recording, const Buffer& buffer,
                       const WheelWalkOptions& options) {
  return Walk(recording, buffer, options).run();
}

}  // namespace tickscope::support
