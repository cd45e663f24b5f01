// SPDX-License-Identifier: GPL-3.0-or-later
// Records read again from the input: right bytes, damage, many threads.
#include "importers/trace_dat/record_text.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/made_record.h"

namespace tickscope::trace_dat {
namespace {

using support::MadeRecord;

constexpr std::string_view head =
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

std::string formatText(const std::string& name, int id, const std::string& fields,
                       const std::string& print) {
  return "name: " + name + "\nID: " + std::to_string(id) + "\n" + std::string(head) + fields +
         "\nprint fmt: " + print + "\n";
}

constexpr u32 blocks = 20, recordSize = 16;

/// 20 blocks of one record each: `n` is the number of its block.
class RecordTextTest : public testing::Test {
 protected:
  RecordTextTest() {
    Container container;
    container.formats.push_back(
        {"test", formatText("counted", 400,
                            "\tfield:u32 n;\toffset:8;\tsize:4;\tsigned:0;\n"
                            "\tfield:s32 m;\toffset:12;\tsize:4;\tsigned:1;\n",
                            "\"n=%u m=%d\", REC->n, REC->m")});
    container.formats.push_back(
        {"timer_migration", formatText("tmigr_group_set_cpu_active", 401,
                                       "\tfield:u32 childmask;\toffset:8;\tsize:4;\tsigned:0;\n",
                                       "\"childmask=%0x\", REC->childmask")});
    ImportLog log;
    auto binding = std::make_shared<const Binding>(bindFormats(container, log));
    std::vector<u8> bytes;
    std::vector<Block> table;
    for (u32 i = 0; i < blocks; ++i) {
      const MadeRecord record = MadeRecord().number(i, 4).number(~u64{i}, 4);
      table.push_back({bytes.size(), recordSize, recordSize, Codec::None});
      bytes.insert(bytes.end(), record.bytes().begin(), record.bytes().end());
    }
    counted = typeOf(*binding, "counted", kindOf<Raw>);
    active = typeOf(*binding, "tmigr_group_set_cpu_active", kindOf<TmigrGroupSetCpuActive>);
    text = std::make_unique<RecordText>(ByteSource::memory(std::move(bytes)), std::move(binding),
                                        std::move(table), Metadata());
  }

  /// A typed event has a second type for records that are too short.
  static u16 typeOf(const Binding& binding, std::string_view name, EventKind kind) {
    for (u16 type = 0; type < binding.types.size(); ++type) {
      if (binding.types[type].name == name && binding.types[type].kind == kind) return type;
    }
    ADD_FAILURE() << "no type for " << name;
    return 0;
  }

  u16 counted = 0, active = 0;
  std::unique_ptr<RecordText> text;
};

TEST_F(RecordTextTest, ReadsEachRecordAgain) {
  for (u32 i = 0; i < blocks; ++i) {
    const RawRef record{i, 0, recordSize};
    EXPECT_EQ(text->body(counted, record),
              "n=" + std::to_string(i) + " m=-" + std::to_string(i + 1));
    EXPECT_EQ(text->bytes(record).size(), recordSize);
  }
  const auto fields = text->fields(counted, {3, 0, recordSize});
  ASSERT_EQ(fields.size(), 2U);
  EXPECT_EQ(std::get<u64>(fields[0].value), 3U);
  EXPECT_EQ(std::get<s64>(fields[1].value), -4);
  EXPECT_TRUE(text->namedInText(counted));
}

TEST_F(RecordTextTest, SaysWhenBytesAreNotThere) {
  for (const RawRef& record : {RawRef{blocks, 0, 8}, RawRef{0, recordSize, 8},
                               RawRef{0, 0xfffffff0, 0xfffffff0}, RawRef{~u32{0}, 0, 1}}) {
    EXPECT_EQ(text->body(counted, record), "[the record's bytes cannot be read again]");
    EXPECT_TRUE(text->bytes(record).empty());
    for (const FieldValue& field : text->fields(counted, record)) {
      EXPECT_TRUE(std::holds_alternative<std::monostate>(field.value)) << field.name;
    }
  }
}

TEST_F(RecordTextTest, RecordsWithoutAFormatAreBytes) {
  EXPECT_EQ(text->body(0, {1, 0, 12}), "[no format] 90 01 00 00 00 00 00 00 01 00 00 00");
  EXPECT_EQ(text->body(0xffff, {1, 0, 2}), "[no format] 90 01");
  EXPECT_TRUE(text->fields(0xffff, {1, 0, 2}).empty());
}

TEST_F(RecordTextTest, KnowsWhatTheRecordingCallsItsFields) {
  EXPECT_EQ(text->fieldName(active, 4), "childmask");
  EXPECT_EQ(text->fieldName(active, 0), "");
  EXPECT_EQ(text->fieldName(active, 99), "");
}

TEST_F(RecordTextTest, ManyThreadsReadManyBlocks) {
  std::vector<std::thread> threads;
  std::vector<u32> wrong(4, 0);
  for (u32 t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (u32 i = 0; i < 400; ++i) {
        const u32 block = (i * 7 + t * 5) % blocks;
        const std::string expected =
            "n=" + std::to_string(block) + " m=-" + std::to_string(block + 1);
        if (text->body(counted, {block, 0, recordSize}) != expected) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<u32>(4, 0));
}

}  // namespace
}  // namespace tickscope::trace_dat
