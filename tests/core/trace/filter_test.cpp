// SPDX-License-Identifier: GPL-3.0-or-later
// The filter language against hand-made rows and against a slow second evaluator.
#include "core/trace/filter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "core/trace/event_text.h"
#include "core/trace/store_builder.h"

namespace tickscope {
namespace {

using ::testing::HasSubstr;

/// Fields of events that the filter reads as an importer gives them.
class TwoRawFields : public RawEventText {
 public:
  [[nodiscard]] std::string body(u16 /*type*/, const RawRef& record) const override {
    return fmt::format("lat={} who={}", record.offset, record.offset % 2 ? "odd" : "even");
  }
  [[nodiscard]] std::vector<FieldValue> fields(u16 /*type*/, const RawRef& record) const override {
    return {{"lat", u64{record.offset}, false},
            {"delta", -s64{record.offset}, false},
            {"who", std::string(record.offset % 2 ? "odd" : "even"), false},
            {"torn", std::monostate{}, false}};
  }
  [[nodiscard]] bool namedInText(u16 /*type*/) const override { return true; }
  [[nodiscard]] std::vector<u8> bytes(const RawRef& /*record*/) const override { return {}; }
};

constexpr u64 tickFunction = 0xffffffff81000100U;
constexpr u64 labFunction = 0xffffffffc0000040U;

/// Two CPUs with a row of each kind that the language treats apart.
class Rows {
 public:
  Rows() {
    addType<TimerStart>("timer", "timer_start", 0b101111);  // without now
    addType<HrtimerStart>("timer", "hrtimer_start", 0b111111);
    addType<SchedWaking>("sched", "sched_waking", 0b11111);
    addType<SchedSwitch>("sched", "sched_switch", 0b1111111);
    addType<SoftirqRaise>("irq", "softirq_raise", 1);
    addType<TimerExpireEntry>("timer", "timer_expire_entry", 0b1111);
    addType<Raw>("synthetic", "wakeup_lat", 0);
    addType<Function>("ftrace", "function", 0b11);
    parts_.arenas.push_back(std::make_shared<EventArena>());
    parts_.streams.resize(2);
    for (u16 cpu = 0; cpu < 2; ++cpu) {
      parts_.streams[cpu].cpu = Cpu{static_cast<u16>(cpu * 2)};  // CPUs 0 and 2
      parts_.arenas.push_back(std::make_shared<EventArena>());
      parts_.streams[cpu].pieces.emplace_back(*parts_.arenas.back(), *pools_, parts_.types);
    }
  }

  template <class P>
  Rows& add(u16 stream, s64 time, s32 pid, u16 type, const P& payload, u8 flags = 0) {
    EXPECT_TRUE(parts_.streams[stream].pieces[0].append({time}, Pid{pid}, Context{flags, 1}, type,
                                                        payload));
    return *this;
  }
  StringId text(std::string_view value) { return StringId{pools_->strings.intern(value)}; }

  Recording finish() {
    for (StreamPieces& stream : parts_.streams) stream.pieces[0].close();
    Progress progress;
    auto store = assemble(std::move(parts_), std::move(pools_), progress);
    EXPECT_TRUE(store) << (store ? "" : store.error().what);
    Recording recording;
    Buffer buffer;
    buffer.clock = {"mono", "made", ClockUnit::Nanoseconds};
    buffer.events = std::move(*store);
    buffer.raw = std::make_shared<const TwoRawFields>();
    recording.buffers.push_back(std::move(buffer));
    recording.metadata.tasks.add(Pid{7}, "cyclictest");
    recording.metadata.tasks.add(Pid{8}, "ktimers/2");
    recording.metadata.tgids = {{7, 70}, {8, 2}};
    recording.metadata.symbols = std::make_shared<const Symbols>(
        "ffffffff81000100 t tick_sched_timer\nffffffff81000200 t next\n"
        "ffffffffc0000040 t lab_fn\t[tsdrv]\nffffffffc0000080 t lab_end\t[tsdrv]\n");
    return recording;
  }

