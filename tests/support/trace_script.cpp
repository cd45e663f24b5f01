// SPDX-License-Identifier: GPL-3.0-or-later
// Reads scripts, line by line, into the store that importers fill.
#include "tests/support/trace_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>

#include "core/model/wheel_geometry.h"
#include "core/trace/store_builder.h"
#include "tests/support/script_values.h"

namespace tickscope::support {

namespace {

constexpr s64 firstJiffies = 4'294'900'000;
constexpr u64 firstSymbol = 0xffffffff81000000, symbolSize = 0x1000;
constexpr u64 firstTimer = 0xffff888000000000, timerSize = 0x40;
constexpr std::size_t mostRows = 2'000'000;

struct Line {
  int number;
  Words words;
};

/// A row to be: the CPUs get theirs in order of time.
struct Event {
  u16 cpu = 0;
  s64 time = 0;
  int line = 0;
  Pid pid{};
  Known<Context> context;
  std::string name;
  std::map<std::string, std::string> fields;
  s64 realtime = 0;
};
struct LossAt {
  u16 cpu;
  std::size_t events;  // of that CPU before it
  Known<u64> count;
};

struct Expectation {
  int line;
  std::string text;
  enum class Is : u8 { Finding, None, NoGrade, Judged, NotJudged } is{};
  std::string id;
  Known<u16> cpu;
  Known<u64> count;
  std::string grade;
};

}  // namespace

struct TraceScript::Parts {
  std::shared_ptr<Recording> recording;
  ProfileOverrides facts;
  std::vector<Expectation> expectations;

  // While reading.
  std::vector<Event> events;
  std::vector<LossAt> losses;
  std::vector<std::pair<std::string, std::string>> without;
  std::map<std::string, std::string> kernel{{"w", "64"},
                                            {"hz", "250"},
                                            {"hres", "yes"},
                                            {"nohz", "idle"},
                                            {"wheel", "levels"},
                                            {"depth", "9"},
                                            {"bases", "STD/DEF"},
                                            {"fwd", "F2"},
                                            {"next", "NX1"},
                                            {"raise", "SR2"},
                                            {"wtrace", "WT3"},
                                            {"hrule", "R3"},
                                            {"htrace", "HT2"},
                                            {"rt", "no"},
                                            {"threadirqs", "no"},
                                            {"clampbug", "no"},
                                            {"tick_function", "tick_sched_timer"}};
  std::map<std::string, u64> symbols, timers;
  std::map<std::string, std::string> functionOf;
  s64 anchor = 0, realtime = 0;

