// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a timer list, from a state and from a dump, by the same functions.
#include "core/model/state_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "core/base/shown_text.h"
#include "core/base/time_text.h"
#include "core/trace/address_text.h"
#include "core/trace/event_text.h"

namespace tickscope {

namespace {

constexpr std::string_view unknown = "unknown";

template <class... T>
void add(std::string& out, fmt::format_string<T...> format, T&&... values) {
  fmt::format_to(std::back_inserter(out), format, std::forward<T>(values)...);
}

std::string numberText(Known<s64> value) {
  return value ? fmt::format("{}", *value) : std::string(unknown);
}
std::string bitText(Known<bool> value) {
  return value ? std::string(*value ? "1" : "0") : std::string(unknown);
}
std::string numberText(Known<u64> value) {
  return value ? fmt::format("{}", *value) : std::string(unknown);
}
/// As the kernel prints ktime_t.
std::string nsecs(Known<MonoTime> value) {
  return value ? fmt::format("{} nsecs", static_cast<u64>(value->value)) : std::string(unknown);
}
std::string nsecsOrNone(Known<MonoTime> value) { return value == never ? "none" : nsecs(value); }

/// Differences wrap as in the kernel.
Known<s64> until(Known<s64> then, Known<MonoTime> now) {
  if (!then || !now) return {};
  return static_cast<s64>(static_cast<u64>(*then) - static_cast<u64>(now->value));
}

struct BaseHead {
  std::size_t index;
  std::string resolution;
  std::string getTime;
  Known<std::string> offset;  ///< empty: a kernel without high resolution prints none
};

std::string_view getTimeOf(std::size_t index) {
  constexpr std::array<std::string_view, 4> functions{"ktime_get", "ktime_get_real",
                                                      "ktime_get_boottime", "ktime_get_clocktai"};
  return functions[index % functions.size()];
}

void head(std::string& out, Known<u64> bases, Known<MonoTime> now) {
  if (bases) add(out, "HRTIMER_MAX_CLOCK_BASES: {}\n", *bases);
  add(out, "now at {}\n", nsecs(now));
}

void baseHead(std::string& out, const BaseHead& base) {
  add(out, " clock {}:\n  .index:      {}\n  .resolution: {}\n  .get_time:   {}\n", base.index,
      base.index, base.resolution, base.getTime);
  if (base.offset) add(out, "  .offset:     {}\n", *base.offset);
  out += "active timers:\n";
}

void timerLines(std::string& out, std::size_t place, std::string_view name, Known<s64> soft,
                Known<s64> hard, Known<MonoTime> now) {
  const auto time = [](Known<s64> value) {
    return value ? fmt::format("{}", static_cast<u64>(*value)) : std::string(unknown);
  };
  add(out, " #{}: {}\n # expires at {}-{} nsecs [in {} to {} nsecs]\n", place, name, time(soft),
      time(hard), numberText(until(soft, now)), numberText(until(hard, now)));
}

void cpuTail(std::string& out, std::string_view expiresNext, std::string_view highRes) {
  add(out, "  .expires_next   : {}\n  .hres_active    : {}\n", expiresNext, highRes);
}

bool wanted(std::span<const u32> cpus, Cpu cpu) {
  return cpus.empty() || std::ranges::binary_search(cpus, u32{number(cpu)});
}

}  // namespace

std::string_view nameOf(ClockBase base) {
  constexpr std::array<std::string_view, clockBaseCount> names{
      "MONO", "REAL", "BOOT", "TAI", "MONO_SOFT", "REAL_SOFT", "BOOT_SOFT", "TAI_SOFT"};
  return names[number(base)];
}

std::string_view nameOf(WheelBaseKind kind, std::size_t count) {
  switch (kind) {
    case WheelBaseKind::LocalOrStd:
      return count == wheelBaseCount ? "LOCAL" : "STD";
    case WheelBaseKind::Global:
      return "GLOBAL";
    case WheelBaseKind::Def:
      break;
  }
  return "DEF";
}

Known<Address> plainPointer(std::string_view pointer) {
  if (pointer.starts_with("0x")) pointer.remove_prefix(2);
  u64 value = 0;
  const char* const end = pointer.data() + pointer.size();
  const auto [stop, error] = std::from_chars(pointer.data(), end, value, 16);
  if (error != std::errc{} || stop != end || value >> 32U == 0) return {};
  return static_cast<Address>(value);
}

std::string timerListText(const TimerListDump& dump, std::span<const u32> cpus) {
  std::string out;
  head(out, dump.hrtimerMaxClockBases, dump.now);
  for (const ListedCpu& cpu : dump.cpus) {
    if (!wanted(cpus, cpu.cpu)) continue;
    add(out, "\ncpu: {}\n", number(cpu.cpu));
    for (const ListedBase& base : cpu.bases) {
      BaseHead top{
          base.index,
          base.resolution ? fmt::format("{} nsecs", *base.resolution) : std::string(unknown),
          base.getTime.empty() ? std::string(getTimeOf(base.index)) : shown(base.getTime),
          {}};
      if (base.offset) top.offset = fmt::format("{} nsecs", *base.offset);
      baseHead(out, top);
      for (std::size_t i = 0; i < base.timers.size(); ++i) {
        const ListedTimer& timer = base.timers[i];
        std::string name;
        if (plainPointer(timer.pointer)) name = "<" + shown(timer.pointer) + ">, ";
        name += shown(timer.function) + ", " + shown(timer.state);
        timerLines(out, i, name, timer.softExpires.value, timer.expires.value, dump.now);
      }
    }
    const auto value = [&](std::string_view name) {
      const auto found = std::ranges::find(cpu.values, name, &ListedValue::name);
      return found == cpu.values.end() ? std::string(unknown) : shown(found->value);
    };
    cpuTail(out, value(".expires_next"), value(".hres_active"));
  }
  return out;
}

std::string StateText::function(Address address) const {
  std::string text;
  if (address == Address{0}) return text;
  AddressText(*recording_.metadata.symbols, recording_.metadata.wordSize)
      .function(text, static_cast<u64>(address));
  return shown(text);
}

std::string StateText::pointer(Address address) const {
  if (address == Address{0}) return {};
  std::string text = "<";
  AddressText(*recording_.metadata.symbols, recording_.metadata.wordSize)
      .pointer(text, static_cast<u64>(address));
  return text + ">, ";
}

std::size_t StateText::bases() const {
  // Soft bases came with the rule R0.
  return profile_.hrtimer.expected == HrtimerRule::RP ? 4 : clockBaseCount;
}

void StateText::hrtimer(std::string& out, std::size_t place, const StateTimer& timer,
                        Known<MonoTime> now) const {
  const std::string name = function(timer.function);
  timerLines(out, place,
             pointer(timer.address) + (name.empty() ? std::string(unknown) : name) + ", S:01",
             timer.second, timer.expires, now);
}

std::string StateText::timerList(const SystemState& state, const StateInstant& at,
                                 std::span<const u32> cpus) const {
  std::string out;
  Known<MonoTime> now;
  if (at.mono) now = at.mono->value;
  head(out, bases(), now);
  const Known<bool> highRes = profile_.highRes.judged();
  for (const CpuState& cpu : state.cpus) {
    // A dump lists the CPUs that are online.
    if (!wanted(cpus, cpu.cpu) || !cpu.online) continue;
    add(out, "\ncpu: {}\n", number(cpu.cpu));
    for (std::size_t index = 0; index < bases(); ++index) {
      const auto base = static_cast<ClockBase>(index);
      const auto offset = clocks_.boundedOffset(base, state.row);
      std::string resolution(unknown);
      if (highRes && *highRes) resolution = "1 nsecs";
      if (highRes && !*highRes && profile_.hz.judged()) {
        resolution = fmt::format("{} nsecs", ClockMap::tickNs(*profile_.hz.judged()));
      }
      // An offset that is known to some microseconds only is no line of a dump.
      std::string offsetText(unknown);
      if (offset && offset->error.value == 0) offsetText = fmt::format("{} nsecs", offset->value);
      baseHead(out, {index, resolution, std::string(getTimeOf(index)), offsetText});
      const auto& timers = cpu.hrtimers[index];
      for (std::size_t i = 0; i < timers.size(); ++i) hrtimer(out, i, timers[i], now);
    }
    cpuTail(out, nsecs(cpu.expiresNext), highRes ? (*highRes ? "1" : "0") : unknown);
  }
  return out;
}

std::string StateText::armed(const StateTimer& timer) const {
  std::string text;
  if (!timer.armedRow) {
    text = timer.flags & ArmedSpan::Seeded ? "armed before the recording, known from the timer list"
                                           : "armed before the recording";
  } else {
    text = fmt::format("armed at event:{}", number(*timer.armedRow));
    if (timer.flags & ArmedSpan::MovedHere) {
      text = fmt::format("moved here at event:{}", number(*timer.armedRow));
    } else if (timer.flags & ArmedSpan::Restart) {
      text += " by its callback";
    } else if (timer.armedBy) {
      text += fmt::format(" by {}-{}", shown(EventText(recording_, buffer_).comm(*timer.armedBy)),
                          number(*timer.armedBy));
    } else {
      text += " in an interrupt";
    }
  }
  if (timer.flags & ArmedSpan::Uncertain) text += ", events were lost since";
  if (timer.flags & ArmedSpan::Resynced) text += ", corrected by the trace";
  if (timer.flags & ArmedSpan::OwnerInferred) text += ", CPU known from a later event";
  if (timer.flags & ArmedSpan::Deferrable) text += ", deferrable";
  return text;
}

void StateText::wheelTimer(std::string& out, std::size_t place, const StateTimer& timer) const {
  const std::string name = function(timer.function);
  add(out, " #{}: {}{}", place, pointer(timer.address), name.empty() ? unknown : name);
  if (timer.second) {
    add(out, ", level {}, idx {}", timer.bucketIndex / 64, timer.bucketIndex);
  }
  const auto jiffies = [](Known<s64> value) {
    return value ? fmt::format("{}", static_cast<u64>(*value)) : std::string(unknown);
  };
  add(out, "\n # expires at {}, bucket {} jiffies, {}\n", jiffies(timer.expires),
      jiffies(timer.second), armed(timer));
}

void StateText::cpuRest(std::string& out, const CpuState& cpu) const {
  add(out, "\ncpu: {}{}\n", number(cpu.cpu), cpu.online ? "" : " (offline)");
  add(out, "  .softirq_expires_next: {}\n", nsecsOrNone(cpu.softirqExpiresNext));
  add(out, "  .softirq_activated   : {}\n", bitText(cpu.softirqActivated));
  add(out, "  .in_interrupt        : {}\n", bitText(cpu.inInterrupt));
  add(out, "  .programmed          : {}\n", nsecsOrNone(cpu.programmed));
  for (const BlindSpotKind kind : cpu.unknown) {
    add(out, "  not all is known     : {} {}\n", codeOf(kind), reasonOf(kind));
  }
  for (std::size_t index = 0; index < clockBaseCount; ++index) {
    const auto& timers = cpu.hrtimers[index];
    for (std::size_t i = 0; i < timers.size(); ++i) {
      add(out, " clock {} #{}: {}\n", index, i, armed(timers[i]));
    }
  }
  for (const WheelBaseState& base : cpu.wheel) {
    add(out, " wheel {}:\n  .clk:         {}\n  .next_expiry: {}\npending timers:\n",
        nameOf(base.kind, cpu.wheel.size()), numberText(base.clk), numberText(base.nextExpiry));
    for (std::size_t i = 0; i < base.timers.size(); ++i) wheelTimer(out, i, base.timers[i]);
  }
}

std::string StateText::rest(const SystemState& state, const StateInstant& at,
                            std::span<const u32> cpus) const {
  std::string out;
  const EventText text(recording_, buffer_);
  add(out, "State after event:{} at {} on CPU {}: {}\n", number(state.row),
      timeText(state.time, buffer_.clock.unit), number(buffer_.events.cpu(state.row)),
      shown(text.eventName(state.row)));
  if (!at.mono) {
    out += "Monotonic time unknown\n";
  } else {
    add(out, "Monotonic time {} s", secondsText(static_cast<u64>(at.mono->value.value)));
    if (at.mono->error.value) add(out, " +- {} ns", at.mono->error.value);
    out += '\n';
  }
  const auto jiffies = at.mono ? clocks_.jiffies(*at.mono) : Known<JiffyRange>{};
  if (!jiffies) {
    out += "Jiffies unknown\n";
  } else if (jiffies->earliest == jiffies->latest) {
    add(out, "Jiffies {}\n", clocks_.recordedJiffies(jiffies->latest));
  } else {
    add(out, "Jiffies {} to {}\n", clocks_.recordedJiffies(jiffies->earliest),
        clocks_.recordedJiffies(jiffies->latest));
  }
  for (const CpuState& cpu : state.cpus) {
    if (wanted(cpus, cpu.cpu)) cpuRest(out, cpu);
  }
  if (!cpus.empty() || state.ownerUnknown.empty()) return out;
  out += "\nTimers whose CPU or base is not known\n";
  std::size_t place = 0;
  for (const StateTimer& timer : state.ownerUnknown) {
    const ModelTimer& model = tables_.timers[number(timer.timer)];
    if (model.of == TimerClass::Wheel) {
      wheelTimer(out, place++, timer);
      continue;
    }
    Known<MonoTime> now;
    if (at.mono) now = at.mono->value;
    hrtimer(out, place++, timer, now);
    const ArmedSpan& span = tables_.spans[number(timer.span)];
    add(out, " # clock {}{}, {}\n", number(span.clockBase()), model.baseGuessed ? " (perhaps)" : "",
        armed(timer));
  }
  return out;
}

}  // namespace tickscope
