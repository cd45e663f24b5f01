// SPDX-License-Identifier: GPL-3.0-or-later
// Names, severities and sentences of the import log's counters.
#include "core/trace/import_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/base/shown_text.h"

namespace tickscope {

namespace {

struct CounterInfo {
  Counter counter;
  Severity severity;
  std::string_view name;
  /// `{n}`: the count, `{s}`: "s" unless the count is 1, `{a|b}`: a for one, b for more.
  std::string_view sentence;
  /// What LogEntry::amount counts, behind the sentence; empty: it is not shown.
  std::string_view amount = {};
};

using enum Severity;

constexpr std::array<CounterInfo, static_cast<std::size_t>(Counter::End)> table{{
    {Counter::LimitMemory, Error, "limit_memory",
     "Stopped at the limit for memory; what follows was not read"},
    {Counter::LimitInflate, Error, "limit_inflate",
     "Stopped at the limit for unpacked data; what follows was not read"},
    {Counter::LimitRows, Error, "limit_rows",
     "Stopped after 4.2 billion events; more cannot be numbered"},
    {Counter::PageBadCommit, Damage, "page_bad_commit",
     "{n} page{s} state{s|} more data than a page holds; the whole records in {it|them} were read"},
    {Counter::RecordOverrun, Damage, "record_overrun",
     "{n} page{s} hold{s|} a record that reaches beyond the data; the records before it were read"},
    {Counter::RecordShort, Damage, "record_short",
     "{n} record{s} {is|are} shorter than the format says; kept as raw bytes"},
    {Counter::PagePartial, Damage, "page_partial",
     "{n} page{s} {is|are} cut off; the whole records were read", "bytes missing"},
    {Counter::RangeCut, Damage, "range_cut",
     "{n} part{s} of the file {is|are} announced but not there", "bytes missing"},
    {Counter::ChunkBad, Damage, "chunk_bad", "{n} packed block{s} cannot be unpacked",
     "bytes of pages lost"},
    {Counter::ChunkShort, Damage, "chunk_short",
     "{n} packed block{s} hold{s|} less than announced; the whole pages were read",
     "bytes of pages lost"},
    {Counter::ChunkSize, Damage, "chunk_size",
     "{n} packed block{s} announce{s|} an impossible size and {was|were} skipped"},
    {Counter::SectionLoop, Damage, "section_loop",
     "The list of sections runs in a circle; read up to there"},
    {Counter::OptionsCut, Damage, "options_cut",
     "{n} list{s} of options end{s|} too early; read up to there"},
    {Counter::Overlap, Damage, "overlap",
     "{n} part{s} of the file {lies|lie} on another one; what they share was read once"},
    {Counter::CpuTwice, Damage, "cpu_twice",
     "{n} more stream{s} of pages claim{s|} a CPU that has one; all were read"},
    {Counter::HeaderBad, Damage, "header_bad",
     "{n} number{s} in the head of the file cannot be true; replaced by what the rest says"},
    {Counter::TimeBackward, Damage, "time_backward",
     "Time steps back in {n} place{s}; the order within the CPU is kept"},
    {Counter::FormatBad, Damage, "format_bad", "{n} format{s} cannot be used as written"},
    {Counter::MissedEvents, Loss, "missed_events", "The kernel lost events in {n} place{s}",
     "events lost"},
    {Counter::MissedUnknown, Loss, "missed_unknown",
     "The kernel lost an unknown number of events in {n} place{s}"},
    {Counter::SalvagedPages, Loss, "salvaged_pages",
     "The index is missing or damaged; {n} page{s} {was|were} found without it"},
    {Counter::CpuInferred, Loss, "cpu_inferred",
     "The CPU number{s} of {n} stream{s} of pages {is|are} inferred, not recorded"},
    {Counter::OverrunBeforeStart, Info, "overrun_before_start",
     "{n} CPU{s} had overwritten events before the first page (kernel statistics)",
     "events overwritten"},
    {Counter::PageZeroTail, Info, "page_zero_tail",
     "{n} page{s} end{s|} in zeros before the stated end"},
    {Counter::EventUnknown, Info, "event_unknown",
     "{n} record{s} of events without a format; kept as raw bytes"},
    {Counter::FormatTwice, Info, "format_twice",
     "{n} event format{s} {has|have} an id that is taken; the first one is used"},
    {Counter::FormatTooBig, Info, "format_too_big",
     "{n} event format{s} {is|are} longer than 64 KiB; the rest was left out"},
    {Counter::PrintFormatBad, Info, "print_format_bad",
     "{n} print format{s} cannot be used; the fields are listed instead"},
    {Counter::StringBad, Info, "string_bad",
     "{n} text{s} lie{s|} outside of the record; shown as ?"},
    {Counter::ClockConflict, Info, "clock_conflict",
     "The file contradicts itself about the clock of {n} buffer{s}"},
    {Counter::NoSymbols, Info, "no_symbols",
     "The recording has no kernel symbols; functions are shown as addresses"},
    {Counter::BadSymbol, Info, "bad_symbol",
     "{n} line{s} of the symbol list {is|are} not understood"},
    {Counter::LastBoot, Info, "last_boot",
     "The data come from an earlier boot; symbols are not trusted"},
    {Counter::UnknownOption, Info, "unknown_option",
     "{n} option{s} of the file {is|are} unknown and {was|were} left out"},
    {Counter::UnknownSection, Info, "unknown_section",
     "{n} section{s} of the file {is|are} unknown and {was|were} left out"},
    {Counter::IgnoredOption, Info, "ignored_option",
     "{n} option{s} of the file {is|are} not needed and {was|were} left out"},
    {Counter::OptionBad, Info, "option_bad",
     "{n} option{s} of the file cannot be understood and {was|were} left out"},
    {Counter::SwappedOption, Info, "swapped_option",
     "{n} number{s} stood in the wrong byte order and {was|were} turned round"},
    {Counter::EndianFlagWrong, Info, "endian_flag_wrong",
     "The file states the wrong byte order; read the other way round"},
    {Counter::BadCmdline, Info, "bad_cmdline",
     "{n} line{s} of the list of task names {is|are} not understood"},
    {Counter::BadPrintk, Info, "bad_printk",
     "{n} line{s} of the list of kernel strings {is|are} not understood"},
    {Counter::TextBuffer, Info, "text_buffer",
     "{n} buffer{s} {is|are} held as text, which is not read yet"},
}};

constexpr bool inOrder() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].counter != static_cast<Counter>(i)) return false;
  }
  return true;
}
static_assert(inOrder());

