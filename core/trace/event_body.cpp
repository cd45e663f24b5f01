// SPDX-License-Identifier: GPL-3.0-or-later
// Bodies of typed events, a function a kind (events.md 1).
#include "core/trace/event_body.h"

#include "core/trace/body_writer.h"
#include "core/trace/event_text.h"
#include "core/trace/value_names.h"

namespace tickscope {
namespace {

using Writer = BodyWriter;

constexpr std::string_view truth(bool value) { return value ? "true" : "false"; }

// --- wheel timers ---

template <class P>
  requires std::is_same_v<P, TimerInit> || std::is_same_v<P, TimerCancel> ||
           std::is_same_v<P, TimerExpireExit>
void print(Writer& w, const P& p) {
  w.pointer(0, "timer=", p.timer);
}

void print(Writer& w, const TimerStart& p) {
  w.pointer(0, "timer=", p.timer);
  w.function(1, "function=", p.function);
  w.part(2, "expires={}", static_cast<u64>(p.expires.value));
  if (w.recorded(2) && w.recorded(4)) {
    // The kernel subtracts in its own word, so a 32-bit kernel's wrap is no large timeout.
    const u64 timeout = static_cast<u64>(p.expires.value) - static_cast<u64>(p.now.value);
    w.part(4, "[timeout={}]",
           w.addresses().wordSize() == 4 ? static_cast<s32>(timeout) : static_cast<s64>(timeout));
  }
  w.part(3, "bucket_expiry={}", static_cast<u64>(p.bucketExpiry.value));
  w.part(5, "cpu={} idx={} flags={}", p.flags & 0x3ffffU, p.flags >> 22U, wheelFlagNames(p.flags));
}

void print(Writer& w, const TimerExpireEntry& p) {
  w.pointer(0, "timer=", p.timer);
  w.function(2, "function=", p.function);
  w.part(1, "now={}", static_cast<u64>(p.now.value));
  w.part(3, "baseclk={}", static_cast<u64>(p.baseclk.value));
}

void print(Writer& w, const TimerBaseIdle& p) {
  w.part(0, "is_idle={:d}", p.isIdle);
  w.part(1, "cpu={}", p.cpu);
}

// --- timer migration ---

template <class P>
  requires std::is_same_v<P, TmigrCpuIdle> || std::is_same_v<P, TmigrCpuNewTimerIdle>
void print(Writer& w, const P& p) {
  w.part(3, "cpu={}", static_cast<s32>(p.cpu));
  w.pointer(2, "parent=", p.parent);
  w.part(0, "nextevt={}", p.nextevt);
  w.part(1, "wakeup={}", p.wakeup);
}

template <class P>
  requires std::is_same_v<P, TmigrCpuActive> || std::is_same_v<P, TmigrCpuNewTimer> ||
           std::is_same_v<P, TmigrHandleRemoteCpu> || std::is_same_v<P, TmigrCpuOnline> ||
           std::is_same_v<P, TmigrCpuOffline>
void print(Writer& w, const P& p) {
  w.part(2, "cpu={}", static_cast<s32>(p.cpu));
  w.pointer(1, "parent=", p.parent);
  w.part(0, "wakeup={}", p.wakeup);
}

void print(Writer& w, const TmigrHandleRemote& p) {
  w.pointer(0, "group=", p.group);
  w.part(1, "lvl={}", static_cast<s32>(p.lvl));
}

void print(Writer& w, const TmigrUpdateEvents& p) {
  w.pointer(0, "child=", p.child);
  w.pointer(1, "group=", p.group);
  w.part(5, "group_lvl={}", static_cast<s32>(p.groupLvl));
  w.part(7, "child_active={:x}", p.childActive);
  w.part(8, "group_active={:x}", p.groupActive);
  w.part(2, "nextevt={}", p.nextevt);
  w.part(3, "next_expiry={}", p.groupNextExpiry);
  w.part(4, "child_evt_expiry={}", p.childEvtExpiry);
  w.part(6, "child_evtcpu={}", static_cast<s32>(p.childEvtcpu));
}

/// The mask changed its name within 6.x.
std::string_view maskName(const Writer& w, std::size_t place) {
  const auto& raw = w.buffer().raw;
  const std::string_view name =
      raw ? raw->fieldName(w.buffer().events.typeIndex(w.row()), place) : "";
  return name.empty() ? "groupmask" : name;
}

template <class P>
  requires std::is_same_v<P, TmigrGroupSetCpuActive> || std::is_same_v<P, TmigrGroupSetCpuInactive>
void print(Writer& w, const P& p) {
  w.pointer(0, "group=", p.group);
  w.part(2, "lvl={}", static_cast<s32>(p.lvl));
  w.part(3, "numa={}", static_cast<s32>(p.numaNode));
  w.part(5, "active={:x}", p.active);
  w.part(6, "migrator={:x}", p.migrator);
  w.pointer(1, "parent=", p.parent);
  w.part(4, "{}={:x}", maskName(w, 4), p.groupmask);
}

void print(Writer& w, const TmigrGroupSet& p) {
  w.pointer(0, "group=", p.group);
  w.part(1, "lvl={}", static_cast<s32>(p.lvl));
  w.part(2, "numa={}", static_cast<s32>(p.numaNode));
}

void print(Writer& w, const TmigrConnectChildParent& p) {
  w.pointer(0, "group=", p.child);
  w.part(5, "{}={:x}", maskName(w, 5), p.groupmask);
  w.pointer(1, "parent=", p.parent);
  w.part(2, "lvl={}", static_cast<s32>(p.lvl));
  w.part(3, "numa={}", static_cast<s32>(p.numaNode));
  w.part(4, "num_children={}", static_cast<s32>(p.numChildren));
}

void print(Writer& w, const TmigrConnectCpuParent& p) {
  w.part(1, "cpu={}", static_cast<s32>(p.cpu));
  w.part(5, "{}={:x}", maskName(w, 5), p.groupmask);
  w.pointer(0, "parent=", p.parent);
  w.part(2, "lvl={}", static_cast<s32>(p.lvl));
  w.part(3, "numa={}", static_cast<s32>(p.numaNode));
  w.part(4, "num_children={}", static_cast<s32>(p.numChildren));
}

// --- hrtimers ---

template <class P>
  requires std::is_same_v<P, HrtimerInit> || std::is_same_v<P, HrtimerSetup>
void print(Writer& w, const P& p) {
  w.pointer(0, "hrtimer=", p.hrtimer);
  w.part(1, "clockid={}", clockName(p.clockid));
  w.part(2, "mode={}", hrtimerModeName(p.mode));
}

void print(Writer& w, const HrtimerStart& p) {
  w.pointer(0, "hrtimer=", p.hrtimer);
  w.function(1, "function=", p.function);
  w.part(2, "expires={}", static_cast<u64>(p.expires.value));
  w.part(3, "softexpires={}", static_cast<u64>(p.softexpires.value));
  w.part(4, "mode={}", hrtimerModeName(p.mode));
  w.part(5, "was_armed={:d}", p.wasArmed);
}

template <class P>
  requires std::is_same_v<P, HrtimerCancel> || std::is_same_v<P, HrtimerExpireExit> ||
           std::is_same_v<P, HrtimerStartExpired>
void print(Writer& w, const P& p) {
  w.pointer(0, "hrtimer=", p.hrtimer);
}

void print(Writer& w, const HrtimerExpireEntry& p) {
  w.pointer(0, "hrtimer=", p.hrtimer);
  w.function(2, "function=", p.function);
  w.part(1, "now={}", static_cast<u64>(p.now.value));
}

void print(Writer& w, const HrtimerRearm& p) {
  w.part(0, "next_event={}", p.nextEvent);
  w.part(1, "deferred={:d}", p.deferred);
}

// --- interval and alarm timers ---

/// The recording's own name of the part below a second tells its unit; prints us.
s64 microseconds(const Writer& w, std::size_t place, s64 value) {
  const auto& raw = w.buffer().raw;
  const bool inMicroseconds =
      raw && raw->fieldName(w.buffer().events.typeIndex(w.row()), place).ends_with("_usec");
  return inMicroseconds ? value : value / 1000;
}

void print(Writer& w, const ItimerState& p) {
  w.part(0, "which={}", p.which);
  w.part(1, "expires={}", p.expires);
  if (w.recorded(3)) w.part(2, "it_value={}.{:06}", p.valueSec, microseconds(w, 3, p.valueNsec));
  if (w.recorded(5))
    w.part(4, "it_interval={}.{:06}", p.intervalSec, microseconds(w, 5, p.intervalNsec));
}

void print(Writer& w, const ItimerExpire& p) {
  w.part(0, "which={}", p.which);
  w.part(1, "pid={}", number(p.pid));
  w.part(2, "now={}", p.now);
}

template <class P>
  requires std::is_same_v<P, AlarmtimerStart> || std::is_same_v<P, AlarmtimerCancel> ||
           std::is_same_v<P, AlarmtimerFired>
void print(Writer& w, const P& p) {
  w.pointer(0, "alarmtimer:", p.alarm);
  w.part(1, "type:{}", alarmTypeName(p.alarmType));
  w.part(2, "expires:{}", static_cast<u64>(p.expires));
  w.part(3, "now:{}", static_cast<u64>(p.now));
}

void print(Writer& w, const AlarmtimerSuspend& p) {
  w.part(1, "alarmtimer type:{}", alarmTypeName(p.alarmType));
  w.part(0, "expires:{}", static_cast<u64>(p.expires));
}

// --- softirqs, interrupts ---

template <class P>
  requires std::is_same_v<P, SoftirqRaise> || std::is_same_v<P, SoftirqEntry> ||
           std::is_same_v<P, SoftirqExit>
void print(Writer& w, const P& p) {
  w.part(0, "vec={} [action={}]", p.vec, softirqName(p.vec));
}

void print(Writer& w, const IrqHandlerEntry& p) {
  w.part(0, "irq={}", p.irq);
  w.text(1, "name=", p.name);
}

void print(Writer& w, const IrqHandlerExit& p) {
  w.part(0, "irq={}", p.irq);
  w.part(1, "ret={}", p.ret ? "handled" : "unhandled");
}

template <class P>
  requires std::is_same_v<P, LocalTimerEntry> || std::is_same_v<P, LocalTimerExit> ||
           std::is_same_v<P, VectorEntry> || std::is_same_v<P, VectorExit>
void print(Writer& w, const P& p) {
  w.part(0, "vector={}", p.vector);
}

// --- interrupts between CPUs ---

void print(Writer& w, const IpiRaise& p) {
  w.text(0, "target_mask=", p.targetCpus);
  w.kernelString(1, "(", p.reason, ")");
}

template <class P>
  requires std::is_same_v<P, IpiEntry> || std::is_same_v<P, IpiExit>
void print(Writer& w, const P& p) {
  w.kernelString(0, "(", p.reason, ")");
}

void print(Writer& w, const IpiSendCpu& p) {
  w.part(0, "cpu={}", p.cpu);
  w.symbolOffset(1, "callsite=", p.callsite);
  w.symbolOffset(2, "callback=", p.callback);
}

void print(Writer& w, const IpiSendCpumask& p) {
  w.text(0, "cpumask=", p.cpumask);
  w.symbolOffset(1, "callsite=", p.callsite);
  w.symbolOffset(2, "callback=", p.callback);
}

void print(Writer& w, const CsdQueueCpu& p) {
  w.part(0, "cpu={}", p.cpu);
  w.symbolOffset(1, "callsite=", p.callsite);
  w.function(2, "func=", p.func);
  w.pointer(3, "csd=", p.csd);
}

template <class P>
  requires std::is_same_v<P, CsdFunctionEntry> || std::is_same_v<P, CsdFunctionExit>
void print(Writer& w, const P& p) {
  w.function(0, "func=", p.func);
  if (w.recorded(0) && w.recorded(1)) w.out() += ',';
  w.pointer(1, "csd=", p.csd);
}

// --- scheduler ---

template <class P>
  requires std::is_same_v<P, SchedWaking> || std::is_same_v<P, SchedWakeup> ||
           std::is_same_v<P, SchedWakeupNew>
void print(Writer& w, const P& p) {
  w.task(0, "", p.task);
  w.part(4, "success={}", p.success);
  w.part(3, "target_cpu={:03}", p.targetCpu);
}

void print(Writer& w, const SchedMigrateTask& p) {
  w.task(0, "", p.task);
  w.part(3, "orig_cpu={}", p.origCpu);
  w.part(4, "dest_cpu={}", p.destCpu);
}

void print(Writer& w, const SchedSwitch& p) {
  w.task(0, "prev_", p.prev);
  w.part(3, "prev_state={}", taskStateName(p.prevState));
  if (w.recorded(4) || w.recorded(5)) w.out() += " ==>";
  w.task(4, "next_", p.next);
}

void print(Writer& w, const SchedProcessFork& p) {
  w.text(0, "comm=", p.parentComm);
  w.part(1, "pid={}", number(p.parentPid));
  w.text(2, "child_comm=", p.childComm);
  w.part(3, "child_pid={}", number(p.childPid));
}

void print(Writer& w, const SchedProcessExec& p) {
  w.text(0, "filename=", p.filename);
  w.part(1, "pid={}", number(p.pid));
  w.part(2, "old_pid={}", number(p.oldPid));
}

void print(Writer& w, const SchedProcessExit& p) {
  w.task(0, "", p.task);
  w.part(3, "group_dead={}", truth(p.groupDead));
}

template <class P>
  requires std::is_same_v<P, SchedProcessFree> || std::is_same_v<P, SchedProcessWait>
void print(Writer& w, const P& p) {
  w.task(0, "", p.task);
}

void print(Writer& w, const SchedStatRuntime& p) {
  w.text(0, "comm=", p.comm);
  w.part(1, "pid={}", number(p.pid));
  w.part(2, "runtime={} [ns]", p.runtime);
  w.part(3, "vruntime={} [ns]", p.vruntime);
}

void print(Writer& w, const SchedWakeIdleWithoutIpi& p) { w.part(0, "cpu={}", p.cpu); }

// --- tick, idle, power ---

void print(Writer& w, const TickStop& p) {
  w.part(0, "success={}", p.success);
  w.part(1, "dependency={}", tickDependencyName(p.dependency));
}

template <class P>
  requires std::is_same_v<P, CpuIdle> || std::is_same_v<P, CpuFrequency>
void print(Writer& w, const P& p) {
  w.part(0, "state={}", p.state);
  w.part(1, "cpu_id={}", p.cpuId);
}

void print(Writer& w, const CpuIdleMiss& p) {
  w.part(0, "cpu_id={}", p.cpuId);
  w.part(1, "state={}", p.state);
  w.part(2, "type={}", p.below ? "below" : "above");
}

void print(Writer& w, const SuspendResume& p) {
  w.kernelString(0, "", p.action, "");
  if (w.recorded(1)) fmt::format_to(std::back_inserter(w.out()), "[{}]", static_cast<u32>(p.val));
  w.part(2, "{}", p.start ? "begin" : "end");
}

// --- hotplug, workqueues ---

template <class P>
  requires std::is_same_v<P, CpuhpEnter> || std::is_same_v<P, CpuhpMultiEnter>
void print(Writer& w, const P& p) {
  w.part(0, "cpu: {:04}", p.cpu);
  w.part(1, "target: {:3}", p.target);
  w.part(2, "step: {:3}", p.idx);
  w.function(3, "(", p.fun);
  if (w.recorded(3)) w.out() += ')';
}

void print(Writer& w, const CpuhpExit& p) {
  w.part(0, " cpu: {:04}", p.cpu);
  w.part(1, " state: {:3}", p.state);
  w.part(2, "step: {:3}", p.idx);
  w.part(3, "ret: {}", p.ret);
}

void print(Writer& w, const WorkqueueQueueWork& p) {
  w.pointer(0, "work struct=", p.work);
  w.function(1, "function=", p.function);
  w.text(2, "workqueue=", p.workqueue);
  w.part(3, "req_cpu={}", p.reqCpu);
  w.part(4, "cpu={}", p.cpu);
}

void print(Writer& w, const WorkqueueActivateWork& p) {
  w.pointer(0, "work struct ", p.work);
  w.function(1, "function=", p.function);
  if (w.recorded(1)) w.out() += ' ';  // as the kernel prints it
}

template <class P>
  requires std::is_same_v<P, WorkqueueExecuteStart> || std::is_same_v<P, WorkqueueExecuteEnd>
void print(Writer& w, const P& p) {
  w.pointer(0, "work struct ", p.work);
  if (w.recorded(0) && w.recorded(1)) w.out() += ':';
  w.function(1, "function ", p.function);
}

// --- traced functions, markers ---

template <class P>
  requires std::is_same_v<P, Function> || std::is_same_v<P, ProgramEvent> ||
           std::is_same_v<P, FuncRepeats>
void printCall(Writer& w, const P& p) {
  if (w.recorded(0)) w.addresses().place(w.out(), number(p.ip));
  if (!w.recorded(1)) return;
  w.out() += " <-";
  w.addresses().place(w.out(), number(p.parentIp));
}

void print(Writer& w, const Function& p) { printCall(w, p); }
void print(Writer& w, const ProgramEvent& p) { printCall(w, p); }

void print(Writer& w, const FuncRepeats& p) {
  printCall(w, p);
  fmt::format_to(std::back_inserter(w.out()), " (repeats: {}", p.count);
  if (w.recorded(3) && w.recorded(4)) {
    const u64 delta = (static_cast<u64>(p.topDeltaTs) << 32U) | p.bottomDeltaTs;
    const TraceTime last = w.buffer().events.time(w.row()) + TraceDelta{-static_cast<s64>(delta)};
    fmt::format_to(std::back_inserter(w.out()), ", last_ts:{}",
                   timeText(last, w.buffer().clock.unit));
  }
  w.out() += ')';
}

/// Two spaces a level; a depth that no stack has comes from damage.
std::string indent(s32 depth) {
  return std::string(2 * static_cast<std::size_t>(std::clamp(depth, 0, 64)), ' ');
}

void print(Writer& w, const FuncgraphEntry& p) {
  w.out() += indent(p.depth);
  w.addresses().place(w.out(), number(p.func));
  w.out() += "() {";
}

void print(Writer& w, const FuncgraphExit& p) {
  if (w.recorded(4) && w.recorded(5)) {
    const u64 duration = p.rettime - p.calltime;
    if (w.buffer().clock.unit == ClockUnit::Nanoseconds) {
      fmt::format_to(std::back_inserter(w.out()), "{}.{:03} us | ", duration / 1000,
                     duration % 1000);
    } else {
      fmt::format_to(std::back_inserter(w.out()), "{} | ", duration);
    }
  }
  w.out() += indent(p.depth);
  w.out() += "} /* ";
  w.addresses().place(w.out(), number(p.func));
  if (w.recorded(1)) fmt::format_to(std::back_inserter(w.out()), " ret={:#x}", p.retval);
  w.out() += " */";
}

std::string_view withoutLastNewline(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

void print(Writer& w, const Print& p) {
  if (w.recorded(1))
    appendShown(w.out(), withoutLastNewline(w.buffer().events.text(p.buf)), Breaks::Keep);
}

void print(Writer& w, const Bputs& p) {
  const auto& formats = w.recording().metadata.printkFormats;
  const auto found = formats.find(number(p.str));
  if (found == formats.end()) {
    fmt::format_to(std::back_inserter(w.out()), "{:#x}", number(p.str));
  } else {
    appendShown(w.out(), withoutLastNewline(found->second), Breaks::Keep);
  }
}

template <class P>
  requires std::is_same_v<P, ProgramEventProbe> || std::is_same_v<P, ProgramEventReturn> ||
           std::is_same_v<P, Raw>
void print(Writer& w, const P& p) {
  const auto& raw = w.buffer().raw;
  w.out() += raw ? raw->body(w.buffer().events.typeIndex(w.row()), p.raw)
                 : std::string("[the record's bytes are not kept]");
}

}  // namespace

void appendTypedBody(std::string& out, const Recording& recording, const Buffer& buffer, Row row) {
  BodyWriter writer(out, recording, buffer, row);
  buffer.events.visit(row, [&](const auto& payload) { print(writer, payload); });
}

}  // namespace tickscope
