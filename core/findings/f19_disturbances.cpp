// SPDX-License-Identifier: GPL-3.0-or-later
// Runnable tasks are followed by switches and wake-ups; interrupts are named by what they ran.
#include "core/findings/f19_disturbances.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/trace/value_names.h"

namespace tickscope {

namespace {

constexpr std::array<std::string_view, 24> kernelThreadNames{
    "kworker/",   "ksoftirqd/",   "migration/", "cpuhp/",    "ktimers/", "ktimersoftd/",
    "rcu_",       "rcuc/",        "rcuop/",     "rcuog/",    "rcuos/",   "rcub/",
    "irq/",       "idle_inject/", "watchdog/",  "kthreadd",  "kswapd",   "kcompactd",
    "khugepaged", "kauditd",      "oom_reaper", "kdevtmpfs", "jbd2/",    "irq_work/"};
/// prev_state of a task that stays runnable: preempted or TASK_RUNNING (sched.h; 0x100 is TASK_REPORT_MAX).
constexpr s64 preemptedFlag = 0x100;

/// What is runnable on one CPU besides the task that runs.
class Runnable {
 public:
  void add(Pid pid) { waiting_.insert(pid); }
  void remove(Pid pid) { waiting_.erase(pid); }
  [[nodiscard]] bool others() const { return !waiting_.empty(); }

 private:
  std::set<Pid> waiting_;
};

}  // namespace

bool isKernelThread(std::string_view comm) {
  return std::ranges::any_of(kernelThreadNames,
                             [&](std::string_view name) { return comm.starts_with(name); });
}

IsolatedCpus isolatedCpus(const Material& material) {
  IsolatedCpus made;
  for (const auto* fact : {&material.profile.noHzFull, &material.profile.isolated}) {
    if (const auto cpus = fact->judged()) {
      made.cpus.insert(made.cpus.end(), cpus->begin(), cpus->end());
    }
  }
  if (made.cpus.empty() && material.recorded.has(Need::N)) {
    for (const Stream& stream : material.events.streams()) {
      const auto rows = material.events.rowsOf(stream.cpu);
      const bool stopped = std::ranges::any_of(rows, [&](Row row) {
        return material.events.kind(row) == kindOf<TickStop> &&
               number(material.events.pid(row)) != 0 &&
               material.events.as<TickStop>(row).success != 0 &&
               !isKernelThread(material.text.comm(material.events.pid(row)));
      });
      if (stopped) made.cpus.push_back(stream.cpu);
    }
    made.learned = !made.cpus.empty();
  }
  std::ranges::sort(made.cpus);
  made.cpus.erase(std::ranges::unique(made.cpus).begin(), made.cpus.end());
  return made;
}

std::vector<AloneSpan> aloneSpans(const Material& material, Cpu cpu) {
  const EventStore& events = material.events;
  const auto rows = events.rowsOf(cpu);
  std::vector<AloneSpan> made;
  if (rows.empty()) return made;
  Runnable runnable;
  const auto isUser = [&](Pid pid, std::string_view comm) {
    return number(pid) > 0 && !isKernelThread(comm);
  };
  Pid current = events.pid(rows.front());
  bool user = isUser(current, material.text.comm(current)), alone = false;
  Row since{};
  const auto update = [&](Row row) {
    const bool now = user && !runnable.others();
    if (now && !alone) since = row;
    if (!now && alone && since < row) made.push_back({since, row});
    alone = now;
  };
  update(rows.front());
  for (u32 i = 0; i < events.size(); ++i) {
    const Row row{i};
    switch (events.kind(row)) {
      case kindOf<SchedSwitch>: {
        const auto event = events.as<SchedSwitch>(row);
        if (events.cpu(row) != cpu) {
          runnable.remove(event.next.pid);  // it went elsewhere
          break;
        }
        const bool stays = event.prevState == 0 || (event.prevState & preemptedFlag) != 0;
        if (stays && isUser(event.prev.pid, events.text(event.prev.comm))) {
          runnable.add(event.prev.pid);
        }
        runnable.remove(event.next.pid);
        current = event.next.pid;
        user = isUser(current, events.text(event.next.comm));
        update(row);
        break;
      }
      case kindOf<SchedWakeup>:
      case kindOf<SchedWakeupNew>: {
        const bool fresh = events.kind(row) == kindOf<SchedWakeupNew>;
        const auto event = fresh ? SchedWakeup{} : events.as<SchedWakeup>(row);
        const auto born = fresh ? events.as<SchedWakeupNew>(row) : SchedWakeupNew{};
        const Task task = fresh ? born.task : event.task;
        const s32 target = fresh ? born.targetCpu : event.targetCpu;
        if (target == static_cast<s32>(number(cpu)) && task.pid != current &&
            isUser(task.pid, events.text(task.comm))) {
          runnable.add(task.pid);
        } else if (target != static_cast<s32>(number(cpu))) {
          runnable.remove(task.pid);
        }
        update(row);
        break;
      }
      case kindOf<SchedMigrateTask>: {
        const auto event = events.as<SchedMigrateTask>(row);
        if (event.origCpu == static_cast<s32>(number(cpu))) runnable.remove(event.task.pid);
        update(row);
        break;
      }
      default:
        break;
    }
  }
  if (alone && since < rows.back()) made.push_back({since, rows.back()});
  return made;
}

namespace {

class Naming {
 public:
  Naming(const Material& material, Cpu cpu) : material_(material) {
    const EventStore& events = material.events;
    for (u32 i = 0; i < events.size(); ++i) {
      const Row row{i};
      if (events.kind(row) == kindOf<IpiSendCpu> && events.as<IpiSendCpu>(row).cpu == number(cpu)) {
        sent_.push_back(row);
      }
      if (events.kind(row) == kindOf<TickStop> && events.cpu(row) == cpu &&
          events.as<TickStop>(row).success == 0) {
        refused_.push_back(row);
      }
    }
  }

