// SPDX-License-Identifier: GPL-3.0-or-later
// hrtimers, interval and alarm timers (kernel/time/hrtimer.c, itimer.c, alarmtimer.c).
#pragma once

#include "core/trace/field_list.h"

namespace tickscope {

/// Clock and mode as requested, not as used.
struct HrtimerInit {
  static constexpr std::string_view event = "hrtimer_init", eventAlias = "";
  Address hrtimer{};
  s32 clockid{};
  u32 mode{};
  using Fields =
      FieldList<Field<"hrtimer", &HrtimerInit::hrtimer>, Field<"clockid", &HrtimerInit::clockid>,
                Field<"mode", &HrtimerInit::mode>>;
};
/// Replaces hrtimer_init since 6.15.
struct HrtimerSetup {
  static constexpr std::string_view event = "hrtimer_setup", eventAlias = "";
  Address hrtimer{};
  s32 clockid{};
  u32 mode{};
  using Fields =
      FieldList<Field<"hrtimer", &HrtimerSetup::hrtimer>, Field<"clockid", &HrtimerSetup::clockid>,
                Field<"mode", &HrtimerSetup::mode>>;
};
/// Before any programming for it; names neither CPU nor base.
struct HrtimerStart {
  static constexpr std::string_view event = "hrtimer_start", eventAlias = "";
  Address hrtimer{};
  Address function{};
  BaseTime expires{};
  BaseTime softexpires{};
  u32 mode{};
  bool wasArmed{};
  using Fields = FieldList<
      Field<"hrtimer", &HrtimerStart::hrtimer>, Field<"function", &HrtimerStart::function>,
      Field<"expires", &HrtimerStart::expires>, Field<"softexpires", &HrtimerStart::softexpires>,
      Field<"mode", &HrtimerStart::mode>, Field<"was_armed", &HrtimerStart::wasArmed>>;
};
/// With was_armed kernels after the removal, else before it.
struct HrtimerCancel {
  static constexpr std::string_view event = "hrtimer_cancel", eventAlias = "";
  Address hrtimer{};
  using Fields = FieldList<Field<"hrtimer", &HrtimerCancel::hrtimer>>;
};
/// Now is read once per pass of the interrupt.
struct HrtimerExpireEntry {
  static constexpr std::string_view event = "hrtimer_expire_entry", eventAlias = "";
  Address hrtimer{};
  BaseTime now{};
  Address function{};
  using Fields = FieldList<Field<"hrtimer", &HrtimerExpireEntry::hrtimer>,
                           Field<"now", &HrtimerExpireEntry::now>,
                           Field<"function", &HrtimerExpireEntry::function>>;
};
/// The callback returned; the timer may be freed.
struct HrtimerExpireExit {
  static constexpr std::string_view event = "hrtimer_expire_exit", eventAlias = "";
  Address hrtimer{};
  using Fields = FieldList<Field<"hrtimer", &HrtimerExpireExit::hrtimer>>;
};
/// Just before tick_program_event (7.1).
struct HrtimerRearm {
  static constexpr std::string_view event = "hrtimer_rearm", eventAlias = "";
  s64 nextEvent{};
  bool deferred{};
  using Fields = FieldList<Field<"next_event", &HrtimerRearm::nextEvent>,
                           Field<"deferred", &HrtimerRearm::deferred>>;
};
/// A user timer that was already past.
struct HrtimerStartExpired {
  static constexpr std::string_view event = "hrtimer_start_expired", eventAlias = "";
  Address hrtimer{};
  using Fields = FieldList<Field<"hrtimer", &HrtimerStartExpired::hrtimer>>;
};
/// Setitimer done; before 5.x the parts below a second are value_usec and interval_usec, us.
struct ItimerState {
  static constexpr std::string_view event = "itimer_state", eventAlias = "";
  s32 which{};
  u64 expires{};
  s64 valueSec{};
  s64 valueNsec{};
  s64 intervalSec{};
  s64 intervalNsec{};
  using Fields =
      FieldList<Field<"which", &ItimerState::which>, Field<"expires", &ItimerState::expires>,
                Field<"value_sec", &ItimerState::valueSec>,
                Field<"value_nsec", &ItimerState::valueNsec, "value_usec">,
                Field<"interval_sec", &ItimerState::intervalSec>,
                Field<"interval_nsec", &ItimerState::intervalNsec, "interval_usec">>;
};
/// In it_real_fn, or the tick.
struct ItimerExpire {
  static constexpr std::string_view event = "itimer_expire", eventAlias = "";
  s32 which{};
  Pid pid{};
  u64 now{};
  using Fields = FieldList<Field<"which", &ItimerExpire::which>, Field<"pid", &ItimerExpire::pid>,
                           Field<"now", &ItimerExpire::now>>;
};
/// After hrtimer_start; ns of the alarm's clock.
struct AlarmtimerStart {
  static constexpr std::string_view event = "alarmtimer_start", eventAlias = "";
  Address alarm{};
  u8 alarmType{};
  s64 expires{};
  s64 now{};
  using Fields =
      FieldList<Field<"alarm", &AlarmtimerStart::alarm>,
                Field<"alarm_type", &AlarmtimerStart::alarmType>,
                Field<"expires", &AlarmtimerStart::expires>, Field<"now", &AlarmtimerStart::now>>;
};
/// Also when nothing was armed.
struct AlarmtimerCancel {
  static constexpr std::string_view event = "alarmtimer_cancel", eventAlias = "";
  Address alarm{};
  u8 alarmType{};
  s64 expires{};
  s64 now{};
  using Fields =
      FieldList<Field<"alarm", &AlarmtimerCancel::alarm>,
                Field<"alarm_type", &AlarmtimerCancel::alarmType>,
                Field<"expires", &AlarmtimerCancel::expires>, Field<"now", &AlarmtimerCancel::now>>;
};
/// At the end of the hrtimer callback.
struct AlarmtimerFired {
  static constexpr std::string_view event = "alarmtimer_fired", eventAlias = "";
  Address alarm{};
  u8 alarmType{};
  s64 expires{};
  s64 now{};
  using Fields =
      FieldList<Field<"alarm", &AlarmtimerFired::alarm>,
                Field<"alarm_type", &AlarmtimerFired::alarmType>,
                Field<"expires", &AlarmtimerFired::expires>, Field<"now", &AlarmtimerFired::now>>;
};
/// RTC programmed.
struct AlarmtimerSuspend {
  static constexpr std::string_view event = "alarmtimer_suspend", eventAlias = "";
  s64 expires{};
  u8 alarmType{};
  using Fields = FieldList<Field<"expires", &AlarmtimerSuspend::expires>,
                           Field<"alarm_type", &AlarmtimerSuspend::alarmType>>;
};

}  // namespace tickscope
