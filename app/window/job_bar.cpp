// SPDX-License-Identifier: GPL-3.0-or-later
// Looks at the job's progress a few times a second.
#include "app/window/job_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>

#include "app/window/open_job.h"

namespace tickscope {

namespace {

constexpr int lookEveryMs = 40;
constexpr int barSteps = 1000;

}  // namespace

JobBar::JobBar(QWidget* parent)
    : QFrame(parent),
      stage_(new QLabel(this)),
      bar_(new QProgressBar(this)),
      cancel_(new QPushButton(tr("Cancel"), this)) {
  auto* const layout = new QHBoxLayout(this);
  layout->setContentsMargins(12, 3, 8, 3);
  stage_->setTextFormat(Qt::PlainText);
  bar_->setRange(0, barSteps);
  bar_->setTextVisible(false);
  bar_->setFixedHeight(8);
  bar_->setMaximumWidth(400);
  cancel_->setToolTip(tr("Stop opening (Esc)."));
  layout->addWidget(stage_);
  layout->addWidget(bar_, 1);
  layout->addStretch(1);
  layout->addWidget(cancel_);
  timer_.setInterval(lookEveryMs);
  connect(&timer_, &QTimer::timeout, this, &JobBar::look);
  connect(cancel_, &QPushButton::clicked, this, &JobBar::cancelled);
  hide();
}

void JobBar::setJob(const OpenJob* job, const QString& name) {
  job_ = job;
  name_ = name;
  if (!job_) {
    timer_.stop();
    hide();
    return;
  }
  look();
  timer_.start();
  show();
  cancel_->setFocus(Qt::OtherFocusReason);
}

QString JobBar::stage() const { return stage_->text(); }

void JobBar::look() {
  if (!job_) return;
  const Progress::State state = job_->progress();
  const QString stage = state.stage.empty() ? tr("opening") : QString::fromStdString(state.stage);
  if (state.total == 0) {
    bar_->setRange(0, 0);
    stage_->setText(tr("%1: %2").arg(name_, stage));
    return;
  }
  const double share =
      std::min(1.0, static_cast<double>(state.done) / static_cast<double>(state.total));
  bar_->setRange(0, barSteps);
  bar_->setValue(static_cast<int>(share * barSteps));
  stage_->setText(tr("%1: %2, %3 %").arg(name_, stage).arg(static_cast<int>(share * 100)));
}

void JobBar::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    emit cancelled();
    return;
  }
  QFrame::keyPressEvent(event);
}

}  // namespace tickscope