const CounterInfo& infoOf(Counter counter) { return table[static_cast<std::size_t>(counter)]; }

std::string grouped(u64 value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string filled(std::string_view sentence, u64 count) {
  std::string text;
  for (std::size_t at = 0; at < sentence.size(); ++at) {
    if (sentence[at] != '{') {
      text += sentence[at];
      continue;
    }
    const std::size_t close = sentence.find('}', at);
    const std::string_view inside = sentence.substr(at + 1, close - at - 1);
    const std::size_t bar = inside.find('|');
    if (inside == "n") {
      text += grouped(count);
    } else if (inside == "s") {
      text += count == 1 ? "" : "s";
    } else {
      text += count == 1 ? inside.substr(0, bar) : inside.substr(bar + 1);
    }
    at = close;
  }
  return text;
}

std::string amountInWords(u64 amount, std::string_view what) {
  if (what.starts_with("bytes")) {
    what.remove_prefix(std::string_view("bytes").size());
    if (amount >= u64{10} << 20U) return grouped(amount >> 20U) + " MiB" + std::string(what);
    if (amount >= u64{10} << 10U) return grouped(amount >> 10U) + " KiB" + std::string(what);
    return grouped(amount) + (amount == 1 ? " byte" : " bytes") + std::string(what);
  }
  what.remove_prefix(std::string_view("events").size());
  return grouped(amount) + (amount == 1 ? " event" : " events") + std::string(what);
}

std::string placeOf(const LogExample& example) {
  std::string place;
  const auto join = [&place](const std::string& part) {
    place += place.empty() ? part : ", " + part;
  };
  if (example.cpu) join(fmt::format("CPU {}", number(*example.cpu)));
  if (example.offset) join(fmt::format("offset 0x{:x}", *example.offset));
  if (!example.detail.empty()) place += (place.empty() ? "" : ": ") + example.detail;
  return place;
}

auto keyOf(const LogExample& example) {
  return std::tuple(example.offset.value_or(std::numeric_limits<u64>::max()),
                    example.cpu ? static_cast<u32>(number(*example.cpu)) + 1U : 0U,
                    std::string_view(example.detail));
}

constexpr std::size_t mostExamples = 3;

/// The three lowest stay, whatever the order in which they come.
void keepLowest(std::vector<LogExample>& examples, LogExample example) {
  const auto place = std::upper_bound(
      examples.begin(), examples.end(), example,
      [](const LogExample& a, const LogExample& b) { return keyOf(a) < keyOf(b); });
  if (examples.size() == mostExamples) {
    if (place == examples.end()) return;
    const auto at = place - examples.begin();
    examples.pop_back();
    examples.insert(examples.begin() + at, std::move(example));
  } else {
    examples.insert(place, std::move(example));
  }
}

u64 sumOf(u64 a, u64 b) { return b > std::numeric_limits<u64>::max() - a ? ~u64{0} : a + b; }

}  // namespace

