// SPDX-License-Identifier: GPL-3.0-or-later
// Unpacking with exactly as much room as announced, and blocks of all kinds.
#include "importers/trace_dat/chunk_codec.h"

#include <gtest/gtest.h>

#include "tests/support/recordings.h"
#include "tests/support/trace_dat_writer.h"

namespace tickscope::trace_dat {
namespace {

using support::Blob;

Blob content(std::size_t size) {
  Blob bytes(size);
  u32 state = 3;
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] =
        i % 3 == 0 ? static_cast<u8>((state = state * 1664525U + 1013904223U) >> 24U) : u8{7};
  }
  return bytes;
}

class Packed : public testing::TestWithParam<support::Codec> {
 protected:
  [[nodiscard]] Codec codec() const { return static_cast<Codec>(GetParam()); }
};

TEST_P(Packed, ComesBackWhole) {
  Unpacker unpacker;
  for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, std::size_t{300'000}}) {
    const Blob plain = content(size);
    Blob out(size);
    const auto outcome = unpacker.unpack(codec(), support::compressed(GetParam(), plain), out);
    EXPECT_EQ(outcome.size, size);
    EXPECT_EQ(outcome.why, "");
    EXPECT_EQ(out, plain);
  }
}

TEST_P(Packed, MustHoldExactlyWhatIsAnnounced) {
  Unpacker unpacker;
  const Blob plain = content(8192);
  const Blob packed = support::compressed(GetParam(), plain);
  Blob more(12'288);
  const auto less = unpacker.unpack(codec(), packed, more);
  EXPECT_EQ(less.size, 8192U) << "what there is comes out";
  EXPECT_NE(less.why, "");
  EXPECT_TRUE(std::equal(plain.begin(), plain.end(), more.begin()));
  Blob fewer(4096);
  const auto beyond = unpacker.unpack(codec(), packed, fewer);
  EXPECT_LE(beyond.size, 4096U);
  EXPECT_NE(beyond.why, "");
}

TEST_P(Packed, DamageIsSaidAndTheNextPieceIsGood) {
  Unpacker unpacker;
  const Blob plain = content(40'960);
  const Blob packed = support::compressed(GetParam(), plain);
  for (std::size_t cut = 0; cut < packed.size(); cut += 997) {
    Blob out(plain.size());
    const auto outcome = unpacker.unpack(codec(), Bytes(packed).first(cut), out);
    EXPECT_NE(outcome.why, "") << cut << " of " << packed.size();
    EXPECT_TRUE(std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(outcome.size),
                           plain.begin()));
    const auto again = unpacker.unpack(codec(), packed, out);
    ASSERT_EQ(again.why, "") << "after a piece cut at " << cut;
    ASSERT_EQ(out, plain);
  }
  Blob flipped = packed;
  flipped[flipped.size() / 2] ^= 0x10;
  Blob out(plain.size());
  const auto outcome = unpacker.unpack(codec(), flipped, out);
  EXPECT_LE(outcome.size, plain.size());
  Blob noise(5000, 0x99);
  EXPECT_NE(unpacker.unpack(codec(), noise, out).why, "");
}

TEST_P(Packed, BlocksAreReadFromFilesAndMemory) {
  const Blob plain = content(20'480);
  Blob bytes(100, 1);
  const Blob packed = support::compressed(GetParam(), plain);
  bytes.insert(bytes.end(), packed.begin(), packed.end());
  const support::TemporaryFolder folder;
  const ByteSource memory = ByteSource::memory(bytes);
  const ByteSource file = *ByteSource::file(folder.write("packed", bytes));
  BlockReader reader;
  for (const ByteSource& source : {memory, file}) {
    const Block block{100, static_cast<u32>(packed.size()), 20'480, codec()};
    const auto good = reader.read(source, block);
    EXPECT_FALSE(good.damaged) << good.why;
    EXPECT_TRUE(std::equal(good.bytes.begin(), good.bytes.end(), plain.begin(), plain.end()));
    Block beyond = block;
    beyond.offset += 50;
    EXPECT_TRUE(reader.read(source, beyond).damaged);
    beyond.offset = ~u64{0};
    EXPECT_TRUE(reader.read(source, beyond).damaged);
    EXPECT_TRUE(reader.read(source, beyond).bytes.empty());
  }
}

TEST_P(Packed, BeginsWithItsMark) {
  const Blob packed = support::compressed(GetParam(), content(4096));
  EXPECT_TRUE(looksPacked(codec(), packed));
  EXPECT_FALSE(looksPacked(codec(), Blob(100, 0)));
  EXPECT_FALSE(looksPacked(codec(), Blob{}));
  EXPECT_FALSE(looksPacked(Codec::None, packed));
}

INSTANTIATE_TEST_SUITE_P(Codecs, Packed,
                         testing::Values(support::Codec::Zlib, support::Codec::Zstd));

TEST(BlockReader, PlainBlocksOfMemoryAreNotCopied) {
  const ByteSource source = ByteSource::memory(content(10'000));
  BlockReader reader;
  const auto block = reader.read(source, {4096, 4096, 4096, Codec::None});
  EXPECT_FALSE(block.damaged);
  EXPECT_EQ(block.bytes.data(), source.view(4096, 1).data());
  const auto cut = reader.read(source, {8192, 4096, 4096, Codec::None});
  EXPECT_TRUE(cut.damaged);
  EXPECT_EQ(cut.bytes.size(), 10'000U - 8192U);
}

TEST(Unpacker, FramesThatAskForGigabytesGetNothing) {
  // A zstd frame header with a window of 2 GiB and an unknown content size.
  const Blob frame{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00};
  Unpacker unpacker;
  Blob out(4096);
  const auto outcome = unpacker.unpack(Codec::Zstd, frame, out);
  EXPECT_EQ(outcome.size, 0U);
  EXPECT_NE(outcome.why, "");
}

}  // namespace
}  // namespace tickscope::trace_dat
