// SPDX-License-Identifier: GPL-3.0-or-later
// `info` for people: facts, tables and remarks, in the same order for every recording.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/cli/columns.h"
#include "app/cli/info_report.h"
#include "app/cli/model_report.h"
#include "core/base/shown_text.h"
#include "core/base/time_text.h"
#include "core/trace/event_text.h"

namespace tickscope {

namespace {

/// More CPUs than this do not fit side by side on a terminal.
constexpr std::size_t mostColumns = 8;

std::string countOf(u64 number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", grouped(number), number == 1 ? one : many);
}

void fact(Output& out, std::string_view name, std::string_view value) {
  out.print("{:<13}{}\n", name, value);
}

std::string nameOf(const Buffer& buffer) {
  return buffer.name.empty() ? "(top)" : shown(buffer.name);
}

std::string clockOf(const Buffer& buffer) {
  return buffer.clock.name.empty() ? "not recorded" : shown(buffer.clock.name);
}

std::string unitWords(ClockUnit unit) {
  switch (unit) {
    case ClockUnit::Nanoseconds:
      return "nanoseconds";
    case ClockUnit::Cycles:
      return "cycles";
    case ClockUnit::Jiffies100Hz:
      return "units of 10 ms";
    case ClockUnit::Events:
      return "a count of events, no time";
    case ClockUnit::Unknown:
      break;
  }
  return "unit not known";
}

std::string containerWords(const RecordingFacts& facts) {
  const Metadata& metadata = facts.opened->recording->metadata;
  std::string words = metadata.format;
  const auto add = [&](const std::string& word) {
    if (!word.empty()) words += ", " + word;
  };
  add(metadata.compression == "none" ? "not compressed" : shown(metadata.compression));
  add(metadata.bigEndian ? "big-endian" : "little-endian");
  add(fmt::format("{}-bit kernel", metadata.wordSize * 8));
  add(bytesWords(metadata.pageSize) + " pages");
  add(countOf(facts.opened->size, "byte", "bytes"));
  return words;
}

std::string signedSeconds(BaseTime time) {
  const auto bits = static_cast<u64>(time.value);
  return time.value < 0 ? "-" + secondsText(u64{0} - bits) : secondsText(bits);
}

void printHead(const RecordingFacts& facts, Output& out) {
  const Recording& recording = *facts.opened->recording;
  const Metadata& metadata = recording.metadata;
  fact(out, "File", shown(facts.opened->path));
  fact(out, "Format", containerWords(facts));
  fact(out, "Fingerprint", facts.opened->fingerprint);
  if (!metadata.writer.empty()) fact(out, "Recorded by", "trace-cmd " + shown(metadata.writer));
  if (metadata.release.empty()) {
    fact(out, "Kernel", "not recorded");
  } else {
    fact(out, "Kernel",
         shown(metadata.release) + (metadata.machine.empty() ? "" : " " + shown(metadata.machine)));
  }
  if (!metadata.uname.empty()) fact(out, "uname", shown(metadata.uname));
  if (metadata.lastBoot) fact(out, "Boot", "data of an earlier boot; symbols are not trusted");
  if (metadata.dateOffset) {
    fact(out, "Date",
         fmt::format(
             "wall clock = trace time {} {} s (recorded, not added)",
             *metadata.dateOffset < 0 ? "-" : "+",
             secondsText(*metadata.dateOffset < 0 ? u64{0} - static_cast<u64>(*metadata.dateOffset)
                                                  : static_cast<u64>(*metadata.dateOffset))));
  }
  if (metadata.timeOffset) {
    fact(out, "Offset", fmt::format("{} ns (recorded, not added)", *metadata.timeOffset));
  }
  if (metadata.tscToNs) {
    fact(out, "TSC",
         fmt::format("times are cycles x {} >> {}; offset of {} ns recorded, not added",
                     metadata.tscToNs->mult, metadata.tscToNs->shift, metadata.tscToNs->offset));
  }
  for (const std::string& guest : metadata.guests) fact(out, "Guest", shown(guest));
}

void printBuffer(const RecordingFacts& facts, Output& out) {
  const Recording& recording = *facts.opened->recording;
  const Buffer& buffer = recording.buffers[facts.buffer];
  const BufferSummary& summary = facts.summary;
  std::string clock = clockOf(buffer) + ", " + unitWords(buffer.clock.unit);
  if (!buffer.clock.source.empty()) clock += " (" + shown(buffer.clock.source) + ")";
  fact(out, "Clock", clock);
  std::vector<u32> cpus;
  bool inferred = false;
  for (const CpuSummary& cpu : summary.cpus) {
    if (cpu.events) cpus.push_back(number(cpu.cpu));
    inferred |= cpu.events && cpu.inferred;
  }
  std::string cpuWords = cpus.empty() ? "none with events" : cpuListText(cpus) + " with events";
  if (recording.metadata.possibleCpus)
    cpuWords += fmt::format(", {} possible", *recording.metadata.possibleCpus);
  if (inferred) cpuWords += "; numbers marked ~ are inferred";
  fact(out, "CPUs", cpuWords);
  if (summary.first && summary.last) {
    const std::string range = fmt::format("{} to {}", timeText(*summary.first, buffer.clock.unit),
                                          timeText(*summary.last, buffer.clock.unit));
    if (buffer.clock.unit == ClockUnit::Nanoseconds) {
      const auto first = static_cast<u64>(summary.first->value);
      const auto last = static_cast<u64>(summary.last->value);
      fact(out, "Duration", fmt::format("{} s, {}", secondsText(last - first), range));
    } else {
      fact(out, "Range", range);
    }
  }
  std::string events = grouped(summary.events);
  if (facts.narrowed) events += fmt::format(" of {} are chosen", grouped(buffer.events.size()));
  if (recording.buffers.size() > 1) {
    events +=
        fmt::format(" in {}, {} buffers in the file",
                    buffer.name.empty() ? "the top buffer" : "buffer '" + nameOf(buffer) + "'",
                    recording.buffers.size());
  }
  fact(out, "Events", events);
}

void printBuffers(const RecordingFacts& facts, Output& out) {
  const Recording& recording = *facts.opened->recording;
  if (recording.buffers.size() > 1) {
    out.text("\nBuffers (> is the one below; --buffer NAME shows another)\n");
    Columns table;
    table.leftAligned(4);
    table.row({"", "name", "clock", "CPUs", "events"});
    for (u32 i = 0; i < recording.buffers.size(); ++i) {
      const Buffer& buffer = recording.buffers[i];
      const auto cpus = cpusWithEvents(buffer);
      table.row({i == facts.buffer ? ">" : "", nameOf(buffer), clockOf(buffer),
                 cpus.empty() ? "-" : cpuListText(cpus), grouped(buffer.events.size())});
    }
    table.print(out);
  }
  if (!recording.textBuffers.empty()) {
    out.text("\nHeld as text, not read\n");
    for (const std::string& text : recording.textBuffers) out.print("  {}\n", shown(text));
  }
}

std::string cpuHead(const CpuSummary& cpu) {
  return fmt::format("CPU {}{}", cpu.inferred ? "~" : "", number(cpu.cpu));
}

void printEvents(const BufferSummary& summary, Output& out) {
  if (summary.types.empty()) return;
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < summary.cpus.size(); ++i) {
    if (summary.cpus[i].events) columns.push_back(i);
  }
  const bool sideBySide = columns.size() <= mostColumns;
  out.print("\nEvents by type{}\n", sideBySide ? " and CPU" : "");
  Columns table;
  std::vector<std::string> head{"event", "all"};
  std::vector<std::string> total{"all", grouped(summary.events)};
  for (const std::size_t column : columns) {
    if (!sideBySide) break;
    head.push_back(cpuHead(summary.cpus[column]));
    total.push_back(grouped(summary.cpus[column].events));
  }
  table.row(std::move(head));
  for (const TypeSummary& type : summary.types) {
    const std::string name = type.name.empty() ? "(without a format)" : shown(type.name);
    std::vector<std::string> cells{type.system.empty() ? name : shown(type.system) + ":" + name,
                                   grouped(type.events)};
    for (const std::size_t column : columns) {
      if (sideBySide) cells.push_back(type.perCpu[column] ? grouped(type.perCpu[column]) : "-");
    }
    table.row(std::move(cells));
  }
  table.row(std::move(total));
  table.print(out);
  if (sideBySide) return;
  out.text("\nEvents by CPU\n");
  Columns cpus;
  for (const std::size_t column : columns) {
    cpus.row({cpuHead(summary.cpus[column]), grouped(summary.cpus[column].events)});
  }
  cpus.print(out);
}

/// Whether events are missing for another reason than that the kernel lost them.
bool eventsDamaged(const ImportLog& log) {
  const auto entries = log.entries();
  return std::any_of(entries.begin(), entries.end(), [](const LogEntry& entry) {
    switch (entry.counter) {
      case Counter::LimitMemory:
      case Counter::LimitInflate:
      case Counter::LimitRows:
      case Counter::PageBadCommit:
      case Counter::RecordOverrun:
      case Counter::PagePartial:
      case Counter::RangeCut:
      case Counter::ChunkBad:
      case Counter::ChunkShort:
      case Counter::ChunkSize:
        return true;
      default:
        return false;
    }
  });
}

void printLosses(const RecordingFacts& facts, Output& out) {
  const BufferSummary& summary = facts.summary;
  bool statistics = false;
  bool cells = summary.gaps > 0 || summary.backwardSteps > 0;
  for (const CpuSummary& cpu : summary.cpus) {
    statistics |= cpu.overrun || cpu.dropped || cpu.commitOverrun;
    cells |= cpu.overrun.value_or(0) || cpu.dropped.value_or(0) || cpu.commitOverrun.value_or(0);
  }
  out.text("\nLost events\n");
  if (!summary.gaps && eventsDamaged(facts.opened->recording->log)) {
    out.text("  None that the kernel noted; what could not be read stands below.\n");
  } else if (!summary.gaps) {
    out.print("  None within the recording{}.\n", facts.narrowed ? " as it was chosen" : "");
  } else {
    const u32 counted = summary.gaps - summary.gapsOfUnknownSize;
    std::string sentence;
    if (counted)
      sentence = fmt::format("{} in {}", countOf(summary.lost, "event", "events"),
                             countOf(counted, "gap", "gaps"));
    if (summary.gapsOfUnknownSize) {
      sentence += fmt::format("{}an unknown number in {}", counted ? ", " : "",
                              countOf(summary.gapsOfUnknownSize, "gap", "gaps"));
    }
    sentence.front() = static_cast<char>(sentence.front() == 'a' ? 'A' : sentence.front());
    out.print("  {}.\n", sentence);
  }
  // Without a CPU nothing was looked for.
  if (!statistics && !summary.cpus.empty())
    out.text("  The kernel's statistics are not in the file.\n");
  if (!cells) return;
  Columns table;
  table.row({"", "lost", "gaps", "unknown", "overrun", "dropped", "commit overrun", "time back"});
  const auto known = [](const Known<u64>& value) {
    return value ? grouped(*value) : std::string("?");
  };
  for (const CpuSummary& cpu : summary.cpus) {
    table.row({cpuHead(cpu), grouped(cpu.lost), grouped(cpu.gaps), grouped(cpu.gapsOfUnknownSize),
               known(cpu.overrun), known(cpu.dropped), known(cpu.commitOverrun),
               grouped(cpu.backwardSteps)});
  }
  table.print(out);
}

void printLog(const Recording& recording, Output& out) {
  const auto entries = recording.log.entries();
  out.text("\nRemarks of the import\n");
  if (entries.empty()) out.text("  None: everything was as it should be.\n");
  for (const LogEntry& entry : entries) {
    out.print("  {:<7} {}\n", nameOf(severityOf(entry.counter)), shown(sentenceOf(entry)));
    for (std::size_t i = 1; i < entry.examples.size(); ++i) {
      const LogExample& example = entry.examples[i];
      std::string place;
      if (example.cpu) place += fmt::format("CPU {}", number(*example.cpu));
      if (example.offset)
        place += fmt::format("{}offset 0x{:x}", place.empty() ? "" : ", ", *example.offset);
      if (!example.detail.empty()) place += (place.empty() ? "" : ": ") + shown(example.detail);
      if (!place.empty()) out.print("          also: {}\n", place);
    }
  }
}

}  // namespace

