// SPDX-License-Identifier: GPL-3.0-or-later
// Grabs the overview and timeline of a recording to PNG files, light and dark, to be looked at.
//   timeline_shots RECORDING FOLDER [FROM_NS TO_NS]
#include <fmt/format.h>

#include <QApplication>
#include <QVBoxLayout>
#include <cstdio>
#include <cstdlib>

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
