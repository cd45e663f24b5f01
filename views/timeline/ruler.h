// SPDX-License-Identifier: GPL-3.0-or-later
// Ticks and their labels along the visible time, the heads of cursor and markers above them.
#pragma once

#include <QRectF>
#include <QString>
#include <vector>

#include "core/trace/recording.h"

class QPainter;

namespace tickscope {

class Document;
class Theme;

struct RulerTick {
  double x{};
  bool major = false;
  QString label;  ///< of major ticks
};

/// What the ruler counts from: the clock's own zero, or marker A, signed.
struct RulerScale {
  TimeSpan visible{};
  double width{};  ///< logical pixels
  ClockUnit unit = ClockUnit::Unknown;
  Known<TraceTime> base;
};

/// Steps of 1, 2 or 5 times a power of ten, major ones at least `apart` pixels from each other. Seconds with 3, 6 or 9
/// decimals for clocks of ns, plain numbers for all others. Bounded by the width; any times.
std::vector<RulerTick> rulerTicks(const RulerScale& scale, double apart);

/// Paints the ruler into `area`, whose left `labels` pixels say what it shows.
void paintRuler(QPainter& painter, const QRectF& area, double labels, const Document& document,
                const Theme& theme, bool fromMarkerA);

}  // namespace tickscope
