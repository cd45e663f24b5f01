// SPDX-License-Identifier: GPL-3.0-or-later
// Units of clocks, and the buffer that opens first.
#include "core/trace/recording.h"

#include <gtest/gtest.h>

#include "tests/support/made_recording.h"

namespace tickscope {
namespace {

TEST(Clocks, HaveTheirUnits) {
  for (const char* name : {"local", "global", "perf", "mono", "mono_raw", "boot", "tai"}) {
    EXPECT_EQ(unitOf(name), ClockUnit::Nanoseconds) << name;
  }
  EXPECT_EQ(unitOf("uptime"), ClockUnit::Jiffies100Hz);
  EXPECT_EQ(unitOf("counter"), ClockUnit::Events);
  EXPECT_EQ(unitOf("x86-tsc"), ClockUnit::Cycles);
  EXPECT_EQ(unitOf(""), ClockUnit::Unknown);
  EXPECT_EQ(unitOf("monotonic"), ClockUnit::Unknown);
}

Buffer bufferOf(const std::string& name, u32 events) {
  support::BufferMaker maker;
  maker.cpu(0);
  if (events > 0) maker.events(events, 100, 10);
  return maker.finish(name);
}

u32 mainOf(std::vector<Buffer> buffers) {
  Recording recording;
  recording.buffers = std::move(buffers);
  return recording.mainBuffer();
}

TEST(MainBuffer, IsTheTopOneIfItHasEvents) {
  std::vector<Buffer> buffers;
  buffers.push_back(bufferOf("full", 50));
  buffers.push_back(bufferOf("", 1));
  EXPECT_EQ(mainOf(std::move(buffers)), 1U);
}

TEST(MainBuffer, IsTheFullestWhenTheTopOneIsEmpty) {
  std::vector<Buffer> buffers;
  buffers.push_back(bufferOf("", 0));
  buffers.push_back(bufferOf("few", 5));
  buffers.push_back(bufferOf("full", 50));
  EXPECT_EQ(mainOf(std::move(buffers)), 2U);
  EXPECT_EQ(mainOf({}), 0U);
}

}  // namespace
}  // namespace tickscope
