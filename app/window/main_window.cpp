// SPDX-License-Identifier: GPL-3.0-or-later
// What the window's parts do to each other; how it is built is in main_window_parts.cpp.
#include "app/window/main_window.h"

#include <QCloseEvent>
#include <QComboBox>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMimeData>
#include <QStackedWidget>
#include <QUrl>
#include <chrono>

#include "app/window/analysis_state.h"
#include "app/window/go_to_field.h"
#include "app/window/job_bar.h"
#include "app/window/notice_bar.h"
#include "app/window/open_job.h"
#include "app/window/recording_notices.h"
#include "app/window/start_page.h"
#include "app/window/status_line.h"
#include "core/base/time_text.h"
#include "views/panels/events_panel.h"
#include "views/panels/state_panel.h"
#include "views/time_label.h"
#include "views/timeline/overview_strip.h"
#include "views/timeline/timeline_widget.h"

namespace tickscope {

namespace {

/// Panels wait this long for the timeline to paint first; longer would look like a hang.
constexpr std::chrono::milliseconds longestHold(100);

}  // namespace

MainWindow::~MainWindow() = default;

void MainWindow::chooseFile() {
  const QString folder = path_.isEmpty() ? QString() : QFileInfo(path_).path();
  const QString path = QFileDialog::getOpenFileName(this, tr("Open a recording"), folder,
                                                    tr("Recordings (*.dat);;All files (*)"));
  if (!path.isEmpty()) openFile(path);
}

void MainWindow::chooseTimerList() {
  const QString folder = path_.isEmpty() ? QString() : QFileInfo(path_).path();
  const QString path =
      QFileDialog::getOpenFileName(this, tr("Use a dump of /proc/timer_list"), folder,
                                   tr("Dumps (*.txt *timer_list*);;All files (*)"));
  if (!path.isEmpty()) openFile(path);
}

void MainWindow::analyseWith(std::shared_ptr<const TimerListDump> timerList) {
  timerList_ = std::move(timerList);
  const u32 buffer = document_.bufferIndex();
  startJob(tr("timer list"), [&](OpenJob& job) {
    if (document_.timeline()) {
      job.analyseWith(timerList_, opened_, buffer, document_.timeline());
    } else {
      job.buildTimeline(opened_, buffer, timerList_);
    }
  });
}

void MainWindow::openFile(const QString& path) {
  path_ = path;
  errorBar_->hide();
  OpenRequest request;
  request.inputs.push_back(path.toStdString());
  const QFileInfo file(path);
  const QString size = QString::fromStdString(bytesWords(static_cast<u64>(file.size())));
  startJob(file.exists() ? tr("%1 (%2)").arg(file.fileName(), size) : file.fileName(),
           [&](OpenJob& job) { job.open(std::move(request)); });
  opening_ = true;
}

void MainWindow::startJob(const QString& name, const std::function<void(OpenJob&)>& start) {
  if (job_) job_->cancel();
  opening_ = false;
  auto* const job = new OpenJob(this);
  job_ = job;
  connect(job, &OpenJob::opened, this, &MainWindow::onOpenedFile);
  connect(job, &OpenJob::timelineBuilt, this,
          [this](const std::shared_ptr<const Timeline>& timeline, quint32 buffer) {
            if (buffer == document_.bufferIndex()) document_.setTimeline(timeline);
            // The timeline paints itself before a timer of no time fires.
            if (held_.isActive()) held_.start(0);
            state_->setReason(tr("The reference model is being replayed."));
          });
  connect(job, &OpenJob::analysed, this,
          [this](const std::shared_ptr<const Analysis>& analysis, quint32 buffer) {
            if (buffer != document_.bufferIndex()) return;
            state_->setSource(stateSourceOf(analysis));
            if (!analysis->timerList) return;
            status_->say(analysis->seeded
                             ? tr("The timer list was taken before the first event: the state "
                                  "begins with its timers.")
                             : tr("The timer list does not tell of the time before the first "
                                  "event: the state cannot begin with it."));
          });
  connect(job, &OpenJob::modelLanesBuilt, this,
          [this](const std::shared_ptr<const ModelLanes>& lanes, quint32 buffer) {
            if (buffer == document_.bufferIndex()) document_.setModelLanes(lanes);
          });
  connect(job, &OpenJob::analysisFailed, this, [this](const Error& error) {
    state_->setReason(tr("There is no state to show: %1").arg(QString::fromStdString(error.what)));
  });
  connect(job, &OpenJob::failed, this, &MainWindow::onFailed);
  // A cancelled job may take a moment to stop; it lives until then, but nobody waits for it.
  connect(job, &OpenJob::ended, job, &QObject::deleteLater);
  connect(job, &OpenJob::ended, this, [this, job] {
    if (job_ == job) endJob();
  });
  start(*job);
  jobBar_->setJob(job, name);
  showPage();
}

void MainWindow::endJob() {
  job_ = nullptr;
  if (held_.isActive()) held_.start(0);
  const bool hadFocus = focusWidget() && jobBar_->isAncestorOf(focusWidget());
  jobBar_->setJob(nullptr, {});
  showPage();
  if (hadFocus) pages_->currentWidget()->setFocus(Qt::OtherFocusReason);
}

void MainWindow::cancelJob() {
  if (!job_) return;
  const bool opening = opening_;
  job_->cancel();
  state_->setReason(
      tr("Cancelled before the reference model was replayed; F5 reads the file again."));
  endJob();
  if (opening) ensureTimeline();
  status_->say(document_.recording() && !document_.timeline() && !job_
                   ? tr("Cancelled. The timeline was not built; F5 reads the file again.")
                   : tr("Cancelled."));
}

void MainWindow::onOpenedFile(const std::shared_ptr<const Opened>& opened, u32 buffer) {
  if (opened->timerList && opened_ && document_.buffer()) {
    // It tells of what is open, which stays.
    path_ = QString::fromStdString(document_.recording()->path);
    analyseWith(opened->timerList);
    return;
  }
  if (!opened->recording) {
    onFailed(Error{Error::Kind::Unsupported,
                   tr("%1 is a /proc/timer_list dump. The window shows recordings; “tickscope-cli "
                      "info” prints this "
                      "one.")
                       .arg(path_)
                       .toStdString(),
                   {}});
    return;
  }
  opened_ = opened;
  timerList_.reset();
  opening_ = false;
  settings_.addRecentFile(path_);
  start_->setRecentFiles(settings_.recentFiles());
  if (!opened->recording->buffers.empty()) holdPanels();
  document_.open(opened->recording, buffer);
  timeline_->setFocus(Qt::OtherFocusReason);
}

void MainWindow::holdPanels() {
  // Every core is busy with the lanes now: what panels paint meanwhile, the first picture of the timeline waits for.
  overview_->setUpdatesEnabled(false);
  for (QDockWidget* const dock : docks_) dock->setUpdatesEnabled(false);
  held_.start(longestHold);
}

void MainWindow::releasePanels() {
  overview_->setUpdatesEnabled(true);
  for (QDockWidget* const dock : docks_) dock->setUpdatesEnabled(true);
}

void MainWindow::ensureTimeline() {
  if (!document_.buffer() || (document_.timeline() && state_->hasSource())) return;
  const u32 buffer = document_.bufferIndex();
  startJob(QFileInfo(QString::fromStdString(document_.recording()->path)).fileName(),
           [&](OpenJob& job) { job.buildTimeline(opened_, buffer, timerList_); });
}

void MainWindow::onFailed(const Error& error) {
  errorBar_->setNotice(noticeOf(error));
  // The timeline of what stays open may have been given up for the file that failed.
  if (opening_) ensureTimeline();
  if (!QFileInfo::exists(path_)) {
    settings_.removeRecentFile(QFileInfo(path_).absoluteFilePath());
    start_->setRecentFiles(settings_.recentFiles());
  }
  showPage();
}

void MainWindow::onDocumentOpened() {
  const bool open = document_.recording() != nullptr;
  const QString path = open ? QString::fromStdString(document_.recording()->path) : QString();
  setWindowTitle(open ? tr("%1 — Tickscope").arg(QFileInfo(path).fileName()) : tr("Tickscope"));
  const QSignalBlocker quiet(buffers_);
  buffers_->clear();
  if (open) {
    for (const Buffer& buffer : document_.recording()->buffers) {
      const QString name = buffer.name.empty() ? tr("(top)") : QString::fromStdString(buffer.name);
      const u32 events = buffer.events.size();
      buffers_->addItem(events == 1 ? tr("%1, 1 event").arg(name)
                                    : tr("%1, %2 events").arg(name, countText(events)));
    }
    buffers_->setCurrentIndex(static_cast<int>(document_.bufferIndex()));
  }
  buffersShown_->setVisible(buffers_->count() > 1);
  showNotices();
  showPage();
  refreshActions();
}

void MainWindow::showNotices() {
  errorBar_->hide();
  lossBar_->hide();
  if (!document_.recording()) return;
  for (const Notice& notice : noticesOf(*document_.recording(), document_.bufferIndex())) {
    (notice.level == Notice::Level::Error ? errorBar_ : lossBar_)->setNotice(notice);
  }
}

void MainWindow::chooseBuffer(int index) {
  if (index < 0 || static_cast<u32>(index) == document_.bufferIndex()) return;
  const auto buffer = static_cast<u32>(index);
  document_.setBuffer(buffer);
  startJob(buffers_->currentText(),
           [&](OpenJob& job) { job.buildTimeline(opened_, buffer, timerList_); });
}

void MainWindow::closeTrace() {
  if (job_) cancelJob();
  document_.close();
  opened_.reset();
  timerList_.reset();
}

void MainWindow::showPage() {
  const bool workspace = document_.recording() || job_;
  pages_->setCurrentIndex(workspace ? 1 : 0);
  overview_->setVisible(workspace);
  for (QDockWidget* const dock : docks_) dock->setVisible(workspace);
}

void MainWindow::refreshActions() {
  const bool rows = document_.rowCount() > 0;
  for (const ActionId id :
       {ActionId::PreviousChange, ActionId::NextChange, ActionId::ShowAll, ActionId::ZoomIn,
        ActionId::ZoomOut, ActionId::MoveEarlier, ActionId::MoveLater, ActionId::GoTo,
        ActionId::Copy, ActionId::SelectAllRows}) {
    action(id)->setEnabled(rows);
  }
  const bool cursor = document_.cursor().has_value();
  action(ActionId::MarkerA)->setEnabled(cursor);
  action(ActionId::MarkerB)->setEnabled(cursor);
  action(ActionId::ClearMarkers)
      ->setEnabled(document_.marker(Marker::A) || document_.marker(Marker::B));
  action(ActionId::ZoomSelection)->setEnabled(document_.selection().has_value());
  action(ActionId::ClearSelection)->setEnabled(document_.selection().has_value());
  action(ActionId::Back)->setEnabled(document_.canGoBack());
  action(ActionId::Forward)->setEnabled(document_.canGoForward());
  action(ActionId::UseTimerList)->setEnabled(document_.buffer() != nullptr);
  action(ActionId::CloseTrace)->setEnabled(document_.recording() != nullptr);
  action(ActionId::Reload)->setEnabled(!path_.isEmpty());
  action(ActionId::Follow)->setChecked(document_.follow());
  goTo_->setEnabled(rows);
}

void MainWindow::zoomInMenu(double factor) {
  const TimeSpan view = document_.visible();
  TraceTime at{view.from.value + (view.to - view.from).value / 2};
  if (const Known<TimeSpan>& chosen = document_.selection()) {
    at = {chosen->from.value + (chosen->to - chosen->from).value / 2};
  } else if (document_.cursor()) {
    at = document_.cursor()->time;
  }
  document_.zoom(factor, at);
}

void MainWindow::setMarker(Marker which) {
  if (document_.cursor()) document_.setMarker(which, document_.cursor()->time);
}

void MainWindow::stepPane(int by) {
  QList<QWidget*> panes;
  if (pages_->currentIndex() == 0) {
    panes.append(start_);
  } else {
    panes.append(timeline_);
    for (QDockWidget* const dock : docks_) {
      // Those behind other tabs count as visible but lie outside of the window.
      const bool seen = dock->isVisible() && rect().intersects(dock->geometry());
      if (seen) panes.append(dock->widget());
    }
    panes.append(goTo_);
  }
  qsizetype now = -1;
  for (qsizetype i = 0; i < panes.size(); ++i) {
    QWidget* const focus = focusWidget();
    if (focus && (panes[i] == focus || panes[i]->isAncestorOf(focus))) now = i;
  }
  const qsizetype next = now < 0 ? 0 : (now + by + panes.size()) % panes.size();
  panes[next]->setFocus(Qt::ShortcutFocusReason);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  settings_.setGeometry(saveGeometry());
  if (job_) job_->cancel();
  event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.size() == 1 && urls.front().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.size() != 1 || !urls.front().isLocalFile()) return;
  event->acceptProposedAction();
  openFile(urls.front().toLocalFile());
}

}  // namespace tickscope
