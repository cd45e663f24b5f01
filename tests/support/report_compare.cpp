// SPDX-License-Identifier: GPL-3.0-or-later
// Knows what trace-cmd prints for each field, and the few things that it prints wrongly.
#include "tests/support/report_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>

#include "core/trace/event_text.h"
#include "tests/support/payload_fields.h"
#include "tests/support/trace_cmd_report.h"
#include "tests/support/trace_dat_convert.h"
#include "tests/support/trace_dat_source.h"

namespace tickscope::support {
namespace {

constexpr std::size_t mostDifferences = 8;

/// The kernel's symbols as they stand in the file, apart from the code that is tested.
class SymbolList {
 public:
  explicit SymbolList(const std::string& kallsyms) {
    for (std::size_t at = 0; at < kallsyms.size();) {
      const std::size_t end = std::min(kallsyms.find('\n', at), kallsyms.size());
      add(std::string_view(kallsyms).substr(at, end - at));
      at = end + 1;
    }
  }
  /// `name` or `name+0xoffset` as trace-cmd prints an address: the nearest symbol below, however far.
  [[nodiscard]] bool isAt(std::string_view token, u64 address) const {
    auto found = names_.upper_bound(address);
    if (found == names_.begin()) return false;
    --found;
    const std::size_t plus = token.find("+0x");
    if (plus != std::string_view::npos) {
      u64 offset = 0;
      std::from_chars(token.data() + plus + 3, token.data() + token.size(), offset, 16);
      if (offset != address - found->first) return false;
      token = token.substr(0, plus);
    }
    return std::find(found->second.begin(), found->second.end(), token) != found->second.end();
  }

 private:
  void add(std::string_view line) {
    u64 address = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), address, 16);
    const auto used = static_cast<std::size_t>(rest - line.data());
    if (error != std::errc{} || line.size() < used + 4) return;
    std::string_view name = line.substr(used + 3);
    names_[address].emplace_back(name.substr(0, name.find_first_of(" \t")));
  }
  std::map<u64, std::vector<std::string>> names_;
};

/// `ARRAY[61, 62, 00]`, which trace-cmd prints for text that is not printable and for arrays of numbers.
std::optional<std::string> arrayBytes(std::string_view token) {
  if (!token.starts_with("ARRAY[") || !token.ends_with("]")) return {};
  token = token.substr(6, token.size() - 7);
  std::string bytes;
  while (!token.empty()) {
    unsigned value = 0;
    const auto [rest, error] =
        std::from_chars(token.data(), token.data() + token.size(), value, 16);
    if (error != std::errc{} || value > 255) return {};
    bytes += static_cast<char>(value);
    token.remove_prefix(static_cast<std::size_t>(rest - token.data()));
    while (!token.empty() && (token.front() == ',' || token.front() == ' ')) token.remove_prefix(1);
  }
  return bytes;
}

std::string upToNul(std::string text) {
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

/// The kernel's strings by address, as `0xaddress : "text"` stands in the file.
std::map<u64, std::string> kernelStrings(const std::string& text) {
  std::map<u64, std::string> strings;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    const std::size_t from = line.find('"');
    u64 address = 0;
    if (!line.starts_with("0x") || from == std::string_view::npos || line.size() < from + 2)
      continue;
    std::from_chars(line.data() + 2, line.data() + line.size(), address, 16);
    std::string value(line.substr(from + 1, line.size() - from - 2));
    // The report ends its own line where the string does.
    if (value.ends_with("\\n")) value.resize(value.size() - 2);
    strings.emplace(address, std::move(value));
  }
  return strings;
}

