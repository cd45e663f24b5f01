// SPDX-License-Identifier: GPL-3.0-or-later
// Tables as CSV, as text and as JSON; what to record.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/report/findings_text.h"
#include "core/report/recording_advice.h"
#include "core/report/table_json.h"
#include "core/report/write_csv.h"

namespace tickscope {
namespace {

Table made() {
  Table table;
  table.title = "Made";
  table.columns = {{"who", ""}, {"late", "us"}, {"n", ""}};
  table.rows = {{Sentence("a, \"b\""), Figure{1.25, 1}, s64{3}},
                {Sentence("c\nd"), std::monostate{}, s64{-40}}};
  return table;
}

TEST(WriteCsv, QuotesAsRfc4180Says) {
  EXPECT_EQ(csvOf(made()), "who,late [us],n\r\n\"a, \"\"b\"\"\",1.2,3\r\n\"c\nd\",,-40\r\n");
}

TEST(TableText, AlignsWordsLeftAndFiguresRight) {
  EXPECT_EQ(tableText(made(), 1),
            " who     late [us]    n\n a, \"b\"        1.2    3\n c\\nd            -  -40\n");
}

TEST(TableJson, KeepsUnknownAsNull) {
  EXPECT_EQ(tableJson(made()).dump(),
            R"({"title":"Made","columns":[{"name":"who","unit":""},{"name":"late","unit":"us"},)"
            R"({"name":"n","unit":""}],"rows":[["a, \"b\"",1.2,3],["c\nd",null,-40]]})");
}

TEST(RecordingAdvice, QuotesPatternsForTheShell) {
  const RecordingAdvice* const advice = recordingAdvice("double-reprogram");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(
      recordCommand(*advice, 4096, 10),
      "trace-cmd record -C mono -b 4096 -o trace.dat -e 'timer:hrtimer_*' -e 'irq:softirq_*' "
      "-e 'irq_vectors:local_timer_*' -e sched:sched_switch -p function -l tick_program_event "
      "sleep 10");
  EXPECT_EQ(recordingAdvice("nothing"), nullptr);
}

}  // namespace
}  // namespace tickscope
