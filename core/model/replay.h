// SPDX-License-Identifier: GPL-3.0-or-later
// One forward pass over the rows: applies each event to the model of its CPU and compares.
#pragma once

#include <memory>
#include <vector>

#include "core/base/interner.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/model/call_site.h"
#include "core/model/clock_map.h"
#include "core/model/hindsight.h"
#include "core/model/hrtimer_model.h"
#include "core/model/replay_tables.h"
#include "core/model/wheel_model.h"
#include "core/trace/timer_list_dump.h"

namespace tickscope {

struct ReplayInput {
  const Recording& recording;
  const Buffer& buffer;
  const KernelProfile& profile;
  const ClockMap& clocks;
  const TimerListDump* seed = nullptr;  ///< a dump of hrtimers taken before the recording
  RuleSet rules{};  ///< which generations to predict for; the expected one is added
  bool filtered =
      false;  ///< events of some timers are left out (B05): nothing contradicts the model then
  /// Of a pass over the same buffer under the same wheel; nullptr: made.
  const Hindsight* hindsight = nullptr;
  u32 lastRow = ~u32{0};  ///< rows behind it are left out (learning looks at the beginning only)
};

class Replay {
 public:
  explicit Replay(const ReplayInput& input);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  /// All rows. Cancelled when the progress says so.
  Result<ReplayTables> run(Progress& progress);

  /// Row by row instead, for who looks at the state between: call for 0, 1, ... in order.
  void step(Row row);
  /// The live state after the last step; what stateAt() gives from the tables for that row.
  [[nodiscard]] SystemState snapshot() const;
  ReplayTables finish();
  /// For another pass over the same buffer; this one is over.
  Hindsight takeHindsight();

 private:
  struct CpuNow;
  struct TimerNow;
  /// An operation on hrtimers whose calls are being counted.
  struct Operation {
    OperationKind kind{};
    Row row{};
    Known<TimerId> timer;
    CallsByRule predicted{};
    u32 removalSeen = 0, enqueueSeen = 0;
    bool blind = false;  ///< not judged
    BlindSpotKind why{};
    bool wallClock = false;  ///< of a timer of CLOCK_REALTIME or CLOCK_TAI
    u8 standing = 0;         ///< OperationCount::Flag
  };

  // replay.cpp
  void rowOfCpu(CpuNow& cpu, Row row, EventKind kind);
  void lost(CpuNow& cpu, Row row);
  void checkpoint(Row row);
  void addBlindSpots();
  SpanId open(ArmedSpan span);
  void close(SpanId span, Row row, SpanEnd end);
  /// A cancel that belongs to an expiry or restart in a later row: from here on the timer is not queued.
  void announced(TimerNow& timer, Row row);
  void expiredFromBefore(const TimerNow& timer, Row row, SpanEnd end, u8 base, Cpu owner);
  void expiredUnarmed(CpuNow& cpu, Row row, const TimerNow& timer, u8 base);
  TimerNow& timer(TimerClass of, Address address);
  TimerNow& timer(TimerClass of, Address address, Row row);
  [[nodiscard]] bool excused(const TimerNow& timer, Row row) const;
  [[nodiscard]] bool gapBetween(Row after, Row row) const;
  [[nodiscard]] bool isUncertain(const ArmedSpan& span, Row row) const;
  TimerNow& initialised(TimerClass of, Address address, Row row);
  void clockSteps(Row row);
  void findClockSteps();
  [[nodiscard]] bool isTick(Address function) const;
  void differs(DiscrepancyKind kind, Row row, const CpuNow& cpu, Known<TimerId> timer,
               Known<s64> model = {}, Known<s64> trace = {});
  [[nodiscard]] bool softirqsTold() const;
  void wentIdle(CpuNow& cpu, Row row);
  void judge(std::size_t invariant, Known<bool> outcome,
             BlindSpotKind why = BlindSpotKind::BeforeEvidence);
  CpuNow* cpuNow(Cpu cpu);
  void seed(const TimerListDump& dump);
  Known<SpanId> takeSeed(const CpuNow* cpu, Address function, Known<s64> now);
  void adopt(TimerNow& timer, SpanId seeded, Address address);
  void recordLines(CpuNow& cpu, Row row);
  void countChange(Cpu owner, Row row);

  // apply_wheel.cpp
  void apply(CpuNow& cpu, Row row, const TimerStart& event);
  void apply(CpuNow& cpu, Row row, const TimerCancel& event);
  void apply(CpuNow& cpu, Row row, const TimerExpireEntry& event);
  void apply(CpuNow& cpu, Row row, const TimerExpireExit& event);
  void endOfTimerSoftirq(CpuNow& cpu, Row row);
  void judgeRaise(CpuNow& cpu, Row row);
  WheelBaseKind wheelBaseOf(u32 flags) const;
  bool announcesExpiry(CpuNow& cpu, Row row, Address timer) const;
  bool startsAgain(Row row, Address timer) const;