/// What the file's own text says, read by the test reader.
struct FileFacts {
  explicit FileFacts(const std::string& path) {
    const Blob bytes = readFile(path);
    const Layout layout = readLayout(bytes);
    kallsyms = layout.file.kallsyms;
    strings = kernelStrings(layout.file.printkFormats);
    for (const std::string& text : layout.file.ftraceFormats) addFormat(text, layout.file.word);
    for (const System& system : layout.file.systems) {
      for (const std::string& text : system.formats) addFormat(text, layout.file.word);
    }
    // libtracecmd adds 1 ns for each filler and each discarded event whose delta of 0 was stored as 1.
    if (bytes.size() < (4U << 20U)) findFillers(readDat(bytes));
  }

  void addFormat(const std::string& text, u32 word) {
    EventFormat format = parseFormat(text, word);
    std::erase_if(format.fields,
                  [](const FormatField& field) { return field.name.starts_with("common_"); });
    formats.emplace(format.id, std::move(format));
  }

  void findFillers(const DatFile& file) {
    for (const tickscope::support::Buffer& buffer : file.buffers) {
      for (const support::Stream& stream : buffer.streams) {
        std::vector<u32>& added = addedNs[{buffer.name, stream.cpu}];
        for (const Page& page : stream.pages) {
          u32 extra = 0;
          for (const Record& record : page.records) {
            using enum Record::Kind;
            if (record.kind == Discarded && record.amount == 1) ++extra;
            if (record.kind == Stamp) extra = 0;
            if (record.kind == Data || record.kind == LongData) added.push_back(extra);
          }
        }
      }
    }
  }

  std::string kallsyms;
  std::map<u64, std::string> strings;
  std::map<u32, EventFormat> formats;
  /// By buffer and CPU, for each event in recorded order.
  std::map<std::pair<std::string, u32>, std::vector<u32>> addedNs;
};

class Comparison {
 public:
  Comparison(const std::string& path, const Recording& recording)
      : path_(path), recording_(recording), facts_(path), symbols_(facts_.kallsyms) {}

  ReportComparison run() {
    for (const tickscope::Buffer& buffer : recording_.buffers) {
      names_.push_back(buffer.name);
      cursors_.push_back({&buffer,
                          EventText(recording_, buffer),
                          0,
                          std::vector<u32>(buffer.events.streams().size(), 0),
                          {},
                          0});
    }
    TraceCmdReport report(path_, names_);
    ReportEvent event;
    while (report.next(event) && result_.differences.size() < mostDifferences) oneEvent(event);
    if (result_.differences.size() < mostDifferences) atEnd(report);
    return std::move(result_);
  }

 private:
  /// Where the comparison stands in a buffer.
  struct Cursor {
    const tickscope::Buffer* buffer;
    EventText text;
    u32 row;
    std::vector<u32> seen;          // by stream
    std::map<u32, u64> indexOfRow;  // rows with a loss before them -> number of the printed event
    u64 printed;
  };

  template <class... A>
  void differs(fmt::format_string<A...> format, A&&... args) {
    if (result_.differences.size() < mostDifferences) {
      result_.differences.push_back(fmt::format(format, std::forward<A>(args)...));
    }
  }
  void exception(const char* rule) { ++result_.exceptions[rule]; }

  void oneEvent(const ReportEvent& event) {
    const auto found = std::find(names_.begin(), names_.end(), event.buffer);
    if (found == names_.end()) return differs("no buffer \"{}\": {}", event.buffer, event.line);
    // trace-cmd merges instances by raw time though their clocks differ: each is compared by itself.
    Cursor& cursor = cursors_[static_cast<std::size_t>(found - names_.begin())];
    const EventStore& store = cursor.buffer->events;
    skipUnknown(cursor);
    if (cursor.row >= store.size())
      return differs("only {} events, but the report goes on: {}", store.size(), event.line);
    const Row row{cursor.row};
    ++result_.events;
    compareHead(cursor, row, event);
    compareFields(cursor, row, event);
    ++cursor.seen[store.streamOf(row)];
    ++cursor.row;
    ++printed_;
  }

