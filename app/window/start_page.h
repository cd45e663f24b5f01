// SPDX-License-Identifier: GPL-3.0-or-later
// What the window shows before anything is open: recent files, a place to drop one, the sample, how to record.
#pragma once

#include <QStringList>
#include <QWidget>

class QLabel;
class QListWidget;
class QPushButton;

namespace tickscope {

class StartPage : public QWidget {
  Q_OBJECT

 public:
  explicit StartPage(QWidget* parent = nullptr);

  void setRecentFiles(const QStringList& paths);
  void setSampleAvailable(bool available);

 signals:
  void fileChosen(const QString& path);
  void openWanted();
  void sampleWanted();

 private:
  void showRecent();

  QListWidget* recent_;
  QLabel* noRecent_;
  QPushButton* sample_;
};

/// The recording that comes with the program; empty when it cannot be found.
[[nodiscard]] QString samplePath();

}  // namespace tickscope
