// SPDX-License-Identifier: GPL-3.0-or-later
// The thread that opens, and the box through which its results cross.
#include "app/window/open_job.h"

#include <fmt/format.h>

#include <QMetaObject>
#include <algorithm>
#include <filesystem>

#include "core/timeline/lane_builder.h"

namespace tickscope {

/// Data cross under the mutex; the queued call only wakes the GUI thread.
struct OpenJob::Box {
  std::mutex mutex;
  OpenedParts parts;
};

namespace {

int threadsOfMachine() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// A timeline that holds the events it refers to.
std::shared_ptr<const Timeline> keeping(std::shared_ptr<const Opened> opened,
                                        std::shared_ptr<const Timeline> timeline) {
  struct Kept {
    std::shared_ptr<const Opened> opened;
    std::shared_ptr<const Timeline> timeline;
  };
  const auto kept = std::make_shared<const Kept>(Kept{std::move(opened), std::move(timeline)});
  return {kept, kept->timeline.get()};
}

/// What the analysis adds to a timeline, and what both refer to.
Result<std::shared_ptr<const ModelLanes>> modelLanesOf(std::shared_ptr<const Timeline> timeline,
                                                       std::shared_ptr<const Analysis> analysis,
                                                       Progress& progress) {
  const bool nanoseconds = analysis->opened().clock.unit == ClockUnit::Nanoseconds;
  auto lanes =
      buildModelLanes(*timeline, analysis->tables, analysis->clocks, nanoseconds, progress);
  if (!lanes) return lanes;
  struct Kept {
    std::shared_ptr<const Timeline> timeline;
    std::shared_ptr<const Analysis> analysis;
    std::shared_ptr<const ModelLanes> lanes;
  };
  const auto kept = std::make_shared<const Kept>(
      Kept{std::move(timeline), std::move(analysis), std::move(*lanes)});
  return std::shared_ptr<const ModelLanes>(kept, kept->lanes.get());
}

/// A pipe nobody writes to would hold the thread, and with it the window's end, for ever.
Known<Error> refusal(const OpenRequest& request) {
  for (const std::string& path : request.inputs) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (path == "-" || std::filesystem::is_fifo(status) || std::filesystem::is_socket(status)) {
      return Error{
          Error::Kind::Usage,
          fmt::format("{} is a pipe; the window opens files. Save it to a file first.", path),
          {}};
    }
  }
  return {};
}

}  // namespace

OpenJob::OpenJob(QObject* parent) : QObject(parent), box_(std::make_shared<Box>()) {}

OpenJob::~OpenJob() {
  progress_->cancel();
  if (thread_.joinable()) thread_.join();
}

void OpenJob::cancel() { progress_->cancel(); }

void OpenJob::open(OpenRequest request) {
  if (request.import.threads <= 1) request.import.threads = threadsOfMachine();
  thread_ = std::jthread([this, request = std::move(request)] {
    if (Known<Error> error = refusal(request)) return failWith(std::move(*error));
    Result<Opened> result = openInputs(request, *progress_);
    if (!result) return failWith(std::move(result.error()));
    const auto opened = std::make_shared<const Opened>(std::move(*result));
    const bool drawable = opened->recording && !opened->recording->buffers.empty();
    const u32 buffer = drawable ? opened->recording->mainBuffer() : 0;
    tell([&](OpenedParts& parts) {
      parts.opened = opened;
      parts.buffer = buffer;
      parts.ended = !drawable;
    });
    if (drawable) drawUpAndAnalyse(opened, buffer, request.import.threads, {});
  });
}

void OpenJob::buildTimeline(std::shared_ptr<const Opened> opened, u32 buffer,
                            std::shared_ptr<const TimerListDump> timerList) {
  thread_ = std::jthread(
      [this, opened = std::move(opened), buffer, timerList = std::move(timerList)]() mutable {
        drawUpAndAnalyse(opened, buffer, threadsOfMachine(), std::move(timerList));
      });
}

void OpenJob::analyseWith(std::shared_ptr<const TimerListDump> timerList,
                          std::shared_ptr<const Opened> opened, u32 buffer,
                          std::shared_ptr<const Timeline> timeline) {
  thread_ = std::jthread([this, timerList = std::move(timerList), opened = std::move(opened),
                          buffer, timeline = std::move(timeline)]() mutable {
    analyseDrawn(opened, buffer, timeline, std::move(timerList));
  });
}

void OpenJob::drawUpAndAnalyse(const std::shared_ptr<const Opened>& opened, u32 buffer, int threads,
                               std::shared_ptr<const TimerListDump> timerList) {
  auto timeline = withLastCatch([&] {
    return tickscope::buildTimeline(opened->recording->buffers[buffer].events, threads, *progress_);
  });
  if (!timeline) return failWith(std::move(timeline.error()));
  const auto kept = keeping(opened, std::move(*timeline));
  tell([&](OpenedParts& parts) {
    parts.buffer = buffer;
    parts.timeline = kept;
  });
  analyseDrawn(opened, buffer, kept, std::move(timerList));
}

void OpenJob::analyseDrawn(const std::shared_ptr<const Opened>& opened, u32 buffer,
                           const std::shared_ptr<const Timeline>& timeline,
                           std::shared_ptr<const TimerListDump> timerList) {
  AnalysisOptions options;
  options.buffer = buffer;
  options.timerList = std::move(timerList);
  std::shared_ptr<const Analysis> analysis;
  auto lanes = withLastCatch([&]() -> Result<std::shared_ptr<const ModelLanes>> {
    auto made = analyse(opened->recording, options, *progress_);
    if (!made) return tl::unexpected(std::move(made.error()));
    analysis = std::make_shared<const Analysis>(std::move(*made));
    return modelLanesOf(timeline, analysis, *progress_);
  });
  tell([&](OpenedParts& parts) {
    parts.buffer = buffer;
    if (lanes) {
      parts.analysis = std::move(analysis);
      parts.modelLanes = std::move(*lanes);
    } else {
      parts.analysisError = std::move(lanes.error());
    }
    parts.ended = true;
  });
}

template <class Change>
void OpenJob::tell(Change&& change) {
  {
    const std::scoped_lock lock(box_->mutex);
    change(box_->parts);
  }
  QMetaObject::invokeMethod(this, &OpenJob::collect, Qt::QueuedConnection);
}

void OpenJob::failWith(Error error) {
  tell([&](OpenedParts& parts) {
    parts.error = std::move(error);
    parts.ended = true;
  });
}

void OpenJob::collect() {
  OpenedParts parts;
  {
    const std::scoped_lock lock(box_->mutex);
    parts =
        std::exchange(box_->parts, OpenedParts{{}, box_->parts.buffer, {}, {}, {}, {}, {}, false});
  }
  if (!cancelled()) {
    if (parts.opened) emit opened(parts.opened, parts.buffer);
    if (parts.timeline) emit timelineBuilt(parts.timeline, parts.buffer);
    if (parts.analysis) emit analysed(parts.analysis, parts.buffer);
    if (parts.modelLanes) emit modelLanesBuilt(parts.modelLanes, parts.buffer);
    if (parts.analysisError) emit analysisFailed(*parts.analysisError);
    if (parts.error) emit failed(*parts.error);
  }
  if (parts.ended) emit ended();
}

}  // namespace tickscope