  void read(const std::vector<Line>& lines, std::size_t from, std::size_t to, u64 round);
  void event(const Line& line, u64 round);
  void expect(const Line& line);
  void make();
  [[nodiscard]] s64 tickNs() const {
    return 1'000'000'000 / static_cast<s64>(numberOf(kernel.at("hz")));
  }
  [[nodiscard]] s64 jiffiesAt(s64 time) const { return firstJiffies + time / tickNs(); }
  u64 symbol(const std::string& name) {
    return symbols.try_emplace(name, firstSymbol + symbols.size() * symbolSize).first->second;
  }
  u64 timer(const std::string& name) {
    return timers.try_emplace(name, firstTimer + timers.size() * timerSize).first->second;
  }
  [[nodiscard]] s64 jiffiesOf(const std::string& text, s64 time) const {
    if (!text.starts_with('j')) return static_cast<s64>(numberOf(text));
    const std::string rest = text.substr(1);
    if (rest.empty()) return jiffiesAt(time);
    const s64 by = static_cast<s64>(numberOf(rest.substr(1)));
    return jiffiesAt(time) + (rest[0] == '-' ? -by : by);
  }
  static s64 ktimeOf(const std::string& text, const Event& event) {
    if (text == "R") return event.time + event.realtime;
    if (text.starts_with("R")) return event.time + event.realtime + nsOf(text.substr(1), 1);
    if (text.starts_with('+') || text.starts_with('-')) return event.time + nsOf(text, 1);
    return nsOf(text, 1);
  }
  void complete(Event& event);
};

void TraceScript::Parts::read(const std::vector<Line>& lines, std::size_t from, std::size_t to,
                              u64 round) {
  for (std::size_t i = from; i < to; ++i) {
    const Line& line = lines[i];
    const std::string& first = line.words.front();
    if (first == "kernel") {
      for (std::size_t w = 1; w < line.words.size(); ++w) {
        const std::size_t equals = line.words[w].find('=');
        if (equals == std::string::npos) throw std::runtime_error("kernel takes NAME=VALUE");
        kernel[line.words[w].substr(0, equals)] = line.words[w].substr(equals + 1);
      }
    } else if (first == "without") {
      const std::size_t dot = line.words.at(1).find('.');
      without.emplace_back(line.words[1].substr(0, dot), line.words[1].substr(dot + 1));
    } else if (first == "realtime") {
      realtime = nsOf(line.words.at(1), 1e9);
    } else if (first == "at") {
      anchor = nsOf(line.words.at(1), 1e9);
    } else if (first == "loss") {
      const auto cpu = static_cast<u16>(numberOf(line.words.at(1).substr(3)));
      const auto before = std::ranges::count(events, cpu, &Event::cpu);
      losses.push_back(
          {cpu, static_cast<std::size_t>(before),
           line.words.size() > 2 ? Known<u64>(numberOf(line.words[2])) : Known<u64>{}});
    } else if (first == "repeat") {
      std::size_t end = i + 1;
      for (int depth = 1;; ++end) {
        if (end == to) throw std::runtime_error("repeat without end");
        depth += lines[end].words.front() == "repeat" ? 1 : 0;
        depth -= lines[end].words.front() == "end" ? 1 : 0;
        if (depth == 0) break;
      }
      if (line.words.size() != 4) throw std::runtime_error("repeat N every TIME");
      const u64 times = numberOf(line.words[1]);
      const s64 every = nsOf(line.words[3], 1e9), begin = anchor;
      for (u64 n = 0; n < times; ++n) {
        anchor = begin + static_cast<s64>(n) * every;
        read(lines, i + 1, end, n);
      }
      anchor = begin + static_cast<s64>(times) * every;
      i = end;
    } else if (first == "expect") {
      expect(line);
    } else {
      event(line, round);
    }
  }
}

void TraceScript::Parts::event(const Line& line, u64 round) {
  if (events.size() == mostRows) throw std::runtime_error("the script makes too many rows");
  Words words = line.words;
  for (std::string& word : words) {
    for (std::size_t at = word.find("$i"); at != std::string::npos; at = word.find("$i", at)) {
      word.replace(at, 2, std::to_string(round));
    }
  }
  if (words.size() < 3 || !words[1].starts_with("cpu")) {
    throw std::runtime_error("an event is TIME cpuN [TASK] [FLAGS] EVENT FIELD=VALUE ...");
  }
  Event made;
  made.line = line.number;
  made.time = anchor + nsOf(words[0], 1e9);
  made.cpu = static_cast<u16>(numberOf(std::string_view(words[1]).substr(3)));
  made.realtime = realtime;
  std::size_t at = 2;
  const auto isTask = [](const std::string& word) {
    const std::size_t dash = word.rfind('-');
    return word == "idle" || (dash != std::string::npos && dash + 1 < word.size() &&
                              word.find('=') == std::string::npos &&
                              std::isdigit(static_cast<unsigned char>(word[dash + 1])) != 0);
  };
  if (isTask(words[at])) {
    made.pid = words[at] == "idle"
                   ? Pid{0}
                   : static_cast<Pid>(
                         numberOf(std::string_view(words[at]).substr(words[at].rfind('-') + 1)));
    recording->metadata.tasks.add(made.pid, words[at].substr(0, words[at].rfind('-')));
    ++at;
  }
  if (at < words.size() && words[at].starts_with('[')) {
    Context context;
    for (const char c : words[at]) {
      if (c == 'd') context.flags |= 0x01;
      if (c == 'n') context.flags |= 0x04;
      if (c == 'h') context.flags |= 0x08;
      if (c == 's') context.flags |= 0x10;
    }
    made.context = context;
    ++at;
  }
  if (at == words.size()) throw std::runtime_error("the event's name is missing");
  made.name = words[at++];
  for (; at < words.size(); ++at) {
    const std::size_t equals = words[at].find('=');
    if (equals == std::string::npos) {
      throw std::runtime_error(fmt::format("'{}' is no FIELD=VALUE", words[at]));
    }
    made.fields[words[at].substr(0, equals)] = words[at].substr(equals + 1);
  }
  complete(made);
  events.push_back(std::move(made));
}

/// What follows from what the script says, and words for several fields.
void TraceScript::Parts::complete(Event& event) {
  auto& f = event.fields;
  const auto given = [&](const char* name) { return f.contains(name); };
  const auto is = [&](std::string_view name) { return event.name == name; };
  if (is("call")) {
    if (given("expires")) {
      event.name = "tpe";
    } else {
      event.name = "tick_program_event";
      f["ip"] = "tick_program_event";
      if (given("from")) {
        f["parent_ip"] = f["from"];
        f.erase("from");
      }
    }
    return;
  }
  const char* timerField = is("timer_start") || is("timer_expire_entry") ? "timer" : "hrtimer";
  const bool arms = is("timer_start") || is("hrtimer_start");
  const bool expires = is("timer_expire_entry") || is("hrtimer_expire_entry");
  if (arms || expires) {
    std::string& function = functionOf[f[timerField]];
    if (given("function")) function = f["function"];
    if (function.empty()) function = f[timerField] + "_fn";
    f["function"] = function;
  }
  if (is("hrtimer_start") && !given("softexpires")) f["softexpires"] = f["expires"];
  if (is("hrtimer_expire_entry") && !given("now")) f["now"] = "+0";
  if (is("timer_expire_entry")) {
    if (!given("now")) f["now"] = "j";
    if (!given("baseclk")) f["baseclk"] = f["now"];
  }
  if (is("timer_start")) {
    if (!given("now")) f["now"] = "j";
    WheelGeometry geometry;
    geometry.wordBits = static_cast<u8>(numberOf(kernel.at("w")));
    geometry.depth = static_cast<u8>(numberOf(kernel.at("depth")));
    const s64 clk = jiffiesOf(given("clk") ? f["clk"] : f["now"], event.time);
    const Bucket bucket = bucketFor(geometry, static_cast<u64>(clk),
                                    static_cast<u64>(jiffiesOf(f["expires"], event.time)));
    u64 flags = given("flags") ? namedOf(f["flags"]) : 0;
    flags |= given("cpu") ? numberOf(f["cpu"]) : event.cpu;
    flags |= u64{bucket.index} << 22U;
    f["flags"] = std::to_string(flags);
    if (!given("bucket_expiry")) f["bucket_expiry"] = std::to_string(bucket.expiry);
    f.erase("clk");
    f.erase("cpu");
  }
}

void TraceScript::Parts::expect(const Line& line) {
  Expectation made;
  made.line = line.number;
  made.text = fmt::format("{}", fmt::join(line.words, " "));
  std::size_t at = 1;
  const auto word = [&]() -> const std::string& { return line.words.at(at++); };
  const std::string& first = word();
  if (first == "no") {
    made.id = word();
    made.is = made.id.starts_with('S') ? Expectation::Is::NoGrade : Expectation::Is::None;
  } else if (first == "judged" || first == "not-judged") {
    made.is = first == "judged" ? Expectation::Is::Judged : Expectation::Is::NotJudged;
    made.id = word();
  } else {
    made.id = first;
  }
  for (; at < line.words.size(); ++at) {
    const std::string& w = line.words[at];
    if (w.starts_with("cpu")) {
      made.cpu = static_cast<u16>(numberOf(std::string_view(w).substr(3)));
    } else if (w.starts_with("count=")) {
      made.count = numberOf(std::string_view(w).substr(6));
    } else if (w.starts_with("grade=")) {
      made.grade = w.substr(6);
    } else {
      throw std::runtime_error(fmt::format("'{}' is no expectation", w));
    }
  }
  expectations.push_back(std::move(made));
}

void TraceScript::Parts::make() {
  std::vector<std::string> given;
  for (const auto& [name, value] : kernel) given.push_back(name + "=" + value);
  auto parsed = parseFacts(given);
  if (!parsed) throw std::runtime_error(parsed.error().what);
  facts = std::move(*parsed);

  auto pools = std::make_shared<Pools>();
  StoreParts parts;
  parts.arenas.push_back(std::make_shared<EventArena>());
  std::map<std::string, u16> typeOf;
  const auto declare = [&](EventKind kind, const std::string& name, const std::string& system) {
    EventType type;
    type.kind = kind;
    type.id = static_cast<u16>(parts.types.size() + 1);
    type.system = system;
    type.name = name;
    type.has = static_cast<u32>((u64{1} << infoOf(kind).fields.size()) - 1);
    for (const auto& [event, field] : without) {
      if (event != name) continue;
      for (std::size_t i = 0; i < infoOf(kind).fields.size(); ++i) {
        if (infoOf(kind).fields[i].name == field) type.has &= ~(1U << i);
      }
    }
    type.layout = storedLayout(kind, type.has);
    typeOf[name] = static_cast<u16>(parts.types.size());
    parts.types.push_back(std::move(type));
  };
  for (const Event& event : events) {
    if (typeOf.contains(event.name)) continue;
    if (event.name == "tick_program_event") {
      declare(kindOf<ProgramEvent>, event.name, "ftrace");
    } else if (event.name == "tpe") {
      declare(kindOf<ProgramEventProbe>, event.name, "kprobes");
    } else {
      EventKind kind = kindOfEvent("irq_vectors", event.name);
      if (kind == kindOf<Raw>) kind = kindNamed(event.name);
      if (kind == kindOf<Raw>) {
        throw std::runtime_error(
            fmt::format("line {}: there is no event {}", event.line, event.name));
      }
      declare(kind, event.name, "made");
    }
  }

  const auto taskOf = [&](const std::string& text) {
    Task task;
    const std::string name = text.substr(0, text.find(':'));
    task.prio = text.find(':') == std::string::npos
                    ? 120
                    : static_cast<s32>(numberOf(std::string_view(text).substr(text.find(':') + 1)));
    const std::size_t dash = name.rfind('-');
    if (name == "idle") {
      task.comm = static_cast<StringId>(pools->strings.intern("swapper/0"));
    } else {
      task.comm = static_cast<StringId>(pools->strings.intern(name.substr(0, dash)));
      task.pid = static_cast<Pid>(numberOf(std::string_view(name).substr(dash + 1)));
      recording->metadata.tasks.add(task.pid, name.substr(0, dash));
    }
    return task;
  };

  std::map<u16, std::vector<const Event*>> byCpu;
  for (const Event& event : events) byCpu[event.cpu].push_back(&event);
  for (auto& [cpu, rows] : byCpu) {
    std::ranges::stable_sort(rows, {}, &Event::time);
    StreamPieces& stream = parts.streams.emplace_back();
    stream.cpu = static_cast<Cpu>(cpu);
    stream.pieces.emplace_back(*parts.arenas.back(), *pools, parts.types);
    StreamPiece& piece = stream.pieces.back();
    int hard = 0, soft = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const LossAt& loss : losses) {
        if (loss.cpu == cpu && loss.events == i && i > 0) piece.loss(loss.count);
      }
      const Event& event = *rows[i];
      const u16 type = typeOf.at(event.name);
      const EventKind kind = parts.types[type].kind;
      const bool irq = kind == kindOf<LocalTimerEntry> || kind == kindOf<IrqHandlerEntry> ||
                       kind == kindOf<VectorEntry> || kind == kindOf<IpiEntry>;
      const bool irqEnd = kind == kindOf<LocalTimerExit> || kind == kindOf<IrqHandlerExit> ||
                          kind == kindOf<VectorExit> || kind == kindOf<IpiExit>;
      hard += irq ? 1 : 0;
      soft += kind == kindOf<SoftirqEntry> ? 1 : 0;
      Context context;
      if (hard > 0) context.flags |= 0x09;
      if (soft > 0) context.flags |= 0x10;
      if (event.context) context = *event.context;
      hard -= irqEnd ? 1 : 0;
      soft -= kind == kindOf<SoftirqExit> ? 1 : 0;
      auto fields = event.fields;
      const auto take = [&](std::string_view name) -> Known<std::string> {
        const auto found = fields.find(std::string(name));
        if (found == fields.end()) return {};
        std::string value = found->second;
        fields.erase(found);
        return value;
      };
      EventStore::visitKind(kind, [&]<class P>() {
        P payload{};
        P::Fields::forEach([&]<class F>() {
          using T = typename F::Type;
          auto& member = payload.*F::member;
          if constexpr (std::is_same_v<T, RawRef>) {
            return;
          } else if constexpr (std::is_same_v<T, Task>) {
            const std::string_view comm = F::infos[0].name;
            const std::string_view name = comm == "comm" ? "task" : comm.substr(0, comm.find('_'));
            if (const auto value = take(name)) member = taskOf(*value);
          } else {
            const std::string_view name = F::infos[0].name;
            const auto value = take(name);
            if (!value) return;
            if constexpr (std::is_same_v<T, Address>) {
              constexpr std::array<std::string_view, 7> objects{"timer", "hrtimer", "alarm", "work",
                                                                "csd",   "group",   "parent"};
              const bool object = std::ranges::find(objects, name) != objects.end();
              u64 address = object ? timer(*value) : symbol(*value);
              if (name == "parent_ip") address += 4;
              member = static_cast<Address>(address);
            } else if constexpr (std::is_same_v<T, BaseTime>) {
              member = BaseTime{ktimeOf(*value, event)};
            } else if constexpr (std::is_same_v<T, Jiffies>) {
              member = Jiffies{jiffiesOf(*value, event.time)};
            } else if constexpr (std::is_same_v<T, StringId>) {
              member = static_cast<StringId>(pools->strings.intern(*value));
            } else if constexpr (std::is_same_v<T, Pid>) {
              member = static_cast<Pid>(numberOf(*value));
            } else if constexpr (std::is_same_v<T, bool>) {
              member = numberOf(*value) != 0;
            } else if (std::is_same_v<T, s64> && value->starts_with('+')) {
              member = static_cast<T>(ktimeOf(*value, event));
            } else {
              member = static_cast<T>(namedOf(*value));
            }
          }
        });
        if (!piece.append({event.time}, event.pid, context, type, payload)) {
          throw std::runtime_error("no memory for the rows of a script");
        }
      });
      if (!fields.empty()) {
        throw std::runtime_error(fmt::format("line {}: {} has no field {}", event.line, event.name,
                                             fields.begin()->first));
      }
    }
    piece.close();
  }
  Progress progress;
  auto store = assemble(std::move(parts), std::move(pools), progress);
  if (!store) throw std::runtime_error(store.error().what);
  std::string kallsyms;
  std::vector<std::pair<u64, std::string>> byAddress;
  for (const auto& [name, address] : symbols) byAddress.emplace_back(address, name);
  std::ranges::sort(byAddress);
  for (const auto& [address, name] : byAddress)
    kallsyms += fmt::format("{:x} T {}\n", address, name);
  recording->metadata.symbols = std::make_shared<const Symbols>(std::move(kallsyms));
  recording->path = "script";
  recording->metadata.format = "made by a test";
  Buffer buffer;
  buffer.clock = {"mono", "made by a test", ClockUnit::Nanoseconds};
  buffer.events = std::move(*store);
  recording->buffers.push_back(std::move(buffer));
}

