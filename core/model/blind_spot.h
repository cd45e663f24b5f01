// SPDX-License-Identifier: GPL-3.0-or-later
// Where the trace cannot carry a judgement: intervals with a reason.
#pragma once

#include <string_view>

#include "core/base/ids.h"

namespace tickscope {

enum class BlindSpotKind : u8 {
  BeforeEvidence = 1,    ///< B01
  LostEvents,            ///< B02
  NotRecorded,           ///< B03
  CpuOffline,            ///< B04
  Filtered,              ///< B05
  OwnerUnknown,          ///< B06
  SilentModification,    ///< B07
  BaseUnknown,           ///< B08
  SoftOrHardUnknown,     ///< B09
  ClockNotAnchored,      ///< B10
  Suspended,             ///< B11
  ContextNotVisible,     ///< B12
  StaleFlags,            ///< B13
  Identity,              ///< B14
  RemoteRunNotVisible,   ///< B15
  DeferredRearm,         ///< B16
  Hang,                  ///< B17
  NotHighRes,            ///< B18
  EndOfRecording,        ///< B19
  FieldMissing,          ///< B20
  UnlikeClocks,          ///< B21
  OutsideModel,          ///< B22
  ProgrammingNotTraced,  ///< B23
  CpuInferred            ///< B24
};
inline constexpr std::size_t blindSpotKindCount = 25;

/// Rows from <= r < to of one CPU, or of all.
struct BlindSpot {
  BlindSpotKind kind{};
  Known<Cpu> cpu;
  Row from{}, to{};
};

/// "B02"
std::string_view codeOf(BlindSpotKind kind);
/// "events were lost": a clause for a person.
std::string_view reasonOf(BlindSpotKind kind);

}  // namespace tickscope
