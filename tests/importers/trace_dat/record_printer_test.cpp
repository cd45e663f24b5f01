// SPDX-License-Identifier: GPL-3.0-or-later
// Records whose text the kernel does not make from the print format.
#include "importers/trace_dat/record_printer.h"

#include <gtest/gtest.h>

#include "tests/support/made_record.h"

namespace tickscope::trace_dat {
namespace {

using support::madeFormat;
using support::MadeRecord;
using support::MadeSurroundings;

constexpr u64 programEvent = 0xffffffff81002000, interrupt = 0xffffffff810010ee;

std::string printed(const EventFormat& format, const MadeRecord& record,
                    const MadeSurroundings& around = MadeSurroundings()) {
  const TraceEventText library(std::make_shared<const Symbols>(), 8, false, 4096);
  return RecordPrinter(format, kindOf<Raw>, around.addresses.wordSize())
      .print(record.bytes(), around.around, library);
}

TEST(RecordPrinter, KernelStacksEndWhereSizeSays) {
  const EventFormat& format =
      madeFormat({"int size;8;4;1", "unsigned long caller[8];16;64;0"},
                 "\"\\t=> %ps\\n\", (void *)REC->caller[0]", "ftrace", "kernel_stack");
  MadeRecord record;
  record.number(2, 4)
      .number(0, 4)
      .number(programEvent + 8, 8)
      .number(0xffffffffc0001004, 8)
      .number(programEvent, 8);
  EXPECT_EQ(printed(format, record), "<stack trace>\n => tick_program_event\n => lab_fn");
  EXPECT_FALSE(RecordPrinter(format, kindOf<Raw>, 8).named());
}

TEST(RecordPrinter, UserStacksAreAddresses) {
  const EventFormat& format =
      madeFormat({"unsigned int tgid;8;4;0", "unsigned long caller[8];16;64;0"}, "\"x\"", "ftrace",
                 "user_stack");
  EXPECT_EQ(printed(format,
                    MadeRecord().number(1, 8).number(0x7fe72510d704, 8).number(0, 8).number(5, 8)),
            "<user stack trace>\n =>  <00007fe72510d704>");
}

TEST(RecordPrinter, RawMarkersAreBytes) {
  const EventFormat& format =
      madeFormat({"unsigned int id;8;4;0", "char buf[];12;0;1"},
                 "\"id:%04x %08x\", REC->id, (int)REC->buf[0]", "ftrace", "raw_data");
  EXPECT_EQ(printed(format, MadeRecord().number(0x1f, 4).text("raw0", 4)), "# 1f buf: 72 61 77 30");
}

TEST(RecordPrinter, PrintkBuildsItsTextFromPackedArguments) {
  const EventFormat& format =
      madeFormat({"unsigned long ip;8;8;0", "const char * fmt;16;8;0", "u32 buf[];24;0;0"},
                 "\"%ps: %s\", (void *)REC->ip, REC->fmt", "ftrace", "bprint");
  MadeSurroundings around;
  around.strings[0x99] = "tick %d ns\n";
  const MadeRecord record =
      MadeRecord().number(0xffffffffc0001004, 8).number(0x99, 8).number(42, 4);
  EXPECT_EQ(printed(format, record, around), "lab_fn: tick 42 ns");
  around.strings.clear();
  EXPECT_EQ(printed(format, record, around),
            "lab_fn: 0x99 ip=ffffffffc0001004 fmt=0000000000000099 buf={0x2a}");
}

TEST(RecordPrinter, SystemCallsLookLikeCalls) {
  const std::vector<std::string> fields{"int __syscall_nr;8;4;1",
                                        "struct __kernel_timespec * rqtp;16;8;0",
                                        "struct __kernel_timespec * rmtp;24;8;0"};
  const EventFormat& enter = madeFormat(fields, "\"rqtp: 0x%08lx\", ((unsigned long)(REC->rqtp))",
                                        "syscalls", "sys_enter_nanosleep");
  EXPECT_EQ(printed(enter, MadeRecord().number(35, 8).number(0x7ffd10, 8).number(0, 8)),
            "sys_nanosleep(rqtp: 7ffd10, rmtp: 0)");
  const EventFormat& exit = madeFormat({"int __syscall_nr;8;4;1", "long ret;16;8;1"},
                                       "\"0x%lx\", REC->ret", "syscalls", "sys_exit_nanosleep");
  EXPECT_EQ(printed(exit, MadeRecord().number(35, 8).number(~u64{0}, 8)),
            "sys_nanosleep -> 0xffffffffffffffff");
  EXPECT_FALSE(RecordPrinter(enter, kindOf<Raw>, 8).named());
  EXPECT_TRUE(
      RecordPrinter(madeFormat({}, "\"x\"", "raw_syscalls", "sys_enter"), kindOf<Raw>, 8).named());
}

TEST(RecordPrinter, ProbesNameTheirPlace) {
  const EventFormat& entry =
      madeFormat({"unsigned long __probe_ip;8;8;0", "s64 expires;16;8;1", "s32 force;24;4;1"},
                 "\"(%lx) expires=%Ld force=%d\", REC->__probe_ip, REC->expires, REC->force",
                 "kprobes", "tpe");
  EXPECT_EQ(
      printed(entry, MadeRecord().number(programEvent, 8).number(102'428'000'000, 8).number(1, 4)),
      "(tick_program_event+0x0/0x80) expires=102428000000 force=1");
  const EventFormat& exit = madeFormat(
      {"unsigned long __probe_func;8;8;0", "unsigned long __probe_ret_ip;16;8;0", "s32 ret;24;4;1"},
      "\"(%lx <- %lx) ret=%d\", REC->__probe_func, REC->__probe_ret_ip, REC->ret", "kprobes",
      "tper");
  EXPECT_EQ(printed(exit, MadeRecord().number(programEvent, 8).number(interrupt, 8).number(0, 4)),
            "(hrtimer_interrupt+0xee/0x1000 <- tick_program_event) ret=0");
}

TEST(RecordPrinter, StringsThatCouldNotBeFetchedAreFaults) {
  const EventFormat& format = madeFormat(
      {"unsigned long __probe_ip;8;8;0", "__data_loc char[] name;16;4;1", "u64 mode;20;8;0"},
      "\"(%lx) name=\\\"%s\\\" mode=%Lu\", REC->__probe_ip, __get_str(name), REC->mode", "kprobes",
      "opened");
  EXPECT_EQ(printed(format, MadeRecord().number(programEvent, 8).number(28, 4).number(3, 8)),
            "(tick_program_event+0x0/0x80) name=(fault) mode=3");
  EXPECT_EQ(printed(format, MadeRecord()
                                .number(programEvent, 8)
                                .number(28U | 3U << 16U, 4)
                                .number(3, 8)
                                .text("/a", 3)),
            "(tick_program_event+0x0/0x80) name=\"/a\" mode=3");
}

TEST(RecordPrinter, SyntheticEventsHaveNoCommas) {
  const EventFormat& format =
      madeFormat({"u64 lat;8;8;0", "pid_t pid;16;4;1"}, "\"lat=%llu, pid=%d\", REC->lat, REC->pid",
                 "synthetic", "wakeup_lat");
  EXPECT_EQ(printed(format, MadeRecord().number(256, 8).number(15, 4)), "lat=256 pid=15");
}

TEST(RecordPrinter, WhatCannotBeFollowedIsAListOfFields) {
  const EventFormat& format = madeFormat({"int i;8;4;1", "void * p;16;8;0", "u16 w[2];24;4;0",
                                          "char c[4];28;4;1", "int far;60000;4;1"},
                                         "\"%d\", unknown_call(REC->i)");
  EXPECT_EQ(printed(format, MadeRecord()
                                .number(static_cast<u32>(-1), 8)
                                .number(0x10, 8)
                                .number(0x00020001, 4)
                                .text("a\n", 4)),
            "i=-1 p=0000000000000010 w={0x1,0x2} c=a\\n far=?");
  EXPECT_EQ(RecordPrinter(format, kindOf<Raw>, 8).way(), RecordPrinter::Way::FieldList);
}

TEST(RecordPrinter, TypedEventsPrintByTheirFormat) {
  const EventFormat& format = madeFormat(
      {"unsigned int vec;8;4;0"},
      "\"vec=%u [action=%s]\", REC->vec, __print_symbolic(REC->vec, { 5, \"BLOCK_IOPOLL\" })");
  const RecordPrinter printer(format, kindOf<SoftirqRaise>, 8);
  const MadeSurroundings around;
  const TypedValue vec{5, {}, true};
  EXPECT_EQ(printer.typed({&vec, 1}, around.around),
            Known<std::string>("vec=5 [action=BLOCK_IOPOLL]"));
  const TypedValue missing{};
  EXPECT_FALSE(printer.typed({&missing, 1}, around.around)) << "the built-in form leaves it out";
}

}  // namespace
}  // namespace tickscope::trace_dat
