// SPDX-License-Identifier: GPL-3.0-or-later
// Starts the window, on a recording if one is named.
#include <CLI/CLI.hpp>
#include <QApplication>
#include <cstdio>
#include <string>

#include "app/load.h"
#include "app/window/main_window.h"

int main(int argc, char** argv) {
  CLI::App options("Shows the timers of a kernel trace.", "tickscope");
  std::string trace;
  bool version = false;
  bool checkDisplay = false;
  options.set_help_flag("-h,--help", "Print this text");
  options.add_option("TRACE", trace, "A recording of trace-cmd (trace.dat)")->type_name("");
  options.add_flag("--version", version, "Print the version");
  options.add_flag("--check-display", checkDisplay, "Only find out whether a window can be shown");
  options.footer("The command line program is tickscope-cli.");
  try {
    options.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = options.exit(error);
    return status == 0 ? 0 : static_cast<int>(tickscope::ExitStatus::Usage);
  }
  if (version) {
    std::printf("tickscope %s\n", TICKSCOPE_VERSION);
    return 0;
  }

  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("tickscope"));
  QApplication::setApplicationVersion(QStringLiteral(TICKSCOPE_VERSION));
  QApplication::setDesktopFileName(QStringLiteral("tickscope"));
  // The style is ours to colour on every desktop alike.
  QApplication::setStyle(QStringLiteral("Fusion"));
  if (checkDisplay) return 0;

  tickscope::MainWindow window;
  window.show();
  if (!trace.empty()) window.openFile(QString::fromLocal8Bit(trace.c_str()));
  return QApplication::exec();
}
