// SPDX-License-Identifier: GPL-3.0-or-later
// tickscope-cli events: rows in the kernel's text form, or as JSON lines, with what was lost
// between them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "app/cli/command.h"
#include "app/cli/json_text.h"
#include "core/base/shown_text.h"
#include "core/trace/event_text.h"
#include "core/trace/filter.h"

namespace tickscope {

namespace {

/// Printing a row takes a few microseconds: this many stay below 10 ms.
constexpr u32 rowsBetweenPolls = 512;

void appendNumberOrString(std::string& out, const FieldValue& field) {
  if (const auto* number = std::get_if<u64>(&field.value)) {
    if (field.address)
      fmt::format_to(std::back_inserter(out), "\"0x{:x}\"", *number);
    else
      fmt::format_to(std::back_inserter(out), "{}", *number);
  } else if (const auto* sign = std::get_if<s64>(&field.value)) {
    fmt::format_to(std::back_inserter(out), "{}", *sign);
  } else if (const auto* text = std::get_if<std::string>(&field.value)) {
    appendJsonString(out, *text);
  } else {
    out += "null";
  }
}

/// A string as --raw prints it: as it is, or in quotes where it could be taken for more than one
/// word.
void appendRawString(std::string& out, std::string_view text) {
  const std::string printable = shown(text);
  if (!printable.empty() && printable.find_first_of(" \"=") == std::string::npos) {
    out += printable;
    return;
  }
  out += '"';
  for (const char c : printable) {
    if (c == '"') out += '\\';
    out += c;
  }
  out += '"';
}

/// Writes rows and, between them, the losses whose place in the order has been reached.
class EventWriter {
 public:
  EventWriter(const Recording& recording, const Buffer& buffer, Output& out)
      : buffer_(&buffer), text_(recording, buffer), out_(&out) {}
  virtual ~EventWriter() = default;
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  virtual void head(std::size_t rows, std::size_t cpus) = 0;
  virtual void row(Row row) = 0;
  virtual void loss(const Loss& loss) = 0;

 protected:
  const Buffer* buffer_;
  EventText text_;
  Output* out_;
};

class KernelText : public EventWriter {
 public:
  KernelText(const Recording& recording, const Buffer& buffer, Output& out, bool raw)
      : EventWriter(recording, buffer, out), raw_(raw) {}

  void head(std::size_t rows, std::size_t cpus) override {
    out_->print("# tracer: nop\n#\n# entries-in-buffer/entries-written: {}/{}   #P:{}\n#\n", rows,
                rows, cpus);
    out_->text("#           TASK-PID     CPU#  |||||       TIMESTAMP  FUNCTION\n");
    out_->text("#              | |         |   |||||           |         |\n");
  }
  void row(Row row) override {
    if (!raw_) {
      out_->text(text_.line(row));
    } else {
      // The columns before the event are those of the text form.
      std::string line = text_.line(row);
      line.resize(line.size() - text_.nameAndBody(row).size());
      appendShown(line, text_.eventName(row));
      line += ':';
      const std::vector<FieldValue> fields = text_.fields(row);
      for (const FieldValue& field : fields) {
        line += ' ';
        appendShown(line, field.name);
        line += '=';
        appendRaw(line, field);
      }
      // Records without a format are all bytes and no fields.
      if (fields.empty()) line += ' ' + text_.body(row);
      out_->text(line);
    }
    out_->text("\n");
  }
  void loss(const Loss& loss) override {
    if (loss.count)
      out_->print("CPU:{} [LOST {} EVENTS]\n", number(loss.cpu), *loss.count);
    else
      out_->print("CPU:{} [LOST EVENTS]\n", number(loss.cpu));
  }

 private:
  static void appendRaw(std::string& out, const FieldValue& field) {
    if (const auto* text = std::get_if<std::string>(&field.value))
      return appendRawString(out, *text);
    if (std::holds_alternative<std::monostate>(field.value)) {
      out += '?';
      return;
    }
    if (const auto* number = std::get_if<u64>(&field.value); number && field.address) {
      fmt::format_to(std::back_inserter(out), "0x{:x}", *number);
      return;
    }
    appendNumberOrString(out, field);
  }

  bool raw_;
};

class JsonLines : public EventWriter {
 public:
  JsonLines(const Opened& opened, const Buffer& buffer, Output& out)
      : EventWriter(*opened.recording, buffer, out), opened_(&opened) {}

