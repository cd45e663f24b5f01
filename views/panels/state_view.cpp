// SPDX-License-Identifier: GPL-3.0-or-later
// Turns numbers of a state into the words, places and shapes that the panel paints.
#include "views/panels/state_view.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "core/model/hrtimer_tree.h"
#include "core/trace/event_text.h"
#include "views/time_label.h"

namespace tickscope {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("tickscope::StateView", text); }

QString words(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString monoText(MonoTime time) { return timeInGroups({time.value}, ClockUnit::Nanoseconds); }
QString nsText(Known<s64> ns) {
  return ns ? timeInGroups({*ns}, ClockUnit::Nanoseconds) : tr("unknown");
}
QString jiffiesText(u64 jiffies) { return countText(jiffies); }

QString wheelName(WheelBaseKind kind, std::size_t bases) {
  switch (kind) {
    case WheelBaseKind::LocalOrStd:
      return bases > 2 ? QStringLiteral("LOCAL") : QStringLiteral("STD");
    case WheelBaseKind::Global:
      return QStringLiteral("GLOBAL");
    case WheelBaseKind::Def:
      return QStringLiteral("DEF");
  }
  return {};
}

QString clockName(ClockBase base) {
  static constexpr const char* names[] = {"MONO", "REALTIME", "BOOTTIME", "TAI"};
  const QString name = QString::fromLatin1(names[number(hardOf(base))]);
  return isSoft(base) ? name + tr(" soft") : name;
}

/// One CPU on its way into a view.
class Maker {
 public:
  Maker(const StateSource& source, const SystemState& state, const CpuState& cpu,
        const Recording& recording, const Buffer& buffer)
      : source_(source), state_(state), cpu_(cpu), text_(recording, buffer), store_(buffer.events) {
    if (source.mono) now_ = source.mono(state.row);
  }

  CpuView make() {
    CpuView view;
    view.cpu = cpu_.cpu;
    for (const WheelBaseState& base : cpu_.wheel) view.wheel.push_back(wheel(base));
    QStringList empty;
    for (std::size_t b = 0; b < clockBaseCount; ++b) {
      const auto base = static_cast<ClockBase>(b);
      if (!cpu_.hrtimers[b].empty()) {
        view.trees.push_back(tree(base, cpu_.hrtimers[b]));
      } else if (!isSoft(base) && cpu_.hrtimers[number(softOf(base))].empty()) {
        empty.append(clockName(base));
      }
    }
    addScalars(view);
    if (!empty.isEmpty()) view.facts.push_back({empty.join(tr(", ")), tr("no timer seen"), false});
    if (!state_.ownerUnknown.empty())
      view.facts.push_back(
          {tr("timers of an unknown CPU"), countText(state_.ownerUnknown.size()), true});
    addLastEvent(view);
    view.blind = blindWords();
    return view;
  }

 private:
  /// Why a value is not known: the blind spot that is most to the point.
  [[nodiscard]] QString unknown(std::initializer_list<BlindSpotKind> likely) const {
    const auto covers = [&](BlindSpotKind kind) {
      return std::ranges::find(cpu_.unknown, kind) != cpu_.unknown.end();
    };
    for (const BlindSpotKind kind : likely) {
      if (covers(kind)) return tr("unknown: %1").arg(words(reasonOf(kind)));
    }
    return tr("unknown: the trace does not tell");
  }
  [[nodiscard]] StateFact scalar(const QString& name, Known<MonoTime> value, const QString& none,
                                 std::initializer_list<BlindSpotKind> likely) const {
    if (!value) return {name, unknown(likely), false};
    return {name, *value == never ? none : monoText(*value), true};
  }

  void addScalars(CpuView& view) const {
    using enum BlindSpotKind;
    if (!cpu_.online) view.facts.push_back({tr("CPU"), tr("offline"), true});
    view.facts.push_back(
        scalar(tr("expires_next"), cpu_.expiresNext,
               cpu_.inInterrupt.value_or(false) ? tr("none, inside the timer interrupt")
                                                : tr("none, the device is stopped"),
               {LostEvents, CpuOffline, NotRecorded, BeforeEvidence, NotHighRes, Hang}));
    view.facts.push_back(
        scalar(tr("softirq_expires_next"), cpu_.softirqExpiresNext, tr("none"),
               {LostEvents, CpuOffline, SoftOrHardUnknown, NotRecorded, BeforeEvidence}));
    if (const Known<bool> activated = cpu_.softirqActivated) {
      view.facts.push_back({tr("softirq_activated"), *activated ? tr("yes") : tr("no"), true});
    } else {
      view.facts.push_back({tr("softirq_activated"),
                            unknown({LostEvents, CpuOffline, ContextNotVisible, BeforeEvidence}),
                            false});
    }
    const QString device = tr("device programmed for");
    if (!cpu_.programmed && !source_.programmingUntold.empty()) {
      view.facts.push_back(
          {device, tr("unknown: %1").arg(words(source_.programmingUntold)), false});
      return;
    }
    view.facts.push_back(
        scalar(device, cpu_.programmed, tr("stopped"),
               {ProgrammingNotTraced, LostEvents, CpuOffline, DeferredRearm, NotRecorded}));
  }

  /// The bottom line: which task the CPU's last event found there, or left there.
  void addLastEvent(CpuView& view) const {
    if (!cpu_.online) return;
    const auto rows = store_.rowsOf(cpu_.cpu);
    const auto after = std::ranges::upper_bound(rows, state_.row);
    if (after == rows.begin()) return;
    const Row row = *(after - 1);
    const Pid pid = store_.kind(row) == kindOf<SchedSwitch> ? store_.as<SchedSwitch>(row).next.pid
                                                            : store_.pid(row);
    const QString task =
        pid == Pid{0}
            ? tr("idle")
            : QStringLiteral("%1-%2").arg(QString::fromStdString(text_.comm(pid))).arg(number(pid));
    view.facts.push_back({tr("CPU%1").arg(number(cpu_.cpu)),
                          cpu_.inInterrupt.value_or(false)
                              ? tr("%1, in the timer interrupt").arg(task)
                              : tr("%1 at row %2").arg(task, countText(number(row))),
                          true});
  }

  [[nodiscard]] QString blindWords() const {
    QStringList reasons;
    for (const BlindSpotKind kind : cpu_.unknown) {
      const QString reason = tr("%1 (%2)").arg(words(reasonOf(kind)), words(codeOf(kind)));
      if (!reasons.contains(reason)) reasons.append(reason);
    }
    return reasons.isEmpty() ? QString()
                             : tr("Not all is known here: %1.").arg(reasons.join(tr("; ")));
  }

  [[nodiscard]] QString armedBy(const StateTimer& timer) const {
    if (!timer.armedRow) return tr("before the recording");
    if (timer.armedBy)
      return QStringLiteral("%1-%2")
          .arg(words(text_.comm(*timer.armedBy)))
          .arg(number(*timer.armedBy));
    return timer.flags & ArmedSpan::MovedHere ? tr("moved from another CPU") : tr("an interrupt");
  }
  /// Callbacks that only wake a task say nothing; the task does.
  [[nodiscard]] QString callback(const StateTimer& timer) const {
    if (timer.function == Address{}) return tr("unknown callback");
    const std::string name = text_.symbol(timer.function);
    const bool wakes = name == "hrtimer_wakeup" || name == "process_timeout";
    if (wakes && timer.armedBy && *timer.armedBy != Pid{0})
      return words(text_.comm(*timer.armedBy));
    return words(name);
  }
  [[nodiscard]] static QString addressText(Address address) {
    return address == Address{} ? tr("unknown")
                                : QStringLiteral("0x%1").arg(number(address), 0, 16);
  }

  [[nodiscard]] WheelView wheel(const WheelBaseState& base) const {
    WheelView view;
    view.depth = source_.geometry.depth;
    view.levels = source_.levels;
    view.hz = source_.hz;
    view.clk = base.clk;
    for (const StateTimer& timer : base.timers) {
      const bool overdue = timer.second && base.clk &&
                           source_.geometry.before(static_cast<u64>(*timer.second), *base.clk);
      if (overdue) ++view.overdue;
      if (timer.second && timer.bucketIndex < view.inBucket.size()) {
        ++view.inBucket[timer.bucketIndex];
        if (overdue) ++view.overdueInBucket[timer.bucketIndex];
      }
      if (base.nextExpiry && timer.second && static_cast<u64>(*timer.second) == *base.nextExpiry)
        view.nextBucket = timer.bucketIndex;
      if (view.timers.size() < mostWheelTimers)
        view.timers.push_back(wheelTimer(timer, base, overdue));
    }
    view.moreTimers = base.timers.size() - view.timers.size();
    if (!view.nextBucket && base.nextExpiry && base.clk) {
      // Of no known timer; in level 0 its place is certain all the same.
      const s64 ahead = source_.geometry.distance(*base.nextExpiry, *base.clk);
      if (ahead >= 0 && ahead < 63) view.nextBucket = static_cast<u16>(*base.nextExpiry & 63U);
    }
    view.title = tr("Wheel, base %1").arg(wheelName(base.kind, cpu_.wheel.size()));
    const u64 count = base.timers.size();
    view.summary = count == 1 ? tr("1 timer") : tr("%1 timers").arg(countText(count));
    if (source_.hz) view.summary = tr("HZ %1 · %2").arg(*source_.hz).arg(view.summary);
    using enum BlindSpotKind;
    const auto fact = [&](const QString& name, Known<u64> value, const QString& why) {
      view.facts.push_back({name, value ? jiffiesText(*value) : why, value.has_value()});
    };
    fact(tr("clk"), base.clk, unknown({LostEvents, CpuOffline, NotRecorded, BeforeEvidence}));
    fact(
        tr("next_expiry"), base.nextExpiry,
        count ? unknown({LostEvents, CpuOffline, BeforeEvidence}) : tr("unknown: none seen armed"));
    return view;
  }

  [[nodiscard]] WheelTimerView wheelTimer(const StateTimer& timer, const WheelBaseState& base,
                                          bool overdue) const {
    WheelTimerView view;
    if (timer.second) view.bucket = timer.bucketIndex;
    view.callback = callback(timer);
    view.expires = timer.expires ? jiffiesText(static_cast<u64>(*timer.expires)) : tr("unknown");
    view.bucketExpiry = timer.second ? jiffiesText(static_cast<u64>(*timer.second)) : tr("unknown");
    view.armedBy = armedBy(timer);
    view.address = addressText(timer.address);
    view.overdue = overdue;
    view.armed = timer.armedRow;
    view.toClk = tr("unknown");
    if (timer.second && base.clk) {
      const s64 ahead = source_.geometry.distance(static_cast<u64>(*timer.second), *base.clk);
      view.toClk = overdue ? tr("%1 j overdue").arg(countText(static_cast<u64>(-ahead)))
                           : tr("in %1 j").arg(countText(static_cast<u64>(ahead)));
    }
    return view;
  }

  [[nodiscard]] TreeView tree(ClockBase base, const std::vector<StateTimer>& timers) const {
    TreeView view;
    view.title = tr("hrtimers");
    view.summary = timers.size() == 1 ? tr("%1 · 1 armed").arg(clockName(base))
                                      : tr("%1 · %2 armed · in order of expiry")
                                            .arg(clockName(base), countText(timers.size()));
    const Known<s64> offset = hardOf(base) == ClockBase::Mono ? Known<s64>(0)
                              : source_.offset                ? source_.offset(base, state_.row)
                                                              : Known<s64>();
    Known<s64> instant;
    if (now_ && offset) instant = now_->value + *offset;

    // A tree of these timers in the order in which they were armed; the kernel's may be balanced otherwise.
    std::vector<u32> order;
    for (u32 i = 0; i < timers.size(); ++i) {
      if (timers[i].expires) {
        order.push_back(i);
      } else {
        ++view.timesUnknown;
      }
    }
    std::ranges::sort(order, {}, [&](u32 i) { return timers[i].span; });
    HrtimerTree tree;
    tree.reserve(order.size());
    std::vector<u32> timerOf(order.size() + 1);
    for (const u32 i : order) {
      const TreeNode node = tree.insert(timers[i].span, {*timers[i].expires}, {*timers[i].expires});
      if (number(node) >= timerOf.size()) timerOf.resize(number(node) + 1);
      timerOf[number(node)] = i;
    }
    std::vector<s32> placeOf(timerOf.size(), -1);
    for (Known<TreeNode> at = tree.first(); at; at = tree.next(*at)) {
      if (view.nodes.size() == mostNodes) break;
      placeOf[number(*at)] = static_cast<s32>(view.nodes.size());
      view.nodes.push_back(node(timers[timerOf[number(*at)]], base, instant));
    }
    view.more = order.size() - view.nodes.size();
    tree.forEachNode(
        [&](TreeNode at, const HrtimerTree::Timer&, const HrtimerTree::Shape& shape, u32 depth) {
          const s32 place = placeOf[number(at)];
          if (place >= 0) {
            TreeNodeView& node = view.nodes[static_cast<std::size_t>(place)];
            node.depth = depth;
            node.red = shape.red;
          }
          for (const Known<TreeNode>& child : {shape.left, shape.right}) {
            const s32 below = child ? placeOf[number(*child)] : -1;
            if (below >= 0) view.nodes[static_cast<std::size_t>(below)].parent = place;
          }
        });
    return view;
  }

  [[nodiscard]] TreeNodeView node(const StateTimer& timer, ClockBase base,
                                  Known<s64> instant) const {
    TreeNodeView node;
    node.callback = callback(timer);
    node.expires = nsText(timer.expires);
    node.softExpires = nsText(timer.second);
    node.armedBy = armedBy(timer);
    node.address = addressText(timer.address);
    node.soft = isSoft(base);
    node.armed = timer.armedRow;
    node.due = node.expires;
    if (!instant) return node;
    const auto from = [&](s64 time) { return (MonoTime{time} - MonoTime{*instant}).value; };
    node.toHard = from(*timer.expires);
    node.fromSoft = from(timer.second.value_or(*timer.expires));
    node.due = shortDifference(*node.toHard);
    return node;
  }

  const StateSource& source_;
  const SystemState& state_;
  const CpuState& cpu_;
  EventText text_;
  const EventStore& store_;
  Known<MonoTime> now_;
};

}  // namespace

