// SPDX-License-Identifier: GPL-3.0-or-later
// Names of the values of facts, and facts as text.
#include "core/model/kernel_profile.h"

#include <fmt/format.h>

#include <bit>

namespace tickscope {

namespace {

constexpr std::array<std::string_view, 3> noHzNames{"off", "idle", "full"};
constexpr std::array<std::string_view, 2> tickFunctionNames{"tick_sched_timer",
                                                            "tick_nohz_handler"};
constexpr std::array<std::string_view, 2> wheelNames{"CASCADE", "LEVELS"};
constexpr std::array<std::string_view, 3> basesNames{"one", "STD/DEF", "LOCAL/GLOBAL/DEF"};
constexpr std::array<std::string_view, 3> forwardNames{"F0", "F1", "F2"};
constexpr std::array<std::string_view, 2> nextNames{"NX0", "NX1"};
constexpr std::array<std::string_view, 4> raiseNames{"SR0", "SR1", "SR2", "SR3"};
constexpr std::array<std::string_view, 4> wheelTraceNames{"WT0", "WT1", "WT2", "WT3"};
constexpr std::array<std::string_view, hrtimerRuleCount> hrtimerNames{"RP", "R0", "R1", "R2",
                                                                      "R3", "R4", "R5"};
constexpr std::array<std::string_view, 3> hrtimerTraceNames{"HT0", "HT1", "HT2"};
constexpr std::array<std::string_view, 4> softirqThreadNames{"none", "ksoftirqd", "ktimersoftd",
                                                             "ktimers"};

template <class T>
std::string possibleText(const Fact<T>& fact) {
  std::string text;
  if constexpr (std::is_enum_v<T>) {
    const auto names = valueNames<T>();
    const int left = std::popcount(fact.possible);
    if (left < 2 || static_cast<std::size_t>(left) == names.size()) return text;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if ((fact.possible >> i) & 1U)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", names[i]);
    }
  }
  return text;
}

}  // namespace

template <>
std::span<const std::string_view> valueNames<NoHz>() {
  return noHzNames;
}
template <>
std::span<const std::string_view> valueNames<TickFunction>() {
  return tickFunctionNames;
}
template <>
std::span<const std::string_view> valueNames<WheelKind>() {
  return wheelNames;
}
template <>
std::span<const std::string_view> valueNames<WheelBases>() {
  return basesNames;
}
template <>
std::span<const std::string_view> valueNames<ForwardRule>() {
  return forwardNames;
}
template <>
std::span<const std::string_view> valueNames<NextRule>() {
  return nextNames;
}
template <>
std::span<const std::string_view> valueNames<RaiseRule>() {
  return raiseNames;
}
template <>
std::span<const std::string_view> valueNames<WheelTrace>() {
  return wheelTraceNames;
}
template <>
std::span<const std::string_view> valueNames<HrtimerRule>() {
  return hrtimerNames;
}
template <>
std::span<const std::string_view> valueNames<HrtimerTrace>() {
  return hrtimerTraceNames;
}
template <>
std::span<const std::string_view> valueNames<SoftirqThread>() {
  return softirqThreadNames;
}

std::string_view nameOf(EvidenceClass evidenceClass) {
  static constexpr std::array<std::string_view, 6> names{"user",    "format",    "symbol",
                                                         "listing", "behaviour", "version"};
  return names[static_cast<std::size_t>(evidenceClass)];
}

std::string valueText(bool value) { return value ? "yes" : "no"; }
std::string valueText(u8 value) { return fmt::format("{}", value); }
std::string valueText(u32 value) { return fmt::format("{}", value); }

std::string valueText(const CpuList& cpus) {
  if (cpus.empty()) return "none";
  std::string text;
  for (std::size_t from = 0; from < cpus.size();) {
    std::size_t to = from;
    while (to + 1 < cpus.size() && number(cpus[to + 1]) == number(cpus[to]) + 1) ++to;
    text += fmt::format("{}{}", from == 0 ? "" : ",", number(cpus[from]));
    if (to > from) text += fmt::format("-{}", number(cpus[to]));
    from = to + 1;
  }
  return text;
}

std::vector<FactText> factTexts(const KernelProfile& profile) {
  std::vector<FactText> texts;
  forEachFact(profile, [&](std::string_view name, const auto& fact) {
    FactText text;
    text.name = name;
    if (fact.expected) text.expected = valueText(*fact.expected);
    if (fact.observed) text.observed = valueText(*fact.observed);
    text.possible = possibleText(fact);
    text.confidence = fact.confidence;
    text.seenConfidence = fact.seenConfidence;
    text.contradicted = fact.contradicted;
    text.evidence = fact.evidence;
    texts.push_back(std::move(text));
  });
  return texts;
}

}  // namespace tickscope