  void head(std::size_t rows, std::size_t /*cpus*/) override {
    std::string line = R"({"schema":"tickscope.events/1","file":{"path":)";
    appendJsonString(line, opened_->path);
    line += ",\"fingerprint\":";
    appendJsonString(line, opened_->fingerprint);
    line += "},\"buffer\":";
    appendJsonString(line, buffer_->name);
    line += ",\"clock\":";
    if (buffer_->clock.name.empty())
      line += "null";
    else
      appendJsonString(line, buffer_->clock.name);
    line += ",\"clock_unit\":";
    if (const std::string_view unit = jsonNameOf(buffer_->clock.unit); unit.empty())
      line += "null";
    else
      appendJsonString(line, unit);
    fmt::format_to(std::back_inserter(line), ",\"rows\":{}}}\n", rows);
    out_->text(line);
  }
  void row(Row row) override {
    const EventStore& events = buffer_->events;
    const TraceTime time = events.time(row);
    std::string line;
    fmt::format_to(std::back_inserter(line),
                   R"({{"row":{},"ts":{},"time":"{}","cpu":{},"pid":{},"comm":)", number(row),
                   static_cast<u64>(time.value), timeText(time, buffer_->clock.unit),
                   number(events.cpu(row)), number(events.pid(row)));
    const std::string comm = text_.comm(events.pid(row));
    if (comm == "<...>")
      line += "null";
    else
      appendJsonString(line, comm);
    line += ",\"context\":";
    appendJsonString(line, contextText(events.context(row)));
    line += ",\"system\":";
    appendJsonString(line, events.type(row).system);
    line += ",\"event\":";
    appendJsonString(line, text_.eventName(row));
    line += ",\"fields\":{";
    bool first = true;
    for (const FieldValue& field : text_.fields(row)) {
      if (!first) line += ',';
      first = false;
      appendJsonString(line, field.name);
      line += ':';
      appendNumberOrString(line, field);
    }
    line += "},\"text\":";
    appendJsonString(line, text_.body(row));
    line += "}\n";
    out_->text(line);
  }
  void loss(const Loss& loss) override {
    out_->print("{{\"lost\":{},\"cpu\":{},\"before_row\":{}}}\n",
                loss.count ? fmt::format("{}", *loss.count) : "null", number(loss.cpu),
                loss.next ? fmt::format("{}", number(*loss.next)) : "null");
  }

