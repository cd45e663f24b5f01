// SPDX-License-Identifier: GPL-3.0-or-later
// Paints SVG icons, whose strokes are "currentColor", at the sizes that screens need.
#include "app/window/icons.h"

#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

namespace tickscope {

QIcon icon(const char* name, const QColor& ink, const QColor& disabled) {
  QFile file(QStringLiteral(":/icons/%1.svg").arg(QLatin1String(name)));
  if (!file.open(QIODevice::ReadOnly)) return {};
  const QByteArray drawing = file.readAll();
  QIcon made;
  const std::pair<QIcon::Mode, QColor> modes[] = {{QIcon::Normal, ink},
                                                  {QIcon::Disabled, disabled}};
  for (const auto& [mode, color] : modes) {
    QByteArray coloured = drawing;
    coloured.replace("currentColor", color.name().toLatin1());
    QSvgRenderer renderer(coloured);
    for (const int scale : {1, 2, 3}) {
      QPixmap pixmap(16 * scale, 16 * scale);
      pixmap.fill(Qt::transparent);
      QPainter painter(&pixmap);
      renderer.render(&painter);
      painter.end();
      pixmap.setDevicePixelRatio(scale);
      made.addPixmap(pixmap, mode);
    }
  }
  return made;
}

}  // namespace tickscope
