// SPDX-License-Identifier: GPL-3.0-or-later
// Files, memory and joined sources give the same bytes by place.
#include "importers/byte_source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "tests/support/recordings.h"

namespace tickscope {
namespace {

std::vector<u8> numbers(std::size_t count, u8 first = 0) {
  std::vector<u8> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<u8>(first + i);
  return bytes;
}

TEST(ByteSource, ReadsFilesByPlace) {
  const support::TemporaryFolder folder;
  const auto source = ByteSource::file(folder.write("file", numbers(100)));
  ASSERT_TRUE(source) << describe(source.error());
  EXPECT_EQ(source->size(), 100U);
  EXPECT_EQ(source->bytes(10, 5), numbers(5, 10));
  EXPECT_EQ(source->bytes(98, 50), numbers(2, 98));
  EXPECT_TRUE(source->bytes(100, 1).empty());
  EXPECT_TRUE(source->bytes(~u64{0}, ~u64{0}).empty());
  EXPECT_TRUE(source->view(0, 10).empty());
}

TEST(ByteSource, GivesMemoryWithoutACopy) {
  const ByteSource source = ByteSource::memory(numbers(100), "name");
  EXPECT_EQ(source.name(), "name");
  const Bytes view = source.view(20, 30);
  ASSERT_EQ(view.size(), 30U);
  EXPECT_EQ(view[0], 20);
  EXPECT_EQ(source.view(90, 30).size(), 10U);
  EXPECT_TRUE(source.view(100, 1).empty());
  EXPECT_EQ(source.bytes(95, 100), numbers(5, 95));
}

TEST(ByteSource, JoinsSourcesBehindOneAnother) {
  const ByteSource source =
      ByteSource::joined({ByteSource::memory(numbers(10), "a"), ByteSource::memory({}, "b"),
                          ByteSource::memory(numbers(10, 10), "c")});
  EXPECT_EQ(source.size(), 20U);
  EXPECT_EQ(source.name(), "a");
  EXPECT_EQ(source.bytes(0, 20), numbers(20));
  EXPECT_EQ(source.bytes(8, 4), numbers(4, 8));
  EXPECT_EQ(source.bytes(15, 100), numbers(5, 15));
  EXPECT_EQ(source.view(12, 3).size(), 3U);
  EXPECT_TRUE(source.view(8, 4).empty()) << "it lies in two sources";
  EXPECT_EQ(source.fingerprint(), ByteSource::memory(numbers(20)).fingerprint());
}

TEST(ByteSource, SaysWhyAFileDoesNotOpen) {
  const support::TemporaryFolder folder;
  for (const std::string& path :
       {folder.path("missing"), folder.path(""), std::string("/dev/zero")}) {
    const auto source = ByteSource::file(path);
    ASSERT_FALSE(source) << path;
    EXPECT_EQ(source.error().kind, Error::Kind::Io);
    EXPECT_NE(source.error().what.find(path), std::string::npos) << source.error().what;
  }
}

TEST(ByteSource, ReadsANamedPipeToItsEnd) {
  const support::TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::jthread writer([path] {
    std::ofstream out(path, std::ios::binary);
    const std::vector<u8> bytes = numbers(200'000);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  });
  const auto source = ByteSource::file(path);
  ASSERT_TRUE(source) << describe(source.error());
  EXPECT_EQ(source->bytes(0, 300'000), numbers(200'000));
}

TEST(ByteSource, FingerprintTellsFirstAndLastBytes) {
  std::vector<u8> bytes(3U << 20U, 7);
  const std::string whole = ByteSource::memory(bytes).fingerprint();
  EXPECT_TRUE(whole.starts_with("300000-")) << whole;
  bytes.back() = 8;
  EXPECT_NE(ByteSource::memory(bytes).fingerprint(), whole);
  bytes.back() = 7;
  bytes.front() = 8;
  EXPECT_NE(ByteSource::memory(bytes).fingerprint(), whole);
  EXPECT_EQ(ByteSource::memory({}).fingerprint(), "0-00000000");
}

TEST(ByteSource, AShrinkingFileGivesFewerBytes) {
  const support::TemporaryFolder folder;
  const std::string path = folder.write("file", numbers(100));
  const auto source = ByteSource::file(path);
  ASSERT_TRUE(source);
  std::filesystem::resize_file(path, 40);
  EXPECT_EQ(source->bytes(30, 50), numbers(10, 30));
}

}  // namespace
}  // namespace tickscope
