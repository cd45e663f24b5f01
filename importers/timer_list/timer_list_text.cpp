// SPDX-License-Identifier: GPL-3.0-or-later
// Parses a timer list line by line: head, CPUs with their clock bases and timers, tick devices.
#include "importers/timer_list/timer_list_text.h"

#include <algorithm>
#include <charconv>

#include "importers/import.h"

namespace tickscope {

namespace {

constexpr std::string_view heading = "Timer List Version:";
constexpr std::string_view blanks = " \t\r";
/// A dump of a machine with a thousand CPUs and ten thousand timers each has less.
constexpr u64 largestDump = u64{1} << 30U;

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const std::size_t end = text.find_last_not_of(blanks);
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

/// A decimal number at the beginning of the text, which is stepped over. Times are unsigned in the
/// text and signed in the kernel.
template <class T>
Known<T> takeNumber(std::string_view& text) {
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return {};
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return value;
}

Known<s64> takeTime(std::string_view& text) {
  if (text.starts_with('-')) return takeNumber<s64>(text);
  const auto value = takeNumber<u64>(text);
  if (!value) return {};
  return static_cast<s64>(*value);
}

bool take(std::string_view& text, std::string_view part) {
  if (!text.starts_with(part)) return false;
  text.remove_prefix(part.size());
  return true;
}

class Parser {
 public:
  void line(std::string_view text) {
    const std::string_view content = trimmed(text);
    if (content.empty()) return;
    const bool understood = devices_ ? device(content) : known(content);
    if (!understood) ++dump_.linesNotUnderstood;
  }

  TimerListDump finish() {
    dropUntimed();
    return std::move(dump_);
  }

 private:
  /// A timer without the line of its times tells nothing: the dump is cut off or damaged there.
  void dropUntimed() {
    if (!untimed_) return;
    untimed_ = false;
    dump_.cpus.back().bases.back().timers.pop_back();
    ++dump_.linesNotUnderstood;
  }

  bool known(std::string_view text) {
    if (!text.starts_with('#')) dropUntimed();
    if (take(text, heading)) {
      dump_.version = trimmed(text);
      return true;
    }
    if (take(text, "HRTIMER_MAX_CLOCK_BASES:")) {
      text = trimmed(text);
      dump_.hrtimerMaxClockBases = takeNumber<u64>(text);
      return dump_.hrtimerMaxClockBases.has_value();
    }
    if (take(text, "now at ")) {
      const auto now = takeTime(text);
      if (now) dump_.now = MonoTime{*now};
      return now.has_value();
    }
    if (take(text, "cpu:")) return cpu(trimmed(text));
    if (text.starts_with("Tick Device:")) {
      devices_ = true;
      return device(text);
    }
    if (dump_.cpus.empty()) return false;
    if (text == "active timers:") return true;
    if (take(text, "clock ")) return clock(text);
    if (text.starts_with('#')) return timer(text.substr(1));
    return value(text);
  }

  bool cpu(std::string_view text) {
    const auto number = takeNumber<u32>(text);
    if (!number || *number > 65'535 || !text.empty()) return false;
    dump_.cpus.push_back({Cpu{static_cast<u16>(*number)}, {}, {}});
    return true;
  }

  bool clock(std::string_view text) {
    const auto index = takeNumber<u32>(text);
    if (!index || text != ":") return false;
    ListedBase base;
    base.index = *index;
    dump_.cpus.back().bases.push_back(std::move(base));
    return true;
  }

  /// `N: <pointer>, function, S:01`, or ` expires at A-B nsecs [in ...]` of the timer before.
  bool timer(std::string_view text) {
    auto& bases = dump_.cpus.back().bases;
    if (bases.empty()) return false;
    auto& timers = bases.back().timers;
    text = trimmed(text);
    if (take(text, "expires at ")) {
      if (timers.empty()) return false;
      const auto soft = takeTime(text);
      if (!soft || !take(text, "-")) return false;
      const auto hard = takeTime(text);
      if (!hard) return false;
      untimed_ = false;
      timers.back().softExpires = {*soft};
      timers.back().expires = {*hard};
      return true;
    }
    dropUntimed();
    if (!takeNumber<u64>(text) || !take(text, ": <")) return false;
    const std::size_t close = text.find(">, ");
    if (close == std::string_view::npos) return false;
    ListedTimer found;
    found.pointer = text.substr(0, close);
    text.remove_prefix(close + 3);
    const std::size_t state = text.find(", S:");
    if (state == std::string_view::npos) return false;
    found.function = text.substr(0, state);
    text.remove_prefix(state + 2);
    found.state = text.substr(0, std::min(text.find(','), text.size()));
    timers.push_back(std::move(found));
    untimed_ = true;
    return true;
  }

  /// `.name : value` and `jiffies: value`.
  bool value(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view name = trimmed(text.substr(0, colon));
    std::string_view content = trimmed(text.substr(colon + 1));
    ListedCpu& cpu = dump_.cpus.back();
    // The lines of a clock base come before those of the CPU.
    if (!cpu.bases.empty() && cpu.values.empty()) {
      ListedBase& base = cpu.bases.back();
      if (name == ".base" || name == ".index") return true;
      if (name == ".resolution") {
        base.resolution = takeNumber<u64>(content);
        return base.resolution.has_value();
      }
      if (name == ".get_time") {
        base.getTime = content;
        return true;
      }
      if (name == ".offset") {
        base.offset = takeTime(content);
        return base.offset.has_value();
      }
    }
    if (!name.starts_with('.') && name != "jiffies") return false;
    cpu.values.push_back({std::string(name), std::string(content)});
    return true;
  }

  bool device(std::string_view text) {
    const std::size_t colon = text.find(':');
    const bool plain = colon == std::string_view::npos;
    if (plain && text != "Broadcast device") return false;
    ListedValue found;
    found.name = trimmed(text.substr(0, colon));
    if (!plain) found.value = trimmed(text.substr(colon + 1));
    dump_.devices.push_back(std::move(found));
    return true;
  }

  TimerListDump dump_;
  bool devices_ = false;
  bool untimed_ = false;  ///< the last timer waits for the line of its times
};

}  // namespace

bool looksLikeTimerList(std::string_view beginning) {
  beginning.remove_prefix(std::min(beginning.find_first_not_of(" \t\r\n"), beginning.size()));
  return beginning.starts_with(heading);
}

TimerListDump parseTimerList(std::string_view text) {
  Parser parser;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    parser.line(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return parser.finish();
}

Result<TimerListDump> importTimerList(const ByteSource& source) {
  if (source.size() > largestDump) {
    return fail(Error::Kind::TooLarge, "This timer list is larger than 1 GiB", largestDump);
  }
  const std::vector<u8> bytes = source.bytes(0, source.size());
  if (bytes.size() < source.size()) {
    return fail(Error::Kind::Io, "The timer list could not be read to its end", bytes.size());
  }
  if (!looksLikeTimerList(asText(bytes))) {
    return fail(Error::Kind::NotATrace, "This is not a dump of /proc/timer_list", 0);
  }
  return parseTimerList(asText(bytes));
}

}  // namespace tickscope
