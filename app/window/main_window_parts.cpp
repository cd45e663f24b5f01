// SPDX-License-Identifier: GPL-3.0-or-later
// Builds the window's parts: actions, menus, tool bar, panels; sizes by the screen.
#include <QActionGroup>
#include <QComboBox>
#include <QDialog>
#include <QDockWidget>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QScreen>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabBar>
#include <QTextBrowser>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/window/go_to_field.h"
#include "app/window/icons.h"
#include "app/window/job_bar.h"
#include "app/window/main_window.h"
#include "app/window/notice_bar.h"
#include "app/window/start_page.h"
#include "app/window/status_line.h"
#include "views/panels/events_panel.h"
#include "views/panels/panel_list.h"
#include "views/panels/state_panel.h"
#include "views/timeline/overview_strip.h"
#include "views/timeline/timeline_widget.h"

namespace tickscope {

namespace {

constexpr int iconsOnlyBelow = 1280;
constexpr int toolBarHeight = 32;
constexpr int smallScreen = 800;                     // logical px of height: 1366x768 and less
constexpr int smallWidth = 1366, largeWidth = 3000;  // of windows, for panels at the side
constexpr int narrowestTimeline = 560;

}  // namespace

MainWindow::MainWindow(QWidget* parent) : QMainWindow(parent) {
  setAcceptDrops(true);
  setWindowTitle(tr("Tickscope"));
  setContextMenuPolicy(Qt::NoContextMenu);
  Theme::application().setChoice(settings_.theme());

  timeline_ = new TimelineWidget(document_, this);
  timeline_->setMinimumWidth(narrowestTimeline);
  start_ = new StartPage(this);
  start_->setSampleAvailable(!samplePath().isEmpty());
  start_->setRecentFiles(settings_.recentFiles());
  pages_ = new QStackedWidget(this);
  pages_->addWidget(start_);
  pages_->addWidget(timeline_);
  setCentralWidget(pages_);

  makeActions();
  // One column above everything, because the overview reaches over the panels at the sides too.
  auto* const top = new QWidget(this);
  auto* const column = new QVBoxLayout(top);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* const menus = new QMenuBar(top);
  const double scale = Theme::application().textScale();
  jobBar_ = new JobBar(top);
  errorBar_ = new NoticeBar(top);
  lossBar_ = new NoticeBar(top);
  overview_ = new OverviewStrip(document_, top);
  toolBar_ = makeToolBar();
  toolBar_->setMinimumHeight(static_cast<int>(toolBarHeight * scale));
  for (QWidget* const part :
       std::initializer_list<QWidget*>{menus, toolBar_, jobBar_, errorBar_, lossBar_, overview_}) {
    column->addWidget(part);
  }
  setMenuWidget(top);
  makePanels();
  makeMenus(menus);

  status_ = new StatusLine(document_, this);
  auto* const bar = new QStatusBar(this);
  bar->setSizeGripEnabled(false);
  bar->setContentsMargins(0, 0, 0, 0);
  bar->setStyleSheet(QStringLiteral("QStatusBar::item { border: 0 }"));
  bar->addWidget(status_, 1);
  if (bar->layout()) bar->layout()->setContentsMargins(0, 0, 0, 0);
  setStatusBar(bar);
  connect(events_, &EventsPanel::notice, status_, &StatusLine::say);
  connect(state_, &StatePanel::notice, status_, &StatusLine::say);
  connect(goTo_, &GoToField::notice, status_, &StatusLine::say);
  connect(goTo_, &GoToField::went, this, [this] { timeline_->setFocus(Qt::OtherFocusReason); });
  connect(jobBar_, &JobBar::cancelled, this, &MainWindow::cancelJob);

  connect(start_, &StartPage::openWanted, this, &MainWindow::chooseFile);
  connect(start_, &StartPage::fileChosen, this, &MainWindow::openFile);
  connect(start_, &StartPage::sampleWanted, action(ActionId::OpenSample), &QAction::trigger);

  connect(&document_, &Document::opened, this, &MainWindow::onDocumentOpened);
  for (const auto signal :
       {&Document::historyChanged, &Document::cursorChanged, &Document::selectionChanged,
        &Document::markersChanged, &Document::followChanged}) {
    connect(&document_, signal, this, &MainWindow::refreshActions);
  }
  held_.setSingleShot(true);
  connect(&held_, &QTimer::timeout, this, &MainWindow::releasePanels);
  connect(&Theme::application(), &Theme::changed, this, &MainWindow::refreshIcons);
  refreshIcons();
  refreshActions();
  showPage();
  if (!restoreGeometry(settings_.geometry())) resize(1366, 768);
}

QAction* MainWindow::on(ActionId id, std::function<void()> act) {
  QAction* const made = makeAction(id, this);
  actions_.insert(id, made);
  connect(made, &QAction::triggered, this, [act = std::move(act)] { act(); });
  addAction(made);
  return made;
}

void MainWindow::makeActions() {
  on(ActionId::Open, [this] { chooseFile(); });
  on(ActionId::OpenSample, [this] { openFile(samplePath()); })->setEnabled(!samplePath().isEmpty());
  on(ActionId::UseTimerList, [this] { chooseTimerList(); });
  on(ActionId::Reload, [this] { openFile(path_); });
  on(ActionId::CloseTrace, [this] { closeTrace(); });
  on(ActionId::Quit, [this] { close(); });
  on(ActionId::ShowAll, [this] { document_.showAll(); });
  on(ActionId::ZoomIn, [this] { zoomInMenu(0.5); });
  on(ActionId::ZoomOut, [this] { zoomInMenu(2); });
  on(ActionId::ZoomSelection, [this] {
    if (document_.selection()) document_.setVisible(*document_.selection());
  });
  on(ActionId::ClearSelection, [this] { document_.clearSelection(); });
  on(ActionId::MoveEarlier, [this] { document_.pan(-0.25); });
  on(ActionId::MoveLater, [this] { document_.pan(0.25); });
  on(ActionId::Follow, [this] { document_.setFollow(!document_.follow()); })->setCheckable(true);
  auto* const themes = new QActionGroup(this);
  const auto theme = [&](ActionId id, ThemeChoice choice) {
    QAction* const made = on(id, [this, choice] {
      Theme::application().setChoice(choice);
      settings_.setTheme(choice);
    });
    made->setCheckable(true);
    made->setChecked(settings_.theme() == choice);
    themes->addAction(made);
  };
  theme(ActionId::ThemeSystem, ThemeChoice::System);
  theme(ActionId::ThemeLight, ThemeChoice::Light);
  theme(ActionId::ThemeDark, ThemeChoice::Dark);
  on(ActionId::Back, [this] { document_.goBack(); });
  on(ActionId::Forward, [this] { document_.goForward(); });
  on(ActionId::GoTo, [this] {
    goTo_->setFocus(Qt::ShortcutFocusReason);
    goTo_->selectAll();
  });
  on(ActionId::PreviousChange, [this] { state_->toPreviousChange(); });
  on(ActionId::NextChange, [this] { state_->toNextChange(); });
  on(ActionId::MarkerA, [this] { setMarker(Marker::A); });
  on(ActionId::MarkerB, [this] { setMarker(Marker::B); });
  on(ActionId::ClearMarkers, [this] {
    document_.clearMarker(Marker::A);
    document_.clearMarker(Marker::B);
  });
  on(ActionId::NextPane, [this] { stepPane(1); });
  on(ActionId::PreviousPane, [this] { stepPane(-1); });
  on(ActionId::Copy, [this] { events_->copy(); });
  on(ActionId::SelectAllRows, [this] { events_->selectAll(); });
  on(ActionId::KeySheet, [this] { showKeySheet(); });
  on(ActionId::About, [this] { showAbout(); });
}

void MainWindow::makeMenus(QMenuBar* bar) {
  QHash<MenuPlace, QMenu*> menus;
  menus[MenuPlace::File] = bar->addMenu(tr("&File"));
  menus[MenuPlace::Events] = bar->addMenu(tr("&Edit"));
  menus[MenuPlace::View] = bar->addMenu(tr("&View"));
  menus[MenuPlace::Go] = bar->addMenu(tr("&Go"));
  menus[MenuPlace::Help] = bar->addMenu(tr("&Help"));
  menus[MenuPlace::Theme] = new QMenu(tr("&Theme"), this);
  for (const Gesture& gesture : gestures()) {
    if (gesture.menu == MenuPlace::None) continue;
    QMenu* const menu = menus.value(gesture.menu);
    if (gesture.id == ActionId::Quit || gesture.id == ActionId::Follow ||
        gesture.id == ActionId::GoTo || gesture.id == ActionId::PreviousChange ||
        gesture.id == ActionId::NextPane) {
      menu->addSeparator();
    }
    menu->addAction(action(gesture.id));
  }
  QMenu* const view = menus[MenuPlace::View];
  view->addSeparator();
  QMenu* const panelMenu = view->addMenu(tr("&Panels"));
  for (QDockWidget* const dock : docks_) {
    QAction* const show = panelMenu->addAction(dock->windowTitle());
    connect(show, &QAction::triggered, dock, [dock] {
      dock->show();
      dock->raise();
      dock->widget()->setFocus(Qt::OtherFocusReason);
    });
  }
  view->addMenu(menus[MenuPlace::Theme]);
}

QToolBar* MainWindow::makeToolBar() {
  auto* const bar = new QToolBar(tr("Tools"), this);
  bar->setMovable(false);
  bar->setIconSize(QSize(16, 16));
  bar->addAction(action(ActionId::Open));
  bar->addAction(action(ActionId::Back));
  bar->addAction(action(ActionId::Forward));
  bar->addAction(action(ActionId::ShowAll));
  bar->addAction(action(ActionId::ZoomSelection));
  // Letters work in the timeline only, so they are named where the eye is.
  for (const ActionId id : {ActionId::ShowAll, ActionId::ZoomSelection}) {
    const QString key = keySequences(gestureOf(id)).front().toString(QKeySequence::NativeText);
    action(id)->setIconText(tr("%1  %2").arg(action(id)->iconText(), key));
  }
  buffers_ = new QComboBox(bar);
  buffers_->setAccessibleName(tr("Buffer"));
  buffers_->setToolTip(tr("The buffer of the recording that is shown."));
  buffers_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  buffers_->setMaximumWidth(320);
  buffersShown_ = bar->addWidget(buffers_);
  buffersShown_->setVisible(false);
  connect(buffers_, &QComboBox::activated, this, &MainWindow::chooseBuffer);
  auto* const room = new QWidget(bar);
  room->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  bar->addWidget(room);
  auto* const label = new QLabel(tr("Go to "), bar);
  bar->addWidget(label);
  goTo_ = new GoToField(document_, bar);
  goTo_->setMaximumWidth(200);
  label->setBuddy(goTo_);
  bar->addWidget(goTo_);
  auto* const theme = new QToolButton(bar);
  theme->setObjectName(QStringLiteral("theme"));
  theme->setText(tr("Theme"));
  theme->setToolTip(tr("Light or dark colours."));
  theme->setPopupMode(QToolButton::InstantPopup);
  theme->setToolButtonStyle(Qt::ToolButtonTextOnly);
  auto* const menu = new QMenu(theme);
  for (const ActionId id : {ActionId::ThemeSystem, ActionId::ThemeLight, ActionId::ThemeDark}) {
    menu->addAction(action(id));
  }
  theme->setMenu(menu);
  bar->addWidget(theme);
  return bar;
}

void MainWindow::makePanels() {
  setTabPosition(Qt::BottomDockWidgetArea, QTabWidget::North);
  setDocumentMode(true);
  setDockOptions(QMainWindow::AllowTabbedDocks);
  for (const PanelInfo& info : panels()) {
    auto* const dock = new QDockWidget(info.title(), this);
    dock->setObjectName(QString::fromLatin1(info.id));
    dock->setFeatures(QDockWidget::NoDockWidgetFeatures);
    // The tab is the title; a second line with the same word would take a row of events.
    dock->setTitleBarWidget(new QWidget(dock));
    QWidget* const panel = info.make(document_, dock);
    dock->setWidget(panel);
    if (auto* const events = qobject_cast<EventsPanel*>(panel)) events_ = events;
    if (auto* const state = qobject_cast<StatePanel*>(panel)) state_ = state;
    const Qt::DockWidgetArea area =
        info.place == PanelPlace::Right ? Qt::RightDockWidgetArea : Qt::BottomDockWidgetArea;
    QDockWidget* beside = nullptr;
    for (QDockWidget* const other : docks_) {
      if (dockWidgetArea(other) == area && !beside) beside = other;
    }
    addDockWidget(area, dock);
    if (beside) tabifyDockWidget(beside, dock);
    docks_.append(dock);
  }
  if (!docks_.isEmpty()) docks_.front()->raise();
}

void MainWindow::refreshIcons() {
  const QColor ink = Theme::application().color(Tone::SecondText);
  const QColor off = Theme::application().color(Tone::OffText);
  const auto set = [&](ActionId id, const char* name) {
    action(id)->setIcon(icon(name, ink, off));
  };
  set(ActionId::Open, "open");
  set(ActionId::Back, "back");
  set(ActionId::Forward, "forward");
  set(ActionId::ShowAll, "fit");
  set(ActionId::ZoomSelection, "zoom-range");
  for (auto* const button : toolBar_->findChildren<QToolButton*>(QStringLiteral("theme"))) {
    button->setIcon(icon("theme", ink, off));
  }
}

void MainWindow::fitToScreen() {
  const bool narrow = width() < iconsOnlyBelow;
  const auto style = narrow ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextOnly;
  toolBar_->setToolButtonStyle(style);
  for (const ActionId id : {ActionId::Back, ActionId::Forward}) {
    if (auto* const button = qobject_cast<QToolButton*>(toolBar_->widgetForAction(action(id)))) {
      button->setToolButtonStyle(Qt::ToolButtonIconOnly);
    }
  }
  for (auto* const button : toolBar_->findChildren<QToolButton*>(QStringLiteral("theme"))) {
    button->setToolButtonStyle(style);
  }
  overview_->setFixedHeight(height() <= smallScreen ? 36 : 48);
}

void MainWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  fitToScreen();
  if (fitted_ || docks_.isEmpty()) return;
  fitted_ = true;
  const int rest = height() - menuWidget()->sizeHint().height() - statusBar()->sizeHint().height();
  resizeDocks({docks_.front()}, {height() <= smallScreen ? 212 : rest * 35 / 100}, Qt::Vertical);
  const int side = width() <= smallWidth ? 280 : width() >= largeWidth ? 420 : 360;
  for (QDockWidget* const dock : docks_) {
    if (dockWidgetArea(dock) == Qt::RightDockWidgetArea)
      resizeDocks({dock}, {static_cast<int>(side * Theme::application().textScale())},
                  Qt::Horizontal);
  }
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  fitToScreen();
}

void MainWindow::showKeySheet() {
  if (keySheet_) {
    keySheet_->raise();
    keySheet_->activateWindow();
    return;
  }
  auto* const dialog = new QDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Keys and gestures"));
  auto* const layout = new QVBoxLayout(dialog);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* const text = new QTextBrowser(dialog);
  text->setFrameShape(QFrame::NoFrame);
  text->setHtml(keySheetHtml());
  layout->addWidget(text);
  dialog->resize(620, std::min(720, screen()->availableGeometry().height() - 80));
  keySheet_ = dialog;
  dialog->show();
}

void MainWindow::showAbout() {
  auto* const box = new QMessageBox(this);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setWindowTitle(tr("About Tickscope"));
  box->setTextFormat(Qt::PlainText);
  box->setText(tr("Tickscope %1").arg(QStringLiteral(TICKSCOPE_VERSION)));
  box->setInformativeText(
      tr("What the timers of each CPU did, read from a kernel trace.\n"
         "Free software under the GNU General Public License, version 3 or later; without any "
         "warranty."));
  box->setModal(false);
  box->show();
}

}  // namespace tickscope
