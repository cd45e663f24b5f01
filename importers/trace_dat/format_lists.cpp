// SPDX-License-Identifier: GPL-3.0-or-later
// Reads lists of sized texts, and finds its place again behind a size that cannot be true.
#include "importers/trace_dat/format_lists.h"

#include <fmt/format.h>

#include <algorithm>

#include "importers/trace_dat/format_text.h"
#include "importers/trace_dat/metadata_texts.h"

namespace tickscope::trace_dat {

namespace {

constexpr u64 largestHeaderText = 64U << 10U;
constexpr u64 largestText = u64{256} << 20U;
constexpr std::size_t longestSystemName = 256;
constexpr std::string_view formatStart = "name:";
/// More cannot have an id of their own.
constexpr std::size_t mostFormats = 65'535;
constexpr u32 mostSearches = 1'000;

/// Is there a size that fits, and a format text behind it?
bool formatFollows(SourceCursor& cursor) {
  const u64 here = cursor.offset();
  const u64 size = cursor.number<u64>();
  const bool follows = !cursor.failed() && size <= cursor.left() && size >= formatStart.size() &&
                       cursor.startsWith(formatStart);
  cursor.seek(here);
  return follows;
}

/// The same, but it may be cut, or be no text of a format that we know.
bool formatPerhaps(SourceCursor& cursor) {
  const u64 here = cursor.offset();
  const u64 size = cursor.number<u64>();
  const bool perhaps =
      !cursor.failed() && (size <= cursor.left() || cursor.startsWith(formatStart));
  cursor.seek(here);
  return perhaps;
}

enum class Follows : u8 { No, Perhaps, Yes };

/// Is there a name, a count that can be true, and (for sure) a format or a count of 0?
Follows systemFollows(SourceCursor& cursor) {
  const u64 here = cursor.offset();
  const std::string name = cursor.string(longestSystemName);
  const u64 count = cursor.number<u32>();
  const bool printable = !name.empty() && std::all_of(name.begin(), name.end(),
                                                      [](char c) { return c > ' ' && c < '\x7f'; });
  Follows follows = Follows::No;
  if (!cursor.failed() && printable) {
    if (count == 0 || formatFollows(cursor)) {
      follows = Follows::Yes;
    } else if (count * sizeof(u64) <= cursor.left()) {
      follows = Follows::Perhaps;
    }
  }
  cursor.seek(here);
  return follows;
}

/// The length of the format text that begins here, told by its own end: the line of its print format.
Known<u64> naturalSize(SourceCursor& cursor) {
  constexpr std::string_view printStart = "\nprint fmt:";
  const u64 start = cursor.offset();
  const auto print = cursor.find(printStart, largestFormat);
  if (!print) return {};
  cursor.seek(*print + printStart.size());
  const auto end = cursor.find("\n", 2 * largestFormat);
  cursor.seek(start);
  if (!end) return {};
  return *end + 1 - start;
}

/// Does another format or system begin at `offset`?
bool listGoesOn(SourceCursor& cursor, u64 offset) {
  const u64 here = cursor.offset();
  cursor.seek(offset);
  const bool goesOn = formatFollows(cursor) || systemFollows(cursor) == Follows::Yes;
  cursor.seek(here);
  return goesOn;
}

/// A kernel's format ends in a line end; a made one may not, but then the list goes on behind it.
bool endsWell(SourceCursor& cursor, u64 size) {
  const u64 start = cursor.offset();
  if (size == 0) return true;
  cursor.seek(start + size - 1);
  const bool lineEnd = cursor.startsWith("\n");
  cursor.seek(start);
  return lineEnd || listGoesOn(cursor, start + size);
}

/// One sized format. False: it cannot be told where it ends; the cursor stays in front of its size.
bool readFormat(Reading& reading, SourceCursor& cursor, const std::string& system) {
  const u64 sizeAt = cursor.offset();
  const u64 sizePlace = cursor.place();
  u64 size = cursor.number<u64>();
  if (cursor.failed()) {
    reading.note(Counter::RangeCut, sizePlace, "event formats");
    return false;
  }
  const u64 textAt = cursor.offset();
  const u64 place = cursor.place();
  const bool isFormat = cursor.startsWith(formatStart);
  const bool fits = size <= cursor.left();
  if (!fits || (isFormat && !endsWell(cursor, size))) {
    const bool search = isFormat && ++reading.searches <= mostSearches;
    const auto natural = search ? naturalSize(cursor) : Known<u64>{};
    if (natural && (!fits || listGoesOn(cursor, textAt + *natural))) {
      reading.note(Counter::RangeCut, sizePlace, fmt::format("size of an event format {}", size));
      size = *natural;
    } else if (!fits) {
      reading.note(Counter::RangeCut, sizePlace, fmt::format("size of an event format {}", size));
      cursor.seek(sizeAt);
      return false;
    }
  }
  if (size > largestFormat) {
    reading.note(Counter::FormatTooBig, place, fmt::format("{} bytes", size));
  }
  FormatText format{system, cursor.text(std::min<u64>(size, largestFormat)), place};
  cursor.seek(textAt + size);
  reading.out.formats.push_back(std::move(format));
  return true;
}

/// `count` formats, or as many as there are when the count cannot be true.
bool readFormats(Reading& reading, SourceCursor& cursor, const std::string& system, u32 count,
                 u64 countPlace) {
  u64 read = 0;
  bool good = true;
  for (; read < count; ++read) {
    if (reading.out.formats.size() >= mostFormats) {
      reading.note(Counter::RangeCut, cursor.place(), "more than 65,535 event formats");
      return false;
    }
    // A size of 0 is a format too, an empty one; but not when it is the start of something else.
    const bool certain = formatFollows(cursor);
    if (!certain && (cursor.left() < sizeof(u64) || systemFollows(cursor) == Follows::Yes)) break;
    if (!certain && !formatPerhaps(cursor)) break;
    if (!readFormat(reading, cursor, system)) {
      good = false;
      break;
    }
  }
  if (good) {
    for (; read >= count && formatFollows(cursor) && !cursor.failed(); ++read) {
      if (!readFormat(reading, cursor, system)) break;
    }
  }
  if (good && read != count) {
    reading.note(Counter::RangeCut, countPlace,
                 fmt::format("{} event formats announced, {} found", count, read));
  }
  return good;
}

/// A text with its size in front; false when it is cut.
bool readSized(Reading& reading, SourceCursor& cursor, u64 size, const char* what,
               std::string& text) {
  const u64 place = cursor.place();
  if (cursor.failed()) {
    reading.note(Counter::RangeCut, place, what);
    return false;
  }
  const u64 left = cursor.left();
  text = cursor.text(std::min(size, largestText));
  if (size <= left) {
    if (size > largestText) {
      reading.note(Counter::RangeCut, place, what, size - largestText);
      cursor.skip(size - largestText);
    }
    return true;
  }
  reading.note(Counter::RangeCut, place, fmt::format("size of {} {}", what, size));
  return false;
}

/// `name` NUL, size, text; in front of `next` when the size is impossible.
Known<std::string> readHeaderText(Reading& reading, SourceCursor& cursor, std::string_view name,
                                  std::string_view next) {
  const u64 place = cursor.place();
  if (!cursor.startsWith(name)) {
    reading.note(Counter::HeaderBad, place, fmt::format("{} is not where it should be", name));
  }
  cursor.skip(name.size() + 1);
  const u64 sizePlace = cursor.place();
  u64 size = cursor.number<u64>();
  if (cursor.failed()) {
    reading.note(Counter::RangeCut, sizePlace, std::string(name));
    return {};
  }
  const bool possible = size <= std::min(largestHeaderText, cursor.left());
  const u64 textAt = cursor.offset();
  bool follows = true;
  if (possible && name == "header_page") {
    cursor.seek(textAt + size);
    follows = cursor.startsWith(next);
    cursor.seek(textAt);
  }
  if (!possible || !follows) {
    const auto found = cursor.find(next, 2 * largestHeaderText);
    if (found) {
      reading.note(Counter::RangeCut, sizePlace, fmt::format("size of {} {}", name, size));
      size = *found - textAt;
      if (name == "header_event") {
        // Behind it: a count of 4 bytes, a size of 8, then the first format.
        size = size >= 12 ? size - 12 : 0;
      }
    } else if (!possible) {
      reading.note(Counter::RangeCut, sizePlace, fmt::format("size of {} {}", name, size));
      return {};
    }
  }
  return cursor.text(size);
}

}  // namespace

bool readHeaders(Reading& reading, SourceCursor& cursor) {
  const u64 place = cursor.place();
  const auto page = readHeaderText(reading, cursor, "header_page", "header_event");
  if (!page) return false;
  reading.headerPage = parseHeaderPage(*page);
  if (!reading.headerPage) {
    reading.note(Counter::FormatBad, place, "header_page; the usual layout is assumed");
    reading.ringDoubtful = true;
  }
  const u64 eventPlace = cursor.place();
  const auto event = readHeaderText(reading, cursor, "header_event", formatStart);
  if (!event) return false;
  const HeaderEvent verdict = judgeHeaderEvent(*event);
  if (verdict != HeaderEvent::Usual) {
    reading.note(Counter::FormatBad, eventPlace,
                 verdict == HeaderEvent::Ancient
                     ? "header_event describes records of a kernel before 2.6.31"
                     : "header_event; the usual records are assumed");
    reading.ringDoubtful = true;
    reading.ancient = verdict == HeaderEvent::Ancient;
  }
  return true;
}

bool readFtraceFormats(Reading& reading, SourceCursor& cursor) {
  const u64 place = cursor.place();
  const u32 count = cursor.number<u32>();
  if (cursor.failed()) {
    reading.note(Counter::RangeCut, place, "event formats of ftrace");
    return false;
  }
  return readFormats(reading, cursor, "ftrace", count, place);
}

bool readEventFormats(Reading& reading, SourceCursor& cursor) {
  const u64 place = cursor.place();
  const u32 systems = cursor.number<u32>();
  if (cursor.failed()) {
    reading.note(Counter::RangeCut, place, "event formats");
    return false;
  }
  u64 read = 0;
  for (;; ++read) {
    const Follows follows = systemFollows(cursor);
    if (follows == Follows::No || (follows == Follows::Perhaps && read >= systems)) break;
    const u64 namePlace = cursor.place();
    const std::string name = cursor.string(longestSystemName);
    const u64 countPlace = cursor.place();
    const u32 count = cursor.number<u32>();
    if (cursor.failed()) {
      reading.note(Counter::RangeCut, namePlace, "event formats");
      return false;
    }
    if (!readFormats(reading, cursor, name, count, countPlace)) return false;
  }
  if (read != systems) {
    reading.note(Counter::RangeCut, place,
                 fmt::format("{} event systems announced, {} found", systems, read));
  }
  return true;
}

bool readKallsyms(Reading& reading, SourceCursor& cursor) {
  const u64 size = cursor.number<u32>();
  std::string text;
  const bool whole = readSized(reading, cursor, size, "kernel symbols", text);
  // With a wrong size what follows is not text any more.
  if (!whole) text.resize(std::min(text.find('\0'), text.size()));
  addSymbols(std::move(text), reading.out.metadata);
  return whole;
}

bool readPrintk(Reading& reading, SourceCursor& cursor) {
  const u64 size = cursor.number<u32>();
  const u64 place = cursor.place();
  std::string text;
  const bool whole = readSized(reading, cursor, size, "kernel strings", text);
  if (!whole) text.resize(std::min(text.find('\0'), text.size()));
  addPrintkFormats(text, place, reading.out.metadata, reading.log);
  return whole;
}

bool readCmdlines(Reading& reading, SourceCursor& cursor) {
  const u64 size = cursor.number<u64>();
  const u64 place = cursor.place();
  std::string text;
  const bool whole = readSized(reading, cursor, size, "task names", text);
  if (!whole) text.resize(std::min(text.find('\0'), text.size()));
  addTaskNames(text, place, reading.out.metadata, reading.log);
  return whole;
}

}  // namespace tickscope::trace_dat
