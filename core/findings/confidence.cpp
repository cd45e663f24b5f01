// SPDX-License-Identifier: GPL-3.0-or-later
// Grades of proof and the steps from them.
#include "core/findings/confidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tickscope {

namespace {

struct ProofInfo {
  char name;
  double start;
  std::string_view why;
};
constexpr std::array<ProofInfo, 4> proofs{
    {{'A', 0.95, "the trace states it"},
     {'B', 0.85, "the model's state is known, its rule seen here"},
     {'C', 0.65, "state or rule are inferred"},
     {'D', 0.50, "statistics over events"}}};

}  // namespace

Confidence::Confidence(Proof proof, std::string_view why) {
  const ProofInfo& info = proofs[static_cast<std::size_t>(proof)];
  value_ = info.start;
  steps_.push_back({fmt::format("grade {}: {}", info.name, why.empty() ? info.why : why), false,
                    info.start, info.start});
}

void Confidence::times(double factor, std::string why) {
  if (factor >= 1) return;
  value_ *= factor;
  steps_.push_back({std::move(why), true, factor, value_});
}

void Confidence::minus(double amount, std::string why) {
  value_ -= amount;
  steps_.push_back({std::move(why), false, -amount, value_});
}

double Confidence::value() const { return std::clamp(value_, 0.0, 0.99); }

}  // namespace tickscope
