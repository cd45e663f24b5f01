// SPDX-License-Identifier: GPL-3.0-or-later
// Opens a recording in a real window of a given size and place in time, and has ImageMagick take its picture.
#include <QApplication>
#include <QCommandLineParser>
#include <QElapsedTimer>
#include <QProcess>
#include <QTextStream>
#include <QTimer>

#include "app/window/main_window.h"
#include "views/theme.h"
#include "views/time_label.h"

namespace {

using namespace tickscope;

Known<TraceTime> timeOption(const QCommandLineParser& options, const QString& name,
                            Document& document) {
  if (!options.isSet(name) || !document.buffer()) return {};
  return readTime(options.value(name), document.buffer()->clock.unit);
}

void place(const QCommandLineParser& options, Document& document) {
  const Known<TraceTime> from = timeOption(options, "from", document);
  const Known<TraceTime> to = timeOption(options, "to", document);
  if (from && to) document.setVisible({*from, *to});
  document.setFollow(false);
  if (options.isSet("row")) document.setCursor(Row{options.value("row").toUInt()});
  if (const Known<TraceTime> a = timeOption(options, "a", document))
    document.setMarker(Marker::A, *a);
  if (const Known<TraceTime> b = timeOption(options, "b", document))
    document.setMarker(Marker::B, *b);
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QApplication::setStyle("Fusion");
  QCommandLineParser options;
  options.addHelpOption();
  options.addPositionalArgument("TRACE", "recording; - for the start page");
  options.addPositionalArgument("PICTURE", "file to write");
  for (const char* name : {"size", "theme", "from", "to", "row", "a", "b", "panel", "wait"}) {
    options.addOption({name, "see the source", "value"});
  }
  options.process(application);
  const QStringList files = options.positionalArguments();
  if (files.size() != 2) options.showHelp(2);

  tickscope::MainWindow window;
  window.setWindowFlag(Qt::FramelessWindowHint);
  const QStringList size = options.value("size").split('x');
  window.setGeometry(0, 0, size.value(0).toInt(), size.value(1).toInt());
  Theme::application().setChoice(options.value("theme") == "dark" ? ThemeChoice::Dark
                                                                  : ThemeChoice::Light);
  window.show();
  if (files[0] != "-") window.openFile(files[0]);

  const auto take = [&] {
    place(options, window.document());
    if (options.isSet("panel")) {
      if (auto* const dock = window.findChild<QWidget*>(options.value("panel"))) dock->raise();
    }
    const int wait = options.isSet("wait") ? options.value("wait").toInt() : 700;
    QTimer::singleShot(wait, &window, [&] {
      const int status = QProcess::execute("import", {"-window", "root", files[1]});
      QApplication::exit(status);
    });
  };
  if (files[0] == "-") {
    take();
  } else {
    QObject::connect(&window.document(), &Document::timelineChanged, &window, take,
                     Qt::SingleShotConnection);
    // A file that cannot be opened has a picture too.
    QTimer::singleShot(5000, &window, [&] {
      if (!window.document().timeline()) take();
    });
  }
  return QApplication::exec();
}
