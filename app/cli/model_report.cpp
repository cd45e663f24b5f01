// SPDX-License-Identifier: GPL-3.0-or-later
// Kernel facts and comparisons with timer lists, as text and as JSON.
#include "app/cli/model_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/columns.h"
#include "core/base/shown_text.h"
#include "core/base/time_text.h"
#include "core/model/profile_evidence.h"

namespace tickscope {

namespace {

std::string orUnknown(const std::string& value) { return value.empty() ? "unknown" : value; }

std::string_view nameOf(TimerListComparison::Taken taken) {
  switch (taken) {
    case TimerListComparison::Taken::Unknown:
      return "unknown";
    case TimerListComparison::Taken::Before:
      return "before";
    case TimerListComparison::Taken::During:
      return "during";
    case TimerListComparison::Taken::After:
      break;
  }
  return "after";
}

std::string_view nameOf(ListedDifference::Kind kind) {
  switch (kind) {
    case ListedDifference::Kind::Different:
      return "different";
    case ListedDifference::Kind::OnlyListed:
      return "missing";
    case ListedDifference::Kind::OnlyModel:
      break;
  }
  return "extra";
}

std::string cpuText(Cpu cpu) {
  return cpu == noCpu ? std::string("CPU ?") : fmt::format("CPU {}", number(cpu));
}

std::string timesText(const Known<BaseTime>& soft, const Known<BaseTime>& hard) {
  const auto text = [](const Known<BaseTime>& time) {
    return time ? fmt::format("{}", static_cast<u64>(time->value)) : std::string("unknown");
  };
  return fmt::format("{}-{}", text(soft), text(hard));
}

std::string sentenceOf(const ListedDifference& difference) {
  std::string text = fmt::format("{} clock {} {}: ", cpuText(difference.cpu), difference.base,
                                 shown(orUnknown(difference.function)));
  switch (difference.kind) {
    case ListedDifference::Kind::Different:
      text += fmt::format("listed {}, model {}",
                          timesText(difference.listedSoft, difference.listedHard),
                          timesText(difference.modelSoft, difference.modelHard));
      break;
    case ListedDifference::Kind::OnlyListed:
      text += fmt::format("listed {}, not in the model",
                          timesText(difference.listedSoft, difference.listedHard));
      break;
    case ListedDifference::Kind::OnlyModel:
      text += fmt::format("model {}, not in the list",
                          timesText(difference.modelSoft, difference.modelHard));
      break;
  }
  if (!difference.judged) text += fmt::format(" ({})", difference.why);
  return text;
}

template <class T>
OrderedJson numberOrNull(const Known<T>& value) {
  return value ? OrderedJson(value->value) : OrderedJson();
}

OrderedJson cpuOrNull(Cpu cpu) { return cpu == noCpu ? OrderedJson() : OrderedJson(number(cpu)); }

double rounded(double confidence) { return std::round(confidence * 100) / 100; }

/// Whether evidence of that class can have left the value its confidence.
bool gives(EvidenceClass of, double confidence) {
  switch (of) {
    case EvidenceClass::User:
      return confidence == 1.0;
    case EvidenceClass::Format:
      return confidence == trust::format;
    case EvidenceClass::Symbol:
      return confidence == trust::symbol;
    case EvidenceClass::Listing:
      return confidence == trust::listing;
    case EvidenceClass::Version:
      return confidence == trust::oldestRule || confidence == trust::exactVersion;
    case EvidenceClass::Behaviour:
      break;
  }
  return confidence != trust::format && confidence != trust::symbol &&
         confidence != trust::oldestRule && confidence != trust::exactVersion;
}

/// A clause a line, each with its class; or one line with those of the strongest class, and those of the class that left
/// no other value: formats often leave several.
std::vector<std::string> evidenceOf(const FactText& fact, bool all) {
  std::vector<std::string> clauses;
  if (all) {
    for (const Evidence& one : fact.evidence) {
      clauses.push_back(fmt::format("{}: {}", nameOf(one.of), shown(one.text)));
    }
  } else if (!fact.evidence.empty()) {
    const auto strongest = std::ranges::min(fact.evidence, {}, &Evidence::of).of;
    const bool decides = fact.expected.empty() || gives(strongest, fact.confidence);
    std::string line;
    Known<EvidenceClass> last;
    for (const Evidence& one : fact.evidence) {
      if (one.of != strongest && (decides || !gives(one.of, fact.confidence))) continue;
      line += line.empty() ? "" : "; ";
      if (last != one.of) line += fmt::format("{}: ", nameOf(one.of));
      line += shown(one.text);
      last = one.of;
    }
    clauses.push_back(std::move(line));
  }
  if (clauses.empty()) clauses.emplace_back();
  return clauses;
}

}  // namespace

OrderedJson textOrNull(std::string_view value) {
  return value.empty() ? OrderedJson() : OrderedJson(shown(value, Breaks::Keep));
}

void printJson(const OrderedJson& json, Output& out) {
  out.text(json.dump(2, ' ', false, OrderedJson::error_handler_t::replace));
  out.text("\n");
}

std::vector<ComparedList> compared(const Modelled& modelled) {
  const Analysis& analysis = modelled.analysis;
  std::vector<ComparedList> lists;
  for (const GivenTimerList& given : modelled.toCompare) {
    lists.push_back({given.path, given.dump->now,
                     compareTimerList(*analysis.recording, analysis.opened(), analysis.tables,
                                      analysis.clocks, *given.dump)});
  }
  return lists;
}

// --- Kernel facts -------------------------------------------------------------------------------

OrderedJson profileJson(const KernelProfile& profile) {
  OrderedJson json = OrderedJson::object();
  for (const FactText& fact : factTexts(profile)) {
    OrderedJson evidence = OrderedJson::array();
    for (const Evidence& one : fact.evidence) {
      evidence.push_back({{"class", nameOf(one.of)}, {"text", shown(one.text, Breaks::Keep)}});
    }
    json[std::string(fact.name)] = {{"expected", textOrNull(fact.expected)},
                                    {"observed", textOrNull(fact.observed)},
                                    {"possible", textOrNull(fact.possible)},
                                    {"confidence", rounded(fact.confidence)},
                                    {"observed_confidence", rounded(fact.seenConfidence)},
                                    {"contradicted", fact.contradicted},
                                    {"evidence", std::move(evidence)}};
  }
  return json;
}

void printProfile(const KernelProfile& profile, bool allEvidence, Output& out) {
  out.text("\nKernel facts\n");
  Columns table;
  table.leftAligned(5);
  table.row({"fact", "expected", "conf.", "observed", "evidence"});
  std::string unknown;
  for (const FactText& fact : factTexts(profile)) {
    const bool nothing = fact.expected.empty() && fact.observed.empty() && fact.possible.empty();
    if (nothing && fact.evidence.empty()) {
      unknown += (unknown.empty() ? "" : ", ") + std::string(fact.name);
      continue;
    }
    std::string expected = shown(fact.expected);
    if (expected.empty()) expected = fact.possible.empty() ? "unknown" : "one of " + fact.possible;
    std::string confidence = fact.expected.empty() ? "" : fmt::format("{:.2f}", fact.confidence);
    std::string observed = shown(fact.observed);
    if (!observed.empty()) observed += fmt::format(" ({:.2f})", fact.seenConfidence);
    std::string name(fact.name);
    if (fact.contradicted) name += " !";
    const std::vector<std::string> clauses = evidenceOf(fact, allEvidence);
    table.row({name, expected, confidence, observed, clauses.front()});
    for (std::size_t i = 1; i < clauses.size(); ++i) table.row({"", "", "", "", clauses[i]});
  }
  table.print(out);
  if (!unknown.empty()) out.print("  not known: {}\n", unknown);
  bool contradicted = false;
  for (const FactText& fact : factTexts(profile)) contradicted |= fact.contradicted;
  if (contradicted) out.text("  ! the evidence contradicts itself; the stronger class holds\n");
}

// --- Timer lists --------------------------------------------------------------------------------

OrderedJson timerListsJson(const std::vector<ComparedList>& lists) {
  OrderedJson json = OrderedJson::array();
  for (const ComparedList& list : lists) {
    const TimerListComparison& comparison = list.comparison;
    OrderedJson bases = OrderedJson::array();
    for (const BaseAgreement& base : comparison.bases) {
      bases.push_back({{"cpu", cpuOrNull(base.cpu)},
                       {"base", nameOf(static_cast<ClockBase>(base.base))},
                       {"listed", base.listed},
                       {"agree", base.agree},
                       {"different", base.different},
                       {"missing", base.missing},
                       {"extra", base.extra},
                       {"not_judged", base.notJudged}});
    }
    OrderedJson differences = OrderedJson::array();
    for (const ListedDifference& one : comparison.differences) {
      differences.push_back({{"kind", nameOf(one.kind)},
                             {"judged", one.judged},
                             {"why_not", textOrNull(one.why)},
                             {"cpu", cpuOrNull(one.cpu)},
                             {"base", nameOf(static_cast<ClockBase>(one.base))},
                             {"timer", textOrNull(one.pointer)},
                             {"function", textOrNull(one.function)},
                             {"listed_softexpires", numberOrNull(one.listedSoft)},
                             {"listed_expires", numberOrNull(one.listedHard)},
                             {"model_softexpires", numberOrNull(one.modelSoft)},
                             {"model_expires", numberOrNull(one.modelHard)}});
    }
    OrderedJson expiresNext = OrderedJson::array();
    for (const ExpiresNextAgreement& one : comparison.expiresNext) {
      expiresNext.push_back({{"cpu", number(one.cpu)},
                             {"listed", numberOrNull(one.listed)},
                             {"model", numberOrNull(one.model)},
                             {"agrees", one.agrees ? OrderedJson(*one.agrees) : OrderedJson()}});
    }
    json.push_back({{"path", textOrNull(list.path)},
                    {"now_ns", numberOrNull(list.now)},
                    {"taken", nameOf(comparison.taken)},
                    {"bases", std::move(bases)},
                    {"differences", std::move(differences)},
                    {"expires_next", std::move(expiresNext)}});
  }
  return json;
}

void printTimerLists(const std::vector<ComparedList>& lists, Output& out) {
  for (const ComparedList& list : lists) {
    const TimerListComparison& comparison = list.comparison;
    out.print("\nTimer list {}\n", shown(list.path));
    switch (comparison.taken) {
      case TimerListComparison::Taken::Unknown:
        out.text("  It cannot be placed in the recording: one of them has no monotonic time.\n");
        continue;
      case TimerListComparison::Taken::Before:
        out.text(
            "  It was taken before the recording, and does not tell what was armed when that "
            "began.\n");
        continue;
      case TimerListComparison::Taken::During:
      case TimerListComparison::Taken::After:
        break;
    }
    out.print(
        "  Taken at {} s monotonic, {} event:{}\n", secondsText(static_cast<u64>(list.now->value)),
        comparison.taken == TimerListComparison::Taken::After ? "after the last event," : "after",
        number(comparison.row));
    Columns table;
    table.leftAligned(2);
    table.row({"CPU", "clock", "listed", "agree", "different", "missing", "extra", "not judged"});
    const auto cells = [](std::string cpu, std::string clock, const BaseAgreement& base) {
      return std::vector<std::string>{std::move(cpu),          std::move(clock),
                                      grouped(base.listed),    grouped(base.agree),
                                      grouped(base.different), grouped(base.missing),
                                      grouped(base.extra),     grouped(base.notJudged)};
    };
    BaseAgreement total;
    for (const BaseAgreement& base : comparison.bases) {
      table.row(cells(base.cpu == noCpu ? "?" : fmt::format("{}", number(base.cpu)),
                      std::string(nameOf(static_cast<ClockBase>(base.base))), base));
      total.listed += base.listed;
      total.agree += base.agree;
      total.different += base.different;
      total.missing += base.missing;
      total.extra += base.extra;
      total.notJudged += base.notJudged;
    }
    table.row(cells("all", "", total));
    table.print(out);
    for (const ListedDifference& difference : comparison.differences) {
      out.print("  {}{}\n", difference.judged ? "X18 " : "not judged: ", sentenceOf(difference));
    }
    for (const ExpiresNextAgreement& one : comparison.expiresNext) {
      const auto text = [](const Known<MonoTime>& time) {
        return time ? fmt::format("{}", static_cast<u64>(time->value)) : std::string("unknown");
      };
      if (one.agrees && *one.agrees) {
        out.print("  {} .expires_next agrees: {}\n", cpuText(one.cpu), text(one.listed));
      } else {
        out.print("  {}{} .expires_next: listed {}, model {}\n",
                  one.agrees ? "X18 " : "not judged: ", cpuText(one.cpu), text(one.listed),
                  text(one.model));
      }
    }
  }
}

}  // namespace tickscope
