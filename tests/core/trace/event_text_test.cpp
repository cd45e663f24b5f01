// SPDX-License-Identifier: GPL-3.0-or-later
// One row of each kind against the line that the kernel prints for it, for each generation of its
// fields.
#include "core/trace/event_text.h"

#include <gtest/gtest.h>

#include "core/trace/store_builder.h"

namespace tickscope {
namespace {

constexpr u64 timerAddress = 0xffff888000311480, functionAddress = 0xffffffff81000010,
              codeAddress = 0xffffffff81002000;
constexpr Address timer{timerAddress}, function{functionAddress}, code{codeAddress},
    moduleCode{0xffffffffc0001004};

std::shared_ptr<const Symbols> someSymbols() {
  return std::make_shared<const Symbols>(
      "ffffffff81000010 t tick_sched_timer\n"
      "ffffffff81001000 T hrtimer_interrupt\n"
      "ffffffff81002000 t tick_program_event\n"
      "ffffffff81002070 T tracing_mark_write\n"
      "ffffffff81003000 T retrigger_next_event\n"
      "ffffffff81004000 T timers_dead_cpu\n"
      "ffffffffc0001000 t lab_wheel_fn\t[tsdrv]\n"
      "ffffffffc0001100 t lab_end\t[tsdrv]\n");
}

constexpr u32 allFields = ~u32{0};

/// A recording of one event.
class OneEvent {
 public:
  template <class P>
  explicit OneEvent(std::string name, P payload, u32 has = allFields) : OneEvent() {
    add(std::move(name), payload, has);
  }
  OneEvent() : pools_(std::make_shared<Pools>()) {
    recording_.metadata.symbols = someSymbols();
    recording_.metadata.tasks.add(Pid{72}, "sh");
    recording_.buffers.resize(1);
    recording_.buffers[0].clock = {"mono", "", ClockUnit::Nanoseconds};
  }
  template <class P>
  void add(std::string name, const P& payload, u32 has = allFields) {
    constexpr u32 fields = P::Fields::names >= 32 ? allFields : (1U << P::Fields::names) - 1U;
    StoreParts parts;
    parts.types.push_back({kindOf<P>, 300, "timer", std::move(name), has & fields,
                           storedLayout(kindOf<P>, has & fields)});
    parts.arenas.push_back(std::make_shared<EventArena>());
    parts.streams.push_back({Cpu{1}, false, {}});
    StreamPiece piece(*parts.arenas.back(), *pools_, parts.types);
    EXPECT_TRUE(piece.append(time_, pid_, context_, 0, payload));
    piece.close();
    parts.streams.back().pieces.push_back(std::move(piece));
    Progress progress;
    auto store = assemble(std::move(parts), pools_, progress);
    ASSERT_TRUE(store) << describe(store.error());
    recording_.buffers[0].events = std::move(*store);
  }
  StringId string(std::string_view text) { return StringId{pools_->strings.intern(text)}; }

  OneEvent& wordSize(u8 bytes) { return recording_.metadata.wordSize = bytes, *this; }
  OneEvent& clock(ClockUnit unit) { return recording_.buffers[0].clock.unit = unit, *this; }
  Recording& recording() { return recording_; }
  [[nodiscard]] EventText text() const { return {recording_, recording_.buffers[0]}; }
  [[nodiscard]] std::string body() const { return text().body(Row{0}); }

