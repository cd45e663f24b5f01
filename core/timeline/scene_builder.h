// SPDX-License-Identifier: GPL-3.0-or-later
// From a visible range and a set of strips to a scene.
#pragma once

#include <functional>

#include "core/timeline/lane_layout.h"
#include "core/timeline/model_lanes.h"
#include "core/timeline/scene.h"

namespace tickscope {

/// How things that the store knows by number are called.
struct SceneNames {
  std::function<std::string(Pid)> task;        ///< comm; empty function: `pid 12`
  std::function<std::string(Address)> symbol;  ///< function; empty function: hex
};

struct SceneRequest {
  s64 from{}, to{};  ///< relative to Timeline::origin; any numbers
  double width = 1;  ///< logical pixels
  double ratio = 1;  ///< device pixels in one
  bool durations =
      true;  ///< false: the clock's differences are no lengths of time (a counter of events)
  std::vector<StripPlace> places;
  s64 top = 0;                        ///< y of the layout at which the picture begins
  const ModelLanes* model = nullptr;  ///< of the same timeline; null: not known yet
  Known<SpanId> selected{};           ///< has its deadline connected
  std::function<std::string(s64)>
      timeWords{};  ///< of a time as the timeline has it; empty function: in figures
};

/// Never fails; its cost is bounded by pixels and strips.
Scene buildScene(const Timeline& timeline, const SceneNames& names, const SceneRequest& request);

}  // namespace tickscope
