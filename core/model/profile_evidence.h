// SPDX-License-Identifier: GPL-3.0-or-later
// Weighs evidence for a fact with few values: removes what is impossible, the strongest class first.
#pragma once

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/model/kernel_profile.h"

namespace tickscope {

/// Confidence of the classes of evidence (a user's word is 1).
namespace trust {
inline constexpr double format = 0.98;
inline constexpr double symbol = 0.95;
inline constexpr double listing = 0.95;
inline constexpr double behaviourCap = 0.97;
inline constexpr double oldestRule = 0.9;    ///< of a version: kernels rarely lose what they had
inline constexpr double exactVersion = 0.6;  ///< stable and vendor trees carry backports
/// n consistent observations, none against.
constexpr double behaviour(u64 n) {
  return std::min(behaviourCap, 1.0 - 1.0 / (static_cast<double>(n) + 1.0));
}
}  // namespace trust

/// Whether behaviour may exclude what weaker evidence says (a property of the machine), or only choose within what
/// the version's oldest rule leaves too (a rule of the kernel: one that breaks its rule has a fault, not a profile).
enum class FactKind : u8 { Property, Rule };

/// Collects what each piece of evidence leaves possible of the values of E.
template <class E>
class Candidates {
 public:
  explicit Candidates(FactKind kind) : kind_(kind) {}

  void only(EvidenceClass of, std::initializer_list<E> values, std::string why) {
    add({rankOf(of), of, trustIn(of), maskOf(values), std::move(why)});
  }
  void exclude(EvidenceClass of, std::initializer_list<E> values, std::string why) {
    add({rankOf(of), of, trustIn(of), all() & ~maskOf(values), std::move(why)});
  }
  /// The version's own rule: newer ones may have been backported.
  void release(E value, const std::string& why) {
    const u32 bit = maskOf({value});
    add({oldest(), EvidenceClass::Version, trust::oldestRule, all() & ~(bit - 1U), why});
    add({exact, EvidenceClass::Version, trust::exactVersion, bit, ""});
  }
  /// The version has at least this; kernels rarely lose what they had.
  void since(std::initializer_list<E> values, std::string why) {
    add({oldest(), EvidenceClass::Version, trust::oldestRule, maskOf(values), std::move(why)});
  }
  /// The version has at most this, unless more was backported.
  void until(std::initializer_list<E> values, std::string why) {
    add({exact, EvidenceClass::Version, trust::exactVersion, maskOf(values), std::move(why)});
  }
  /// Seen `n` times: this is also what was observed.
  void seen(E value, u64 n, std::string why) {
    seen_ = value;
    seenConfidence_ = trust::behaviour(n);
    add({behaviour(), EvidenceClass::Behaviour, seenConfidence_, maskOf({value}), std::move(why)});
  }
  /// Behaviour that leaves several values.
  void seenOneOf(std::initializer_list<E> values, u64 n, std::string why) {
    add({behaviour(), EvidenceClass::Behaviour, trust::behaviour(n), maskOf(values),
         std::move(why)});
  }

  [[nodiscard]] Fact<E> weigh() {
    std::stable_sort(pieces_.begin(), pieces_.end(),
                     [](const Piece& a, const Piece& b) { return a.order < b.order; });
    Fact<E> fact;
    u32 left = all();
    double confidence = 1.0;
    u32 possible = left;
    for (Piece& piece : pieces_) {
      const u32 common = left & piece.mask;
      if (common == 0) {
        // A kernel that behaves otherwise than its formats allow is a finding, and a backport is no contradiction.
        const bool telling =
            piece.order != exact && !(kind_ == FactKind::Rule && piece.order == behaviour());
        fact.contradicted = fact.contradicted || telling;
      } else if (common != left) {
        left = common;
        confidence = std::min(confidence, piece.confidence);
      }
      if (piece.order <= 4) possible = left;
      if (!piece.why.empty()) fact.evidence.push_back({piece.of, std::move(piece.why)});
    }
    fact.possible = possible;
    if (std::popcount(left) == 1) {
      fact.expected = static_cast<E>(std::countr_zero(left));
      fact.confidence = confidence;
    }
    fact.observed = seen_;
    fact.seenConfidence = seen_ ? seenConfidence_ : 0;
    return fact;
  }

 private:
  // A rule goes by its version's oldest before by behaviour; a property the other way round.
  [[nodiscard]] u8 oldest() const { return kind_ == FactKind::Rule ? 4 : 5; }
  [[nodiscard]] u8 behaviour() const { return kind_ == FactKind::Rule ? 5 : 4; }
  static constexpr u8 exact = 6;
  struct Piece {
    u8 order;
    EvidenceClass of;
    double confidence;
    u32 mask;
    std::string why;
  };

  /// Of the classes that are not ranked by the kind of fact.
  static constexpr u8 rankOf(EvidenceClass of) { return std::min(static_cast<u8>(of), u8{3}); }
  static constexpr double trustIn(EvidenceClass of) {
    switch (of) {
      case EvidenceClass::User:
        return 1.0;
      case EvidenceClass::Format:
        return trust::format;
      case EvidenceClass::Symbol:
        return trust::symbol;
      case EvidenceClass::Listing:
        return trust::listing;
      case EvidenceClass::Behaviour:
        return trust::behaviourCap;
      case EvidenceClass::Version:
        break;
    }
    return trust::exactVersion;
  }
  static u32 all() { return (1U << valueNames<E>().size()) - 1U; }
  static u32 maskOf(std::initializer_list<E> values) {
    u32 mask = 0;
    for (const E value : values) mask |= 1U << static_cast<u32>(value);
    return mask;
  }
  void add(Piece piece) { pieces_.push_back(std::move(piece)); }

  FactKind kind_;
  std::vector<Piece> pieces_;
  Known<E> seen_;
  double seenConfidence_ = 0;
};

}  // namespace tickscope