std::string_view nameOf(Severity severity) {
  switch (severity) {
    case Severity::Info:
      return "info";
    case Severity::Loss:
      return "loss";
    case Severity::Damage:
      return "damage";
    case Severity::Error:
      return "error";
  }
  return "?";
}

std::string_view nameOf(Counter counter) { return infoOf(counter).name; }

Severity severityOf(Counter counter) { return infoOf(counter).severity; }

namespace {

/// Names in details come from the file: they can be of any length and hold anything, terminal commands too.
std::string fitForPrint(std::string_view detail) {
  constexpr std::size_t most = 200;
  if (detail.size() <= most) return shown(detail);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(detail[end]) & 0xc0U) == 0x80U) --end;
  return shown(detail.substr(0, end)) + "…";
}

}  // namespace

void ImportLog::note(Counter counter, LogExample example, u64 amount, u64 count) {
  LogEntry& entry = entries_[static_cast<std::size_t>(counter)];
  entry.counter = counter;
  entry.count = sumOf(entry.count, count);
  entry.amount = sumOf(entry.amount, amount);
  example.detail = fitForPrint(example.detail);
  keepLowest(entry.examples, std::move(example));
}

void ImportLog::add(const ImportLog& other) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const LogEntry& from = other.entries_[i];
    if (from.count == 0) continue;
    LogEntry& entry = entries_[i];
    entry.counter = from.counter;
    entry.count = sumOf(entry.count, from.count);
    entry.amount = sumOf(entry.amount, from.amount);
    for (const LogExample& example : from.examples) keepLowest(entry.examples, example);
  }
}

std::vector<LogEntry> ImportLog::entries() const {
  std::vector<LogEntry> found;
  for (const LogEntry& entry : entries_) {
    if (entry.count > 0) found.push_back(entry);
  }
  std::stable_sort(found.begin(), found.end(), [](const LogEntry& a, const LogEntry& b) {
    return severityOf(a.counter) > severityOf(b.counter);
  });
  return found;
}

bool ImportLog::lossOrDamage() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const LogEntry& entry) {
    return entry.count > 0 && severityOf(entry.counter) != Severity::Info;
  });
}

std::string sentenceOf(const LogEntry& entry) {
  const CounterInfo& info = infoOf(entry.counter);
  std::string text = filled(info.sentence, entry.count);
  if (!info.amount.empty() && entry.amount > 0) {
    text += "; " + amountInWords(entry.amount, info.amount);
  }
  if (!entry.examples.empty()) {
    const std::string place = placeOf(entry.examples.front());
    if (!place.empty()) text += fmt::format(" ({}{})", entry.count > 1 ? "first: " : "", place);
  }
  return text + ".";
}

}  // namespace tickscope
