// SPDX-License-Identifier: GPL-3.0-or-later
// Layout and colours of the bar.
#include "app/window/notice_bar.h"

#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>

#include "views/theme.h"

namespace tickscope {

namespace {

constexpr int edge = 4;

}  // namespace

NoticeBar::NoticeBar(QWidget* parent)
    : QFrame(parent),
      badge_(new QLabel(this)),
      sentence_(new QLabel(this)),
      details_(new QLabel(this)),
      more_(new QToolButton(this)) {
  auto* const close = new QToolButton(this);
  auto* const grid = new QGridLayout(this);
  grid->setContentsMargins(edge + 8, 4, 8, 4);
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(2);
  for (QLabel* const label : {sentence_, details_}) {
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setFocusPolicy(Qt::ClickFocus);
  }
  badge_->setTextFormat(Qt::PlainText);
  details_->hide();
  more_->setText(tr("Details"));
  more_->setCheckable(true);
  more_->setAutoRaise(true);
  close->setText(QStringLiteral("✕"));
  close->setAutoRaise(true);
  close->setToolTip(tr("Close this message."));
  close->setAccessibleName(tr("Close"));
  grid->addWidget(badge_, 0, 0, Qt::AlignVCenter);
  grid->addWidget(sentence_, 0, 1);
  grid->addWidget(more_, 0, 2, Qt::AlignTop);
  grid->addWidget(close, 0, 3, Qt::AlignTop);
  grid->addWidget(details_, 1, 1, 1, 3);
  grid->setColumnStretch(1, 1);
  connect(more_, &QToolButton::toggled, details_, &QLabel::setVisible);
  connect(close, &QToolButton::clicked, this, [this] {
    hide();
    emit closed();
  });
  connect(&Theme::application(), &Theme::changed, this, qOverload<>(&QWidget::update));
  hide();
}

void NoticeBar::setNotice(const Notice& notice) {
  level_ = notice.level;
  QFont bold = font();
  bold.setBold(true);
  badge_->setFont(bold);
  badge_->setText(level_ == Notice::Level::Error ? tr("Error") : tr("Lost"));
  sentence_->setText(notice.sentence);
  details_->setText(notice.details);
  more_->setChecked(false);
  more_->setVisible(!notice.details.isEmpty());
  setAccessibleName(notice.sentence);
  show();
  update();
}

QString NoticeBar::sentence() const { return sentence_->text(); }

QString NoticeBar::details() const { return details_->text(); }

bool NoticeBar::detailsShown() const { return details_->isVisibleTo(this); }

void NoticeBar::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::application();
  QPainter painter(this);
  painter.fillRect(rect(), theme.color(Tone::Panel));
  painter.fillRect(QRect(0, 0, edge, height()),
                   theme.color(level_ == Notice::Level::Error ? Tone::S1 : Tone::S2));
  painter.setPen(theme.color(Tone::Border));
  painter.drawLine(0, height() - 1, width(), height() - 1);
}

}  // namespace tickscope
