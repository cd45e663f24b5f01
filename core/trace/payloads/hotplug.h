// SPDX-License-Identifier: GPL-3.0-or-later
// CPU hotplug steps and workqueues.
#pragma once

#include "core/trace/field_list.h"

namespace tickscope {

/// Steps on the offline CPU itself leave no row.
struct CpuhpEnter {
  static constexpr std::string_view event = "cpuhp_enter", eventAlias = "";
  u32 cpu{};
  s32 target{};
  s32 idx{};
  Address fun{};
  using Fields = FieldList<Field<"cpu", &CpuhpEnter::cpu>, Field<"target", &CpuhpEnter::target>,
                           Field<"idx", &CpuhpEnter::idx>, Field<"fun", &CpuhpEnter::fun>>;
};
struct CpuhpMultiEnter {
  static constexpr std::string_view event = "cpuhp_multi_enter", eventAlias = "";
  u32 cpu{};
  s32 target{};
  s32 idx{};
  Address fun{};
  using Fields =
      FieldList<Field<"cpu", &CpuhpMultiEnter::cpu>, Field<"target", &CpuhpMultiEnter::target>,
                Field<"idx", &CpuhpMultiEnter::idx>, Field<"fun", &CpuhpMultiEnter::fun>>;
};
struct CpuhpExit {
  static constexpr std::string_view event = "cpuhp_exit", eventAlias = "";
  u32 cpu{};
  s32 state{};
  s32 idx{};
  s32 ret{};
  using Fields = FieldList<Field<"cpu", &CpuhpExit::cpu>, Field<"state", &CpuhpExit::state>,
                           Field<"idx", &CpuhpExit::idx>, Field<"ret", &CpuhpExit::ret>>;
};
/// Workqueue is a string since 5.11.
struct WorkqueueQueueWork {
  static constexpr std::string_view event = "workqueue_queue_work", eventAlias = "";
  Address work{};
  Address function{};
  StringId workqueue{};
  s32 reqCpu{};
  s32 cpu{};
  using Fields = FieldList<
      Field<"work", &WorkqueueQueueWork::work>, Field<"function", &WorkqueueQueueWork::function>,
      Field<"workqueue", &WorkqueueQueueWork::workqueue>,
      Field<"req_cpu", &WorkqueueQueueWork::reqCpu>, Field<"cpu", &WorkqueueQueueWork::cpu>>;
};
struct WorkqueueActivateWork {
  static constexpr std::string_view event = "workqueue_activate_work", eventAlias = "";
  Address work{};
  Address function{};
  using Fields = FieldList<Field<"work", &WorkqueueActivateWork::work>,
                           Field<"function", &WorkqueueActivateWork::function>>;
};
struct WorkqueueExecuteStart {
  static constexpr std::string_view event = "workqueue_execute_start", eventAlias = "";
  Address work{};
  Address function{};
  using Fields = FieldList<Field<"work", &WorkqueueExecuteStart::work>,
                           Field<"function", &WorkqueueExecuteStart::function>>;
};
struct WorkqueueExecuteEnd {
  static constexpr std::string_view event = "workqueue_execute_end", eventAlias = "";
  Address work{};
  Address function{};
  using Fields = FieldList<Field<"work", &WorkqueueExecuteEnd::work>,
                           Field<"function", &WorkqueueExecuteEnd::function>>;
};

}  // namespace tickscope
