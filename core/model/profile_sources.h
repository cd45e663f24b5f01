// SPDX-License-Identifier: GPL-3.0-or-later
// What facts of the kernel profile are learned from, and the words that both learners share.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "core/model/profile_evidence.h"
#include "core/model/profile_scan.h"
#include "core/trace/timer_list_dump.h"

namespace tickscope {

/// Major and minor of a release, comparable.
struct Release {
  u32 major = 0, minor = 0;
  auto operator<=>(const Release&) const = default;
};
Known<Release> releaseOf(std::string_view text);

/// What the formats of the file say of the timer events. Unknown where there is no format to look at.
struct TimerFormats {
  Known<bool> mode, wasArmed;       ///< of hrtimer_start
  Known<bool> bucketExpiry, flags;  ///< of timer_start
  Known<bool> baseclk;              ///< of timer_expire_entry
  bool wholeGroup =
      false;  ///< every event of the group has a format: one that has none does not exist
  bool rearm = false, startExpired = false, tickStop = false, migration = false;
};
TimerFormats formatsOf(const EventStore& events);

struct ProfileSources {
  const Recording& recording;
  const Buffer& buffer;
  const KernelProfile& user;  ///< facts that the user states, nothing else
  const TimerListDump* dump;
  TimerFormats formats;
  Known<Release> release;
  Habits habits;

  /// The list of another boot is of another kernel, for all that is known.
  [[nodiscard]] bool symbol(std::string_view name) const {
    const Metadata& metadata = recording.metadata;
    return !metadata.lastBoot && metadata.symbols->rangeOf(name).has_value();
  }
  [[nodiscard]] bool since(u32 major, u32 minor) const {
    return release && *release >= Release{major, minor};
  }
  [[nodiscard]] std::string releaseWords() const {
    return fmt::format("release {}", recording.metadata.release);
  }
  [[nodiscard]] bool records(EventKind kind) const {
    return buffer.events.firstPossible(kind).has_value();
  }
};

inline bool has(const Known<bool>& fact) { return fact && *fact; }
inline bool lacks(const Known<bool>& fact) { return fact && !*fact; }

/// A fact from a source that is stronger than behaviour.
template <class T>
void setFact(Fact<T>& fact, T value, double confidence, EvidenceClass of, std::string why) {
  fact.expected = std::move(value);
  fact.confidence = confidence;
  fact.evidence.push_back({of, std::move(why)});
}
/// A property seen `n` times. What a stronger source says stays expected; the two may contradict each other.
template <class T>
void seeFact(Fact<T>& fact, T value, u64 n, std::string why) {
  fact.observed = value;
  fact.seenConfidence = trust::behaviour(n);
  if (!fact.expected || fact.confidence < trust::symbol) {
    fact.expected = std::move(value);
    fact.confidence = fact.seenConfidence;
  } else if (fact.expected != fact.observed) {
    fact.contradicted = true;
  }
  fact.evidence.push_back({EvidenceClass::Behaviour, std::move(why)});
}

/// Facts of the machine and its configuration: resolution, NO_HZ, threads, skew.
void learnMachine(KernelProfile& profile, const ProfileSources& sources);

}  // namespace tickscope
