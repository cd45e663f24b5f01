// SPDX-License-Identifier: GPL-3.0-or-later
// From the formats of a file to what is done with each record: its type, and where each field goes.
#pragma once

#include <memory>
#include <vector>

#include "core/trace/event_store.h"
#include "core/trace/import_log.h"
#include "core/trace/symbols.h"
#include "importers/trace_dat/container.h"
#include "importers/trace_dat/format_text.h"

namespace tickscope::trace_dat {

/// Brings one member of a payload from the record to its place in the store.
struct FieldMove {
  enum class How : u8 {
    Integer,  ///< `width` bytes, sign- or zero-extended to `to` bytes
    Address,  ///< an integer, as a number of the pool
    Chars,    ///< fixed characters up to NUL
    Dynamic,  ///< dynamic characters
    Mask,     ///< dynamic CPU mask of longs, as the kernel prints it
    Tail,     ///< characters to the end of the record
    Task,     ///< comm, pid, prio, each anywhere or missing
    Place,    ///< where the record lies
    Check     ///< dynamic data that no member takes: only that it lies in the record
  } how{};
  u16 offset = 0;  ///< from the record's start
  u16 width = 0;   ///< bytes in the record
  bool isSigned = false;
  bool relative =
      false;  ///< dynamic data counted from the end of the field, not from the record's start
  u8 at = 0;  ///< place in the stored payload
  u8 to = 0;  ///< bytes there
  u16 pid = 0, prio = 0;  ///< offsets, Task only; `missing` like `offset` when not recorded
  static constexpr u16 missing = 0xffff;
};

struct DecodePlan;
struct DecodeTarget;
/// Writes the stored payload. Precondition: the record has plan.least bytes.
using DecodeFunction = void (*)(const DecodePlan& plan, const u8* record, u32 length, u8* to,
                                DecodeTarget& target);

struct DecodePlan {
  u16 type = 0;     ///< index of the EventType
  u16 rawType = 0;  ///< the same event as bytes, for records that are too short
  u32 least = 0;    ///< bytes that a record must have
  DecodeFunction decode = nullptr;
  StoredLayout layout;                    ///< of `type`
  std::array<u16, maxMembers> offsets{};  ///< by member, for functions that know the widths
  std::vector<FieldMove> moves;           ///< for the function that knows nothing
  /// Rows whose instruction pointer (at ipOffset) lies in [programFrom, programFrom + programSize) are of
  /// `programType`; the moves are that type's.
  u16 programType = 0;
  u16 ipOffset = 0;
  u64 programFrom = 0, programSize = 0;
  bool probe = false;    ///< otherwise rows stay of rawType
  bool byPlace = false;  ///< the type depends on the instruction pointer
};

/// Where the common fields of all events lie.
struct CommonFields {
  u16 typeOffset = 0;
  u8 typeSize = 2;
  u16 flagsOffset = 2, preemptOffset = 3, pidOffset = 4;
  u32 least = 8;      ///< bytes that a record must have to hold them all
  bool usual = true;  ///< type 2 bytes at 0, flags at 2, preempt count at 3, pid at 4
};

/// Everything that decoding needs to know; read by all threads.
struct Binding {
  RingLayout ring;
  CommonFields common;
  std::vector<EventType> types;  ///< [0]: records of ids without a format
  std::vector<EventFormat> formats;
  std::vector<u32> formatOfType;  ///< index into formats; ~0: none
  std::vector<DecodePlan> plans;
  std::vector<u16> planOfId;  ///< 65,536 of them; index into plans + 1, 0: no format
};

/// What decoding a record needs beside it.
struct DecodeTarget {
  Pools& pools;
  bool swap;
  bool bigEndian;
  u8 wordSize;
  RawRef place;        ///< of the record being decoded
  u64 badStrings = 0;  ///< dynamic strings that lie outside their record

  /// The task met last in sched_switch (0) and in other events (1): the next record names it again more often than not,
  /// and comparing costs less than hashing.
  struct LastTask {
    TaskBlock block{};
    u32 id = ~0U;
  };
  std::array<LastTask, 2> lastTasks{};
  u32 taskId(const TaskBlock& block, bool ofSwitch) {
    LastTask& last = lastTasks[ofSwitch ? 0 : 1];
    if (last.id == ~0U || last.block != block) last = {block, pools.tasks.intern(block)};
    return last.id;
  }
};

/// Parses and binds the formats; what is wrong with them goes to the log.
Binding bindFormats(const Container& container, ImportLog& log);

/// A CPU mask as the kernel prints it: 32-bit groups in hex, the highest first (lib/bitmap.c, %*pb).
std::string maskText(Bytes words, bool bigEndian, u8 wordSize);

}  // namespace tickscope::trace_dat
