// SPDX-License-Identifier: GPL-3.0-or-later
// A picture of the timeline as plain data: what stands where, in which ink, to be painted, saved or compared.
#pragma once

#include <string>
#include <vector>

#include "core/model/model_ids.h"
#include "core/timeline/lane.h"

namespace tickscope {

/// Hue is family (look.md rule 1); the painter knows the colours.
enum class Ink : u8 {
  Task,
  SoftirqThread,
  HardIrq,
  SoftirqTimer,
  SoftirqHrtimer,
  SoftirqOther,
  Hrtimer,
  HrtimerSoft,
  Wheel,
  Programming
};
std::string_view nameOf(Ink ink);

/// Lengths are logical pixels from the left edge of the picture; columns are device pixels, which may be smaller.

/// One or several device pixels of a dense place.
struct SceneColumn {
  s32 x{}, width = 1;
  u16 height{};       ///< device pixels from the foot of the strip
  u8 strength = 255;  ///< of the ink: 128 to 255
  Ink ink{};
  u32 count{};        ///< events that count, in the densest slice of the column
  bool lone = false;  ///< a single event that has nothing beside it
  bool operator==(const SceneColumn&) const = default;
};

struct SceneBar {
  float from{}, to{};  ///< cut at the edges of the picture
  Ink ink{};
  u8 depth = 0;  ///< 1 and more: drawn inside the one around it
  bool beginKnown = true, endKnown = true;
  bool idle = false;  ///< a thin line instead of an area
  Row row{};
  std::string label;  ///< empty: no room
};

enum class Shape : u8 { Arm, Restart, Expire, Cancel, Call, Raise, Event };
std::string_view nameOf(Shape shape);

struct SceneGlyph {
  float x{};
  Shape shape{};
  Ink ink{};
  u32 count = 1;  ///< more than 1: a badge that says so
  Row row{};      ///< the first of them
};

/// A life of an armed timer, or in dense places how many were armed.
struct SceneArmed {
  float from{}, to{};     ///< cut at the edges of the picture
  float top{}, height{};  ///< from the top of the strip, logical pixels
  Ink ink{};
  Known<float> due;   ///< where its deadline stands, if that is in the picture
  Known<float> late;  ///< from there to the end it was late
  bool beginKnown = true, endKnown = true;
  bool replaced = false;  ///< it ended by a restart or a cancel, so that the deadline never came
  bool flag = false;      ///< there is room for a flag at its deadline
  bool selected = false;
  bool many = false;  ///< stands for `count` timers that are armed; no single one
  u32 count = 1;
  SpanId span{};
  Known<float> arm;   ///< of a selected one: where it was armed, may be out of the picture
  std::string label;  ///< of a selected one: "due 6.403 715 305  +299.2 µs"
};

/// A piece of the step line: the time that was left until the device was to fire, in shares of the lane's scale.
struct SceneLeft {
  float from{}, to{};
  float begin{}, end{};  ///< 1: the top; above: cut; below 0: overdue
  bool joined = false;   ///< begins where the piece before ended
  bool many = false;     ///< stands for several steps: the highest and the lowest of them
  std::string label;     ///< of a peak that is cut: how high it is
};

/// From a raise to the entry that serves it.
struct SceneLink {
  float from{}, to{};
  Ink ink{};
};

/// Where nothing can be known: lost events, a lane that was not recorded.
struct SceneHatch {
  float from{}, to{};
  std::string reason;  ///< empty: said elsewhere in the picture
};

struct SceneStrip {
  u32 track{};
  bool header = false;  ///< the CPU's header; `lane` has no meaning
  LaneKind lane{};
  u32 timerRow = 0;        ///< 0: the lane; from 1 on: a row below it, of `timer`
  Known<TimerId> timer{};  ///< empty: none for this row in the window
  bool chosen = false;     ///< `timer` is the selected one
  s32 y{}, height{};
  std::string name;         ///< "CPU1", "softirq"; of a row, its timer
  std::string detail;       ///< right part of the label column: "max 66"
  std::string detailBelow;  ///< what the figure counts: "operations a pixel"
  std::string words;        ///< the header sums up the view; a lane without events says so
  bool folded = false;
  std::vector<SceneColumn> columns;
  std::vector<SceneBar> bars;
  std::vector<SceneLink> links;
  std::vector<SceneGlyph> glyphs;
  std::vector<SceneHatch> hatches;
  std::vector<SceneArmed> armed;
  float armedHeight = 0;  ///< of the foot that armed timers take; columns and glyphs stand above it
  std::vector<SceneLeft> left;
};

struct Scene {
  double width{};    ///< logical pixels
  double ratio = 1;  ///< device pixels in one
  s64 from{}, to{};  ///< relative to Timeline::origin
  std::vector<SceneStrip> strips;

  [[nodiscard]] double x(s64 time) const {
    return static_cast<double>(time - from) * width / static_cast<double>(to - from);
  }
  /// The time at a place, at most `to`.
  [[nodiscard]] s64 time(double x) const;
};

/// The scene line by line, for tests and to compare pictures.
std::string textOf(const Scene& scene);

}  // namespace tickscope
