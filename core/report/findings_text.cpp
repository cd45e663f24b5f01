// SPDX-License-Identifier: GPL-3.0-or-later
// Writes findings as text.
#include "core/report/findings_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/shown_text.h"
#include "core/base/time_text.h"
#include "core/findings/detector.h"
#include "core/findings/upstream.h"
#include "core/report/recording_advice.h"
#include "core/trace/event_text.h"

namespace tickscope {

namespace {

constexpr std::size_t lineWidth = 100;
constexpr u32 adviceKb = 20480, adviceSeconds = 10;

std::string words(const Sentence& sentence) { return shown(sentence.text()); }

/// Broken at blanks, later lines indented like the first.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = std::min(text.size(), at + lineWidth - indent);
    if (end < text.size()) {
      const std::size_t blank = text.rfind(' ', end);
      if (blank != std::string::npos && blank > at) end = blank;
    }
    out += std::string(indent, ' ') + text.substr(at, end - at) + "\n";
    at = end;
    while (at < text.size() && text[at] == ' ') ++at;
  }
  return out;
}

std::string cpusText(const std::vector<Cpu>& cpus) {
  if (cpus.empty()) return {};
  std::string text = cpus.size() == 1 ? "CPU " : "CPUs ";
  text += valueText(cpus);
  return text;
}

std::string figureText(s64 value, std::string_view unit) {
  if (unit == "ns" && value >= 0) return durationWords(static_cast<u64>(value));
  return unit.empty() ? fmt::format("{}", value) : fmt::format("{} {}", value, unit);
}

std::string secondsOf(s64 ns) { return fmt::format("{:.3f} s", static_cast<double>(ns) / 1e9); }

std::string cellText(const Cell& cell) {
  if (const auto* text = std::get_if<Sentence>(&cell)) return words(*text);
  if (const auto* whole = std::get_if<s64>(&cell)) return fmt::format("{}", *whole);
  if (const auto* figure = std::get_if<Figure>(&cell)) {
    return fmt::format("{:.{}f}", figure->value, figure->digits);
  }
  return "-";
}

std::string nameText(std::string_view id, char kind) {
  return std::string(id) + (kind ? std::string(1, kind) : std::string());
}

std::string headOf(const Finding& f, std::size_t number) {
  return fmt::format("{:>3}  {}  {:<5} {:.2f}  {}\n", number, nameOf(f.grade), f.name(),
                     f.confidence.value(), words(f.title));
}

/// Where, when, how often: one line.
std::string factsOf(const Analysis& analysis, const Finding& f) {
  std::string text =
      fmt::format("{}, {} of {}", cpusText(f.cpus), grouped(f.count), grouped(f.opportunities));
  if (f.judgedNs > 0) {
    text += fmt::format(", {:.4g} a judged second",
                        static_cast<double>(f.count) * 1e9 / static_cast<double>(f.judgedNs));
  }
  const ClockUnit unit = analysis.opened().clock.unit;
  text += fmt::format(", from {} to {}", timeText(f.when.from, unit), timeText(f.when.to, unit));
  if (f.dropped > 0) text += fmt::format("; {} more inside blind spots", grouped(f.dropped));
  return text;
}

std::string distributionOf(const Finding& f) {
  const Histogram& d = f.distribution;
  if (d.empty()) return {};
  const auto text = [&](Known<s64> value) { return figureText(*value, f.unit); };
  if (d.count() == 1) return fmt::format("{} {}", f.what, text(d.greatest()));
  return fmt::format("{}: {} to {}, half up to {}, 99 % up to {}", f.what, text(d.least()),
                     text(d.greatest()), text(d.percentile(0.5)), text(d.percentile(0.99)));
}

std::string explainsText(const Finding& f) {
  std::string text;
  for (const Explained& explained : f.explains) {
    text += fmt::format("{}{} {}", text.empty() ? "explains " : ", ", grouped(explained.count),
                        nameText(explained.id, explained.kind));
  }
  return text;
}

std::string judgedText(const Findings& findings) {
  std::string text;
  for (const JudgedCount& judged : findings.judged) {
    std::string line =
        fmt::format("{:<5} {} instances in {} opportunities", nameText(judged.id, judged.kind),
                    grouped(judged.instances), grouped(judged.opportunities));
    if (judged.judgedNs > 0) line += " over " + secondsOf(judged.judgedNs);
    if (judged.explained > 0) {
      line += fmt::format(", {} of them explained by another finding", grouped(judged.explained));
    }
    if (judged.dropped > 0) line += fmt::format(", {} in blind spots", grouped(judged.dropped));
    text += "  " + line + "\n";
  }
  return text;
}

std::string notJudgedText(const Findings& findings) {
  std::string text;
  std::vector<std::string_view> keys;
  for (const NotJudged& item : findings.notJudged) {
    std::string line = fmt::format("{:<5} {}", nameText(item.id, item.kind), words(item.why));
    if (!item.cpus.empty()) line += " (" + cpusText(item.cpus) + ")";
    if (!item.record.empty()) {
      line += fmt::format(" [{}]", item.record);
      if (std::ranges::find(keys, item.record) == keys.end()) keys.push_back(item.record);
    }
    text += "  " + line + "\n";
  }
  if (keys.empty()) return text;
  text += "\nWhat to record\n";
  for (const std::string_view key : keys) {
    const RecordingAdvice* const advice = recordingAdvice(key);
    if (!advice) continue;
    text += fmt::format("  [{}] {}\n    {}\n", key, advice->question,
                        recordCommand(*advice, adviceKb, adviceSeconds));
  }
  return text;
}

}  // namespace

