// SPDX-License-Identifier: GPL-3.0-or-later
// Scheduler and task names.
#pragma once

#include "core/trace/field_list.h"

namespace tickscope {

/// In the waker; target_cpu is where the task slept.
struct SchedWaking {
  static constexpr std::string_view event = "sched_waking", eventAlias = "";
  Task task;
  s32 targetCpu{};
  s32 success{};
  using Fields = FieldList<TaskField<"comm", "pid", "prio", &SchedWaking::task>,
                           Field<"target_cpu", &SchedWaking::targetCpu>,
                           Field<"success", &SchedWaking::success>>;
};
/// runnable; target_cpu is final.
struct SchedWakeup {
  static constexpr std::string_view event = "sched_wakeup", eventAlias = "";
  Task task;
  s32 targetCpu{};
  s32 success{};
  using Fields = FieldList<TaskField<"comm", "pid", "prio", &SchedWakeup::task>,
                           Field<"target_cpu", &SchedWakeup::targetCpu>,
                           Field<"success", &SchedWakeup::success>>;
};
struct SchedWakeupNew {
  static constexpr std::string_view event = "sched_wakeup_new", eventAlias = "";
  Task task;
  s32 targetCpu{};
  s32 success{};
  using Fields = FieldList<TaskField<"comm", "pid", "prio", &SchedWakeupNew::task>,
                           Field<"target_cpu", &SchedWakeupNew::targetCpu>,
                           Field<"success", &SchedWakeupNew::success>>;
};
struct SchedMigrateTask {
  static constexpr std::string_view event = "sched_migrate_task", eventAlias = "";
  Task task;
  s32 origCpu{};
  s32 destCpu{};
  using Fields = FieldList<TaskField<"comm", "pid", "prio", &SchedMigrateTask::task>,
                           Field<"orig_cpu", &SchedMigrateTask::origCpu>,
                           Field<"dest_cpu", &SchedMigrateTask::destCpu>>;
};
/// Rq lock held, before the switch.
struct SchedSwitch {
  static constexpr std::string_view event = "sched_switch", eventAlias = "";
  Task prev;
  s64 prevState{};
  Task next;
  using Fields = FieldList<TaskField<"prev_comm", "prev_pid", "prev_prio", &SchedSwitch::prev>,
                           Field<"prev_state", &SchedSwitch::prevState>,
                           TaskField<"next_comm", "next_pid", "next_prio", &SchedSwitch::next>>;
};
struct SchedProcessFork {
  static constexpr std::string_view event = "sched_process_fork", eventAlias = "";
  StringId parentComm{};
  Pid parentPid{};
  StringId childComm{};
  Pid childPid{};
  using Fields = FieldList<Field<"parent_comm", &SchedProcessFork::parentComm>,
                           Field<"parent_pid", &SchedProcessFork::parentPid>,
                           Field<"child_comm", &SchedProcessFork::childComm>,
                           Field<"child_pid", &SchedProcessFork::childPid>>;
};
struct SchedProcessExec {
  static constexpr std::string_view event = "sched_process_exec", eventAlias = "";
  StringId filename{};
  Pid pid{};
  Pid oldPid{};
  using Fields =
      FieldList<Field<"filename", &SchedProcessExec::filename>,
                Field<"pid", &SchedProcessExec::pid>, Field<"old_pid", &SchedProcessExec::oldPid>>;
};
struct SchedProcessExit {
  static constexpr std::string_view event = "sched_process_exit", eventAlias = "";
  Task task;
  bool groupDead{};
  using Fields = FieldList<TaskField<"comm", "pid", "prio", &SchedProcessExit::task>,
                           Field<"group_dead", &SchedProcessExit::groupDead>>;
};
struct SchedProcessFree {
  static constexpr std::string_view event = "sched_process_free", eventAlias = "";
  Task task;
  using Fields = FieldList<TaskField<"comm", "pid", "prio", &SchedProcessFree::task>>;
};
struct SchedProcessWait {
  static constexpr std::string_view event = "sched_process_wait", eventAlias = "";
  Task task;
  using Fields = FieldList<TaskField<"comm", "pid", "prio", &SchedProcessWait::task>>;
};
/// ns; vruntime until 6.8.
struct SchedStatRuntime {
  static constexpr std::string_view event = "sched_stat_runtime", eventAlias = "";
  StringId comm{};
  Pid pid{};
  u64 runtime{};
  u64 vruntime{};
  using Fields =
      FieldList<Field<"comm", &SchedStatRuntime::comm>, Field<"pid", &SchedStatRuntime::pid>,
                Field<"runtime", &SchedStatRuntime::runtime>,
                Field<"vruntime", &SchedStatRuntime::vruntime>>;
};
/// A polling idle CPU is woken by a flag.
struct SchedWakeIdleWithoutIpi {
  static constexpr std::string_view event = "sched_wake_idle_without_ipi", eventAlias = "";
  s32 cpu{};
  using Fields = FieldList<Field<"cpu", &SchedWakeIdleWithoutIpi::cpu>>;
};

}  // namespace tickscope
