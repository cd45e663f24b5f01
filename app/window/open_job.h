// SPDX-License-Identifier: GPL-3.0-or-later
// Opens a recording on a thread of its own; stages arrive whole, the window never waits.
#pragma once

#include <QObject>
#include <memory>
#include <mutex>
#include <thread>

#include "app/load.h"
#include "core/analysis.h"
#include "core/timeline/model_lanes.h"

namespace tickscope {

/// What a thread hands over: each part is set once, then taken by the GUI thread.
struct OpenedParts {
  std::shared_ptr<const Opened> opened;
  u32 buffer = 0;
  std::shared_ptr<const Timeline> timeline;  ///< of `buffer`; refers to events that `opened` holds
  std::shared_ptr<const Analysis> analysis;  ///< of `buffer`
  std::shared_ptr<const ModelLanes> modelLanes;  ///< of the timeline, together with the analysis
  Known<Error> analysisError;                    ///< there will be no analysis; the rest stays
  Known<Error> error;
  bool ended = false;
};

/// One opening. Lives in the GUI thread; its signals are sent there. After cancel() no signal but ended() comes.
/// The destructor cancels and waits for the thread, which looks every 10 ms.
class OpenJob : public QObject {
  Q_OBJECT

 public:
  explicit OpenJob(QObject* parent = nullptr);
  ~OpenJob() override;

  /// Reads the file, then builds the timeline of the main buffer and analyses it.
  void open(OpenRequest request);
  /// Builds the timeline of another buffer of what is open and analyses it.
  void buildTimeline(std::shared_ptr<const Opened> opened, u32 buffer,
                     std::shared_ptr<const TimerListDump> timerList = {});
  /// Analyses a buffer anew with a dump; the timeline stays as it is.
  void analyseWith(std::shared_ptr<const TimerListDump> timerList,
                   std::shared_ptr<const Opened> opened, u32 buffer,
                   std::shared_ptr<const Timeline> timeline);
  /// Returns at once.
  void cancel();
  [[nodiscard]] bool cancelled() const { return progress_->cancelled(); }
  /// Stage and steps, for a look now and then.
  [[nodiscard]] Progress::State progress() const { return progress_->state(); }

 signals:
  void opened(std::shared_ptr<const tickscope::Opened> opened, quint32 buffer);
  void timelineBuilt(std::shared_ptr<const tickscope::Timeline> timeline, quint32 buffer);
  void analysed(std::shared_ptr<const tickscope::Analysis> analysis, quint32 buffer);
  /// Follows analysed(); belongs to the timeline sent before.
  void modelLanesBuilt(std::shared_ptr<const tickscope::ModelLanes> lanes, quint32 buffer);
  void analysisFailed(const tickscope::Error& error);
  void failed(const tickscope::Error& error);
  /// The thread is done; nothing follows.
  void ended();

 private:
  struct Box;
  void collect();
  // On the thread.
  template <class Change>
  void tell(Change&& change);
  void failWith(Error error);
  void drawUpAndAnalyse(const std::shared_ptr<const Opened>& opened, u32 buffer, int threads,
                        std::shared_ptr<const TimerListDump> timerList);
  void analyseDrawn(const std::shared_ptr<const Opened>& opened, u32 buffer,
                    const std::shared_ptr<const Timeline>& timeline,
                    std::shared_ptr<const TimerListDump> timerList);

  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
  std::shared_ptr<Box> box_;
  std::jthread thread_;
};

}  // namespace tickscope
