// SPDX-License-Identifier: GPL-3.0-or-later
// `info` for programs: resources/schema/info.schema.json describes it.
#include <nlohmann/json.hpp>

#include "app/cli/info_report.h"
#include "app/cli/json_text.h"
#include "app/cli/model_report.h"
#include "core/base/shown_text.h"

namespace tickscope {

namespace {

using Json = OrderedJson;

/// Escaped as text output escapes it, so that it is UTF-8 whatever the file holds.
Json text(std::string_view value) { return shown(value, Breaks::Keep); }
template <class T>
Json numberOrNull(const Known<T>& value) {
  return value ? Json(*value) : Json();
}
Json timeOrNull(const Known<TraceTime>& time) {
  return time ? Json(static_cast<u64>(time->value)) : Json();
}

Json fileOf(const Opened& opened) {
  return {{"path", text(opened.path)}, {"fingerprint", opened.fingerprint}, {"size", opened.size}};
}

Json clockUnit(ClockUnit unit) { return textOrNull(jsonNameOf(unit)); }

Json buffersOf(const Recording& recording) {
  Json list = Json::array();
  for (const Buffer& buffer : recording.buffers) {
    list.push_back({{"name", text(buffer.name)},
                    {"clock", textOrNull(buffer.clock.name)},
                    {"clock_unit", clockUnit(buffer.clock.unit)},
                    {"clock_source", textOrNull(buffer.clock.source)},
                    {"cpus", cpusWithEvents(buffer)},
                    {"events", buffer.events.size()}});
  }
  return list;
}

Json cpusOf(const BufferSummary& summary) {
  Json list = Json::array();
  for (const CpuSummary& cpu : summary.cpus) {
    list.push_back({{"cpu", number(cpu.cpu)},
                    {"inferred", cpu.inferred},
                    {"events", cpu.events},
                    {"first", timeOrNull(cpu.first)},
                    {"last", timeOrNull(cpu.last)},
                    {"lost", cpu.lost},
                    {"gaps", cpu.gaps},
                    {"gaps_of_unknown_size", cpu.gapsOfUnknownSize},
                    {"backward_steps", cpu.backwardSteps},
                    {"largest_backward_step", cpu.largestBackwardStep.value},
                    {"overrun", numberOrNull(cpu.overrun)},
                    {"dropped", numberOrNull(cpu.dropped)},
                    {"commit_overrun", numberOrNull(cpu.commitOverrun)}});
  }
  return list;
}

Json typesOf(const BufferSummary& summary) {
  Json list = Json::array();
  for (const TypeSummary& type : summary.types) {
    Json perCpu = Json::array();
    for (std::size_t i = 0; i < type.perCpu.size(); ++i) {
      if (type.perCpu[i])
        perCpu.push_back({{"cpu", number(summary.cpus[i].cpu)}, {"events", type.perCpu[i]}});
    }
    list.push_back({{"system", textOrNull(type.system)},
                    {"event", textOrNull(type.name)},
                    {"events", type.events},
                    {"per_cpu", std::move(perCpu)}});
  }
  return list;
}

Json logOf(const Recording& recording) {
  Json list = Json::array();
  for (const LogEntry& entry : recording.log.entries()) {
    Json examples = Json::array();
    for (const LogExample& example : entry.examples) {
      examples.push_back({{"offset", numberOrNull(example.offset)},
                          {"cpu", example.cpu ? Json(number(*example.cpu)) : Json()},
                          {"detail", text(example.detail)}});
    }
    list.push_back({{"counter", nameOf(entry.counter)},
                    {"severity", nameOf(severityOf(entry.counter))},
                    {"count", entry.count},
                    {"amount", entry.amount},
                    {"sentence", text(sentenceOf(entry))},
                    {"examples", std::move(examples)}});
  }
  return list;
}

}  // namespace

void printInfoJson(const RecordingFacts& facts, Output& out) {
  const Recording& recording = *facts.opened->recording;
  const Metadata& metadata = recording.metadata;
  const BufferSummary& summary = facts.summary;
  const Buffer* buffer = recording.buffers.empty() ? nullptr : &recording.buffers[facts.buffer];
  const bool inNs = buffer && buffer->clock.unit == ClockUnit::Nanoseconds;
  Json json;
  json["schema"] = "tickscope.info/1";
  json["file"] = fileOf(*facts.opened);
  json["format"] = metadata.format;
  json["compression"] = textOrNull(metadata.compression);
  json["byte_order"] = metadata.bigEndian ? "big" : "little";
  json["word_size"] = metadata.wordSize;
  json["page_size"] = metadata.pageSize;
  json["writer"] = textOrNull(metadata.writer);
  json["kernel"] = {{"release", textOrNull(metadata.release)},
                    {"machine", textOrNull(metadata.machine)},
                    {"uname", textOrNull(metadata.uname)}};
  json["date_offset_ns"] = numberOrNull(metadata.dateOffset);
  json["time_offset_ns"] = numberOrNull(metadata.timeOffset);
  json["possible_cpus"] = numberOrNull(metadata.possibleCpus);
  json["buffers"] = buffersOf(recording);
  json["text_buffers"] = Json::array();
  for (const std::string& name : recording.textBuffers) json["text_buffers"].push_back(text(name));
  json["buffer"] = buffer ? text(buffer->name) : Json();
  json["clock"] = buffer ? textOrNull(buffer->clock.name) : Json();
  json["clock_unit"] = buffer ? clockUnit(buffer->clock.unit) : Json();
  Json cpus = Json::array();
  for (const CpuSummary& cpu : summary.cpus) {
    if (cpu.events) cpus.push_back(number(cpu.cpu));
  }
  json["cpus"] = std::move(cpus);
  json["chosen"] = facts.narrowed;
  json["events"] = summary.events;
  json["first"] = timeOrNull(summary.first);
  json["last"] = timeOrNull(summary.last);
  json["duration_ns"] =
      inNs && summary.first && summary.last
          ? Json(static_cast<u64>(summary.last->value) - static_cast<u64>(summary.first->value))
          : Json();
  json["lost"] = {{"events", summary.lost},
                  {"gaps", summary.gaps},
                  {"gaps_of_unknown_size", summary.gapsOfUnknownSize}};
  json["profile"] = facts.profile ? profileJson(*facts.profile) : Json::object();
  json["backward_steps"] = summary.backwardSteps;
  json["per_cpu"] = cpusOf(summary);
  json["events_by_type"] = typesOf(summary);
  json["log"] = logOf(recording);
  printJson(json, out);
}

void printTimerListInfoJson(const Opened& opened, Output& out) {
  const TimerListDump& dump = *opened.timerList;
  Json cpus = Json::array();
  for (const ListedCpu& cpu : dump.cpus) {
    Json bases = Json::array();
    for (const ListedBase& base : cpu.bases) {
      Json timers = Json::array();
      for (const ListedTimer& timer : base.timers) {
        timers.push_back({{"timer", text(timer.pointer)},
                          {"function", text(timer.function)},
                          {"state", text(timer.state)},
                          {"softexpires", timer.softExpires.value},
                          {"expires", timer.expires.value}});
      }
      bases.push_back({{"index", base.index},
                       {"clock", text(base.getTime)},
                       {"resolution_ns", numberOrNull(base.resolution)},
                       {"offset_ns", numberOrNull(base.offset)},
                       {"timers", std::move(timers)}});
    }
    Json values = Json::object();
    for (const ListedValue& value : cpu.values) values[shown(value.name)] = text(value.value);
    cpus.push_back(
        {{"cpu", number(cpu.cpu)}, {"bases", std::move(bases)}, {"values", std::move(values)}});
  }
  Json json;
  json["schema"] = "tickscope.timer_list/1";
  json["file"] = fileOf(opened);
  json["format"] = "/proc/timer_list";
  json["version"] = textOrNull(dump.version);
  json["now_ns"] = dump.now ? Json(dump.now->value) : Json();
  json["max_clock_bases"] = numberOrNull(dump.hrtimerMaxClockBases);
  json["cpus"] = std::move(cpus);
  json["devices"] = Json::array();
  for (const ListedValue& value : dump.devices) {
    json["devices"].push_back({{"name", text(value.name)}, {"value", text(value.value)}});
  }
  json["lines_not_understood"] = dump.linesNotUnderstood;
  printJson(json, out);
}

}  // namespace tickscope
