// SPDX-License-Identifier: GPL-3.0-or-later
// Grabs the overview and timeline of a recording to PNG files, light and dark, to be looked at.
//   timeline_shots RECORDING FOLDER [FROM_NS TO_NS]
//   timeline_shots RECORDING --frames    what a whole frame costs at 1920x1080
#include <fmt/format.h>

#include <QApplication>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

#include "core/timeline/lane_builder.h"
#include "importers/import.h"
#include "views/document.h"
#include "views/theme.h"
#include "views/timeline/overview_strip.h"
#include "views/timeline/timeline_widget.h"

namespace tickscope {
namespace {

void grab(QWidget& widget, QSize size, const std::string& path) {
  widget.resize(size);
  QApplication::processEvents();
  const QPixmap picture = widget.grab();
  if (!picture.save(QString::fromStdString(path))) fmt::print(stderr, "cannot write {}\n", path);
  fmt::print("{}\n", path);
}

/// Zooms and places spread over all powers of two, as somebody looks around.
void measureFrames(Document& document, QWidget& window) {
  Theme::application().setChoice(ThemeChoice::Light);
  window.resize(1920, 1080);
  QApplication::processEvents();
  QImage image(window.size(), QImage::Format_RGB32);
  std::mt19937 random(7);
  std::vector<double> times;
  const TimeSpan reach = document.reach();
  const double whole = static_cast<double>((reach.to - reach.from).value);
  for (int frame = 0; frame < 300; ++frame) {
    const double length = whole * std::pow(2.0, -std::uniform_real_distribution<>(0, 20)(random));
    const double from = std::uniform_real_distribution<>(0, 1)(random) * (whole - length);
    const TraceTime begin = reach.from + TraceDelta{static_cast<s64>(from)};
    document.setVisible({begin, begin + TraceDelta{static_cast<s64>(length)}});
    const std::clock_t before = std::clock();
    window.render(&image);
    times.push_back(1e3 * static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
  }
  std::sort(times.begin(), times.end());
  fmt::print("frame 1920x1080, ms CPU: p50 {:.2f}, p99 {:.2f}, max {:.2f}\n",
             times[times.size() / 2], times[times.size() * 99 / 100], times.back());
}

int run(const std::string& file, const std::string& folder, Known<TimeSpan> seen) {
  Progress progress;
  const auto source = ByteSource::file(file);
  if (!source) return fmt::print(stderr, "{}\n", describe(source.error())), 3;
  auto imported = importTrace(*source, {}, progress);
  if (!imported) return fmt::print(stderr, "{}\n", describe(imported.error())), 3;
  const auto recording = std::make_shared<const Recording>(std::move(*imported));
  Document document;
  document.open(recording, recording->mainBuffer());
  const auto timeline = buildTimeline(document.buffer()->events, 1, progress);
  if (!timeline) return fmt::print(stderr, "{}\n", describe(timeline.error())), 3;
  document.setTimeline(*timeline);
  if (seen) document.setVisible(*seen);

  QWidget window;
  auto* const layout = new QVBoxLayout(&window);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(new OverviewStrip(document, &window));
  layout->addWidget(new TimelineWidget(document, &window), 1);
  window.show();
  if (folder == "--frames") {
    measureFrames(document, window);
    return 0;
  }
  for (const ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
    Theme::application().setChoice(choice);
    const char* const name = choice == ThemeChoice::Light ? "light" : "dark";
    grab(window, {1600, 1000}, fmt::format("{}/{}-1600.png", folder, name));
    grab(window, {1366, 768}, fmt::format("{}/{}-1366.png", folder, name));
  }
  return 0;
}

}  // namespace
}  // namespace tickscope

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) {
    fputs("usage: timeline_shots RECORDING FOLDER [FROM_NS TO_NS]\n", stderr);
    return 2;
  }
  if (!getenv("QT_QPA_PLATFORM")) setenv("QT_QPA_PLATFORM", "offscreen", 1);
  QApplication application(argc, argv);
  tickscope::Known<tickscope::TimeSpan> seen;
  if (argc == 5) seen = tickscope::TimeSpan{{std::atoll(argv[3])}, {std::atoll(argv[4])}};
  return tickscope::run(argv[1], argv[2], seen);
}