std::string cpuListText(const std::vector<u32>& sorted) {
  std::string text;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t last = i;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", sorted[i]);
    if (last > i) text += fmt::format("-{}", sorted[last]);
    i = last + 1;
  }
  return text;
}

std::vector<u32> cpusWithEvents(const Buffer& buffer) {
  std::vector<u32> cpus;
  for (const Stream& stream : buffer.events.streams()) {
    if (stream.count) cpus.push_back(number(stream.cpu));
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

void printInfo(const RecordingFacts& facts, Output& out) {
  printHead(facts, out);
  const Recording& recording = *facts.opened->recording;
  if (recording.buffers.empty()) {
    fact(out, "Events", "0");
    printBuffers(facts, out);
  } else {
    printBuffer(facts, out);
    printBuffers(facts, out);
    if (facts.profile) printProfile(*facts.profile, false, out);
    printEvents(facts.summary, out);
    printLosses(facts, out);
  }
  printLog(recording, out);
}

void printTimerListInfo(const Opened& opened, Output& out) {
  const TimerListDump& dump = *opened.timerList;
  fact(out, "File", shown(opened.path));
  fact(out, "Format",
       fmt::format("/proc/timer_list {}, {}", shown(dump.version),
                   countOf(opened.size, "byte", "bytes")));
  fact(out, "Fingerprint", opened.fingerprint);
  fact(out, "Taken at",
       dump.now ? secondsText(static_cast<u64>(dump.now->value)) + " s (CLOCK_MONOTONIC)"
                : "not said");
  u64 timers = 0;
  std::vector<u32> cpus;
  for (const ListedCpu& cpu : dump.cpus) {
    cpus.push_back(number(cpu.cpu));
    for (const ListedBase& base : cpu.bases) timers += base.timers.size();
  }
  std::sort(cpus.begin(), cpus.end());
  fact(out, "CPUs", cpus.empty() ? "none" : cpuListText(cpus));
  fact(out, "Timers",
       fmt::format("{} armed hrtimers{}", grouped(timers),
                   dump.hrtimerMaxClockBases
                       ? fmt::format(", {} clock bases a CPU", *dump.hrtimerMaxClockBases)
                       : ""));
  if (timers) out.text("\nTimers by CPU and clock base\n");
  Columns table;
  table.leftAligned(3);
  table.row({"", "base", "clock", "timers", "first expires, s"});
  for (const ListedCpu& cpu : dump.cpus) {
    for (const ListedBase& base : cpu.bases) {
      if (base.timers.empty()) continue;
      const auto first = std::min_element(
          base.timers.begin(), base.timers.end(),
          [](const ListedTimer& a, const ListedTimer& b) { return a.expires < b.expires; });
      table.row({fmt::format("CPU {}", number(cpu.cpu)), fmt::format("{}", base.index),
                 shown(base.getTime), grouped(base.timers.size()), signedSeconds(first->expires)});
    }
  }
  if (timers) table.print(out);
  std::map<std::string, u64> functions;
  for (const ListedCpu& cpu : dump.cpus) {
    for (const ListedBase& base : cpu.bases) {
      for (const ListedTimer& timer : base.timers) ++functions[shown(timer.function)];
    }
  }
  if (!functions.empty()) {
    std::vector<std::pair<std::string, u64>> sorted(functions.begin(), functions.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    out.text("\nTimers by callback\n");
    Columns callbacks;
    for (const auto& [function, count] : sorted) callbacks.row({function, grouped(count)});
    callbacks.print(out);
  }
  if (dump.linesNotUnderstood) {
    out.print("\n{} not understood.\n", countOf(dump.linesNotUnderstood, "line was", "lines were"));
  }
}

}  // namespace tickscope
