// SPDX-License-Identifier: GPL-3.0-or-later
// Wheel timers and timer migration (kernel/time/timer.c, timer_migration.c).
#pragma once

#include "core/trace/field_list.h"

namespace tickscope {

/// init_timer_key; before any field is set.
struct TimerInit {
  static constexpr std::string_view event = "timer_init", eventAlias = "";
  Address timer{};
  using Fields = FieldList<Field<"timer", &TimerInit::timer>>;
};
/// enqueue_timer; the caller's expires, since 5.2 with the final CPU and index in flags.
struct TimerStart {
  static constexpr std::string_view event = "timer_start", eventAlias = "";
  Address timer{};
  Address function{};
  Jiffies expires{};
  Jiffies bucketExpiry{};
  Jiffies now{};
  u32 flags{};
  using Fields =
      FieldList<Field<"timer", &TimerStart::timer>, Field<"function", &TimerStart::function>,
                Field<"expires", &TimerStart::expires>,
                Field<"bucket_expiry", &TimerStart::bucketExpiry>, Field<"now", &TimerStart::now>,
                Field<"flags", &TimerStart::flags>>;
};
/// detach_timer: every detach, expiry included.
struct TimerCancel {
  static constexpr std::string_view event = "timer_cancel", eventAlias = "";
  Address timer{};
  using Fields = FieldList<Field<"timer", &TimerCancel::timer>>;
};
/// call_timer_fn; baseclk since 5.2.
struct TimerExpireEntry {
  static constexpr std::string_view event = "timer_expire_entry", eventAlias = "";
  Address timer{};
  Jiffies now{};
  Address function{};
  Jiffies baseclk{};
  using Fields =
      FieldList<Field<"timer", &TimerExpireEntry::timer>, Field<"now", &TimerExpireEntry::now>,
                Field<"function", &TimerExpireEntry::function>,
                Field<"baseclk", &TimerExpireEntry::baseclk>>;
};
/// The callback returned; the timer may be freed.
struct TimerExpireExit {
  static constexpr std::string_view event = "timer_expire_exit", eventAlias = "";
  Address timer{};
  using Fields = FieldList<Field<"timer", &TimerExpireExit::timer>>;
};
/// Since 6.8.
struct TimerBaseIdle {
  static constexpr std::string_view event = "timer_base_idle", eventAlias = "";
  bool isIdle{};
  u32 cpu{};
  using Fields =
      FieldList<Field<"is_idle", &TimerBaseIdle::isIdle>, Field<"cpu", &TimerBaseIdle::cpu>>;
};
/// The CPU leaves the hierarchy; times are ns monotonic, 2^63-1 none.
struct TmigrCpuIdle {
  static constexpr std::string_view event = "tmigr_cpu_idle", eventAlias = "";
  u64 nextevt{};
  u64 wakeup{};
  Address parent{};
  u32 cpu{};
  using Fields =
      FieldList<Field<"nextevt", &TmigrCpuIdle::nextevt>, Field<"wakeup", &TmigrCpuIdle::wakeup>,
                Field<"parent", &TmigrCpuIdle::parent>, Field<"cpu", &TmigrCpuIdle::cpu>>;
};
/// The CPU is back.
struct TmigrCpuActive {
  static constexpr std::string_view event = "tmigr_cpu_active", eventAlias = "";
  u64 wakeup{};
  Address parent{};
  u32 cpu{};
  using Fields =
      FieldList<Field<"wakeup", &TmigrCpuActive::wakeup>, Field<"parent", &TmigrCpuActive::parent>,
                Field<"cpu", &TmigrCpuActive::cpu>>;
};
/// First global timer of an idle CPU changed.
struct TmigrCpuNewTimer {
  static constexpr std::string_view event = "tmigr_cpu_new_timer", eventAlias = "";
  u64 wakeup{};
  Address parent{};
  u32 cpu{};
  using Fields =
      FieldList<Field<"wakeup", &TmigrCpuNewTimer::wakeup>,
                Field<"parent", &TmigrCpuNewTimer::parent>, Field<"cpu", &TmigrCpuNewTimer::cpu>>;
};
/// As above, with the event that it leads to.
struct TmigrCpuNewTimerIdle {
  static constexpr std::string_view event = "tmigr_cpu_new_timer_idle", eventAlias = "";
  u64 nextevt{};
  u64 wakeup{};
  Address parent{};
  u32 cpu{};
  using Fields = FieldList<Field<"nextevt", &TmigrCpuNewTimerIdle::nextevt>,
                           Field<"wakeup", &TmigrCpuNewTimerIdle::wakeup>,
                           Field<"parent", &TmigrCpuNewTimerIdle::parent>,
                           Field<"cpu", &TmigrCpuNewTimerIdle::cpu>>;
};
/// The migrator looks after other CPUs.
struct TmigrHandleRemote {
  static constexpr std::string_view event = "tmigr_handle_remote", eventAlias = "";
  Address group{};
  u32 lvl{};
  using Fields =
      FieldList<Field<"group", &TmigrHandleRemote::group>, Field<"lvl", &TmigrHandleRemote::lvl>>;
};
/// The expiries that follow on this row's CPU belong to `cpu`.
struct TmigrHandleRemoteCpu {
  static constexpr std::string_view event = "tmigr_handle_remote_cpu", eventAlias = "";
  u64 wakeup{};
  Address parent{};
  u32 cpu{};
  using Fields = FieldList<Field<"wakeup", &TmigrHandleRemoteCpu::wakeup>,
                           Field<"parent", &TmigrHandleRemoteCpu::parent>,
                           Field<"cpu", &TmigrHandleRemoteCpu::cpu>>;
};
/// Internal walk.
struct TmigrUpdateEvents {
  static constexpr std::string_view event = "tmigr_update_events", eventAlias = "";
  Address child{};
  Address group{};
  u64 nextevt{};
  u64 groupNextExpiry{};
  u64 childEvtExpiry{};
  u32 groupLvl{};
  u32 childEvtcpu{};
  u8 childActive{};
  u8 groupActive{};
  using Fields = FieldList<Field<"child", &TmigrUpdateEvents::child>,
                           Field<"group", &TmigrUpdateEvents::group>,
                           Field<"nextevt", &TmigrUpdateEvents::nextevt>,
                           Field<"group_next_expiry", &TmigrUpdateEvents::groupNextExpiry>,
                           Field<"child_evt_expiry", &TmigrUpdateEvents::childEvtExpiry>,
                           Field<"group_lvl", &TmigrUpdateEvents::groupLvl>,
                           Field<"child_evtcpu", &TmigrUpdateEvents::childEvtcpu>,
                           Field<"child_active", &TmigrUpdateEvents::childActive>,
                           Field<"group_active", &TmigrUpdateEvents::groupActive>>;
};
/// Internal walk.
struct TmigrGroupSetCpuActive {
  static constexpr std::string_view event = "tmigr_group_set_cpu_active", eventAlias = "";
  Address group{};
  Address parent{};
  u32 lvl{};
  u32 numaNode{};
  u32 groupmask{};
  u8 active{};
  u8 migrator{};
  using Fields = FieldList<Field<"group", &TmigrGroupSetCpuActive::group>,
                           Field<"parent", &TmigrGroupSetCpuActive::parent>,
                           Field<"lvl", &TmigrGroupSetCpuActive::lvl>,
                           Field<"numa_node", &TmigrGroupSetCpuActive::numaNode>,
                           Field<"groupmask", &TmigrGroupSetCpuActive::groupmask, "childmask">,
                           Field<"active", &TmigrGroupSetCpuActive::active>,
                           Field<"migrator", &TmigrGroupSetCpuActive::migrator>>;
};
/// Internal walk.
struct TmigrGroupSetCpuInactive {
  static constexpr std::string_view event = "tmigr_group_set_cpu_inactive", eventAlias = "";
  Address group{};
  Address parent{};
  u32 lvl{};
  u32 numaNode{};
  u32 groupmask{};
  u8 active{};
  u8 migrator{};
  using Fields = FieldList<Field<"group", &TmigrGroupSetCpuInactive::group>,
                           Field<"parent", &TmigrGroupSetCpuInactive::parent>,
                           Field<"lvl", &TmigrGroupSetCpuInactive::lvl>,
                           Field<"numa_node", &TmigrGroupSetCpuInactive::numaNode>,
                           Field<"groupmask", &TmigrGroupSetCpuInactive::groupmask, "childmask">,
                           Field<"active", &TmigrGroupSetCpuInactive::active>,
                           Field<"migrator", &TmigrGroupSetCpuInactive::migrator>>;
};
/// hotplug; newer kernels: tmigr_cpu_available.
struct TmigrCpuOnline {
  static constexpr std::string_view event = "tmigr_cpu_online", eventAlias = "tmigr_cpu_available";
  u64 wakeup{};
  Address parent{};
  u32 cpu{};
  using Fields =
      FieldList<Field<"wakeup", &TmigrCpuOnline::wakeup>, Field<"parent", &TmigrCpuOnline::parent>,
                Field<"cpu", &TmigrCpuOnline::cpu>>;
};
/// hotplug; newer kernels: tmigr_cpu_unavailable.
struct TmigrCpuOffline {
  static constexpr std::string_view event = "tmigr_cpu_offline",
                                    eventAlias = "tmigr_cpu_unavailable";
  u64 wakeup{};
  Address parent{};
  u32 cpu{};
  using Fields =
      FieldList<Field<"wakeup", &TmigrCpuOffline::wakeup>,
                Field<"parent", &TmigrCpuOffline::parent>, Field<"cpu", &TmigrCpuOffline::cpu>>;
};
/// Boot.
struct TmigrGroupSet {
  static constexpr std::string_view event = "tmigr_group_set", eventAlias = "";
  Address group{};
  u32 lvl{};
  u32 numaNode{};
  using Fields = FieldList<Field<"group", &TmigrGroupSet::group>, Field<"lvl", &TmigrGroupSet::lvl>,
                           Field<"numa_node", &TmigrGroupSet::numaNode>>;
};
/// boot: topology.
struct TmigrConnectChildParent {
  static constexpr std::string_view event = "tmigr_connect_child_parent", eventAlias = "";
  Address child{};
  Address parent{};
  u32 lvl{};
  u32 numaNode{};
  u32 numChildren{};
  u32 groupmask{};
  using Fields = FieldList<Field<"child", &TmigrConnectChildParent::child>,
                           Field<"parent", &TmigrConnectChildParent::parent>,
                           Field<"lvl", &TmigrConnectChildParent::lvl>,
                           Field<"numa_node", &TmigrConnectChildParent::numaNode>,
                           Field<"num_children", &TmigrConnectChildParent::numChildren>,
                           Field<"groupmask", &TmigrConnectChildParent::groupmask, "childmask">>;
};
/// boot: topology.
struct TmigrConnectCpuParent {
  static constexpr std::string_view event = "tmigr_connect_cpu_parent", eventAlias = "";
  Address parent{};
  u32 cpu{};
  u32 lvl{};
  u32 numaNode{};
  u32 numChildren{};
  u32 groupmask{};
  using Fields = FieldList<Field<"parent", &TmigrConnectCpuParent::parent>,
                           Field<"cpu", &TmigrConnectCpuParent::cpu>,
                           Field<"lvl", &TmigrConnectCpuParent::lvl>,
                           Field<"numa_node", &TmigrConnectCpuParent::numaNode>,
                           Field<"num_children", &TmigrConnectCpuParent::numChildren>,
                           Field<"groupmask", &TmigrConnectCpuParent::groupmask, "childmask">>;
};

}  // namespace tickscope