  /// trace-cmd prints nothing for records whose id has no format.
  void skipUnknown(Cursor& cursor) {
    const EventStore& store = cursor.buffer->events;
    while (cursor.row < store.size() && store.type(Row{cursor.row}).id == 0) {
      exception("a record of an unknown id is not printed");
      ++cursor.seen[store.streamOf(Row{cursor.row})];
      ++cursor.row;
    }
    if (cursor.row < store.size()) printedAt_[{cursor.buffer, cursor.row}] = printed_;
  }

  [[nodiscard]] u64 expectedTime(const Cursor& cursor, Row row) {
    const EventStore& store = cursor.buffer->events;
    auto time = static_cast<u64>(store.time(row).value);
    // report adds DATE and OFFSET to what it prints; the store never does.
    if (recording_.metadata.dateOffset) {
      time += static_cast<u64>(*recording_.metadata.dateOffset);
      exception("DATE is added by the report");
    }
    if (recording_.metadata.timeOffset) {
      time += static_cast<u64>(*recording_.metadata.timeOffset);
      exception("OFFSET is added by the report");
    }
    const u32 stream = store.streamOf(row);
    const auto fillers =
        facts_.addedNs.find({cursor.buffer->name, number(store.streams()[stream].cpu)});
    if (fillers != facts_.addedNs.end() && cursor.seen[stream] < fillers->second.size()) {
      const u32 extra = fillers->second[cursor.seen[stream]];
      time += extra;
      if (extra) exception("1 ns more for each filler on the page");
    }
    return time;
  }

  void compareHead(Cursor& cursor, Row row, const ReportEvent& event) {
    const EventStore& store = cursor.buffer->events;
    const auto expect = [&](bool same, std::string_view what, const std::string& ours) {
      if (!same) differs("row {}: {} is {}: {}", number(row), what, ours, event.line);
    };
    const u64 time = expectedTime(cursor, row);
    expect(time == event.time, "time", fmt::format("{}", time));
    expect(number(store.cpu(row)) == event.cpu, "CPU", fmt::format("{}", number(store.cpu(row))));
    expect(number(store.pid(row)) == event.pid, "pid", fmt::format("{}", number(store.pid(row))));
    std::string comm = cursor.text.comm(store.pid(row));
    if (comm.size() < 16) comm.insert(0, 16 - comm.size(), ' ');
    expect(comm == event.comm, "task", comm);
    expect(store.type(row).name == event.name, "event", store.type(row).name);
  }

  void compareFields(Cursor& cursor, Row row, const ReportEvent& event) {
    const EventStore& store = cursor.buffer->events;
    const EventType& type = store.type(row);
    const auto format = facts_.formats.find(type.id);
    if (format == facts_.formats.end() || format->second.name != event.name) {
      return differs("row {}: the file has no format of that name and id {}: {}", number(row),
                     type.id, event.line);
    }
    const auto printed = valuesOf(format->second, event);
    if (printed.size() != format->second.fields.size()) return;
    if (type.kind == kindOf<Raw>) return compareRaw(cursor, row, format->second, printed, event);
    u32 recorded = 0;
    for (const PayloadField& field : payloadFields(store, row)) {
      if (!field.recorded) continue;
      ++recorded;
      ++result_.fields;
      const std::size_t at = placeOf(format->second, field);
      if (at == printed.size()) {
        differs("row {}: the format has no field {}: {}", number(row), field.name, event.line);
      } else if (!(field.isText ? sameText(field.text, printed[at], format->second.fields[at])
                                : sameNumber(field.number, printed[at], format->second.fields[at],
                                             field.type == FieldType::Address))) {
        differs("row {}: {} is {} ({}), printed \"{}\": {}", number(row), field.name,
                field.isText ? field.text : fmt::format("{:#x}", field.number),
                static_cast<s64>(field.number), printed[at], event.line);
      }
    }
    // Kprobes keep what their payload does not name as bytes; all other kinds must hold all that was recorded.
    const bool partly =
        type.kind == kindOf<ProgramEventProbe> || type.kind == kindOf<ProgramEventReturn>;
    if (!partly && recorded != format->second.fields.size()) notHeld(row, type, format->second);
  }