  // apply_hrtimer.cpp
  void init(Row row, Address timer, s32 clockid, u32 mode);
  void apply(CpuNow& cpu, Row row, const HrtimerStart& event, u32 startNumber);
  void apply(CpuNow& cpu, Row row, const HrtimerCancel& event);
  void apply(CpuNow& cpu, Row row, const HrtimerExpireEntry& event);
  void apply(CpuNow& cpu, Row row, const HrtimerExpireExit& event);
  void apply(Row row, const HrtimerStartExpired& event);
  void removed(Row row, TimerNow& timer);
  [[nodiscard]] u8 standingOf(const CpuNow& cpu, SpanId span, ClockBase base) const;
  [[nodiscard]] bool wallClockNear(const CpuNow& cpu, MonoTime x) const;
  Cpu ownerOf(CpuNow& cpu, Row row, const HrtimerStart& event, u32 startNumber,
              const TimerNow& timer, bool& inferred) const;
  ClockBase baseOf(const HrtimerStart& event, const TimerNow& timer, bool& guessed) const;
  /// When the device would have to fire; a range while the offset of the clock is one of two (it was set between).
  struct MonoRange {
    MonoTime least, most;
    MonoTime asBefore;  ///< with the offset that was in force before
  };
  Known<MonoRange> monoRangeOf(s64 expires, ClockBase base, Row row) const;
  Known<MonoTime> monoOf(s64 expires, ClockBase base, Row row) const;
  enum class CancelMeaning : u8 { Cancel, Restart, Expiry };
  CancelMeaning meaningOf(Row row, Address timer) const;
  void refreshFloor(CpuNow& cpu, Row row);

  // apply_programming.cpp
  void call(CpuNow& cpu, Row row, CallSite site, Known<MonoTime> value);
  void beginInterrupt(CpuNow& cpu, Row row);
  void beginPass(CpuNow& cpu, Row row);
  void endPass(CpuNow& cpu, Row row, Known<MonoTime> value);
  void endInterrupt(CpuNow& cpu, Row row);
  u32 leadingCalls(CpuNow& cpu, Row row, bool takesLeading, bool& unclear);
  void retriggered(CpuNow& cpu, Row row);
  void closeOperation(CpuNow& cpu);
  void judgeOperation(CpuNow& cpu, const Operation& operation);
  void programmed(CpuNow& cpu, Row row, Known<MonoTime> value);
  void endOfHrtimerSoftirq(CpuNow& cpu, Row row);
  [[nodiscard]] bool softPassGoesOn(const CpuNow& cpu, Row row) const;

  // apply_hotplug.cpp
  void findDeaths();
  [[nodiscard]] bool hasRows(EventKind kind) const;
  [[nodiscard]] bool showsWheelExpiries() const;
  void died(CpuNow& cpu, Row row);
  void cameUp(CpuNow& cpu, Row row);
  void tickMadeAnew(Row row);

  ReplayInput in_;
  const EventStore& store_;
  Hindsight hindsight_;
  CallSites callSites_;
  HrtimerRule rule_;  ///< by which is judged
  bool ruleKnown_;
  WheelRules wheelRules_;
  bool restartsVisible_;  ///< hrtimer_cancel is emitted for restarts (HT0, HT1)
  bool wasArmedRecorded_ = false, modeRecorded_ = false;
  bool wheelComplete_ = false,
       hrtimersComplete_ = false;   ///< all that begins and ends a span is recorded
  bool wheelExpiriesTold_ = false;  ///< which of the ends are expiries as well
  bool callsTraced_ = false, callsByProbe_ = false, softirqsTraced_ = false, raisesTraced_ = false;
  std::vector<Cpu> cpuNumbers_;
  std::vector<std::size_t> cpuOfStream_;
  std::vector<std::unique_ptr<CpuNow>> cpus_;
  std::vector<bool> transparent_;  ///< by type: rows that stand between an operation and its call
  AddressPool wheelAddresses_, hrtimerAddresses_;
  std::vector<TimerNow> wheelTimers_, hrtimers_;
  std::vector<SpanId> open_;      ///< open spans
  std::vector<u32> placeInOpen_;  ///< by span
  std::vector<SpanId> unplaced_;  ///< open hrtimer spans whose CPU is not known
  std::vector<SpanId> unsure_;    ///< open hrtimer spans whose monotonic expiry is a range
  u32 starts_ = 0;
  Row now_ = noRow;
  u32 nextCheckpoint_ = 0;
  struct Death {
    Cpu cpu;
    Row last;  ///< the last row of that CPU while it was online
  };
  std::vector<Death> deaths_;  ///< by row
  std::size_t nextDeath_ = 0;
  /// The offset of a clock base to CLOCK_MONOTONIC becomes another one somewhere between two rows.
  struct ClockStep {
    Row row;
    ClockBase base;
    bool known;  ///< from this row on the new offset is in force; before: one of the two
    s64 change = 0;
  };
  std::vector<ClockStep> clockSteps_;  ///< by row
  std::size_t nextClockStep_ = 0;
  std::vector<Address> tickFunctions_;
  struct Coverage {
    Row first, last;
  };
  std::vector<Coverage>
      coverage_;            ///< of streams; one of no rows stands for CPUs that were not recorded
  bool orderKnown_ = true;  ///< rows of different CPUs stand in the order in which they happened
  std::size_t nextLoss_ = 0;
  struct Gap {
    Row from, to;
  };
  std::vector<Gap> gaps_;     ///< rows of other CPUs that stand inside a gap, by their end
  std::vector<Loss> losses_;  ///< by row
  struct Seed {
    SpanId span;
    std::size_t cpu;
    Address function;
  };
  std::vector<Seed> seeds_;  ///< timers of the dump that no row has named yet
  ReplayTables tables_;
};

}  // namespace tickscope
