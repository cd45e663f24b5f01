// SPDX-License-Identifier: GPL-3.0-or-later
// Writes findings as JSON.
#include "core/report/findings_json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/shown_text.h"
#include "core/findings/detector.h"
#include "core/findings/upstream.h"
#include "core/report/table_json.h"
#include "core/trace/event_text.h"

namespace tickscope {

namespace {

using Json = nlohmann::ordered_json;

std::string words(const Sentence& sentence) { return shown(sentence.text(), Breaks::Keep); }

Json letterOf(char kind) { return kind ? std::string(1, kind) : std::string(); }

/// Three decimals are what a confidence carries.
double rounded(double value) { return std::round(value * 1000) / 1000; }

Json cpusOf(const std::vector<Cpu>& cpus) {
  Json list = Json::array();
  for (const Cpu cpu : cpus) list.push_back(number(cpu));
  return list;
}

Json rowOrNull(Row row) { return row == noRow ? Json() : Json(number(row)); }

template <class T>
Json orNull(const Known<T>& value) {
  return value ? Json(*value) : Json();
}

class Writer {
 public:
  Writer(const Analysis& analysis)
      : analysis_(analysis), text_(*analysis.recording, analysis.opened()) {}

  [[nodiscard]] Json finding(const Finding& f) const {
    Json json;
    json["id"] = f.id;
    json["kind"] = letterOf(f.kind);
    json["title"] = words(f.title);
    json["severity"] = nameOf(f.grade);
    json["confidence"] = rounded(f.confidence.value());
    json["confidence_steps"] = Json::array();
    for (const Confidence::Step& step : f.confidence.steps()) {
      json["confidence_steps"].push_back({{"why", shown(step.why)},
                                          {step.factor ? "factor" : "added", rounded(step.change)},
                                          {"value", rounded(step.value)}});
    }
    json["cpus"] = cpusOf(f.cpus);
    json["from_ns"] = f.when.from.value;
    json["to_ns"] = f.when.to.value;
    json["count"] = f.count;
    json["opportunities"] = f.opportunities;
    json["dropped"] = f.dropped;
    json["judged_ns"] = f.judgedNs;
    const Histogram& d = f.distribution;
    json["distribution"] = {{"what", f.what},
                            {"unit", f.unit},
                            {"min", orNull(d.least())},
                            {"p50", orNull(d.percentile(0.50))},
                            {"p90", orNull(d.percentile(0.90))},
                            {"p99", orNull(d.percentile(0.99))},
                            {"max", orNull(d.greatest())}};
    json["worst"] = Json::array();
    for (const Instance& instance : f.worst) json["worst"].push_back(this->instance(instance));
    json["first"] = f.first ? instance(*f.first) : Json();
    json["timers"] = Json::array();
    for (const TimerId id : f.timers) json["timers"].push_back(timer(id));
    json["callbacks"] = Json::array();
    for (const Address function : f.callbacks) {
      json["callbacks"].push_back(shown(text_.symbol(function)));
    }
    json["claim"] = words(f.claim);
    json["evidence"] = Json::array();
    for (const EvidenceRow& row : f.evidence) {
      json["evidence"].push_back({{"row", number(row.row)},
                                  {"ts_ns", analysis_.events().time(row.row).value},
                                  {"cpu", number(analysis_.events().cpu(row.row))},
                                  {"text", shown(text_.line(row.row), Breaks::Keep)},
                                  {"remark", words(row.remark)}});
    }
    json["predicted"] = words(f.predicted);
    json["observed"] = words(f.observed);
    json["disproof"] = words(f.disproof);
    json["counter_evidence"] = Json::array();
    for (const CounterEvidence& counter : f.counterEvidence) {
      json["counter_evidence"].push_back(
          {{"id", counter.id}, {"result", nameOf(counter.result)}, {"note", words(counter.note)}});
    }
    json["upstream"] = Json::array();
    for (const std::string_view id : f.upstream) {
      const UpstreamCommit* const commit = upstreamCommit(id);
      if (!commit || commit->verified == UpstreamCommit::Verified::No) continue;
      json["upstream"].push_back({{"id", commit->id},
                                  {"hash", commit->hash},
                                  {"subject", commit->subject},
                                  {"release", commit->release},
                                  {"introduced_by", commit->introducedBy}});
    }
    json["explains"] = Json::array();
    for (const Explained& explained : f.explains) {
      json["explains"].push_back(
          {{"id", explained.id}, {"kind", letterOf(explained.kind)}, {"count", explained.count}});
    }
    json["advice"] = Json::array();
    for (const Sentence& advice : f.advice) json["advice"].push_back(words(advice));
    json["tables"] = Json::array();
    for (const Table& table : f.tables) json["tables"].push_back(tableJson(table));
    json["record"] = f.record;
    return json;
  }