  void notHeld(Row row, const EventType& type, const EventFormat& format) {
    for (const FormatField& field : format.fields) {
      const auto infos = infoOf(type.kind).fields;
      const bool known = std::any_of(infos.begin(), infos.end(), [&](const FieldInfo& info) {
        return info.name == field.name || info.alias == field.name;
      });
      if (!known)
        exception("a field that the typed event does not have");
      else
        differs("row {}: {} of {} is not held", number(row), field.name, type.name);
    }
  }

  void compareRaw(Cursor& cursor, Row row, const EventFormat& format,
                  const std::vector<std::string_view>& printed, const ReportEvent& event) {
    const std::vector<FieldValue> ours = cursor.text.fields(row);
    if (ours.size() != printed.size())
      return differs("row {}: {} fields instead of {}: {}", number(row), ours.size(),
                     printed.size(), event.line);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const FormatField& field = format.fields[i];
      // The last array of stacks, raw_data and bprint ends with the record, not where the format says; the report
      // prints what the format says, and what lies behind as well.
      if (field.isArray && i + 1 == ours.size() && !field.isDataLoc && !field.isRelLoc) {
        exception("the last array ends with the record");
        continue;
      }
      bool same = ours[i].name == field.name;
      if (const auto* const u = std::get_if<u64>(&ours[i].value))
        same = same && sameNumber(*u, printed[i], field, true);
      else if (const auto* const s = std::get_if<s64>(&ours[i].value))
        same = same && sameNumber(static_cast<u64>(*s), printed[i], field, true);
      else if (const auto* const text = std::get_if<std::string>(&ours[i].value))
        same = same && sameRawText(*text, printed[i], field);
      else
        same = false;
      ++result_.fields;
      if (!same)
        differs("row {}: raw field {} differs, printed \"{}\": {}", number(row), ours[i].name,
                printed[i], event.line);
    }
  }

  bool sameRawText(const std::string& text, std::string_view token, const FormatField& field) {
    if (sameText(text, token, field)) return true;
    if (arrayBytes(token)) {
      exception("an array of numbers is printed as bytes");
      return true;
    }
    return false;
  }

  static std::size_t placeOf(const EventFormat& format, const PayloadField& field) {
    for (std::size_t i = 0; i < format.fields.size(); ++i) {
      if (format.fields[i].name == field.name) return i;
    }
    for (std::size_t i = 0; i < format.fields.size(); ++i) {
      if (!field.alias.empty() && format.fields[i].name == field.alias) return i;
    }
    return format.fields.size();
  }

  /// The printed values in the order of the format's fields.
  std::vector<std::string_view> valuesOf(const EventFormat& format, const ReportEvent& event) {
    std::vector<std::string_view> values;
    const std::string_view body = event.body;
    std::size_t at = 0;
    for (std::size_t i = 0; i < format.fields.size(); ++i) {
      const std::string key = fmt::format("{}{}=", i == 0 ? "" : " ", format.fields[i].name);
      const std::size_t from =
          i == 0 ? (body.starts_with(key) ? 0 : std::string_view::npos) : body.find(key, at);
      if (from == std::string_view::npos) {
        differs("the report lacks {}: {}", key, event.line);
        return values;
      }
      if (i != 0) values.push_back(body.substr(at, from - at));
      at = from + key.size();
    }
    if (!format.fields.empty()) values.push_back(body.substr(at));
    return values;
  }

  bool sameNumber(u64 ours, std::string_view token, const FormatField& field, bool address) {
    while (token.starts_with(' ')) token.remove_prefix(1);
    while (token.ends_with(' ')) token.remove_suffix(1);
    const char* const end = token.data() + token.size();
    const u64 mask = field.size >= 8 ? ~u64{0} : (u64{1} << (8 * field.size)) - 1;
    const auto is = [&](std::string_view digits, int base) {
      u64 value = 0;
      const auto [rest, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
      return error == std::errc{} && rest == end && (value & mask) == (ours & mask);
    };
    if (token.starts_with('-')) {
      s64 value = 0;
      const auto [rest, error] = std::from_chars(token.data(), end, value);
      return error == std::errc{} && rest == end && static_cast<u64>(value) == ours;
    }
    if (token.starts_with("0x")) return is(token.substr(2), 16);
    if (is(token, 10)) return true;
    // report -R prints with the conversion of the event's print format: these say %lx or %llx without `0x`.
    static const std::set<std::string> bareHex{
        "calltime", "rettime", "__probe_ip", "__probe_func", "__probe_ret_ip", "id", "ret"};
    if (bareHex.contains(field.name) && is(token, 16)) return true;
    if (!address) return false;
    if (symbols_.isAt(token, ours)) return true;
    const auto string = facts_.strings.find(ours);
    if (string == facts_.strings.end() || string->second != token) return false;
    exception("the address of a kernel string is printed as that string");
    return true;
  }

  bool sameText(const std::string& ours, std::string_view token, const FormatField& field) {
    if (token == ours) return true;
    // trace_puts and markers end in a newline, which is also the end of the report's line.
    if (ours.ends_with('\n') && token == std::string_view(ours).substr(0, ours.size() - 1))
      return true;
    if (const auto bytes = arrayBytes(token); bytes && upToNul(*bytes) == ours) {
      exception("text that is not printable is printed as bytes");
      return true;
    }
    if (ours.empty() && (field.isDataLoc || field.isRelLoc)) {
      exception("dynamic text of length 0 is printed as the stale bytes behind it");
      return true;
    }
    return false;
  }

  void atEnd(const TraceCmdReport& report) {
    for (Cursor& cursor : cursors_) {
      skipUnknown(cursor);
      if (cursor.row < cursor.buffer->events.size()) {
        differs("buffer \"{}\": {} events, the report has only {}", cursor.buffer->name,
                cursor.buffer->events.size(), cursor.row);
      }
    }
    if (cursors_.size() == 1) compareLosses(cursors_[0], report);
  }

  void compareLosses(const Cursor& cursor, const TraceCmdReport& report) {
    std::vector<ReportLoss> printed = report.losses();
    for (const Loss& loss : cursor.buffer->events.losses()) {
      if (!loss.next) continue;
      ++result_.losses;
      const auto before = printedAt_.find({cursor.buffer, number(*loss.next)});
      const auto found = std::find_if(printed.begin(), printed.end(), [&](const ReportLoss& p) {
        return p.cpu == number(loss.cpu) && p.count == loss.count && before != printedAt_.end() &&
               p.before == before->second;
      });
      if (found == printed.end()) {
        differs("{} events lost on CPU {} before row {}: not in the report", loss.count.value_or(0),
                number(loss.cpu), number(*loss.next));
      } else {
        printed.erase(found);
      }
    }
    for (const ReportLoss& loss : printed) {
      differs("the report says that CPU {} lost {} events before event {}", loss.cpu,
              loss.count.value_or(0), loss.before);
    }
  }

  const std::string& path_;
  const Recording& recording_;
  FileFacts facts_;
  SymbolList symbols_;
  std::vector<std::string> names_;
  std::vector<Cursor> cursors_;
  std::map<std::pair<const tickscope::Buffer*, u32>, u64> printedAt_;
  u64 printed_ = 0;
  ReportComparison result_;
};

}  // namespace

ReportComparison compareWithReport(const std::string& path, const Recording& recording) {
  // The file holds the text of the `trace` file, which trace-cmd prints as it is: no events.
  if (recording.buffers.empty() && !recording.textBuffers.empty()) {
    ReportComparison nothing;
    nothing.exceptions["text inside of the file is no event"] = recording.textBuffers.size();
    return nothing;
  }
  return Comparison(path, recording).run();
}

}  // namespace tickscope::support