TraceScript::TraceScript(std::string_view script) : parts_(std::make_unique<Parts>()) {
  parts_->recording = std::make_shared<Recording>();
  std::vector<Line> lines;
  for (int number = 1; !script.empty(); ++number) {
    const std::size_t end = std::min(script.find('\n'), script.size());
    Words words = wordsOf(script.substr(0, end));
    script.remove_prefix(std::min(script.size(), end + 1));
    if (!words.empty()) lines.push_back({number, std::move(words)});
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // Blocks are read as one, so that their lines are named by the one that opens them.
    std::size_t end = i + 1;
    for (int depth = lines[i].words.front() == "repeat" ? 1 : 0; depth > 0 && end < lines.size();
         ++end) {
      depth += lines[end].words.front() == "repeat" ? 1 : 0;
      depth -= lines[end].words.front() == "end" ? 1 : 0;
    }
    try {
      parts_->read(lines, i, end, 0);
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("line {}: {}", lines[i].number, error.what()));
    }
    i = end - 1;
  }
  parts_->make();
}

TraceScript::~TraceScript() = default;
TraceScript::TraceScript(TraceScript&&) noexcept = default;

std::shared_ptr<const Recording> TraceScript::recording() const { return parts_->recording; }
const ProfileOverrides& TraceScript::facts() const { return parts_->facts; }

