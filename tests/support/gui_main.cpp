// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the tests of views and window without a display and away from the user's settings.
#include <gtest/gtest.h>

#include <QApplication>
#include <QDir>
#include <QTemporaryDir>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // A list of tests must not need Qt's platform plugin.
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();

  QTemporaryDir home;
  if (!home.isValid()) {
    fputs("cannot create a temporary folder for the tests\n", stderr);
    return 1;
  }
  const QString runtime = home.filePath("runtime");
  QDir().mkdir(runtime);
  QFile::setPermissions(runtime, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
  for (const char* name : {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"}) {
    qputenv(name, home.path().toUtf8());
  }
  qputenv("XDG_RUNTIME_DIR", runtime.toUtf8());
  // To look at a test on a screen: TICKSCOPE_TEST_PLATFORM=xcb views_tests --gtest_filter=...
  const QByteArray platform = qgetenv("TICKSCOPE_TEST_PLATFORM");
  qputenv("QT_QPA_PLATFORM", platform.isEmpty() ? QByteArray("offscreen") : platform);

  QApplication application(argc, argv);
  QApplication::setApplicationName("tickscope-tests");
  return RUN_ALL_TESTS();
}
