// SPDX-License-Identifier: GPL-3.0-or-later
// Parts that the reports of the model share: kernel facts, states and comparisons with timer lists.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "app/cli/output.h"
#include "app/options_model.h"
#include "core/model/state_text.h"
#include "core/model/timer_list_compare.h"

namespace tickscope {

using OrderedJson = nlohmann::ordered_json;

/// A dump beside the model.
struct ComparedList {
  std::string path;
  Known<MonoTime> now;
  TimerListComparison comparison;
};
std::vector<ComparedList> compared(const Modelled& modelled);

/// {NAME: {expected, observed, possible, confidence, observed_confidence, contradicted, evidence[]}}
OrderedJson profileJson(const KernelProfile& profile);
/// A table of the facts that are known. `allEvidence`: all of it, a line each; else that of the strongest
/// class.
void printProfile(const KernelProfile& profile, bool allEvidence, Output& out);

OrderedJson timerListsJson(const std::vector<ComparedList>& lists);
void printTimerLists(const std::vector<ComparedList>& lists, Output& out);

/// resources/schema/state.schema.json
OrderedJson stateJson(const Analysis& analysis, const SystemState& state, const StateInstant& at,
                      std::span<const u32> cpus);

/// A string of the recording as JSON, escaped as text output escapes it; null when it is empty.
OrderedJson textOrNull(std::string_view value);
void printJson(const OrderedJson& json, Output& out);

}  // namespace tickscope