 private:
  const Opened* opened_;
};

/// Gaps in the order in which they are printed: before the row behind them, those at the end last.
std::vector<Loss> orderedLosses(const Buffer& buffer, const RowSelection& selection) {
  std::vector<Loss> losses;
  for (const Loss& loss : buffer.events.losses()) {
    if (!selection.hasCpu(loss.cpu)) continue;
    const u32 next = loss.next ? number(*loss.next) : buffer.events.size();
    const bool inside =
        loss.next ? next >= selection.from() && next < selection.to() && selection.has(*loss.next)
                  : selection.to() == buffer.events.size();
    if (inside) losses.push_back(loss);
  }
  const auto place = [](const Loss& loss) { return loss.next ? u64{number(*loss.next)} : ~u64{0}; };
  std::stable_sort(losses.begin(), losses.end(), [&](const Loss& a, const Loss& b) {
    return std::pair(place(a), number(a.cpu)) < std::pair(place(b), number(b.cpu));
  });
  return losses;
}

class EventsCommand : public Command {
 public:
  void addOptions(CLI::App& app) override {
    app.add_option("--match", match_,
                   "Only rows that the filter matches, for example\n"
                   "cpu==2 && event=~\"hrtimer\" && comm==\"cyclictest\"")
        ->type_name("FILTER");
    app.add_flag("--raw", raw_, "Print all fields as field=value, not the kernel's text");
    app.add_option("--limit", limit_, "At most N rows")
        ->check(CLI::Range(u64{0}, u64{0xffff'ffff}).description(""))
        ->type_name("N");
    app.footer(
        "Rows are printed as in the kernel's trace file, with nine decimals; CPU:n [LOST k "
        "EVENTS]\n"
        "stands before the first row behind a gap. With --json: one object a line; the first one\n"
        "describes the trace.\n"
        "\n"
        "FILTER: field op value, joined by && || ! ( ). Operators: == != < <= > >=, and =~ !~ for\n"
        "regular expressions. Fields: row time cpu pid tgid comm event timer callback, each field\n"
        "of an event by its format name, and EVENT.FIELD where a name means two things\n"
        "(sched_waking.pid). Numbers: decimal, 0x..., or with ns us ms s. A word by itself "
        "searches\n"
        "the event's text. A row without the field does not match.");
  }

  Result<void> check() override {
    // What is wrong without any recording is said before one is opened.
    if (match_) {
      if (const auto parsed = parseFilter(*match_); !parsed) return filterError(parsed.error());
    }
    return {};
  }

  Result<void> run(const Opened& opened, const CommonOptions& options, Output& out,
                   Progress& progress) override {
    if (!opened.recording) {
      return fail(Error::Kind::NotATrace,
                  "A /proc/timer_list dump has no events; tickscope-cli info says what it holds.");
    }
    const Recording& recording = *opened.recording;
    const auto chosen = chosenBuffer(recording, options);
    if (!chosen) return tl::unexpected(chosen.error());
    const Buffer& buffer = recording.buffers[*chosen];
    const auto selection = chosenRows(buffer, options);
    if (!selection) return tl::unexpected(selection.error());
    auto rows = matchingRows(recording, buffer, *selection, progress);
    if (!rows) return tl::unexpected(rows.error());

    std::unique_ptr<EventWriter> writer;
    if (options.json)
      writer = std::make_unique<JsonLines>(opened, buffer, out);
    else
      writer = std::make_unique<KernelText>(recording, buffer, out, raw_);
    const bool limited = limit_ && rows->size() == *limit_;
    return print(buffer, *selection, *rows, limited, *writer, out, progress);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> filterError(const FilterError& error) const {
    return fail(Error::Kind::Usage, "--match: " + describe(error, *match_));
  }

  Result<std::vector<Row>> matchingRows(const Recording& recording, const Buffer& buffer,
                                        const RowSelection& selection, Progress& progress) {
    Known<Filter> filter;
    if (match_) {
      auto compiled = Filter::compile(*match_, recording, buffer);
      if (!compiled) return filterError(compiled.error());
      filter = std::move(*compiled);
    }
    progress.begin("searching events", selection.to() - selection.from());
    std::vector<Row> rows;
    const u64 most = limit_.value_or(buffer.events.size());
    if (!most) return rows;
    u32 sincePoll = 0;
    bool running = true;
    selection.forEach([&](Row row) {
      if (++sincePoll == rowsBetweenPolls) {
        sincePoll = 0;
        running = progress.advance(rowsBetweenPolls);
      }
      if (running && (!filter || filter->matches(row))) rows.push_back(row);
      return running && rows.size() < most;
    });
    if (!running) return fail(Error::Kind::Cancelled, "Cancelled.");
    return rows;
  }

  static Result<void> print(const Buffer& buffer, const RowSelection& selection,
                            const std::vector<Row>& rows, bool limited, EventWriter& writer,
                            Output& out, Progress& progress) {
    progress.begin("printing events", rows.size());
    std::vector<Cpu> cpus;
    for (const Stream& stream : buffer.events.streams()) {
      if (stream.count && selection.hasCpu(stream.cpu)) cpus.push_back(stream.cpu);
    }
    std::sort(cpus.begin(), cpus.end());
    writer.head(rows.size(),
                static_cast<std::size_t>(std::unique(cpus.begin(), cpus.end()) - cpus.begin()));
    const std::vector<Loss> losses = orderedLosses(buffer, selection);
    std::size_t loss = 0;
    u32 sincePoll = 0;
    for (const Row row : rows) {
      while (loss < losses.size() && losses[loss].next && *losses[loss].next <= row)
        writer.loss(losses[loss++]);
      writer.row(row);
      if (out.closed()) return {};
      if (++sincePoll == rowsBetweenPolls) {
        sincePoll = 0;
        if (!progress.advance(rowsBetweenPolls)) return fail(Error::Kind::Cancelled, "Cancelled.");
      }
    }
    // Behind the last row of a limited list nothing is known to be wanted.
    while (!limited && loss < losses.size()) writer.loss(losses[loss++]);
    return {};
  }

  Known<std::string> match_;
  bool raw_ = false;
  Known<u64> limit_;
};

}  // namespace

std::unique_ptr<Command> makeEventsCommand() { return std::make_unique<EventsCommand>(); }

}  // namespace tickscope
