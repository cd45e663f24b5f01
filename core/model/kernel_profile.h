// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of the traced kernel: facts with values, evidence and confidence.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"

namespace tickscope {

/// Where a fact comes from, strongest first (the kernel profile's evidence classes).
enum class EvidenceClass : u8 { User, Format, Symbol, Listing, Behaviour, Version };

struct Evidence {
  EvidenceClass of{};
  std::string text;  ///< a clause for a person: "hrtimer_start has the field was_armed"
};

/// A fact is kept twice: what formats, symbols, versions and the user lead to expect, and what the kernel was
/// seen to do. Where the two differ a finding says so; judging goes by `expected`.
template <class T>
struct Fact {
  Known<T> expected, observed;
  double confidence = 0;      ///< 0..1, of `expected`
  double seenConfidence = 0;  ///< 0..1, of `observed`
  bool contradicted = false;  ///< evidence of a stronger class excludes that of a weaker one (X19)
  /// Facts of an enumeration: bit i says that value i is left by the user, formats, symbols, listings and the oldest rule
  /// of the version. 0: not followed.
  u32 possible = 0;
  std::vector<Evidence> evidence;
  /// Invariants go by a fact only from 0.8 on.
  [[nodiscard]] Known<T> judged() const { return confidence >= 0.8 ? expected : Known<T>{}; }
};

/// Evidence classes as a person reads them: "user", "format", "symbol", "listing", "behaviour", "version".
std::string_view nameOf(EvidenceClass evidenceClass);

enum class NoHz : u8 { Off, Idle, Full };
enum class TickFunction : u8 { TickSchedTimer, TickNohzHandler };
enum class WheelKind : u8 { Cascade, Levels };  ///< before 4.8, since 4.8
enum class WheelBases : u8 {
  One,
  StdDef,
  LocalGlobalDef
};                                                  ///< no NO_HZ_COMMON, before 6.9, since 6.9
enum class ForwardRule : u8 { F0, F1, F2 };         ///< who moves base->clk on arm
enum class NextRule : u8 { NX0, NX1 };              ///< when next_expiry is kept (5.9)
enum class RaiseRule : u8 { SR0, SR1, SR2, SR3 };   ///< when a tick raises TIMER_SOFTIRQ
enum class WheelTrace : u8 { WT0, WT1, WT2, WT3 };  ///< how far timer_start can be trusted
enum class HrtimerRule : u8 { RP, R0, R1, R2, R3, R4, R5 };  ///< generations of programming rules
inline constexpr std::size_t hrtimerRuleCount = 7;
enum class HrtimerTrace : u8 {
  HT0,
  HT1,
  HT2
};  ///< which operations emit hrtimer_cancel besides cancels
enum class SoftirqThread : u8 { None, Ksoftirqd, Ktimersoftd, Ktimers };

/// A set of CPUs, ascending.
using CpuList = std::vector<Cpu>;

struct KernelProfile {
  Fact<u8> wordBits;  ///< 32 or 64
  Fact<u32> hz;
  Fact<bool> highRes;
  Fact<NoHz> noHz;
  Fact<TickFunction> tickFunction;
  Fact<WheelKind> wheel;
  Fact<u8> depth;  ///< levels: 8 or 9
  Fact<WheelBases> bases;
  Fact<ForwardRule> forward;
  Fact<NextRule> next;
  Fact<RaiseRule> raise;
  Fact<WheelTrace> wheelTrace;
  Fact<HrtimerRule> hrtimer;
  Fact<HrtimerTrace> hrtimerTrace;
  Fact<bool> rt;
  Fact<SoftirqThread> softirqThread;
  Fact<bool> threadIrqs;
  Fact<bool> skew;
  Fact<CpuList> isolated;
  Fact<CpuList> noHzFull;
  Fact<bool> clampBug;
};

/// Calls f(name, fact) for each fact in the order of KernelProfile; `name` is what --fact takes.
template <class Profile, class F>
void forEachFact(Profile&& profile, F&& f) {
  f("w", profile.wordBits);
  f("hz", profile.hz);
  f("hres", profile.highRes);
  f("nohz", profile.noHz);
  f("tick_function", profile.tickFunction);
  f("wheel", profile.wheel);
  f("depth", profile.depth);
  f("bases", profile.bases);
  f("fwd", profile.forward);
  f("next", profile.next);
  f("raise", profile.raise);
  f("wtrace", profile.wheelTrace);
  f("hrule", profile.hrtimer);
  f("htrace", profile.hrtimerTrace);
  f("rt", profile.rt);
  f("softirq_thread", profile.softirqThread);
  f("threadirqs", profile.threadIrqs);
  f("skew", profile.skew);
  f("isolated", profile.isolated);
  f("nohz_full", profile.noHzFull);
  f("clampbug", profile.clampBug);
}

/// The values of an enumeration in its order, as --fact takes them (case ignored) and listings print them.
template <class E>
std::span<const std::string_view> valueNames();
template <>
std::span<const std::string_view> valueNames<NoHz>();
template <>
std::span<const std::string_view> valueNames<TickFunction>();
template <>
std::span<const std::string_view> valueNames<WheelKind>();
template <>
std::span<const std::string_view> valueNames<WheelBases>();
template <>
std::span<const std::string_view> valueNames<ForwardRule>();
template <>
std::span<const std::string_view> valueNames<NextRule>();
template <>
std::span<const std::string_view> valueNames<RaiseRule>();
template <>
std::span<const std::string_view> valueNames<WheelTrace>();
template <>
std::span<const std::string_view> valueNames<HrtimerRule>();
template <>
std::span<const std::string_view> valueNames<HrtimerTrace>();
template <>
std::span<const std::string_view> valueNames<SoftirqThread>();

template <class E>
  requires std::is_enum_v<E>
std::string valueText(E value) {
  return std::string(valueNames<E>()[static_cast<std::size_t>(value)]);
}
std::string valueText(bool value);  ///< "yes", "no"
std::string valueText(u8 value);
std::string valueText(u32 value);
std::string valueText(const CpuList& cpus);  ///< "0-2,5"; "none" when empty

/// A fact as text, for listings: name, both values, confidence, evidence. In the order of KernelProfile, names as
/// --fact takes them.
struct FactText {
  std::string_view name;
  std::string expected, observed;  ///< empty: unknown
  std::string possible;  ///< values left where more than one is and not all: "R1, R2"; else empty
  double confidence = 0, seenConfidence = 0;
  bool contradicted = false;
  std::vector<Evidence> evidence;
};
std::vector<FactText> factTexts(const KernelProfile& profile);

}  // namespace tickscope
