// SPDX-License-Identifier: GPL-3.0-or-later
// The window: menus, tool bar, overview, timeline, panels and status line around one document.
#pragma once

#include <QHash>
#include <QMainWindow>
#include <QPointer>
#include <QTimer>
#include <memory>

#include "app/load.h"
#include "app/window/settings.h"
#include "views/actions.h"
#include "views/document.h"

class QComboBox;
class QDockWidget;
class QStackedWidget;
class QToolBar;

namespace tickscope {

class EventsPanel;
class GoToField;
class JobBar;
class NoticeBar;
class OpenJob;
class OverviewStrip;
class StartPage;
class StatePanel;
class StatusLine;
class TimelineWidget;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(QWidget* parent = nullptr);
  ~MainWindow() override;

  /// Starts to open a file; what is open stays until the new one has arrived.
  void openFile(const QString& path);
  /// Stops opening. What is open stays.
  void cancelJob();
  [[nodiscard]] Document& document() { return document_; }
  [[nodiscard]] QAction* action(ActionId id) const { return actions_.value(id); }

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void makeActions();
  void makeMenus(QMenuBar* bar);
  QToolBar* makeToolBar();
  void makePanels();
  QAction* on(ActionId id, std::function<void()> act);

  void startJob(const QString& name, const std::function<void(OpenJob&)>& start);
  void endJob();
  void onOpenedFile(const std::shared_ptr<const Opened>& opened, u32 buffer);
  void onFailed(const Error& error);
  void ensureTimeline();
  void holdPanels();
  void releasePanels();
  void onDocumentOpened();
  void showNotices();
  void chooseBuffer(int index);
  void chooseFile();
  void chooseTimerList();
  void analyseWith(std::shared_ptr<const TimerListDump> timerList);
  void closeTrace();
  void zoomInMenu(double factor);
  void setMarker(Marker which);
  void stepPane(int by);
  void showKeySheet();
  void showAbout();
  void showPage();
  void refreshActions();
  void refreshIcons();
  void fitToScreen();

  Document document_;
  WindowSettings settings_;
  std::shared_ptr<const Opened> opened_;
  std::shared_ptr<const TimerListDump> timerList_;  // that the analysis of opened_ is given
  QString path_;                                    // of the last file asked for
  OpenJob* job_ = nullptr;
  bool opening_ = false;  // the job reads a file; what is open is not its result
  QHash<ActionId, QAction*> actions_;
  QToolBar* toolBar_ = nullptr;
  QComboBox* buffers_ = nullptr;
  QAction* buffersShown_ = nullptr;
  GoToField* goTo_ = nullptr;
  JobBar* jobBar_ = nullptr;
  NoticeBar* errorBar_ = nullptr;
  NoticeBar* lossBar_ = nullptr;
  OverviewStrip* overview_ = nullptr;
  TimelineWidget* timeline_ = nullptr;
  StartPage* start_ = nullptr;
  QStackedWidget* pages_ = nullptr;
  StatusLine* status_ = nullptr;
  EventsPanel* events_ = nullptr;
  StatePanel* state_ = nullptr;
  QList<QDockWidget*> docks_;
  QPointer<QWidget> keySheet_;
  bool fitted_ = false;
  QTimer held_;  // runs while panels wait with their picture
};

}  // namespace tickscope