Known<CpuView> viewOf(const StateSource& source, const SystemState& state, Cpu cpu,
                      const Recording& recording, const Buffer& buffer) {
  const auto at = std::ranges::lower_bound(state.cpus, cpu, {}, &CpuState::cpu);
  if (at == state.cpus.end() || at->cpu != cpu) return {};
  return Maker(source, state, *at, recording, buffer).make();
}

QString shortDifference(s64 ns) {
  const u64 size = ns < 0 ? u64{0} - static_cast<u64>(ns) : static_cast<u64>(ns);
  const QString sign = ns < 0 ? QString(QChar(0x2212)) : QStringLiteral("+");
  const auto scaled = [&](double by, int places, const char* unit) {
    return sign + QString::number(static_cast<double>(size) / by, 'f', places) +
           QString::fromUtf8(unit);
  };
  if (size < 1000) return scaled(1, 0, " ns");
  if (size < 999'950) return scaled(1e3, 1, " µs");
  if (size < 999'999'500) return scaled(1e6, 3, " ms");
  return scaled(1e9, 3, " s");
}

QString granuleText(u8 level, Known<u32> hz) {
  const u64 jiffies = WheelGeometry::granularity(level);
  if (!hz || *hz == 0) return tr("%1 j").arg(countText(jiffies));
  const double seconds = static_cast<double>(jiffies) / *hz;
  const auto digits = [](double value, int most) {
    const bool whole = std::abs(value - std::round(value)) < 1e-9;
    const int before = value < 9.95 ? 1 : value < 99.5 ? 2 : 3;
    return QString::number(value, 'f', whole ? 0 : std::max(0, most - before));
  };
  if (seconds < 0.9995) return tr("%1 ms").arg(digits(seconds * 1e3, 3));
  if (seconds < 99.95) return tr("%1 s").arg(digits(seconds, 3));
  if (seconds < 5997) return tr("%1 min").arg(digits(seconds / 60, 2));
  return tr("%1 h").arg(digits(seconds / 3600, 2));
}

QString bucketName(Known<u16> bucket) {
  if (!bucket) return tr("?");
  return QStringLiteral("L%1:%2").arg(*bucket / 64).arg(*bucket % 64);
}

}  // namespace tickscope
