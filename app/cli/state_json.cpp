// SPDX-License-Identifier: GPL-3.0-or-later
// A state for programs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/model_report.h"
#include "core/base/shown_text.h"
#include "core/trace/event_text.h"

namespace tickscope {

namespace {

template <class T>
OrderedJson valueOrNull(const Known<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}
OrderedJson nsOrNull(const Known<MonoTime>& value) {
  return value ? OrderedJson(value->value) : OrderedJson();
}

class StateJson {
 public:
  explicit StateJson(const Analysis& analysis)
      : analysis_(analysis),
        names_(*analysis.recording, analysis.opened(), analysis.profile, analysis.clocks,
               analysis.tables),
        text_(*analysis.recording, analysis.opened()) {}

  [[nodiscard]] OrderedJson timer(const StateTimer& timer) const {
    const ModelTimer& model = analysis_.tables.timers[number(timer.timer)];
    const bool wheel = model.of == TimerClass::Wheel;
    OrderedJson json;
    json["timer"] = timer.address == Address{0}
                        ? OrderedJson()
                        : OrderedJson(fmt::format("0x{:x}", static_cast<u64>(timer.address)));
    json["function"] = textOrNull(names_.function(timer.function));
    if (wheel) {
      json["expires"] = jiffies(timer.expires);
      json["bucket_expiry"] = jiffies(timer.second);
      json["idx"] = timer.second ? OrderedJson(timer.bucketIndex) : OrderedJson();
    } else {
      json["softexpires"] = valueOrNull(timer.second);
      json["expires"] = valueOrNull(timer.expires);
    }
    json["armed_row"] = timer.armedRow ? OrderedJson(number(*timer.armedRow)) : OrderedJson();
    json["armed_by"] = OrderedJson();
    if (timer.armedBy) {
      const std::string comm = text_.comm(*timer.armedBy);
      json["armed_by"] = {{"pid", number(*timer.armedBy)},
                          {"comm", comm == "<...>" ? OrderedJson() : textOrNull(comm)}};
    }
    json["flags"] = flags(timer.flags);
    return json;
  }

  [[nodiscard]] OrderedJson cpu(const CpuState& cpu) const {
    OrderedJson wheel = OrderedJson::array();
    for (const WheelBaseState& base : cpu.wheel) {
      wheel.push_back({{"base", nameOf(base.kind, cpu.wheel.size())},
                       {"clk", valueOrNull(base.clk)},
                       {"next_expiry", valueOrNull(base.nextExpiry)},
                       {"timers", timers(base.timers)}});
    }
    OrderedJson hrtimers = OrderedJson::array();
    for (std::size_t index = 0; index < clockBaseCount; ++index) {
      hrtimers.push_back({{"base", nameOf(static_cast<ClockBase>(index))},
                          {"timers", timers(cpu.hrtimers[index])}});
    }
    OrderedJson unknown = OrderedJson::array();
    for (const BlindSpotKind kind : cpu.unknown) unknown.push_back(codeOf(kind));
    return {{"cpu", number(cpu.cpu)},
            {"online", cpu.online},
            {"wheel", std::move(wheel)},
            {"hrtimers", std::move(hrtimers)},
            {"expires_next", nsOrNull(cpu.expiresNext)},
            {"softirq_expires_next", nsOrNull(cpu.softirqExpiresNext)},
            {"softirq_activated", valueOrNull(cpu.softirqActivated)},
            {"in_interrupt", valueOrNull(cpu.inInterrupt)},
            {"programmed", nsOrNull(cpu.programmed)},
            {"unknown", std::move(unknown)}};
  }

  [[nodiscard]] OrderedJson homeless(const SystemState& state) const {
    OrderedJson list = OrderedJson::array();
    for (const StateTimer& one : state.ownerUnknown) {
      const ModelTimer& model = analysis_.tables.timers[number(one.timer)];
      OrderedJson json = timer(one);
      json["base"] = OrderedJson();
      if (model.of == TimerClass::Hrtimer) {
        json["base"] = nameOf(analysis_.tables.spans[number(one.span)].clockBase());
      }
      list.push_back(std::move(json));
    }
    return list;
  }

 private:
  [[nodiscard]] static OrderedJson jiffies(const Known<s64>& value) {
    return value ? OrderedJson(static_cast<u64>(*value)) : OrderedJson();
  }

  [[nodiscard]] static OrderedJson flags(u8 bits) {
    OrderedJson list = OrderedJson::array();
    const auto flag = [&](ArmedSpan::Flag bit, std::string_view name) {
      if (bits & bit) list.push_back(name);
    };
    flag(ArmedSpan::Restart, "restart");
    flag(ArmedSpan::MovedHere, "moved");
    flag(ArmedSpan::Seeded, "seeded");
    flag(ArmedSpan::Uncertain, "uncertain");
    flag(ArmedSpan::Resynced, "resynced");
    flag(ArmedSpan::OwnerInferred, "cpu_inferred");
    flag(ArmedSpan::Deferrable, "deferrable");
    return list;
  }

  [[nodiscard]] OrderedJson timers(const std::vector<StateTimer>& all) const {
    OrderedJson list = OrderedJson::array();
    for (const StateTimer& one : all) list.push_back(timer(one));
    return list;
  }

  const Analysis& analysis_;
  StateText names_;
  EventText text_;
};

}  // namespace

OrderedJson stateJson(const Analysis& analysis, const SystemState& state, const StateInstant& at,
                      std::span<const u32> cpus) {
  const Buffer& buffer = analysis.opened();
  const StateJson writer(analysis);
  OrderedJson json;
  json["schema"] = "tickscope.state/1";
  json["row"] = number(state.row);
  const auto time = static_cast<u64>(state.time.value);
  json["ts_ns"] = buffer.clock.unit == ClockUnit::Nanoseconds ? OrderedJson(time) : OrderedJson();
  json["time"] = timeText(state.time, buffer.clock.unit);
  json["mono_ns"] = at.mono ? OrderedJson(at.mono->value.value) : OrderedJson();
  json["mono_error_ns"] = at.mono ? OrderedJson(at.mono->error.value) : OrderedJson();
  json["cpus"] = OrderedJson::array();
  for (const CpuState& cpu : state.cpus) {
    if (!cpus.empty() && !std::ranges::binary_search(cpus, u32{number(cpu.cpu)})) continue;
    json["cpus"].push_back(writer.cpu(cpu));
  }
  json["cpu_unknown"] = writer.homeless(state);
  return json;
}

}  // namespace tickscope
