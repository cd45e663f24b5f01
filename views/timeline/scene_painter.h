// SPDX-License-Identifier: GPL-3.0-or-later
// Paints a scene's strips into an image, line by line; never looks at events.
#pragma once

#include <QImage>
#include <QRectF>
#include <QString>
#include <vector>

#include "core/timeline/scene.h"
#include "views/timeline/ruler.h"

class QFontMetricsF;
class QPainter;

namespace tickscope {

class Theme;

struct PaintOptions {
  std::vector<RulerTick> grid;
  Known<u32> selectedTrack;  ///< track and lane of the lane that has the keyboard
  LaneKind selectedLane{};
  bool headerSelected = false;
  Known<Row> selectedRow;  ///< gets an outline where it is in the scene
};

/// Whether a strip has the tint and the bar of what is selected.
[[nodiscard]] bool isChosen(const SceneStrip& strip, const PaintOptions& options);

class ScenePainter {
 public:
  explicit ScenePainter(const Theme& theme) : theme_(&theme) {}

  /// Paints the strips of `scene` into the part of the image right of `left` logical pixels. The image has the
  /// scene's device pixel ratio.
  void paint(QImage& image, const Scene& scene, double left, const PaintOptions& options);

 private:
  struct Inks {
    QColor ink, tint;
  };
  [[nodiscard]] Inks inksOf(Ink ink) const;
  void paintGround(QPainter& painter, const SceneStrip& strip, const QRectF& area,
                   const PaintOptions& options);
  void paintBars(QPainter& painter, const SceneStrip& strip, const QRectF& area,
                 const PaintOptions& options);
  void paintColumns(QImage& image, const SceneStrip& strip, const QRectF& area, QRgb ground);
  // model_painter.cpp
  void paintArmed(QPainter& painter, const SceneStrip& strip, const QRectF& area);
  void paintFlags(QPainter& painter, const SceneStrip& strip, const QRectF& area);
  void paintSelectedTimer(QPainter& painter, const SceneStrip& strip, const QRectF& area,
                          const PaintOptions& options);
  void paintStepLine(QPainter& painter, const SceneStrip& strip, const QRectF& area,
                     const PaintOptions& options);
  void paintLinks(QPainter& painter, const SceneStrip& strip, const QRectF& area);
  void paintGlyphs(QPainter& painter, const SceneStrip& strip, const QRectF& area,
                   const PaintOptions& options);
  void paintHatches(QPainter& painter, const SceneStrip& strip, const QRectF& area);
  void paintWords(QPainter& painter, const SceneStrip& strip, const QRectF& area);
  [[nodiscard]] QRectF barArea(const SceneStrip& strip, const SceneBar& bar,
                               const QRectF& area) const;
  [[nodiscard]] QColor groundOf(const SceneStrip& strip, const PaintOptions& options) const;

  const Theme* theme_;
};

/// A glyph in a box of 9 pixels around `centre`; in programming lanes a pin that stands on `foot`.
void paintGlyph(QPainter& painter, Shape shape, QPointF centre, double foot, const QColor& ink,
                const QColor& ground);

/// The text, cut to the room; empty when fewer than six letters would be left.
[[nodiscard]] QString fittedLabel(const QString& text, const QFontMetricsF& metrics, double room);

}  // namespace tickscope
