// SPDX-License-Identifier: GPL-3.0-or-later
// What the window remembers between runs, in the user's XDG configuration directory.
#pragma once

#include <QByteArray>
#include <QSettings>
#include <QStringList>

#include "views/theme.h"

namespace tickscope {

class WindowSettings {
 public:
  static constexpr int mostRecent = 10;

  WindowSettings();

  [[nodiscard]] QStringList recentFiles() const;
  /// Puts the file first; paths are made absolute, each is kept once.
  void addRecentFile(const QString& path);
  void removeRecentFile(const QString& path);

  [[nodiscard]] ThemeChoice theme() const;
  void setTheme(ThemeChoice choice);

  [[nodiscard]] QByteArray geometry() const;
  void setGeometry(const QByteArray& geometry);

 private:
  QSettings settings_;
};

}  // namespace tickscope
