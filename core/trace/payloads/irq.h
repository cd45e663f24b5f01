// SPDX-License-Identifier: GPL-3.0-or-later
// Softirqs, interrupts and interrupt vectors.
#pragma once

#include "core/trace/field_list.h"

namespace tickscope {

/// Each time, also when already pending.
struct SoftirqRaise {
  static constexpr std::string_view event = "softirq_raise", eventAlias = "";
  u32 vec{};
  using Fields = FieldList<Field<"vec", &SoftirqRaise::vec>>;
};
struct SoftirqEntry {
  static constexpr std::string_view event = "softirq_entry", eventAlias = "";
  u32 vec{};
  using Fields = FieldList<Field<"vec", &SoftirqEntry::vec>>;
};
struct SoftirqExit {
  static constexpr std::string_view event = "softirq_exit", eventAlias = "";
  u32 vec{};
  using Fields = FieldList<Field<"vec", &SoftirqExit::vec>>;
};
/// Around one handler action.
struct IrqHandlerEntry {
  static constexpr std::string_view event = "irq_handler_entry", eventAlias = "";
  s32 irq{};
  StringId name{};
  using Fields =
      FieldList<Field<"irq", &IrqHandlerEntry::irq>, Field<"name", &IrqHandlerEntry::name>>;
};
struct IrqHandlerExit {
  static constexpr std::string_view event = "irq_handler_exit", eventAlias = "";
  s32 irq{};
  s32 ret{};
  using Fields = FieldList<Field<"irq", &IrqHandlerExit::irq>, Field<"ret", &IrqHandlerExit::ret>>;
};
/// x86 APIC timer.
struct LocalTimerEntry {
  static constexpr std::string_view event = "local_timer_entry", eventAlias = "";
  s32 vector{};
  using Fields = FieldList<Field<"vector", &LocalTimerEntry::vector>>;
};
/// Comes before the softirqs that the interrupt runs.
struct LocalTimerExit {
  static constexpr std::string_view event = "local_timer_exit", eventAlias = "";
  s32 vector{};
  using Fields = FieldList<Field<"vector", &LocalTimerExit::vector>>;
};
/// Any other x86 vector; which one is the name of the event.
struct VectorEntry {
  static constexpr std::string_view event = "", eventAlias = "";
  s32 vector{};
  using Fields = FieldList<Field<"vector", &VectorEntry::vector>>;
};
struct VectorExit {
  static constexpr std::string_view event = "", eventAlias = "";
  s32 vector{};
  using Fields = FieldList<Field<"vector", &VectorExit::vector>>;
};

}  // namespace tickscope
