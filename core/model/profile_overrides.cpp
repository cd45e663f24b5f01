// SPDX-License-Identifier: GPL-3.0-or-later
// Parses and applies facts that a user states.
#include "core/model/profile_overrides.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/shown_text.h"

namespace tickscope {

namespace {

constexpr u32 leastHz = 24;
constexpr u32 mostHz = 1200;
constexpr u32 mostCpu = 8191;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t from = text.find_first_not_of(blanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

Known<u32> wholeNumber(std::string_view text) {
  u32 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

/// What a fact may be set to, for a message.
template <class T>
std::string allowed(std::string_view fact) {
  if constexpr (std::is_enum_v<T>) {
    return fmt::format("{}", fmt::join(valueNames<T>(), ", "));
  } else if constexpr (std::is_same_v<T, bool>) {
    return "yes, no";
  } else if constexpr (std::is_same_v<T, CpuList>) {
    return "CPU numbers as 0-2,5 or none";
  } else if (fact == "w") {
    return "32, 64";
  } else if (fact == "depth") {
    return "8, 9";
  } else {
    return fmt::format("{} to {}", leastHz, mostHz);
  }
}

Known<CpuList> cpuList(std::string_view text) {
  CpuList cpus;
  if (text == "none") return cpus;
  std::vector<bool> has(mostCpu + 1, false);
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    const std::string_view part = trimmed(text.substr(0, comma));
    text = more ? text.substr(comma + 1) : std::string_view{};
    const std::size_t dash = part.find('-');
    const Known<u32> from = wholeNumber(part.substr(0, dash));
    const Known<u32> to =
        dash == std::string_view::npos ? from : wholeNumber(part.substr(dash + 1));
    if (!from || !to || *from > *to || *to > mostCpu) return {};
    for (u32 cpu = *from; cpu <= *to; ++cpu) has[cpu] = true;
  }
  for (u32 cpu = 0; cpu <= mostCpu; ++cpu) {
    if (has[cpu]) cpus.push_back(static_cast<Cpu>(cpu));
  }
  return cpus;
}

template <class T>
Known<T> parsed(std::string_view fact, std::string_view given) {
  const std::string text = lower(given);
  if constexpr (std::is_enum_v<T>) {
    const auto names = valueNames<T>();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (lower(names[i]) == text) return static_cast<T>(i);
    }
    return {};
  } else if constexpr (std::is_same_v<T, bool>) {
    if (text == "yes" || text == "on" || text == "true" || text == "1") return true;
    if (text == "no" || text == "off" || text == "false" || text == "0") return false;
    return {};
  } else if constexpr (std::is_same_v<T, CpuList>) {
    return cpuList(text);
  } else {
    const Known<u32> value = wholeNumber(text);
    if (!value) return {};
    const bool good = fact == "w"       ? *value == 32 || *value == 64
                      : fact == "depth" ? *value == 8 || *value == 9
                                        : *value >= leastHz && *value <= mostHz;
    if (!good) return {};
    return static_cast<T>(*value);
  }
}

Result<ProfileOverrides::Assignment> parseOne(std::string_view text, const std::string& from) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return fail(Error::Kind::Usage,
                fmt::format("{}: '{}' is not of the form fact=value", from, shown(text)));
  }
  const std::string name = lower(trimmed(text.substr(0, equals)));
  const std::string_view value = trimmed(text.substr(equals + 1));
  const KernelProfile facts;
  std::vector<std::string_view> names;
  bool found = false;
  std::string allowedValues;
  ProfileOverrides::Assignment assignment{name, {}, from};
  forEachFact(facts, [&]<class T>(std::string_view factName, const Fact<T>&) {
    names.push_back(factName);
    if (factName != name) return;
    found = true;
    allowedValues = allowed<T>(factName);
    if (const Known<T> known = parsed<T>(factName, value)) assignment.value = valueText(*known);
  });
  if (!found) {
    return fail(Error::Kind::Usage, fmt::format("{}: there is no fact '{}'; facts are {}", from,
                                                shown(name), fmt::join(names, ", ")));
  }
  if (assignment.value.empty()) {
    return fail(Error::Kind::Usage, fmt::format("{}: {} cannot be '{}'; allowed: {}", from, name,
                                                shown(value), allowedValues));
  }
  return assignment;
}

}  // namespace

void ProfileOverrides::add(const ProfileOverrides& later) {
  assignments.insert(assignments.end(), later.assignments.begin(), later.assignments.end());
}

Result<ProfileOverrides> parseFacts(std::span<const std::string> assignments) {
  ProfileOverrides overrides;
  for (const std::string& text : assignments) {
    auto one = parseOne(text, "--fact");
    if (!one) return tl::unexpected<Error>(std::move(one.error()));
    overrides.assignments.push_back(std::move(*one));
  }
  return overrides;
}

Result<ProfileOverrides> parseProfileText(std::string_view text) {
  ProfileOverrides overrides;
  for (u32 number = 1; !text.empty(); ++number) {
    const std::size_t size = text.find('\n');
    std::string_view line = text.substr(0, size);
    text.remove_prefix(size == std::string_view::npos ? text.size() : size + 1);
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    auto one = parseOne(line, fmt::format("line {} of the profile", number));
    if (!one) return tl::unexpected<Error>(std::move(one.error()));
    overrides.assignments.push_back(std::move(*one));
  }
  return overrides;
}

void apply(KernelProfile& profile, const ProfileOverrides& overrides) {
  for (const ProfileOverrides::Assignment& one : overrides.assignments) {
    const auto last = std::find_if(overrides.assignments.rbegin(), overrides.assignments.rend(),
                                   [&](const auto& other) { return other.fact == one.fact; });
    if (&*last != &one) continue;
    forEachFact(profile, [&]<class T>(std::string_view name, Fact<T>& fact) {
      if (name != one.fact) return;
      const Known<T> value = parsed<T>(name, one.value);
      if (!value) return;
      const bool user = fact.confidence == 1.0;
      if constexpr (std::is_enum_v<T>) {
        const u32 bit = 1U << static_cast<u32>(*value);
        if (!user && fact.possible != 0 && !(fact.possible & bit)) fact.contradicted = true;
        fact.possible = bit;
      } else if (!user && fact.confidence >= 0.8 && fact.expected != value) {
        fact.contradicted = true;
      }
      fact.expected = value;
      fact.confidence = 1.0;
      std::erase_if(fact.evidence, [](const Evidence& e) { return e.of == EvidenceClass::User; });
      fact.evidence.insert(fact.evidence.begin(),
                           Evidence{EvidenceClass::User,
                                    fmt::format("{} says {}={}", one.from, one.fact, one.value)});
    });
  }
}

}  // namespace tickscope
