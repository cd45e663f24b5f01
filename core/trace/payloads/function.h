// SPDX-License-Identifier: GPL-3.0-or-later
// Traced functions, markers, and records that are kept as bytes.
#pragma once

#include "core/trace/field_list.h"

namespace tickscope {

/// Function tracer; ip may lie a few bytes behind the symbol.
struct Function {
  static constexpr std::string_view event = "function", eventAlias = "";
  Address ip{};
  Address parentIp{};
  using Fields = FieldList<Field<"ip", &Function::ip>, Field<"parent_ip", &Function::parentIp>>;
};
/// Function tracer on tick_program_event: one programming call.
struct ProgramEvent {
  static constexpr std::string_view event = "", eventAlias = "";
  Address ip{};
  Address parentIp{};
  using Fields =
      FieldList<Field<"ip", &ProgramEvent::ip>, Field<"parent_ip", &ProgramEvent::parentIp>>;
};
/// Kprobe or fprobe on entry to tick_program_event, whatever its name.
struct ProgramEventProbe {
  static constexpr std::string_view event = "", eventAlias = "";
  Address probeIp{};
  s64 expires{};
  s32 force{};
  RawRef raw;
  using Fields =
      FieldList<Field<"__probe_ip", &ProgramEventProbe::probeIp>,
                Field<"expires", &ProgramEventProbe::expires>,
                Field<"force", &ProgramEventProbe::force>, RawField<&ProgramEventProbe::raw>>;
};
/// Return probe of tick_program_event: 0, or -62 when already past.
struct ProgramEventReturn {
  static constexpr std::string_view event = "", eventAlias = "";
  Address probeFunc{};
  Address probeRetIp{};
  s64 ret{};
  RawRef raw;
  using Fields =
      FieldList<Field<"__probe_func", &ProgramEventReturn::probeFunc>,
                Field<"__probe_ret_ip", &ProgramEventReturn::probeRetIp>,
                Field<"ret", &ProgramEventReturn::ret>, RawField<&ProgramEventReturn::raw>>;
};
/// Stands for `count` further calls.
struct FuncRepeats {
  static constexpr std::string_view event = "func_repeats", eventAlias = "";
  Address ip{};
  Address parentIp{};
  u16 count{};
  u16 topDeltaTs{};
  u32 bottomDeltaTs{};
  using Fields =
      FieldList<Field<"ip", &FuncRepeats::ip>, Field<"parent_ip", &FuncRepeats::parentIp>,
                Field<"count", &FuncRepeats::count>,
                Field<"top_delta_ts", &FuncRepeats::topDeltaTs>,
                Field<"bottom_delta_ts", &FuncRepeats::bottomDeltaTs>>;
};
struct FuncgraphEntry {
  static constexpr std::string_view event = "funcgraph_entry", eventAlias = "";
  Address func{};
  s32 depth{};
  using Fields =
      FieldList<Field<"func", &FuncgraphEntry::func>, Field<"depth", &FuncgraphEntry::depth>>;
};
/// Times in the trace clock; retval since 6.5.
struct FuncgraphExit {
  static constexpr std::string_view event = "funcgraph_exit", eventAlias = "";
  Address func{};
  u64 retval{};
  s32 depth{};
  u32 overrun{};
  u64 calltime{};
  u64 rettime{};
  using Fields =
      FieldList<Field<"func", &FuncgraphExit::func>, Field<"retval", &FuncgraphExit::retval>,
                Field<"depth", &FuncgraphExit::depth>, Field<"overrun", &FuncgraphExit::overrun>,
                Field<"calltime", &FuncgraphExit::calltime>,
                Field<"rettime", &FuncgraphExit::rettime>>;
};
/// trace_marker, trace_printk.
struct Print {
  static constexpr std::string_view event = "print", eventAlias = "";
  Address ip{};
  StringId buf{};
  using Fields = FieldList<Field<"ip", &Print::ip>, Field<"buf", &Print::buf>>;
};
/// Str is an address of a kernel string.
struct Bputs {
  static constexpr std::string_view event = "bputs", eventAlias = "";
  Address ip{};
  Address str{};
  using Fields = FieldList<Field<"ip", &Bputs::ip>, Field<"str", &Bputs::str>>;
};
/// Anything else: bytes, read again when shown.
struct Raw {
  static constexpr std::string_view event = "", eventAlias = "";
  RawRef raw;
  using Fields = FieldList<RawField<&Raw::raw>>;
};

}  // namespace tickscope