  TraceTime time_{6'403'416'103};
  Pid pid_{72};
  Context context_{0x09, 0x01};

 private:
  std::shared_ptr<Pools> pools_;
  Recording recording_;
};

template <class P>
std::string bodyOf(const P& payload, u32 has = allFields) {
  return OneEvent("event", payload, has).body();
}

// --- lines ---

TEST(EventText, PrintsTheKernelsColumns) {
  EXPECT_EQ(
      OneEvent("timer_init", TimerInit{timer}).text().line(Row{0}),
      "              sh-72      [001] d.h1.     6.403416103: timer_init: timer=ffff888000311480");
}

TEST(EventText, NamesIdleAndUnknownTasks) {
  OneEvent idle;
  idle.pid_ = Pid{0};
  idle.add("timer_init", TimerInit{timer});
  EXPECT_EQ(idle.text().line(Row{0}).substr(0, 31), "          <idle>-0       [001] ");
  OneEvent unknown;
  unknown.pid_ = Pid{4711};
  unknown.add("timer_init", TimerInit{timer});
  EXPECT_EQ(unknown.text().line(Row{0}).substr(0, 31), "           <...>-4711    [001] ");
}

TEST(EventText, EscapesWhatMisleadsInNames) {
  OneEvent event("timer_init", TimerInit{timer});
  event.recording().metadata.tasks.add(Pid{9}, "a\x1b[2J\nb\xff");
  EXPECT_EQ(event.text().comm(Pid{9}), "a\\x1b[2J\\nb\\xff");
}

TEST(EventText, CountsOfOtherClocksAreBareNumbers) {
  OneEvent event("timer_init", TimerInit{timer});
  event.clock(ClockUnit::Events);
  EXPECT_EQ(event.text().line(Row{0}).substr(0, 55),
            "              sh-72      [001] d.h1.   6403416103: time");
  EXPECT_EQ(timeText({5}, ClockUnit::Cycles), "5");
  EXPECT_EQ(timeText({5}, ClockUnit::Unknown), "5") << "nobody said that it counts seconds";
  EXPECT_EQ(timeText({5}, ClockUnit::Nanoseconds), "0.000000005");
}

TEST(EventText, TimesAboveTheSignedRangeStayPositive) {
  EXPECT_EQ(timeText({-1}, ClockUnit::Nanoseconds), "18446744073.709551615");
}

TEST(EventText, FunctionRowsHaveNoName) {
  EXPECT_EQ(
      OneEvent("function", Function{code, Address{0xffffffff81001234}}).text().nameAndBody(Row{0}),
      "tick_program_event <-hrtimer_interrupt");
  EXPECT_EQ(OneEvent("function", ProgramEvent{Address{0xffffffff81002004}, Address{0}})
                .text()
                .nameAndBody(Row{0}),
            "tick_program_event <-0");
}

TEST(EventText, RepeatedFunctionsTellHowOftenAndWhenLast) {
  const FuncRepeats repeats{code, Address{0xffffffff81001234}, 3, 0, 416'103};
  EXPECT_EQ(OneEvent("func_repeats", repeats).text().nameAndBody(Row{0}),
            "tick_program_event <-hrtimer_interrupt (repeats: 3, last_ts:6.403000000)");
}

TEST(EventText, MarkersAreNamedByTheirPlace) {
  OneEvent event;
  event.add("print", Print{Address{0xffffffff81002080}, event.string("marker 0: phase\n")});
  EXPECT_EQ(event.text().nameAndBody(Row{0}), "tracing_mark_write: marker 0: phase");
}

TEST(EventText, MarkersFarFromAnySymbolShowTheAddress) {
  OneEvent event;
  event.add("print", Print{Address{0xffffffff81014001}, event.string("two\nlines\x07\n")});
  EXPECT_EQ(event.text().nameAndBody(Row{0}), "0xffffffff81014001: two\nlines\\x07");
}

TEST(EventText, PutsPrintsTheKernelsString) {
  OneEvent event("bputs", Bputs{moduleCode, Address{0x1234}});
  event.recording().metadata.printkFormats[0x1234] = "deferrable timer ran\n";
  EXPECT_EQ(event.text().nameAndBody(Row{0}), "lab_wheel_fn: deferrable timer ran");
  EXPECT_EQ(OneEvent("bputs", Bputs{moduleCode, Address{0x9999}}).body(), "0x9999");
}

TEST(EventText, GraphRowsAreOneALine) {
  EXPECT_EQ(bodyOf(FuncgraphEntry{code, 2}), "    tick_program_event() {");
  const FuncgraphExit exit{code, 0, 1, 0, 1'000, 3'105};
  EXPECT_EQ(bodyOf(exit, 0b111101), "2.105 us |   } /* tick_program_event */");
  EXPECT_EQ(bodyOf(FuncgraphExit{code, 0, -1'000'000, 0, 0, 0}, 0b000101),
            "} /* tick_program_event */");
}

TEST(EventText, RecordsAsBytesSayWhenNobodyKeptThem) {
  EXPECT_EQ(OneEvent("sys_enter", Raw{}).text().nameAndBody(Row{0}),
            "sys_enter: [the record's bytes are not kept]");
}

// --- bodies by generation ---

TEST(EventText, TimerStartGrowsWithKernels) {
  const TimerStart start{timer,           function,        {4'294'917'909},
                         {4'294'917'910}, {4'294'917'908}, 22U << 22U | 0x280000U};
  const std::string base =
      "timer=ffff888000311480 function=tick_sched_timer expires=4294917909 [timeout=1]";
  EXPECT_EQ(bodyOf(start, 0b010111), base);
  EXPECT_EQ(bodyOf(start, 0b110111), base + " cpu=0 idx=22 flags=D|I");
  EXPECT_EQ(bodyOf(start), base + " bucket_expiry=4294917910 cpu=0 idx=22 flags=D|I");
}

TEST(EventText, TimeoutIsSignedInTheKernelsWord) {
  const TimerStart start{timer, function, {0x00000005}, {}, {0xfffffff0}, 0};
  EXPECT_EQ(OneEvent("timer_start", start, 0b110111).wordSize(4).body(),
            "timer=00311480 function=tick_sched_timer expires=5 [timeout=21] cpu=0 idx=0 flags=");
  EXPECT_EQ(bodyOf(start, 0b010111),
            "timer=ffff888000311480 function=tick_sched_timer expires=5 [timeout=-4294967275]");
}

TEST(EventText, TimerExpireEntryHasBaseclkSince52) {
  const TimerExpireEntry entry{timer, {77}, function, {76}};
  EXPECT_EQ(bodyOf(entry, 0b0111), "timer=ffff888000311480 function=tick_sched_timer now=77");
  EXPECT_EQ(bodyOf(entry), "timer=ffff888000311480 function=tick_sched_timer now=77 baseclk=76");
}

TEST(EventText, SmallWheelEvents) {
  EXPECT_EQ(bodyOf(TimerCancel{timer}), "timer=ffff888000311480");
  EXPECT_EQ(bodyOf(TimerExpireExit{timer}), "timer=ffff888000311480");
  EXPECT_EQ(bodyOf(TimerBaseIdle{true, 3}), "is_idle=1 cpu=3");
}

TEST(EventText, HrtimerStartGrowsWithKernels) {
  const HrtimerStart start{timer, function, {102'428'000'000}, {102'428'000'001}, 0xa, true};
  const std::string base =
      "hrtimer=ffff888000311480 function=tick_sched_timer expires=102428000000 "
      "softexpires=102428000001";
  EXPECT_EQ(bodyOf(start, 0b001111), base);
  EXPECT_EQ(bodyOf(start, 0b011111), base + " mode=ABS|PINNED|HARD");
  EXPECT_EQ(bodyOf(start), base + " mode=ABS|PINNED|HARD was_armed=1");
}

TEST(EventText, HrtimerExpiryBeforeTheEpochIsALargeNumber) {
  const HrtimerStart start{timer, function, {-1}, {0}, 1, false};
  EXPECT_EQ(bodyOf(start, 0b001111),
            "hrtimer=ffff888000311480 function=tick_sched_timer expires=18446744073709551615 "
            "softexpires=0");
}

TEST(EventText, OtherHrtimerEvents) {
  EXPECT_EQ(bodyOf(HrtimerInit{timer, 1, 9}),
            "hrtimer=ffff888000311480 clockid=CLOCK_MONOTONIC mode=REL|HARD");
  EXPECT_EQ(bodyOf(HrtimerSetup{timer, 11, 0}),
            "hrtimer=ffff888000311480 clockid=CLOCK_TAI mode=ABS");
  EXPECT_EQ(bodyOf(HrtimerInit{timer, 5, 0x20}), "hrtimer=ffff888000311480 clockid=0x5 mode=0x20");
  EXPECT_EQ(bodyOf(HrtimerCancel{timer}), "hrtimer=ffff888000311480");
  EXPECT_EQ(bodyOf(HrtimerExpireExit{timer}), "hrtimer=ffff888000311480");
  EXPECT_EQ(bodyOf(HrtimerStartExpired{timer}), "hrtimer=ffff888000311480");
  EXPECT_EQ(bodyOf(HrtimerExpireEntry{timer, {5}, moduleCode}),
            "hrtimer=ffff888000311480 function=lab_wheel_fn [tsdrv] now=5");
  EXPECT_EQ(bodyOf(HrtimerRearm{102'428'000'000, true}), "next_event=102428000000 deferred=1");
}

TEST(EventText, IntervalTimers) {
  EXPECT_EQ(bodyOf(ItimerState{0, 0, 1, 5'000, 0, 250'000'000}),
            "which=0 expires=0 it_value=1.000005 it_interval=0.250000");
  EXPECT_EQ(bodyOf(ItimerExpire{0, Pid{218}, 0}), "which=0 pid=218 now=0");
}

TEST(EventText, AlarmTimersUseColons) {
  EXPECT_EQ(bodyOf(AlarmtimerStart{timer, 0, 7, 5}),
            "alarmtimer:ffff888000311480 type:REALTIME expires:7 now:5");
  EXPECT_EQ(bodyOf(AlarmtimerCancel{timer, 1, 7, 5}),
            "alarmtimer:ffff888000311480 type:BOOTTIME expires:7 now:5");
  EXPECT_EQ(bodyOf(AlarmtimerFired{timer, 3, 7, 5}),
            "alarmtimer:ffff888000311480 type:REALTIME Freezer expires:7 now:5");
  EXPECT_EQ(bodyOf(AlarmtimerSuspend{7, 1}), "alarmtimer type:BOOTTIME expires:7");
}

TEST(EventText, TimerMigration) {
  constexpr u64 none = 0x7fffffffffffffff;
  EXPECT_EQ(bodyOf(TmigrCpuIdle{none, 5, timer, 2}),
            "cpu=2 parent=ffff888000311480 nextevt=9223372036854775807 wakeup=5");
  EXPECT_EQ(bodyOf(TmigrCpuNewTimerIdle{1, 2, timer, 3}),
            "cpu=3 parent=ffff888000311480 nextevt=1 wakeup=2");
  EXPECT_EQ(bodyOf(TmigrCpuActive{5, timer, 2}), "cpu=2 parent=ffff888000311480 wakeup=5");
  EXPECT_EQ(bodyOf(TmigrCpuNewTimer{5, timer, 2}), "cpu=2 parent=ffff888000311480 wakeup=5");
  EXPECT_EQ(bodyOf(TmigrHandleRemoteCpu{5, timer, 2}), "cpu=2 parent=ffff888000311480 wakeup=5");
  EXPECT_EQ(bodyOf(TmigrCpuOnline{5, timer, 2}), "cpu=2 parent=ffff888000311480 wakeup=5");
  EXPECT_EQ(bodyOf(TmigrCpuOffline{5, timer, 2}), "cpu=2 parent=ffff888000311480 wakeup=5");
  EXPECT_EQ(bodyOf(TmigrHandleRemote{timer, 1}), "group=ffff888000311480 lvl=1");
  EXPECT_EQ(bodyOf(TmigrGroupSet{timer, 1, 0xffffffff}), "group=ffff888000311480 lvl=1 numa=-1");
  EXPECT_EQ(bodyOf(TmigrUpdateEvents{timer, Address{0}, 1, 2, 3, 4, 5, 0x1f, 6}),
            "child=ffff888000311480 group=0000000000000000 group_lvl=4 child_active=1f "
            "group_active=6 nextevt=1 "
            "next_expiry=2 child_evt_expiry=3 child_evtcpu=5");
  const std::string group =
      "group=ffff888000311480 lvl=1 numa=2 active=f migrator=8 parent=0000000000000000 "
      "groupmask=10";
  EXPECT_EQ(bodyOf(TmigrGroupSetCpuActive{timer, Address{0}, 1, 2, 16, 15, 8}), group);
  EXPECT_EQ(bodyOf(TmigrGroupSetCpuInactive{timer, Address{0}, 1, 2, 16, 15, 8}), group);
  EXPECT_EQ(
      bodyOf(TmigrConnectChildParent{timer, Address{1}, 1, 2, 3, 16}),
      "group=ffff888000311480 groupmask=10 parent=0000000000000001 lvl=1 numa=2 num_children=3");
  EXPECT_EQ(bodyOf(TmigrConnectCpuParent{timer, 7, 1, 2, 3, 16}),
            "cpu=7 groupmask=10 parent=ffff888000311480 lvl=1 numa=2 num_children=3");
}

TEST(EventText, Interrupts) {
  EXPECT_EQ(bodyOf(SoftirqRaise{1}), "vec=1 [action=TIMER]");
  EXPECT_EQ(bodyOf(SoftirqEntry{8}), "vec=8 [action=HRTIMER]");
  EXPECT_EQ(bodyOf(SoftirqExit{77}), "vec=77 [action=0x4d]");
  OneEvent entry;
  entry.add("irq_handler_entry", IrqHandlerEntry{30, entry.string("arch_timer")});
  EXPECT_EQ(entry.body(), "irq=30 name=arch_timer");
  EXPECT_EQ(bodyOf(IrqHandlerExit{30, 1}), "irq=30 ret=handled");
  EXPECT_EQ(bodyOf(IrqHandlerExit{30, 0}), "irq=30 ret=unhandled");
  EXPECT_EQ(bodyOf(LocalTimerEntry{236}), "vector=236");
  EXPECT_EQ(bodyOf(LocalTimerExit{236}), "vector=236");
  EXPECT_EQ(OneEvent("reschedule_entry", VectorEntry{253}).text().nameAndBody(Row{0}),
            "reschedule_entry: vector=253");
  EXPECT_EQ(bodyOf(VectorExit{253}), "vector=253");
}

TEST(EventText, InterruptsBetweenCpus) {
  OneEvent raise;
  raise.add("ipi_raise", IpiRaise{raise.string("00000000,00000002"), Address{0x5000}});
  raise.recording().metadata.printkFormats[0x5000] = "Function call interrupts";
  EXPECT_EQ(raise.body(), "target_mask=00000000,00000002 (Function call interrupts)");
  EXPECT_EQ(bodyOf(IpiEntry{Address{0x5001}}), "(0x5001)");
  EXPECT_EQ(bodyOf(IpiExit{Address{0x5001}}), "(0x5001)");
  EXPECT_EQ(bodyOf(IpiSendCpu{2, Address{0xffffffff81002008}, Address{0}}),
            "cpu=2 callsite=tick_program_event+0x8/0x70 callback=0x0");
  OneEvent mask;
  mask.add("ipi_send_cpumask", IpiSendCpumask{mask.string("00000000,0000000a"), code, code});
  EXPECT_EQ(mask.body(),
            "cpumask=00000000,0000000a callsite=tick_program_event+0x0/0x70 "
            "callback=tick_program_event+0x0/0x70");
  EXPECT_EQ(
      bodyOf(CsdQueueCpu{1, code, Address{0xffffffff81003000}, timer}),
      "cpu=1 callsite=tick_program_event+0x0/0x70 func=retrigger_next_event csd=ffff888000311480");
  EXPECT_EQ(bodyOf(CsdFunctionEntry{Address{0xffffffff81003000}, timer}),
            "func=retrigger_next_event, csd=ffff888000311480");
  EXPECT_EQ(bodyOf(CsdFunctionExit{Address{0xffffffff81003000}, timer}),
            "func=retrigger_next_event, csd=ffff888000311480");
}

TEST(EventText, TasksSwitch) {
  OneEvent event;
  event.add(
      "sched_switch",
      SchedSwitch{{event.string("swapper/1"), Pid{0}, 120}, 0, {event.string("sh"), Pid{99}, 120}});
  EXPECT_EQ(event.body(),
            "prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sh "
            "next_pid=99 next_prio=120");
}

TEST(EventText, TasksWake) {
  OneEvent event;
  const Task task{event.string("my task: [x]-1"), Pid{218}, 98};
  event.add("sched_waking", SchedWaking{task, 1, 0}, 0b01111);
  EXPECT_EQ(event.body(), "comm=my task: [x]-1 pid=218 prio=98 target_cpu=001");
  event.add("sched_wakeup", SchedWakeup{task, 1, 1});
  EXPECT_EQ(event.body(), "comm=my task: [x]-1 pid=218 prio=98 success=1 target_cpu=001");
  event.add("sched_wakeup_new", SchedWakeupNew{task, 12, 0}, 0b01111);
  EXPECT_EQ(event.body(), "comm=my task: [x]-1 pid=218 prio=98 target_cpu=012");
  event.add("sched_migrate_task", SchedMigrateTask{task, 0, 1});
  EXPECT_EQ(event.body(), "comm=my task: [x]-1 pid=218 prio=98 orig_cpu=0 dest_cpu=1");
}

TEST(EventText, TasksComeAndGo) {
  OneEvent event;
  const Task task{event.string("sh"), Pid{218}, 120};
  event.add("sched_process_fork",
            SchedProcessFork{event.string("sh"), Pid{1}, event.string("ls"), Pid{2}});
  EXPECT_EQ(event.body(), "comm=sh pid=1 child_comm=ls child_pid=2");
  event.add("sched_process_exec", SchedProcessExec{event.string("/bin/ls"), Pid{2}, Pid{3}});
  EXPECT_EQ(event.body(), "filename=/bin/ls pid=2 old_pid=3");
  event.add("sched_process_exit", SchedProcessExit{task, true}, 0b0111);
  EXPECT_EQ(event.body(), "comm=sh pid=218 prio=120");
  event.add("sched_process_exit", SchedProcessExit{task, true});
  EXPECT_EQ(event.body(), "comm=sh pid=218 prio=120 group_dead=true");
  event.add("sched_process_free", SchedProcessFree{task});
  EXPECT_EQ(event.body(), "comm=sh pid=218 prio=120");
  event.add("sched_process_wait", SchedProcessWait{task});
  EXPECT_EQ(event.body(), "comm=sh pid=218 prio=120");
  event.add("sched_stat_runtime", SchedStatRuntime{event.string("sh"), Pid{218}, 1'234, 9}, 0b0111);
  EXPECT_EQ(event.body(), "comm=sh pid=218 runtime=1234 [ns]");
  event.add("sched_stat_runtime", SchedStatRuntime{event.string("sh"), Pid{218}, 1'234, 9});
  EXPECT_EQ(event.body(), "comm=sh pid=218 runtime=1234 [ns] vruntime=9 [ns]");
  EXPECT_EQ(bodyOf(SchedWakeIdleWithoutIpi{3}), "cpu=3");
}

TEST(EventText, TickAndPower) {
  EXPECT_EQ(bodyOf(TickStop{1, 0}), "success=1 dependency=NONE");
  EXPECT_EQ(bodyOf(TickStop{0, 4}), "success=0 dependency=SCHED");
  EXPECT_EQ(bodyOf(TickStop{0, 64}), "success=0 dependency=0x40");
  EXPECT_EQ(bodyOf(CpuIdle{4'294'967'295, 1}), "state=4294967295 cpu_id=1");
  EXPECT_EQ(bodyOf(CpuIdleMiss{1, 2, true}), "cpu_id=1 state=2 type=below");
  EXPECT_EQ(bodyOf(CpuFrequency{2'400'000, 1}), "state=2400000 cpu_id=1");
  OneEvent suspend("suspend_resume", SuspendResume{Address{0x6000}, 0, true});
  suspend.recording().metadata.printkFormats[0x6000] = "timekeeping_freeze";
  EXPECT_EQ(suspend.body(), "timekeeping_freeze[0] begin");
}

TEST(EventText, HotplugKeepsTheKernelsBlanks) {
  const Address dead{0xffffffff81004000};
  EXPECT_EQ(bodyOf(CpuhpEnter{1, 0, 68, dead}),
            "cpu: 0001 target:   0 step:  68 (timers_dead_cpu)");
  EXPECT_EQ(bodyOf(CpuhpMultiEnter{1, 0, 68, dead}),
            "cpu: 0001 target:   0 step:  68 (timers_dead_cpu)");
  EXPECT_EQ(bodyOf(CpuhpExit{1, 67, 68, 0}), " cpu: 0001  state:  67 step:  68 ret: 0");
}

TEST(EventText, Workqueues) {
  OneEvent event;
  event.add("workqueue_queue_work",
            WorkqueueQueueWork{timer, function, event.string("events"), 8'192, 1});
  EXPECT_EQ(
      event.body(),
      "work struct=ffff888000311480 function=tick_sched_timer workqueue=events req_cpu=8192 cpu=1");
  EXPECT_EQ(bodyOf(WorkqueueActivateWork{timer, function}, 0b01), "work struct ffff888000311480");
  EXPECT_EQ(bodyOf(WorkqueueActivateWork{timer, function}),
            "work struct ffff888000311480 function=tick_sched_timer ");
  EXPECT_EQ(bodyOf(WorkqueueExecuteStart{timer, function}),
            "work struct ffff888000311480: function tick_sched_timer");
  EXPECT_EQ(bodyOf(WorkqueueExecuteEnd{timer, function}, 0b01), "work struct ffff888000311480");
}

TEST(EventText, FunctionsOutsideAReducedListShowTheAddress) {
  EXPECT_EQ(bodyOf(HrtimerExpireEntry{timer, {5}, Address{0xffffffff81002044}}),
            "hrtimer=ffff888000311480 function=0xffffffff81002044 now=5");
  EXPECT_EQ(OneEvent("timer_init", TimerInit{timer}).text().symbol(Address{0xffffffff81002010}),
            "tick_program_event");
}

// --- fields ---

TEST(EventText, FieldsAreThoseThatWereRecorded) {
  const HrtimerStart start{timer, function, {5}, {-4}, 2, true};
  const auto fields = OneEvent("hrtimer_start", start, 0b011111).text().fields(Row{0});
  ASSERT_EQ(fields.size(), 5U);
  EXPECT_EQ(fields[0].name, "hrtimer");
  EXPECT_TRUE(fields[0].address);
  EXPECT_EQ(std::get<u64>(fields[0].value), timerAddress);
  EXPECT_EQ(fields[3].name, "softexpires");
  EXPECT_EQ(std::get<s64>(fields[3].value), -4);
  EXPECT_EQ(std::get<u64>(fields[4].value), 2U);
}

TEST(EventText, TasksAreThreeFields) {
  OneEvent event;
  event.add("sched_waking", SchedWaking{{event.string("sh"), Pid{72}, 120}, 1, 0}, 0b01111);
  const auto fields = event.text().fields(Row{0});
  ASSERT_EQ(fields.size(), 4U);
  EXPECT_EQ(std::get<std::string>(fields[0].value), "sh");
  EXPECT_EQ(std::get<s64>(fields[1].value), 72);
  EXPECT_EQ(fields[3].name, "target_cpu");
}

/// A door that answers for typed events.
class FixedText : public RawEventText {
 public:
  [[nodiscard]] std::string body(u16, const RawRef&) const override { return "bytes"; }
  [[nodiscard]] std::vector<FieldValue> fields(u16, const RawRef&) const override {
    return {{"x", u64{1}, false}};
  }
  [[nodiscard]] bool namedInText(u16) const override { return false; }
  [[nodiscard]] std::vector<u8> bytes(const RawRef&) const override { return {1}; }
  [[nodiscard]] Known<std::string> typedBody(u16,
                                             std::span<const TypedValue> values) const override {
    return values.size() == 1 ? Known<std::string>("by format " + std::to_string(values[0].number))
                              : Known<std::string>{};
  }
  [[nodiscard]] std::string_view fieldName(u16, std::size_t place) const override {
    return place == 3 || place == 5 ? "value_usec" : "";
  }
};

TEST(EventText, TheRecordingsOwnFormatIsAskedFirst) {
  OneEvent event("softirq_raise", SoftirqRaise{4});
  event.recording().buffers[0].raw = std::make_shared<FixedText>();
  EXPECT_EQ(event.text().nameAndBody(Row{0}), "softirq_raise: by format 4");
}

TEST(EventText, OldIntervalTimersCountMicroseconds) {
  OneEvent event("itimer_state", ItimerState{0, 0, 1, 5'000, 0, 250'000});
  event.recording().buffers[0].raw = std::make_shared<FixedText>();
  EXPECT_EQ(event.body(), "which=0 expires=0 it_value=1.005000 it_interval=0.250000");
  EXPECT_EQ(event.text().fields(Row{0})[3].name, "value_usec");
}

TEST(EventText, RecordsAsBytesGoThroughTheDoor) {
  OneEvent event("sys_enter_nanosleep", Raw{});
  event.recording().buffers[0].raw = std::make_shared<FixedText>();
  EXPECT_EQ(event.text().nameAndBody(Row{0}), "bytes");
  EXPECT_EQ(event.text().fields(Row{0})[0].name, "x");
}

}  // namespace
}  // namespace tickscope
