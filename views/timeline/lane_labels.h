// SPDX-License-Identifier: GPL-3.0-or-later
// The column left of the lanes: CPU names that fold, lane names, what the heights mean.
#pragma once

#include <QImage>

#include "core/timeline/scene.h"
#include "views/timeline/scene_painter.h"

namespace tickscope {

/// Logical pixels of the label column at the usual font size (look.md 5).
inline constexpr int labelColumn = 196;

void paintLaneLabels(QImage& image, const Scene& scene, double width, const Theme& theme,
                     const PaintOptions& options);

}  // namespace tickscope
