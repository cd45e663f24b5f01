// SPDX-License-Identifier: GPL-3.0-or-later
// Names of the settings and their defaults.
#include "app/window/settings.h"

#include <QFileInfo>

namespace tickscope {

namespace {

const QString recentKey = QStringLiteral("recent");
const QString themeKey = QStringLiteral("theme");
const QString geometryKey = QStringLiteral("geometry");

}  // namespace

WindowSettings::WindowSettings()
    : settings_(QSettings::IniFormat, QSettings::UserScope, QStringLiteral("tickscope"),
                QStringLiteral("window")) {}

QStringList WindowSettings::recentFiles() const {
  return settings_.value(recentKey).toStringList().mid(0, mostRecent);
}

void WindowSettings::addRecentFile(const QString& path) {
  const QString absolute = QFileInfo(path).absoluteFilePath();
  QStringList files = recentFiles();
  files.removeAll(absolute);
  files.prepend(absolute);
  settings_.setValue(recentKey, QStringList(files.mid(0, mostRecent)));
}

void WindowSettings::removeRecentFile(const QString& path) {
  QStringList files = recentFiles();
  files.removeAll(path);
  settings_.setValue(recentKey, files);
}

ThemeChoice WindowSettings::theme() const {
  const QString name = settings_.value(themeKey).toString();
  if (name == QLatin1String("light")) return ThemeChoice::Light;
  if (name == QLatin1String("dark")) return ThemeChoice::Dark;
  return ThemeChoice::System;
}

void WindowSettings::setTheme(ThemeChoice choice) {
  switch (choice) {
    case ThemeChoice::System:
      settings_.remove(themeKey);
      break;
    case ThemeChoice::Light:
      settings_.setValue(themeKey, QStringLiteral("light"));
      break;
    case ThemeChoice::Dark:
      settings_.setValue(themeKey, QStringLiteral("dark"));
      break;
  }
}

QByteArray WindowSettings::geometry() const { return settings_.value(geometryKey).toByteArray(); }

void WindowSettings::setGeometry(const QByteArray& geometry) {
  settings_.setValue(geometryKey, geometry);
}

}  // namespace tickscope
