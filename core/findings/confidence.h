// SPDX-License-Identifier: GPL-3.0-or-later
// How sure a finding is, and the arithmetic behind it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/quantity.h"

namespace tickscope {

/// The weakest link of a proof.
enum class Proof : u8 {
  A,  ///< the trace states it: a field, a count of events in one bracket
  B,  ///< the model state is fully known and its rule was confirmed on this recording
  C,  ///< state or rule inferred
  D   ///< statistics over events only
};

/// A value within 0..0.99 and the steps that led to it.
class Confidence {
 public:
  struct Step {
    std::string why;
    bool factor;    ///< else a sum
    double change;  ///< the factor, or what was added
    double value;   ///< behind the step
  };

  Confidence() = default;
  explicit Confidence(Proof proof, std::string_view why = {});

  /// Of a fact of the kernel profile that the claim uses.
  void times(double factor, std::string why);
  void minus(double amount, std::string why);

  [[nodiscard]] double value() const;
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

 private:
  double value_ = 0;
  std::vector<Step> steps_;
};

}  // namespace tickscope
