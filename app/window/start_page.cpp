// SPDX-License-Identifier: GPL-3.0-or-later
// Layout of the start page, and where the sample lies.
#include "app/window/start_page.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QFrame>
#include <QGridLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>

#include "views/theme.h"

namespace tickscope {

namespace {

struct Recipe {
  const char* question;
  const char* command;
};

// One line a question; the events are those that the timeline draws.
constexpr Recipe recipes[] = {
    {QT_TRANSLATE_NOOP("tickscope::StartPage", "Which timers expire, when, and in which order?"),
     "trace-cmd record -C mono -e timer -e irq -e sched:sched_switch sleep 10"},
    {QT_TRANSLATE_NOOP("tickscope::StartPage", "How often is the clock event device programmed?"),
     "trace-cmd record -C mono -e timer -e irq -p function -l tick_program_event sleep 10"},
    {QT_TRANSLATE_NOOP("tickscope::StartPage", "What wakes an idle CPU?"),
     "trace-cmd record -C mono -e timer -e irq -e sched -e power:cpu_idle sleep 10"},
};

QLabel* title(const QString& text, QWidget* parent) {
  auto* const label = new QLabel(text, parent);
  QFont font = Theme::application().font(Theme::Text::Body);
  font.setBold(true);
  label->setFont(font);
  return label;
}

}  // namespace

StartPage::StartPage(QWidget* parent)
    : QWidget(parent),
      recent_(new QListWidget(this)),
      noRecent_(new QLabel(tr("No file was opened yet."), this)),
      sample_(new QPushButton(tr("Open the sample"), this)) {
  auto* const page = new QGridLayout(this);
  page->setContentsMargins(48, 36, 48, 24);
  page->setVerticalSpacing(8);
  page->setHorizontalSpacing(32);

  auto* const name = new QLabel(QStringLiteral("Tickscope"), this);
  QFont large = Theme::application().font(Theme::Text::Title);
  large.setBold(true);
  name->setFont(large);
  page->addWidget(name, 0, 0, 1, 2);

  page->addWidget(title(tr("Open"), this), 1, 0);
  auto* const drop = new QFrame(this);
  drop->setFrameShape(QFrame::StyledPanel);
  auto* const dropLayout = new QGridLayout(drop);
  dropLayout->setContentsMargins(16, 16, 16, 16);
  auto* const hint = new QLabel(tr("Drop a trace.dat here, or"), drop);
  auto* const open = new QPushButton(tr("Open a file…"), drop);
  dropLayout->addWidget(hint, 0, 0, 1, 2);
  dropLayout->addWidget(open, 1, 0);
  dropLayout->addWidget(sample_, 1, 1);
  page->addWidget(drop, 2, 0, Qt::AlignTop);

  page->addWidget(title(tr("Recent files"), this), 1, 1);
  recent_->setFrameShape(QFrame::StyledPanel);
  recent_->setTextElideMode(Qt::ElideMiddle);
  recent_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  recent_->setMinimumHeight(120);
  recent_->setSpacing(1);
  recent_->setMaximumHeight(230);
  noRecent_->setForegroundRole(QPalette::PlaceholderText);
  page->addWidget(recent_, 2, 1);
  page->addWidget(noRecent_, 2, 1, Qt::AlignTop);

  page->addWidget(title(tr("How to record"), this), 3, 0, 1, 2);
  int line = 4;
  for (const Recipe& recipe : recipes) {
    auto* const question = new QLabel(tr(recipe.question), this);
    auto* const command = new QLabel(QString::fromLatin1(recipe.command), this);
    command->setFont(Theme::application().font(Theme::Text::Number));
    command->setTextFormat(Qt::PlainText);
    command->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    command->setWordWrap(true);
    question->setWordWrap(true);
    page->addWidget(question, line, 0, Qt::AlignTop);
    page->addWidget(command, line, 1, Qt::AlignTop);
    ++line;
  }
  page->setColumnMinimumWidth(0, 300);
  page->setColumnStretch(1, 1);
  page->setRowStretch(line, 1);

  connect(open, &QPushButton::clicked, this, &StartPage::openWanted);
  connect(sample_, &QPushButton::clicked, this, &StartPage::sampleWanted);
  connect(recent_, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) {
    emit fileChosen(item->data(Qt::UserRole).toString());
  });
  connect(recent_, &QListWidget::itemClicked, this, [this](const QListWidgetItem* item) {
    emit fileChosen(item->data(Qt::UserRole).toString());
  });
  showRecent();
}

void StartPage::setRecentFiles(const QStringList& paths) {
  recent_->clear();
  for (const QString& path : paths) {
    const QFileInfo file(path);
    auto* const item = new QListWidgetItem(
        tr("%1   in %2").arg(file.fileName(), QDir::toNativeSeparators(file.path())), recent_);
    item->setData(Qt::UserRole, path);
    item->setToolTip(path.toHtmlEscaped());
  }
  showRecent();
}

void StartPage::setSampleAvailable(bool available) { sample_->setVisible(available); }

void StartPage::showRecent() {
  recent_->setVisible(recent_->count() > 0);
  noRecent_->setVisible(recent_->count() == 0);
}

QString samplePath() {
  const QDir program(QCoreApplication::applicationDirPath());
  // As installed, and from the build tree (build/PRESET, build/PRESET/tests).
  for (const char* const place :
       {"../share/tickscope/samples", "../../resources/samples", "../../../resources/samples"}) {
    const QFileInfo file(
        program.filePath(QLatin1String(place) + QStringLiteral("/02-ncm-double.dat")));
    if (file.isReadable()) return file.canonicalFilePath();
  }
  return {};
}

}  // namespace tickscope
