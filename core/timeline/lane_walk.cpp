// SPDX-License-Identifier: GPL-3.0-or-later
// What an entry and its exit have in common.
#include "core/timeline/lane_walk.h"

namespace tickscope {

namespace {

/// Numbers of different sources must not meet: irq 3 is not vector 3.
u64 tagged(u64 source, s32 value) { return (source << 32U) | static_cast<u32>(value); }

}  // namespace

u64 pairKeyOf(const EventStore& store, Row row) {
  switch (store.kind(row)) {
    case kindOf<IrqHandlerEntry>:
      return tagged(1, store.as<IrqHandlerEntry>(row).irq);
    case kindOf<IrqHandlerExit>:
      return tagged(1, store.as<IrqHandlerExit>(row).irq);
    case kindOf<LocalTimerEntry>:
      return tagged(2, store.as<LocalTimerEntry>(row).vector);
    case kindOf<LocalTimerExit>:
      return tagged(2, store.as<LocalTimerExit>(row).vector);
    case kindOf<VectorEntry>:
      return tagged(3, store.as<VectorEntry>(row).vector);
    case kindOf<VectorExit>:
      return tagged(3, store.as<VectorExit>(row).vector);
    case kindOf<IpiEntry>:
      return static_cast<u64>(store.as<IpiEntry>(row).reason);
    case kindOf<IpiExit>:
      return static_cast<u64>(store.as<IpiExit>(row).reason);
    case kindOf<SoftirqEntry>:
      return store.as<SoftirqEntry>(row).vec;
    case kindOf<SoftirqExit>:
      return store.as<SoftirqExit>(row).vec;
    case kindOf<HrtimerExpireEntry>:
      return static_cast<u64>(store.as<HrtimerExpireEntry>(row).hrtimer);
    case kindOf<HrtimerExpireExit>:
      return static_cast<u64>(store.as<HrtimerExpireExit>(row).hrtimer);
    case kindOf<TimerExpireEntry>:
      return static_cast<u64>(store.as<TimerExpireEntry>(row).timer);
    case kindOf<TimerExpireExit>:
      return static_cast<u64>(store.as<TimerExpireExit>(row).timer);
    default:
      return 0;
  }
}

Address timerOf(const EventStore& store, Row row) {
  switch (store.kind(row)) {
    case kindOf<HrtimerStart>:
      return store.as<HrtimerStart>(row).hrtimer;
    case kindOf<HrtimerStartExpired>:
      return store.as<HrtimerStartExpired>(row).hrtimer;
    case kindOf<HrtimerCancel>:
      return store.as<HrtimerCancel>(row).hrtimer;
    case kindOf<HrtimerExpireEntry>:
      return store.as<HrtimerExpireEntry>(row).hrtimer;
    case kindOf<HrtimerExpireExit>:
      return store.as<HrtimerExpireExit>(row).hrtimer;
    case kindOf<TimerStart>:
      return store.as<TimerStart>(row).timer;
    case kindOf<TimerCancel>:
      return store.as<TimerCancel>(row).timer;
    case kindOf<TimerExpireEntry>:
      return store.as<TimerExpireEntry>(row).timer;
    case kindOf<TimerExpireExit>:
      return store.as<TimerExpireExit>(row).timer;
    default:
      return {};
  }
}

}  // namespace tickscope