 private:
  template <class P>
  void addType(std::string system, std::string name, u32 has) {
    EventType type;
    type.kind = kindOf<P>;
    type.id = static_cast<u16>(100 + parts_.types.size());
    type.system = std::move(system);
    type.name = std::move(name);
    type.has = has;
    type.layout = storedLayout(type.kind, has);
    parts_.types.push_back(std::move(type));
  }

  StoreParts parts_;
  std::shared_ptr<Pools> pools_ = std::make_shared<Pools>();
};

TimerStart timerStart(u64 timer, u64 function, s64 expires, u32 flags) {
  TimerStart p;
  p.timer = Address{timer};
  p.function = Address{function};
  p.expires = {expires};
  p.bucketExpiry = {expires + 1};
  p.flags = flags;
  return p;
}

HrtimerStart hrtimerStart(u64 timer, u64 function, s64 expires) {
  HrtimerStart p;
  p.hrtimer = Address{timer};
  p.function = Address{function};
  p.expires = {expires};
  p.softexpires = {expires - 50'000};
  p.mode = 0x2;
  return p;
}

/// Rows 0 to 8, a millisecond apart.
Recording nineRows() {
  Rows rows;
  SchedWaking waking;
  waking.task = {rows.text("ktimers/2"), Pid{8}, 98};
  waking.targetCpu = 2;
  SchedSwitch change;
  change.prev = {rows.text("swapper/2"), Pid{0}, 120};
  change.next = {rows.text("ktimers/2"), Pid{8}, 98};
  Raw raw;
  raw.raw = {0, 51, 4};
  TimerExpireEntry entry;
  entry.timer = Address{0xffff888000001000U};
  entry.function = Address{labFunction};
  entry.now = {4'294'900'001};
  entry.baseclk = {4'294'900'001};
  rows.add(0, 1'000'000'000, 7, 0,
           timerStart(0xffff888000001000U, labFunction, 4'294'900'000, 0x400002))
      .add(0, 1'001'000'000, 7, 1, hrtimerStart(0xffff888000002000U, tickFunction, 1'002'000'000),
           0x11)
      .add(1, 1'002'000'000, 0, 2, waking)
      .add(1, 1'003'000'000, 0, 3, change)
      .add(0, 1'004'000'000, 9, 4, SoftirqRaise{1})
      .add(1, 1'005'000'000, 8, 4, SoftirqRaise{8})
      .add(0, 1'006'000'000, 7, 1, hrtimerStart(0xffff888000002000U, tickFunction, -5))
      .add(1, 1'007'000'000, 8, 6, raw)
      .add(1, 1'008'000'000, 8, 5, entry);
  return rows.finish();
}

std::string rowsOf(const Recording& recording, const std::string& text) {
  auto filter = Filter::compile(text, recording, recording.buffers[0]);
  if (!filter) return "error: " + filter.error().what;
  std::string found;
  for (u32 row = 0; row < recording.buffers[0].events.size(); ++row) {
    if (filter->matches(Row{row})) found += fmt::format("{}{}", found.empty() ? "" : " ", row);
  }
  return found;
}

struct Expectation {
  std::string filter, rows;
};
void check(const std::vector<Expectation>& expectations) {
  const Recording recording = nineRows();
  for (const auto& [filter, rows] : expectations) {
    EXPECT_EQ(rowsOf(recording, filter), rows) << "filter: " << filter;
  }
}

TEST(Filter, ComparesColumns) {
  check({{"cpu==2", "2 3 5 7 8"},
         {"cpu != 2", "0 1 4 6"},
         {"row>=7", "7 8"},
         {"pid=7", "0 1 6"},
         {"pid<0", ""},
         {"pid>-1", "0 1 2 3 4 5 6 7 8"},
         {"tgid==70", "0 1 6"},
         {"tgid!=70", "5 7 8"},
         {"comm==cyclictest", "0 1 6"},
         {"comm=~\"^k.*/[0-9]$\"", "5 7 8"},
         {"comm==\"<idle>\"", "2 3"},
         {"common_pid==9", "4"},
         {"common_flags==0x11", "1"},
         {"common_preempt_count==1 && row<2", "0 1"},
         {"common_type==104", "4 5"}});
}

TEST(Filter, TakesTimesAsPrintedOrWithAUnit) {
  check({{"time>=1.005", "5 6 7 8"},
         {"time==1.005000000", "5"},
         {"time<1001ms", "0"},
         {"time<=1001000us", "0 1"},
         {"time>1.004999999", "5 6 7 8"},
         {"time<-1", ""},
         {"time>-1 && row==0", "0"}});
}

TEST(Filter, KnowsEventsByNameAndSystem) {
  check({{"event==softirq_raise", "4 5"},
         {"event==\"irq:softirq_raise\"", "4 5"},
         {"event=='timer:softirq_raise'", ""},
         {"event=~\"timer_start\"", "0 1 6"},
         {"event=~\"^timer\"", "0 8"},
         {"event!~\"timer\" && cpu==2", "2 3 5 7"},
         {"event==nosuch", ""}});
}

TEST(Filter, ComparesFieldsByTheirFormatNames) {
  check({{"vec==1", "4"},
         {"vec!=1", "5"},
         {"softexpires<1s", "6"},
         {"softexpires==1001950us", "1"},
         {"softexpires>1.00194s", "1"},
         {"prev_comm=~swapper", "3"},
         {"next_prio<100", "3"},
         {"target_cpu==2", "2"},
         {"now>0", "8"},
         {"was_armed==0", "1 6"}});
}

TEST(Filter, SeparatesJiffiesFromNanoseconds) {
  // expires is in jiffies in row 0 and in nanoseconds in rows 1 and 6.
  check({{"expires==4294900000", "0"},
         {"expires==4294900000ns", ""},
         {"expires<2s", "1 6"},
         {"bucket_expiry==5ms", "error: `bucket_expiry` counts jiffies: the number has no unit."}});
}

TEST(Filter, FindsTimersAndCallbacksOfEveryKind) {
  check({{"timer==0xffff888000001000", "0 8"},
         {"timer==ffff888000002000", "1 6"},
         {"timer!=0xffff888000001000", "1 6"},
         {"callback==tick_sched_timer", "1 6"},
         {"callback==lab_fn", "0 8"},
         {"callback==\"lab_fn [tsdrv]\"", "0 8"},
         {"callback!=lab_fn", "1 6"},
         {"callback=~\"tsdrv|tick\"", "0 1 6 8"},
         {"function==0xffffffff81000100", "1 6"},
         {"hrtimer=~\"2000$\"", "1 6"}});
}

TEST(Filter, TakesAddressesInQuotesAsAddresses) {
  check({{"timer==\"0xffff888000001000\"", "0 8"},
         {"timer==\"ffff888000002000\"", "1 6"},
         {"timer!='0xffff888000001000'", "1 6"},
         {"function==\"0xffffffff81000100\"", "1 6"}});
}

TEST(Filter, KnowsTheFunctionThatAPlaceInCodeLiesIn) {
  Rows rows;
  Function traced;
  traced.ip = Address{labFunction};
  traced.parentIp = Address{tickFunction + 0x2f};
  TimerStart inside = timerStart(0xffff888000001000U, tickFunction + 0x2f, 1, 0);
  const Recording recording = rows.add(0, 1, 7, 7, traced).add(0, 2, 7, 0, inside).finish();
  for (const auto& [filter, expected] :
       std::vector<Expectation>{{"parent_ip==tick_sched_timer", "0"},
                                {"parent_ip=~\"^tick_sched_timer$\"", "0"},
                                {"parent_ip!=next", "0"},
                                {"ip==lab_fn", "0"},
                                {"ip==\"lab_fn [tsdrv]\"", "0"},
                                // A callback that begins nowhere is printed as an address.
                                {"function==tick_sched_timer", ""},
                                {"function==\"0xffffffff8100012f\"", "1"}}) {
    EXPECT_EQ(rowsOf(recording, filter), expected) << "filter: " << filter;
  }
}

TEST(Filter, ReadsFieldsOfEventsThatAreKeptAsBytes) {
  check({{"lat>50us", ""},
         {"lat>50", "7"},
         {"lat==51ns", "7"},
         {"delta==-51", "7"},
         {"delta<0", "7"},
         {"who==odd", "7"},
         {"who=~\"^e\"", ""},
         {"torn==1", ""},
         {"wakeup_lat.lat==51", "7"}});
}

TEST(Filter, NamesAFieldOfOneEvent) {
  // `pid` and `comm` alone are those of the task that ran.
  check({{"sched_waking.pid==8", "2"},
         {"sched_waking.comm==\"ktimers/2\"", "2"},
         {"sched:sched_waking.comm==x || timer_start.expires>0", "0"},
         {"nosuch.pid==1", "error: This recording has no event `nosuch`."},
         {"softirq_raise.pid==1", "error: That event has no field `pid`."}});
}

TEST(Filter, SearchesTheTextForBareWords) {
  check({{"softirq_raise", "4 5"},
         {"\"next_comm=ktimers\"", "3"},
         {"'tick_sched_timer'", "1 6"},
         {"wakeup_lat", "7"},
         {"who=odd", "7"},
         {"\"who=odd\"", "7"},
         {"SOFTIRQ_RAISE", ""}});
}

TEST(Filter, BindsNotBeforeAndBeforeOr) {
  check({{"cpu==0 || cpu==2 && vec==8", "0 1 4 5 6"},
         {"(cpu==0 || cpu==2) && vec==8", "5"},
         {"!cpu==0 && vec==8", "5"},
         {"!(cpu==0 && vec==8) && event==softirq_raise", "4 5"},
         {"!!vec==1", "4"},
         {"!vec==1 && event=~softirq", "5"},
         {"  ( ( vec==1 ) )  ", "4"},
         {"vec==1||vec==8&&cpu==0||row==0", "0 4"}});
}

TEST(Filter, DoesNotMatchRowsWithoutTheField) {
  check({{"vec!=99", "4 5"}, {"vec<0 || vec>=0", "4 5"}, {"comm!~zzz", "0 1 2 3 5 6 7 8"}});
}

TEST(Filter, LeavesOutWhatTheRecordingLacks) {
  // timer_start.now is not recorded, timer_expire_entry.now is.
  check({{"timer_start.now>=0", ""}, {"now>=0", "8"}});
}

struct Wrong {
  std::string filter, what;
  std::size_t at;
};
TEST(Filter, SaysWhatIsWrongAndWhere) {
  const Recording recording = nineRows();
  for (const auto& [text, what, at] : std::vector<Wrong>{
           {"", "empty", 0},
           {"   ", "empty", 3},
           {"cpu==2 && nosuch==1", "no event of this recording has a field `nosuch`", 10},
           {"cpu==two", "`cpu` is a number", 5},
           {"cpu=~2", "`cpu` is a number; =~ compares texts", 0},
           {"cpu==\"2\"", "this is none", 5},
           {"cpu==2us", "without a unit", 5},
           {"comm<5", "this is a text", 5},
           {"prev_comm>5", "is a text", 0},
           {"vec==TIMER", "`vec` is a number; this is none", 5},
           {"lateness>50us", "`lateness` is not available", 0},
           {"event=~\"[\"", "no regular expression", 7},
           {"cpu==2 cpu==3", "&& or ||", 7},
           {"cpu==", "expected a value", 5},
           {"cpu== && pid==1", "expected a value", 6},
           {"==2", "begins with the name", 0},
           {"cpu==2 && ", "missing at the end", 10},
           {"(cpu==2", "never closed", 0},
           {"cpu==2)", "closes nothing", 6},
           {"cpu==2 & pid==1", "single &", 7},
           {"cpu==2 | pid==1", "single |", 7},
           {"comm==\"abc", "no closing quote", 6},
           {"\"cpu\"==2", "without quotes", 0},
           {"vec==1.5", "decimals needs a unit", 5},
           {"time==1.0000000001", "finer than a nanosecond", 6},
           {"time==yesterday", "no time", 6},
           {"\"\"", "empty string", 0},
           {"()", "expected a field", 1},
           {"vec ~ 1", "single ~", 4}}) {
    auto filter = Filter::compile(text, recording, recording.buffers[0]);
    ASSERT_FALSE(filter) << text;
    std::string said = filter.error().what;
    said.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(said.front())));
    EXPECT_THAT(said, HasSubstr(what)) << text;
    EXPECT_EQ(filter.error().at, at) << text << "\n" << describe(filter.error(), text);
  }
}

TEST(Filter, MarksThePlaceBelowTheText) {
  EXPECT_EQ(describe({"Bad.", 3, 2}, "ab\tcd"), "Bad.\n  ab cd\n     ^^");
  EXPECT_EQ(describe({"Bad.", 4, 1}, "\xc3\xa9\xc3\xa9x"), "Bad.\n  \xc3\xa9\xc3\xa9x\n    ^");
}

TEST(Filter, StopsAtHostileTexts) {
  const Recording recording = nineRows();
  const auto said = [&](const std::string& text) {
    auto filter = Filter::compile(text, recording, recording.buffers[0]);
    return filter ? std::string("compiled") : filter.error().what;
  };
  EXPECT_THAT(said(std::string(30'000, '(')), HasSubstr("nested too deeply"));
  EXPECT_THAT(said(std::string(60'000, '!')), HasSubstr("nested too deeply"));
  EXPECT_THAT(said(std::string(70'000, 'x')), HasSubstr("64 KiB"));
  std::string many = "a";
  for (int i = 0; i < 5'000; ++i) many += "||a";
  EXPECT_THAT(said(many), HasSubstr("too many parts"));
  EXPECT_THAT(said("comm=~\"((((a{1000}){1000}){1000}){1000})\""), HasSubstr("regular expression"));
  EXPECT_EQ(said("comm=~\"(a*)*b|(x+x+)+y\" && \"" + std::string(20'000, 'x') + "\""), "compiled");
  EXPECT_EQ(said(std::string(90, '(') + "cpu==1" + std::string(90, ')')), "compiled");
}

TEST(Filter, KeepsBackslashesForExpressions) {
  check({{R"(comm=~"ktimers/\d$")", "5 7 8"},
         {R"(comm=~'^\w+$')", "0 1 6"},
         {R"("say \"hi\"")", ""}});
}

TEST(Filter, CollectsRowsUpToALimitAndStopsWhenCancelled) {
  const Recording recording = nineRows();
  auto filter = Filter::compile("cpu==2", recording, recording.buffers[0]);
  ASSERT_TRUE(filter);
  Progress progress;
  const auto some = filter->rows(3, 9, 2, progress);
  ASSERT_TRUE(some);
  EXPECT_EQ(*some, (std::vector<Row>{Row{3}, Row{5}}));
  const auto names = Filter::fieldNames(recording, recording.buffers[0]);
  for (const char* name : {"cpu", "softexpires", "who", "timer"}) {
    EXPECT_THAT(names, ::testing::Contains(name));
  }
}

TEST(Filter, RefusesSecondsForClocksWithoutThem) {
  Recording recording = nineRows();
  recording.buffers[0].clock.unit = ClockUnit::Events;
  EXPECT_EQ(rowsOf(recording, "time>=1007000000"), "7 8");
  EXPECT_EQ(rowsOf(recording, "time>=1.007"), "error: `time` is a whole number without a unit.");
}

// --- A slow second evaluator: every field of every row, by name ---------------------------------

struct SlowNode {
  char is = 'c';  // c comparison, & | !
  std::string field, op;
  s64 value = 0;
  std::vector<SlowNode> parts;
};

std::string written(const SlowNode& node) {
  if (node.is == 'c') return fmt::format("{}{}{}", node.field, node.op, node.value);
  if (node.is == '!') return "!(" + written(node.parts[0]) + ")";
  return "(" + written(node.parts[0]) + (node.is == '&' ? ") && (" : ") || (") +
         written(node.parts[1]) + ")";
}

bool holds(const SlowNode& node, const Recording& recording, Row row) {
  if (node.is == '!') return !holds(node.parts[0], recording, row);
  if (node.is == '&')
    return holds(node.parts[0], recording, row) && holds(node.parts[1], recording, row);
  if (node.is == '|')
    return holds(node.parts[0], recording, row) || holds(node.parts[1], recording, row);
  const EventStore& events = recording.buffers[0].events;
  long double left = 0;  // 64 bits of mantissa hold both ranges exactly
  if (node.field == "cpu")
    left = number(events.cpu(row));
  else if (node.field == "row")
    left = number(row);
  else if (node.field == "pid")
    left = number(events.pid(row));
  else {
    bool found = false;
    for (const FieldValue& value : EventText(recording, recording.buffers[0]).fields(row)) {
      if (value.name != node.field) continue;
      if (const auto* bits = std::get_if<u64>(&value.value))
        left = static_cast<long double>(*bits);
      else if (const auto* sign = std::get_if<s64>(&value.value))
        left = static_cast<long double>(*sign);
      else
        return false;
      found = true;
    }
    if (!found) return false;
  }
  const auto right = static_cast<long double>(node.value);
  if (node.op == "==") return left == right;
  if (node.op == "!=") return left != right;
  if (node.op == "<") return left < right;
  if (node.op == "<=") return left <= right;
  if (node.op == ">") return left > right;
  return left >= right;
}

rc::Gen<SlowNode> anyNode(int depth) {
  const auto comparison = rc::gen::map(
      rc::gen::tuple(
          rc::gen::element<std::string>("cpu", "row", "pid", "vec", "expires", "lat", "delta",
                                        "mode", "next_prio", "flags", "softexpires", "prev_state"),
          rc::gen::element<std::string>("==", "!=", "<", "<=", ">", ">="),
          rc::gen::oneOf(rc::gen::inRange<s64>(-2, 12),
                         rc::gen::element<s64>(51, -51, 98, 120, 0x400002, 4'294'900'000),
                         rc::gen::arbitrary<s64>())),
      [](const auto& from) {
        SlowNode node;
        std::tie(node.field, node.op, node.value) = from;
        return node;
      });
  if (depth == 0) return comparison;
  const auto joined =
      rc::gen::map(rc::gen::tuple(rc::gen::element('&', '|', '!'),
                                  rc::gen::pair(anyNode(depth - 1), anyNode(depth - 1))),
                   [](const auto& from) {
                     SlowNode node;
                     node.is = std::get<0>(from);
                     node.parts = {std::get<1>(from).first, std::get<1>(from).second};
                     return node;
                   });
  return rc::gen::oneOf(comparison, joined);
}

RC_GTEST_PROP(FilterProperty, AgreesWithTheSlowEvaluator, ()) {
  static const Recording recording = nineRows();
  const SlowNode node = *anyNode(3);
  const std::string text = written(node);
  auto filter = Filter::compile(text, recording, recording.buffers[0]);
  if (!filter) RC_FAIL(text + ": " + filter.error().what);
  for (u32 row = 0; row < recording.buffers[0].events.size(); ++row) {
    if (filter->matches(Row{row}) != holds(node, recording, Row{row})) {
      RC_FAIL(fmt::format("row {}: {}\n{}", row, text,
                          EventText(recording, recording.buffers[0]).line(Row{row})));
    }
  }
}

RC_GTEST_PROP(FilterProperty, NeverCrashesOnAnyText, (const std::string& text)) {
  static const Recording recording = nineRows();
  auto filter = Filter::compile(text, recording, recording.buffers[0]);
  if (!filter) {
    RC_ASSERT(filter.error().at <= text.size());
    RC_ASSERT(!describe(filter.error(), text).empty());
  }
}

}  // namespace
}  // namespace tickscope