  Disturbance interrupt(const CpuBrackets& cpu, u32 at) const {
    const Bracket& bracket = cpu.nested[at];
    Disturbance made;
    made.entry = bracket.entry;
    made.exit = bracket.exit;
    if (bracket.kind != BracketKind::TimerInterrupt) {
      made.cause = std::string(material_.text.eventName(bracket.entry));
      if (made.cause.ends_with("_entry")) made.cause.resize(made.cause.size() - 6);
      if (material_.events.kind(bracket.entry) == kindOf<VectorEntry>) {
        made.origin = lastBefore(sent_, bracket.entry);
      }
      if (made.origin != noRow) {
        const auto sent = material_.events.as<IpiSendCpu>(made.origin);
        made.name = Token::Is::Symbol;
        made.detail = material_.text.place(sent.callsite);
      }
      return made;
    }
    made.cause = "timer interrupt";
    for (u32 i = at + 1; i < cpu.nested.size() && cpu.nested[i].entry < endOf(bracket); ++i) {
      const Bracket& callback = cpu.nested[i];
      if (callback.kind != BracketKind::HrtimerCallback || callback.outer != at) continue;
      const Address function = material_.events.as<HrtimerExpireEntry>(callback.entry).function;
      if (material_.isTick(function)) {
        made.cause = "tick";
        made.origin = lastBefore(refused_, bracket.entry);
        if (made.origin != noRow) {
          made.cause += fmt::format(
              " (tick_stop refused: {})",
              tickDependencyName(material_.events.as<TickStop>(made.origin).dependency));
        }
        continue;
      }
      made.name = Token::Is::Symbol;
      made.detail = material_.callback(function);
      if (callback.hasSpan()) {
        made.span = callback.span;
        made.origin = material_.span(callback.span).armed;
      }
      break;
    }
    return made;
  }

  /// K5: the ring buffer wakes its readers by irq_work.
  [[nodiscard]] bool isTracing(const Disturbance& disturbance) const {
    if (disturbance.origin == noRow ||
        material_.events.kind(disturbance.origin) != kindOf<IpiSendCpu>) {
      return false;
    }
    const auto sent = material_.events.as<IpiSendCpu>(disturbance.origin);
    return material_.text.place(sent.callback).starts_with("rb_wake_up_waiters");
  }

  static Row endOf(const Bracket& bracket) { return bracket.exit; }

 private:
  static Row lastBefore(const std::vector<Row>& rows, Row row) {
    const auto after = std::ranges::lower_bound(rows, row);
    return after == rows.begin() ? noRow : *(after - 1);
  }

  const Material& material_;
  std::vector<Row> sent_, refused_;
};

}  // namespace

std::vector<Disturbance> disturbancesOf(const Material& material, Cpu cpu,
                                        const std::vector<AloneSpan>& alone, u64& tracing) {
  std::vector<Disturbance> made;
  const CpuBrackets* const brackets = material.bracketsOf(cpu);
  if (!brackets) return made;
  const Naming naming(material, cpu);
  const auto isAlone = [&](Row row) {
    const auto after = std::ranges::upper_bound(alone, row, {}, &AloneSpan::from);
    return after != alone.begin() && row < (after - 1)->to;
  };
  for (u32 at = 0; at < brackets->nested.size(); ++at) {
    const Bracket& bracket = brackets->nested[at];
    if (bracket.entry == noRow || bracket.outer != Bracket::none || !isAlone(bracket.entry)) {
      continue;
    }
    Disturbance one;
    if (bracket.kind == BracketKind::Softirq) {
      one.entry = bracket.entry;
      one.exit = bracket.exit;
      one.origin = bracket.raised;
      one.cause = fmt::format("softirq {}", softirqName(bracket.vector));
    } else if (bracket.kind == BracketKind::Interrupt ||
               bracket.kind == BracketKind::TimerInterrupt) {
      one = naming.interrupt(*brackets, at);
      if (naming.isTracing(one)) {
        ++tracing;
        continue;
      }
    } else {
      continue;
    }
    if (one.exit != noRow) one.ns = material.nsBetween(one.entry, one.exit).value_or(0);
    made.push_back(std::move(one));
  }
  for (const Bracket& task : brackets->tasks) {
    const auto event = material.events.as<SchedSwitch>(task.entry);
    const std::string_view comm = material.events.text(event.next.comm);
    const Row before = material.previous(task.entry);
    if (!isKernelThread(comm) || before == noRow || !isAlone(before)) continue;
    Disturbance one;
    one.entry = task.entry;
    one.exit = task.exit;
    one.cause = "kernel thread";
    one.name = Token::Is::Task;
    one.detail = comm;
    if (one.exit != noRow) one.ns = material.nsBetween(one.entry, one.exit).value_or(0);
    made.push_back(std::move(one));
  }
  std::ranges::stable_sort(made, {}, &Disturbance::entry);
  return made;
}

}  // namespace tickscope
