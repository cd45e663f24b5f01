// SPDX-License-Identifier: GPL-3.0-or-later
// The list of typed events; an event kind is the place of its payload in it.
#pragma once

#include <array>
#include <tuple>

#include "core/trace/payloads/function.h"
#include "core/trace/payloads/hotplug.h"
#include "core/trace/payloads/hrtimer.h"
#include "core/trace/payloads/ipi.h"
#include "core/trace/payloads/irq.h"
#include "core/trace/payloads/sched.h"
#include "core/trace/payloads/tick.h"
#include "core/trace/payloads/timer.h"

namespace tickscope {

template <class... P>
struct KindList {
  static constexpr std::size_t size = sizeof...(P);
  using Tuple = std::tuple<P...>;
};

using Kinds = KindList<
    TimerInit, TimerStart, TimerCancel, TimerExpireEntry, TimerExpireExit, TimerBaseIdle,
    TmigrCpuIdle, TmigrCpuActive, TmigrCpuNewTimer, TmigrCpuNewTimerIdle, TmigrHandleRemote,
    TmigrHandleRemoteCpu, TmigrUpdateEvents, TmigrGroupSetCpuActive, TmigrGroupSetCpuInactive,
    TmigrCpuOnline, TmigrCpuOffline, TmigrGroupSet, TmigrConnectChildParent, TmigrConnectCpuParent,
    HrtimerInit, HrtimerSetup, HrtimerStart, HrtimerCancel, HrtimerExpireEntry, HrtimerExpireExit,
    HrtimerRearm, HrtimerStartExpired, ItimerState, ItimerExpire, AlarmtimerStart, AlarmtimerCancel,
    AlarmtimerFired, AlarmtimerSuspend, SoftirqRaise, SoftirqEntry, SoftirqExit, IrqHandlerEntry,
    IrqHandlerExit, LocalTimerEntry, LocalTimerExit, VectorEntry, VectorExit, IpiRaise, IpiEntry,
    IpiExit, IpiSendCpu, IpiSendCpumask, CsdQueueCpu, CsdFunctionEntry, CsdFunctionExit,
    SchedWaking, SchedWakeup, SchedWakeupNew, SchedMigrateTask, SchedSwitch, SchedProcessFork,
    SchedProcessExec, SchedProcessExit, SchedProcessFree, SchedProcessWait, SchedStatRuntime,
    SchedWakeIdleWithoutIpi, TickStop, CpuIdle, CpuIdleMiss, CpuFrequency, SuspendResume,
    CpuhpEnter, CpuhpMultiEnter, CpuhpExit, WorkqueueQueueWork, WorkqueueActivateWork,
    WorkqueueExecuteStart, WorkqueueExecuteEnd, Function, ProgramEvent, ProgramEventProbe,
    ProgramEventReturn, FuncRepeats, FuncgraphEntry, FuncgraphExit, Print, Bputs, Raw>;
/// The place of a payload in Kinds.
enum class EventKind : u8 {};
inline constexpr std::size_t kindCount = Kinds::size;
static_assert(kindCount < 256);

template <class P, class List>
struct PlaceOf;
template <class P, class... Rest>
struct PlaceOf<P, KindList<P, Rest...>> {
  static constexpr std::size_t value = 0;
};
template <class P, class First, class... Rest>
struct PlaceOf<P, KindList<First, Rest...>> {
  static constexpr std::size_t value = 1 + PlaceOf<P, KindList<Rest...>>::value;
};
template <class P>
inline constexpr EventKind kindOf = static_cast<EventKind>(PlaceOf<P, Kinds>::value);

/// What is known of a kind without a record of it.
struct KindInfo {
  std::string_view event, eventAlias;  ///< the tracepoint's names; empty: recognised otherwise
  std::span<const FieldInfo> fields;
  u16 storedSize;  ///< bytes in the store
};

inline constexpr std::array<KindInfo, kindCount> kindInfos = []<class... P>(KindList<P...>) {
  return std::array<KindInfo, kindCount>{KindInfo{P::event, P::eventAlias,
                                                  std::span<const FieldInfo>(P::Fields::infos),
                                                  static_cast<u16>(storedSizeOf<P>)}...};
}(Kinds{});

constexpr const KindInfo& infoOf(EventKind kind) { return kindInfos[number(kind)]; }

/// The typed kind of a tracepoint by its name (not the group); Raw when there is none. Names of x86 vectors
/// are only such in the group irq_vectors: see `kindOfEvent`.
EventKind kindNamed(std::string_view event);
/// The same with the group, which tells x86 vectors from events of other groups with such names.
EventKind kindOfEvent(std::string_view system, std::string_view event);

}  // namespace tickscope
