// SPDX-License-Identifier: GPL-3.0-or-later
// A scene as lines of text.
#include "core/timeline/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tickscope {

std::string_view nameOf(Ink ink) {
  switch (ink) {
    case Ink::Task:
      return "task";
    case Ink::SoftirqThread:
      return "softirq-thread";
    case Ink::HardIrq:
      return "irq";
    case Ink::SoftirqTimer:
      return "TIMER";
    case Ink::SoftirqHrtimer:
      return "HRTIMER";
    case Ink::SoftirqOther:
      return "softirq";
    case Ink::Hrtimer:
      return "hrtimer";
    case Ink::HrtimerSoft:
      return "soft-hrtimer";
    case Ink::Wheel:
      return "wheel";
    case Ink::Programming:
      return "programming";
  }
  return "";
}

std::string_view nameOf(Shape shape) {
  switch (shape) {
    case Shape::Arm:
      return "arm";
    case Shape::Restart:
      return "restart";
    case Shape::Expire:
      return "expire";
    case Shape::Cancel:
      return "cancel";
    case Shape::Call:
      return "call";
    case Shape::Raise:
      return "raise";
    case Shape::Event:
      return "event";
  }
  return "";
}

s64 Scene::time(double x) const {
  if (!(width > 0) || to <= from) return from;
  const double share = std::clamp(x / width, 0.0, 1.0);
  const s64 units = static_cast<s64>(std::floor(share * static_cast<double>(to - from)));
  return from + std::clamp<s64>(units, 0, to - from);
}

std::string textOf(const Scene& scene) {
  std::string text = fmt::format("scene {}..{} width {:g}\n", scene.from, scene.to, scene.width);
  for (const SceneStrip& strip : scene.strips) {
    text += fmt::format("{}{} y={} h={}",
                        strip.header     ? ""
                        : strip.timerRow ? "   - "
                                         : "  ",
                        strip.name, strip.y, strip.height);
    if (strip.chosen) text += " chosen";
    if (strip.folded) text += " folded";
    if (!strip.detail.empty()) text += fmt::format(" [{}]", strip.detail);
    if (!strip.words.empty()) text += fmt::format(" \"{}\"", strip.words);
    text += '\n';
    for (const SceneBar& bar : strip.bars) {
      text += fmt::format("    bar {}{:.1f}..{:.1f}{} {}", bar.beginKnown ? "" : "<", bar.from,
                          bar.to, bar.endKnown ? "" : ">", bar.idle ? "idle" : nameOf(bar.ink));
      if (bar.depth) text += fmt::format(" depth {}", bar.depth);
      if (!bar.label.empty()) text += fmt::format(" \"{}\"", bar.label);
      text += '\n';
    }
    for (const SceneArmed& armed : strip.armed) {
      text += fmt::format("    {} {}{:.1f}..{:.1f}{} y={:.0f}+{:.0f} {}",
                          armed.many ? "armed-many" : "armed", armed.beginKnown ? "" : "<",
                          armed.from, armed.to, armed.endKnown ? "" : ">", armed.top, armed.height,
                          nameOf(armed.ink));
      if (armed.many) text += fmt::format(" count {}", armed.count);
      if (armed.due)
        text += fmt::format(" due {:.1f}{}", *armed.due,
                            armed.flag ? (armed.replaced ? " outline" : " flag") : "");
      if (armed.late) text += fmt::format(" late {:.1f}", *armed.late);
      if (armed.selected) text += fmt::format(" selected \"{}\"", armed.label);
      text += '\n';
    }
    for (const SceneLeft& left : strip.left) {
      text +=
          fmt::format("    {} {}{:.1f}..{:.1f} {:.2f}..{:.2f}", left.many ? "left-many" : "left",
                      left.joined ? "-" : "", left.from, left.to, left.begin, left.end);
      if (!left.label.empty()) text += fmt::format(" \"{}\"", left.label);
      text += '\n';
    }
    for (const SceneColumn& column : strip.columns) {
      text += fmt::format("    {} {}+{} height {} {} count {}\n", column.lone ? "lone" : "column",
                          column.x, column.width, column.height, nameOf(column.ink), column.count);
    }
    for (const SceneLink& link : strip.links) {
      text += fmt::format("    link {:.1f}..{:.1f} {}\n", link.from, link.to, nameOf(link.ink));
    }
    for (const SceneGlyph& glyph : strip.glyphs) {
      text += fmt::format("    {} {:.1f}", nameOf(glyph.shape), glyph.x);
      if (glyph.count > 1) text += fmt::format(" x{}", glyph.count);
      text += '\n';
    }
    for (const SceneHatch& hatch : strip.hatches) {
      text += fmt::format("    hatch {:.1f}..{:.1f} \"{}\"\n", hatch.from, hatch.to, hatch.reason);
    }
  }
  return text;
}

}  // namespace tickscope
