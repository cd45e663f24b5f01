// SPDX-License-Identifier: GPL-3.0-or-later
// How long the window takes from opening a large file to the first pixels of its timeline, beside the import alone.
#include <gtest/gtest.h>

#include <QElapsedTimer>
#include <QTest>
#include <iostream>
#include <thread>

#include "app/load.h"
#include "app/window/main_window.h"
#include "tests/support/recordings.h"
#include "views/timeline/timeline_widget.h"

namespace tickscope {
namespace {

/// Stops a clock when the timeline was painted with its lanes.
class PaintWatch : public QObject {
 public:
  PaintWatch(MainWindow& window, QElapsedTimer& clock) : window_(window), clock_(clock) {
    widget_ = window.findChild<TimelineWidget*>();
    widget_->installEventFilter(this);
  }
  [[nodiscard]] qint64 firstPixels() const { return first_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (first_ < 0 && event->type() == QEvent::Paint && window_.document().timeline()) {
      widget_->removeEventFilter(this);
      // The widget paints in this very call.
      QCoreApplication::sendEvent(watched, event);
      first_ = clock_.nsecsElapsed();
      return true;
    }
    return false;
  }

 private:
  MainWindow& window_;
  QElapsedTimer& clock_;
  TimelineWidget* widget_ = nullptr;
  qint64 first_ = -1;
};

TEST(FirstPixelsSlow, TimelineOfTheLargeRecordingBesideItsImport) {
  TICKSCOPE_NEED_RECORDING(path, "20-big.dat");
  double bestImport = 1e18;
  double bestPixels = 1e18;
  for (int round = 0; round < 3; ++round) {
    QElapsedTimer clock;
    {
      OpenRequest request;
      request.inputs.push_back(path);
      request.import.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
      Progress progress;
      clock.start();
      const Result<Opened> opened = openInputs(request, progress);
      bestImport = std::min(bestImport, static_cast<double>(clock.nsecsElapsed()) / 1e6);
      ASSERT_TRUE(opened) << describe(opened.error());
    }
    MainWindow window;
    window.resize(1600, 1000);
    window.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window));
    PaintWatch watch(window, clock);
    clock.restart();
    window.openFile(QString::fromStdString(path));
    ASSERT_TRUE(QTest::qWaitFor([&] { return watch.firstPixels() >= 0; }, 60'000));
    bestPixels = std::min(bestPixels, static_cast<double>(watch.firstPixels()) / 1e6);
  }
  std::cout << "import " << bestImport << " ms, first timeline pixels " << bestPixels
            << " ms, ratio " << bestPixels / bestImport << "\n";
  RecordProperty("import_ms", std::to_string(bestImport));
  RecordProperty("first_pixels_ms", std::to_string(bestPixels));
  EXPECT_GT(bestPixels, 0);
}

}  // namespace
}  // namespace tickscope
