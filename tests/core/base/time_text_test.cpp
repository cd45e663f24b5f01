// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers, seconds and durations as people write and read them.
#include "core/base/time_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace tickscope {
namespace {

using Unit = WrittenNumber::Unit;

Known<Whole> nanoseconds(std::string_view text, Unit plain = Unit::Second) {
  const auto number = readNumber(text);
  return number ? inNanoseconds(*number, plain) : Known<Whole>{};
}

Whole positive(u64 value) { return {false, value}; }

TEST(ReadNumber, TakesSecondsToTheNanosecond) {
  EXPECT_EQ(nanoseconds("12.345678901"), positive(12'345'678'901));
  EXPECT_EQ(nanoseconds("12"), positive(12'000'000'000));
  EXPECT_EQ(nanoseconds("0.5"), positive(500'000'000));
  EXPECT_EQ(nanoseconds("12.3456789010000"), positive(12'345'678'901));
  EXPECT_EQ(nanoseconds("12.3456789011"), Known<Whole>{}) << "finer than a nanosecond";
}

TEST(ReadNumber, ScalesUnitsExactly) {
  EXPECT_EQ(nanoseconds("50us"), positive(50'000));
  EXPECT_EQ(nanoseconds("1.5ms"), positive(1'500'000));
  EXPECT_EQ(nanoseconds("2s"), positive(2'000'000'000));
  EXPECT_EQ(nanoseconds("7ns"), positive(7));
  EXPECT_EQ(nanoseconds("0.001us"), positive(1));
  EXPECT_EQ(nanoseconds("0.0001us"), Known<Whole>{}) << "a tenth of a nanosecond";
  EXPECT_EQ(nanoseconds("1.5ns"), Known<Whole>{});
  EXPECT_EQ(nanoseconds("1.0ns"), positive(1));
  EXPECT_EQ(nanoseconds("-3us"), (Whole{true, 3'000}));
  EXPECT_EQ(nanoseconds("-0"), positive(0));
}

TEST(ReadNumber, TakesHexadecimalNumbersWhole) {
  const auto number = readNumber("0xffff888003c1fd80");
  ASSERT_TRUE(number);
  EXPECT_EQ(asWhole(*number), positive(0xffff888003c1fd80U));
  EXPECT_FALSE(readNumber("0x10us"));
  EXPECT_FALSE(readNumber("0x1.5"));
}

TEST(ReadNumber, RefusesWhatIsNoNumber) {
  for (const char* text : {"",
                           "-",
                           "+",
                           ".",
                           ".5",
                           "5.",
                           "1e3",
                           "1,000",
                           " 1",
                           "1 ",
                           "--1",
                           "+-1",
                           "0x",
                           "0xg",
                           "1h",
                           "1us2",
                           "18446744073709551616",
                           "99999999999999999999999",
                           "0x10000000000000000",
                           "nan",
                           "1.2.3"}) {
    EXPECT_FALSE(readNumber(text)) << '"' << text << '"';
  }
}

TEST(ReadNumber, SaysWhenNanosecondsDoNotFit) {
  EXPECT_EQ(nanoseconds("18446744073.709551615"), positive(std::numeric_limits<u64>::max()));
  EXPECT_EQ(nanoseconds("18446744073.709551616"), Known<Whole>{});
  EXPECT_EQ(nanoseconds("18446744074"), Known<Whole>{});
}

RC_GTEST_PROP(ReadNumber, ReadsBackWhatSecondsTextWrites, (u64 ns)) {
  RC_ASSERT(nanoseconds(secondsText(ns)) == positive(ns));
}

TEST(SecondsText, HasNineDecimals) {
  EXPECT_EQ(secondsText(6'403'416'103), "6.403416103");
  EXPECT_EQ(secondsText(0), "0.000000000");
  EXPECT_EQ(secondsText(1), "0.000000001");
}

TEST(DurationWords, ChoosesTheUnit) {
  EXPECT_EQ(durationWords(0), "0 ns");
  EXPECT_EQ(durationWords(850), "850 ns");
  EXPECT_EQ(durationWords(12'345), "12.345 us");
  EXPECT_EQ(durationWords(999'999), "999.999 us");
  EXPECT_EQ(durationWords(12'345'678), "12.345 ms");
  EXPECT_EQ(durationWords(59'999'999'999), "59.999 s");
  EXPECT_EQ(durationWords(123'456'000'000), "2 min 03.456 s");
  EXPECT_EQ(durationWords(3'723'999'000'000), "1 h 02 min 03 s");
}

TEST(Grouped, SeparatesThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(1'554'134), "1,554,134");
  EXPECT_EQ(grouped(std::numeric_limits<u64>::max()), "18,446,744,073,709,551,615");
}

TEST(BytesWords, CutsToOneDecimal) {
  EXPECT_EQ(bytesWords(1), "1 byte");
  EXPECT_EQ(bytesWords(312), "312 bytes");
  EXPECT_EQ(bytesWords(4096), "4 KiB");
  EXPECT_EQ(bytesWords(1'572'864), "1.5 MiB");
  EXPECT_EQ(bytesWords(std::numeric_limits<u64>::max()), "16777215.9 TiB");
}

TEST(ReadSize, TakesBinaryUnits) {
  EXPECT_EQ(readSize("4096"), Known<u64>{4096});
  EXPECT_EQ(readSize("64K"), Known<u64>{65'536});
  EXPECT_EQ(readSize("512MiB"), Known<u64>{u64{512} << 20U});
  EXPECT_EQ(readSize("2g"), Known<u64>{u64{2} << 30U});
  for (const char* text :
       {"", "-1", "K", "1.5G", "1X", "1KX", "99999999999T", "18446744073709551616"}) {
    EXPECT_FALSE(readSize(text)) << '"' << text << '"';
  }
}

}  // namespace
}  // namespace tickscope