Analysis TraceScript::analysed() const {
  Progress progress;
  AnalysisOptions options;
  options.overrides = parts_->facts;
  auto made = analyse(parts_->recording, options, progress);
  if (!made) throw std::runtime_error(made.error().what);
  return std::move(*made);
}

Findings TraceScript::findings(const Thresholds& thresholds) const {
  Progress progress;
  const Analysis analysis = analysed();
  auto made = findingsOf(analysis, activityOf(analysis, 1), thresholds, 1, progress);
  if (!made) throw std::runtime_error(made.error().what);
  return std::move(*made);
}

std::string TraceScript::unmet(const Thresholds& thresholds) const {
  const Findings found = findings(thresholds);
  std::string unmet;
  const auto isOf = [](const auto& item, const std::string& id) {
    return item.id == id ||
           std::string(item.id) + (item.kind ? std::string(1, item.kind) : "") == id;
  };
  for (const Expectation& expectation : parts_->expectations) {
    bool met = false;
    switch (expectation.is) {
      case Expectation::Is::Finding:
        met = std::ranges::any_of(found.findings, [&](const Finding& finding) {
          return isOf(finding, expectation.id) &&
                 (!expectation.cpu ||
                  std::ranges::find(finding.cpus, static_cast<Cpu>(*expectation.cpu)) !=
                      finding.cpus.end()) &&
                 (!expectation.count || finding.count == *expectation.count) &&
                 (expectation.grade.empty() || nameOf(finding.grade) == expectation.grade);
        });
        break;
      case Expectation::Is::None:
        met = std::ranges::none_of(
            found.findings, [&](const Finding& finding) { return isOf(finding, expectation.id); });
        break;
      case Expectation::Is::NoGrade:
        met = std::ranges::none_of(found.findings, [&](const Finding& finding) {
          return nameOf(finding.grade) == expectation.id;
        });
        break;
      case Expectation::Is::Judged:
        met = std::ranges::any_of(found.judged, [&](const JudgedCount& judged) {
          return isOf(judged, expectation.id) && judged.opportunities > 0;
        });
        break;
      case Expectation::Is::NotJudged:
        met = std::ranges::any_of(
            found.notJudged, [&](const NotJudged& item) { return isOf(item, expectation.id); });
        break;
    }
    if (!met) unmet += fmt::format("line {}: not met: {}\n", expectation.line, expectation.text);
  }
  return unmet.empty() ? unmet : unmet + findingLines(found);
}