  [[nodiscard]] Json notJudged(const NotJudged& item) const {
    Json intervals = Json::array();
    for (const TimeSpan& span : item.intervals) {
      intervals.push_back({{"from_ns", span.from.value}, {"to_ns", span.to.value}});
    }
    return {{"id", item.id},
            {"kind", letterOf(item.kind)},
            {"why", words(item.why)},
            {"missing", item.missing},
            {"cpus", cpusOf(item.cpus)},
            {"intervals", std::move(intervals)},
            {"record", item.record}};
  }

 private:
  [[nodiscard]] Json instance(const Instance& instance) const {
    Json rows = Json::array();
    for (const Row row : instance.evidence) {
      if (row != noRow) rows.push_back(number(row));
    }
    return {{"from_ns", instance.when.from.value},
            {"to_ns", instance.when.to.value},
            {"cpu", number(instance.cpu)},
            {"magnitude", instance.magnitude},
            {"rows", std::move(rows)},
            {"timer", instance.timer ? timer(*instance.timer) : Json()}};
  }

  [[nodiscard]] Json timer(TimerId id) const {
    const ModelTimer& timer = analysis_.tables.timers[number(id)];
    return {{"timer", fmt::format("0x{:x}", number(timer.address))},
            {"class", timer.of == TimerClass::Wheel ? "wheel" : "hrtimer"},
            {"function",
             timer.function == Address{} ? Json() : Json(shown(text_.symbol(timer.function)))},
            {"init_row", timer.init ? rowOrNull(*timer.init) : Json()}};
  }

  const Analysis& analysis_;
  EventText text_;
};

Json delaysOf(const DelayRange& range) {
  if (range.count == 0) return {};
  return {{"count", range.count}, {"p50_ns", range.p50}, {"p75_ns", range.p75},
          {"p90_ns", range.p90},  {"p99_ns", range.p99}, {"max_ns", range.most}};
}

Json baselineJson(const MachineBaseline& baseline) {
  return {{"slow", baseline.slow},
          {"scale", rounded(baseline.scale)},
          {"dev_delay", delaysOf(baseline.all.deviceDelay)},
          {"tick_run", delaysOf(baseline.all.tickRun)},
          {"soft_wait", delaysOf(baseline.all.softWait)}};
}

}  // namespace

std::string findingsJson(const Analysis& analysis, const Findings& findings,
                         const FindingsSource& source, const std::string& profile) {
  const Writer writer(analysis);
  Json json;
  json["schema"] = "tickscope/findings/1";
  json["tool"] = source.tool;
  json["file"] = {{"path", shown(source.path, Breaks::Keep)},
                  {"fingerprint", source.fingerprint},
                  {"size", source.size}};
  json["buffer"] = shown(analysis.opened().name, Breaks::Keep);
  json["profile"] = Json::parse(profile, nullptr, false);
  for (const auto& [name, list] :
       {std::pair{"findings", &findings.findings}, std::pair{"weak", &findings.weak}}) {
    json[name] = Json::array();
    for (const Finding& finding : *list) json[name].push_back(writer.finding(finding));
  }
  json["judged"] = Json::array();
  for (const JudgedCount& judged : findings.judged) {
    json["judged"].push_back({{"id", judged.id},
                              {"kind", letterOf(judged.kind)},
                              {"instances", judged.instances},
                              {"explained", judged.explained},
                              {"opportunities", judged.opportunities},
                              {"dropped", judged.dropped},
                              {"judged_ns", judged.judgedNs}});
  }
  json["not_judged"] = Json::array();
  for (const NotJudged& item : findings.notJudged) {
    json["not_judged"].push_back(writer.notJudged(item));
  }
  json["baseline"] = baselineJson(findings.baseline);
  json["thresholds"] = Json::array();
  for (std::size_t i = 0; i < limitCount; ++i) {
    const ThresholdInfo& info = thresholdInfos[i];
    const double value = findings.thresholds[static_cast<Limit>(i)];
    json["thresholds"].push_back({{"name", info.name},
                                  {"value", limitText(info.unit, value)},
                                  {"default", limitText(info.unit, info.value)}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tickscope
