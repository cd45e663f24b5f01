// SPDX-License-Identifier: GPL-3.0-or-later
// Opening on a thread: stages in order, errors as values, nothing after a cancel.
#include "app/window/open_job.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <QSignalSpy>
#include <QStringList>
#include <QTest>

#include "tests/support/recordings.h"

namespace tickscope {
namespace {

class OpenJobTest : public testing::Test {
 protected:
  OpenJobTest() {
    QObject::connect(&job, &OpenJob::opened,
                     [this](const std::shared_ptr<const Opened>& opened, quint32) {
                       seen.append("opened");
                       result = opened;
                     });
    QObject::connect(&job, &OpenJob::timelineBuilt,
                     [this](const std::shared_ptr<const Timeline>& timeline, quint32) {
                       seen.append(timeline ? "timeline" : "no timeline");
                     });
    QObject::connect(&job, &OpenJob::failed, [this](const Error& failure) {
      seen.append("failed");
      error = failure;
    });
    QObject::connect(&job, &OpenJob::ended, [this] { seen.append("ended"); });
  }
  void open(const std::string& path) {
    OpenRequest request;
    request.inputs.push_back(path);
    job.open(std::move(request));
  }
  [[nodiscard]] bool wait() {
    return QTest::qWaitFor([this] { return seen.contains("ended"); }, 30'000);
  }

  OpenJob job;
  QStringList seen;
  std::shared_ptr<const Opened> result;
  Error error;
};

std::string bundled(const char* name) { return (support::bundledRecordings() / name).string(); }

TEST_F(OpenJobTest, RecordingArrivesBeforeItsTimeline) {
  open(bundled("base-v7-zstd.dat"));
  ASSERT_TRUE(wait());
  EXPECT_EQ(seen, QStringList({"opened", "timeline", "ended"})) << seen.join(", ").toStdString();
  ASSERT_TRUE(result && result->recording);
  EXPECT_FALSE(result->recording->buffers.empty());
  EXPECT_FALSE(job.progress().stage.empty()) << "a stage has a name";
}

TEST_F(OpenJobTest, MissingFileIsAnError) {
  open("/nowhere/at-all.dat");
  ASSERT_TRUE(wait());
  EXPECT_EQ(seen, QStringList({"failed", "ended"}));
  EXPECT_EQ(error.kind, Error::Kind::Io);
  EXPECT_NE(error.what.find("/nowhere/at-all.dat"), std::string::npos) << error.what;
}

TEST_F(OpenJobTest, OtherFilesAreErrors) {
  const support::TemporaryFolder folder;
  const std::string words = "this is no recording";
  open(folder.write("words.txt", {reinterpret_cast<const u8*>(words.data()), words.size()}));
  ASSERT_TRUE(wait());
  EXPECT_EQ(seen, QStringList({"failed", "ended"}));
}

TEST_F(OpenJobTest, PipesAreRefusedBecauseTheyCanWaitForEver) {
  const support::TemporaryFolder folder;
  const std::string pipe = folder.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  open(pipe);
  ASSERT_TRUE(wait());
  EXPECT_EQ(seen, QStringList({"failed", "ended"}));
  EXPECT_EQ(error.kind, Error::Kind::Usage);
}

TEST_F(OpenJobTest, NothingButTheEndComesAfterCancel) {
  open(bundled("base-v7-zstd.dat"));
  job.cancel();
  ASSERT_TRUE(wait());
  QTest::qWait(20);
  EXPECT_EQ(seen, QStringList({"ended"})) << seen.join(", ").toStdString();
}

TEST(OpenJob, CanBeDestroyedWhileItRuns) {
  for (int i = 0; i < 5; ++i) {
    auto job = std::make_unique<OpenJob>();
    OpenRequest request;
    request.inputs.push_back(bundled("base-v7-zstd.dat"));
    job->open(std::move(request));
    if (i % 2) QTest::qWait(i);
  }
  QCoreApplication::processEvents();
}

}  // namespace
}  // namespace tickscope
