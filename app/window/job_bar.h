// SPDX-License-Identifier: GPL-3.0-or-later
// What is being done, how far it is, and a way to stop it.
#pragma once

#include <QFrame>
#include <QTimer>

class QLabel;
class QProgressBar;
class QPushButton;

namespace tickscope {

class OpenJob;

class JobBar : public QFrame {
  Q_OBJECT

 public:
  explicit JobBar(QWidget* parent = nullptr);

  /// Shows a job by the name of what it works on; null hides the bar.
  void setJob(const OpenJob* job, const QString& name);
  [[nodiscard]] QString stage() const;

 signals:
  void cancelled();

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void look();

  const OpenJob* job_ = nullptr;
  QString name_;
  QTimer timer_;
  QLabel* stage_;
  QProgressBar* bar_;
  QPushButton* cancel_;
};

}  // namespace tickscope