std::string unmet(std::string_view script) { return TraceScript(script).unmet(); }

std::string findingLines(const Findings& findings) {
  std::string lines;
  for (const Finding& f : findings.findings) {
    std::vector<u32> cpus;
    for (const Cpu cpu : f.cpus) cpus.push_back(number(cpu));
    lines += fmt::format("{} {} {:.2f} cpu {} count {}/{} {}\n", f.name(), nameOf(f.grade),
                         f.confidence.value(), fmt::join(cpus, ","), f.count, f.opportunities,
                         f.title.text());
  }
  for (const Finding& f : findings.weak) {
    lines += fmt::format("weak {} {:.2f} count {} {}\n", f.name(), f.confidence.value(), f.count,
                         f.title.text());
  }
  for (const JudgedCount& j : findings.judged) {
    lines += fmt::format("judged {}{} {} of {}, {} explained, {} dropped\n", j.id,
                         j.kind ? std::string(1, j.kind) : "", j.instances, j.opportunities,
                         j.explained, j.dropped);
  }
  for (const NotJudged& n : findings.notJudged) {
    lines += fmt::format("not judged {}{}: {}\n", n.id, n.kind ? std::string(1, n.kind) : "",
                         n.why.text());
  }
  return lines;
}

}  // namespace tickscope::support