std::string tableText(const Table& table, std::size_t indent) {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : table.columns) {
    lines[0].push_back(column.unit.empty() ? column.name
                                           : fmt::format("{} [{}]", column.name, column.unit));
  }
  std::vector<bool> isWords(table.columns.size(), false);
  for (const auto& row : table.rows) {
    auto& line = lines.emplace_back();
    for (std::size_t i = 0; i < row.size() && i < isWords.size(); ++i) {
      line.push_back(cellText(row[i]));
      isWords[i] = isWords[i] || std::holds_alternative<Sentence>(row[i]);
    }
  }
  std::vector<std::size_t> widths(table.columns.size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text(indent, ' ');
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i > 0) text += "  ";
      text += isWords[i] ? fmt::format("{:<{}}", line[i], widths[i])
                         : fmt::format("{:>{}}", line[i], widths[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

std::string findingsText(const Analysis& analysis, const Findings& findings) {
  std::string out;
  std::size_t number = 0;
  for (const Finding& f : findings.findings) {
    out += headOf(f, ++number);
    out += wrapped(factsOf(analysis, f), 18);
    if (const std::string explains = explainsText(f); !explains.empty())
      out += wrapped(explains, 18);
  }
  if (findings.findings.empty()) out += "No findings.\n";
  if (!findings.weak.empty()) {
    out += fmt::format("\nWeak, confidence below {:.2f}\n", findings.thresholds[Limit::Show]);
    for (const Finding& f : findings.weak) out += headOf(f, ++number);
  }
  if (findings.baseline.slow) {
    out += fmt::format(
        "\nThis machine is slow: timer interrupts come {} late (75 %), its tick runs {} (median);\n"
        "limits of time are {:.1f} times as long.\n",
        durationWords(static_cast<u64>(findings.baseline.all.deviceDelay.p75)),
        durationWords(static_cast<u64>(findings.baseline.all.tickRun.p50)),
        findings.baseline.scale);
  }
  if (!findings.judged.empty()) out += "\nJudged\n" + judgedText(findings);
  if (!findings.notJudged.empty()) out += "\nNot judged\n" + notJudgedText(findings);
  return out;
}

Result<std::string> explainedText(const Analysis& analysis, const Findings& findings, u32 index) {
  const std::size_t all = findings.findings.size() + findings.weak.size();
  if (index == 0 || index > all) {
    return fail(
        Error::Kind::Usage,
        all == 0 ? fmt::format("--explain {}: there is no finding.", index)
                 : fmt::format("--explain {}: the findings have the numbers 1 to {}.", index, all));
  }
  const Finding& f = index <= findings.findings.size()
                         ? findings.findings[index - 1]
                         : findings.weak[index - 1 - findings.findings.size()];
  std::string out = headOf(f, index) + "\n" + wrapped(words(f.claim), 2) + "\n";
  const auto line = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) out += fmt::format("  {:<12}{}\n", name, text);
  };
  line("where, when", factsOf(analysis, f));
  line("how much", distributionOf(f));
  line("predicted", words(f.predicted));
  line("observed", words(f.observed));
  line("disproof", words(f.disproof));
  line("", explainsText(f));
  out += fmt::format("\n  Confidence {:.3f}\n", f.confidence.value());
  for (const Confidence::Step& step : f.confidence.steps()) {
    out +=
        step.factor
            ? fmt::format("    x {:<7.3f} = {:.3f}  {}\n", step.change, step.value, shown(step.why))
            : fmt::format("    {:<+9.3f} = {:.3f}  {}\n", step.change, step.value, shown(step.why));
  }
  const EventText text(*analysis.recording, analysis.opened());
  if (!f.evidence.empty()) out += "\n  Evidence\n";
  for (const EvidenceRow& row : f.evidence) {
    const std::string remark = words(row.remark);
    out +=
        fmt::format("    {:>9}  {}{}{}\n", number(row.row), shown(text.line(row.row), Breaks::Keep),
                    remark.empty() ? "" : "   <<< ", remark);
  }
  if (!f.counterEvidence.empty()) out += "\n  Counter-evidence\n";
  for (const CounterEvidence& counter : f.counterEvidence) {
    out +=
        fmt::format("    {:<4}{:<9} {}\n", counter.id, nameOf(counter.result), words(counter.note));
  }
  bool any = false;
  for (const std::string_view id : f.upstream) {
    const UpstreamCommit* const commit = upstreamCommit(id);
    if (!commit || commit->verified == UpstreamCommit::Verified::No) continue;
    if (!any) out += "\n  Known upstream\n";
    any = true;
    out += fmt::format("    {} (\"{}\"), {}\n", commit->hash, commit->subject, commit->release);
  }
  for (const Table& table : f.tables)
    out += fmt::format("\n  {}\n", table.title) + tableText(table, 4);
  if (!f.advice.empty()) out += "\n";
  for (const Sentence& advice : f.advice) out += wrapped("Advice: " + words(advice), 2);
  return out;
}

std::string thresholdsText(const Thresholds& thresholds) {
  std::string out;
  for (std::size_t i = 0; i < limitCount; ++i) {
    const auto limit = static_cast<Limit>(i);
    const ThresholdInfo& info = thresholdInfos[i];
    const std::string value = limitText(info.unit, thresholds[limit]);
    const std::string was = thresholds.isDefault(limit)
                                ? ""
                                : fmt::format(" (default {})", limitText(info.unit, info.value));
    out += fmt::format("{:<20} {:<12} {}{}{}\n", info.name, value, info.why,
                       info.scales ? "; scales with the machine" : "", was);
  }
  return out;
}

}  // namespace tickscope
