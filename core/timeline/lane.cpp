// SPDX-License-Identifier: GPL-3.0-or-later
// Which event belongs to which lane, and look-ups by time.
#include "core/timeline/lane.h"

#include <algorithm>

namespace tickscope {

std::string_view nameOf(LaneKind lane) {
  switch (lane) {
    case LaneKind::Task:
      return "task";
    case LaneKind::HardIrq:
      return "hard irq";
    case LaneKind::Softirq:
      return "softirq";
    case LaneKind::Hrtimer:
      return "hrtimers";
    case LaneKind::Wheel:
      return "wheel";
    case LaneKind::Programming:
      return "programming";
  }
  return "";
}

LaneRole roleOf(EventKind kind) {
  struct Entry {
    EventKind kind;
    LaneRole role;
  };
  static constexpr Entry table[] = {
      {kindOf<SchedSwitch>, {LaneKind::Task, LanePart::Switch}},
      {kindOf<IrqHandlerEntry>, {LaneKind::HardIrq, LanePart::Entry}},
      {kindOf<IrqHandlerExit>, {LaneKind::HardIrq, LanePart::Exit}},
      {kindOf<LocalTimerEntry>, {LaneKind::HardIrq, LanePart::Entry}},
      {kindOf<LocalTimerExit>, {LaneKind::HardIrq, LanePart::Exit}},
      {kindOf<VectorEntry>, {LaneKind::HardIrq, LanePart::Entry}},
      {kindOf<VectorExit>, {LaneKind::HardIrq, LanePart::Exit}},
      {kindOf<IpiEntry>, {LaneKind::HardIrq, LanePart::Entry}},
      {kindOf<IpiExit>, {LaneKind::HardIrq, LanePart::Exit}},
      {kindOf<SoftirqRaise>, {LaneKind::Softirq, LanePart::Raise}},
      {kindOf<SoftirqEntry>, {LaneKind::Softirq, LanePart::Entry}},
      {kindOf<SoftirqExit>, {LaneKind::Softirq, LanePart::Exit}},
      {kindOf<HrtimerStart>, {LaneKind::Hrtimer, LanePart::Arm}},
      {kindOf<HrtimerStartExpired>, {LaneKind::Hrtimer, LanePart::Arm}},
      {kindOf<HrtimerCancel>, {LaneKind::Hrtimer, LanePart::Cancel}},
      {kindOf<HrtimerExpireEntry>, {LaneKind::Hrtimer, LanePart::Entry}},
      {kindOf<HrtimerExpireExit>, {LaneKind::Hrtimer, LanePart::Exit}},
      {kindOf<TimerStart>, {LaneKind::Wheel, LanePart::Arm}},
      {kindOf<TimerCancel>, {LaneKind::Wheel, LanePart::Cancel}},
      {kindOf<TimerExpireEntry>, {LaneKind::Wheel, LanePart::Entry}},
      {kindOf<TimerExpireExit>, {LaneKind::Wheel, LanePart::Exit}},
      {kindOf<ProgramEventProbe>, {LaneKind::Programming, LanePart::Call}},
      {kindOf<ProgramEvent>, {LaneKind::Programming, LanePart::Call}},
      {kindOf<HrtimerRearm>, {LaneKind::Programming, LanePart::Call}},
  };
  for (const Entry& entry : table) {
    if (entry.kind == kind) return entry.role;
  }
  return {};
}

LaneRoles::LaneRoles(const EventStore& store) {
  const auto recorded = [&](u16 type) {
    for (u32 s = 0; s < store.streams().size(); ++s) {
      if (store.count(type, s)) return true;
    }
    return false;
  };
  const auto types = store.types();
  bool call[3] = {};
  constexpr EventKind calls[3] = {kindOf<ProgramEventProbe>, kindOf<ProgramEvent>,
                                  kindOf<HrtimerRearm>};
  std::vector<bool> seen(types.size());
  for (u16 type = 0; type < types.size(); ++type) {
    seen[type] = recorded(type);
    for (int c = 0; c < 3; ++c) call[c] = call[c] || (seen[type] && types[type].kind == calls[c]);
  }
  const EventKind counted = call[0] ? calls[0] : call[1] ? calls[1] : calls[2];
  roles_.resize(types.size());
  for (u16 type = 0; type < types.size(); ++type) {
    LaneRole role = roleOf(types[type].kind);
    if (role.part == LanePart::Call && types[type].kind != counted) role = {};
    roles_[type] = role;
    if (role.part == LanePart::None || !seen[type]) continue;
    recorded_[number(role.lane)] = true;
    if (role.part == LanePart::Exit) paired_[number(role.lane)] = true;
  }
}

u32 Timeline::lowerBound(const Lane& lane, s64 time) const {
  u32 low = 0;
  u32 high = static_cast<u32>(lane.rows.size());
  while (low < high) {
    const u32 middle = low + (high - low) / 2;
    if (timeAt(lane, middle) < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

u32 Timeline::gallop(const Lane& lane, s64 time, u32 start) const {
  const u32 end = static_cast<u32>(lane.rows.size());
  u32 low = start;
  u32 step = 1;
  u32 high = start;
  while (high < end && timeAt(lane, high) < time) {
    low = high + 1;
    high = end - high > step ? high + step : end;
    step *= 2;
  }
  while (low < high) {
    const u32 middle = low + (high - low) / 2;
    if (timeAt(lane, middle) < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

u64 Timeline::bytes() const {
  u64 sum = tracks.capacity() * sizeof(CpuTrack);
  for (const CpuTrack& track : tracks) {
    sum += track.losses.capacity() * sizeof(LaneLoss);
    for (const Lane& lane : track.lanes) {
      sum += lane.rows.capacity() * sizeof(Row) + lane.times.capacity() * sizeof(s64);
      sum += lane.checkpoints.capacity() * sizeof(LaneState) + lane.pyramid.bytes();
    }
  }
  for (const OverviewRow& row : overview) sum += row.counts.capacity() * sizeof(u32);
  return sum;
}

}  // namespace tickscope
