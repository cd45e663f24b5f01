// SPDX-License-Identifier: GPL-3.0-or-later
// Takes a recording apart into events with absolute times and packs them into pages again.
#include "tests/support/edited_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tests/support/imported.h"
#include "tests/support/trace_dat_source.h"

namespace tickscope::support {

namespace {

constexpr u64 deltaRange = u64{1} << 27U;

u64 numberAt(const Blob& bytes, u32 offset, u32 size, Order order) {
  if (offset + size > bytes.size()) throw std::runtime_error("field behind the record");
  u64 value = 0;
  for (u32 i = 0; i < size; ++i) {
    value = value << 8U | bytes[offset + (order == Order::Big ? i : size - 1 - i)];
  }
  return value;
}

u64 sizeOf(const Blob& payload) {
  const u64 body = (payload.size() + 3) / 4 * 4;
  return body > 0 && body <= 112 ? 4 + body : 8 + body;
}

std::vector<Page> packed(const DatFile& file,
                         const std::vector<const EditedRecording::Event*>& events) {
  const u64 capacity = file.pageSize - file.dataStart();
  std::vector<Page> pages;
  u64 used = 0, time = 0;
  for (const EditedRecording::Event* event : events) {
    if (pages.empty() || event->lossBefore || used + sizeOf(event->payload) + 8 > capacity) {
      Page& page = pages.emplace_back();
      page.time = time = event->time;
      if (event->lossBefore) page.lost = Lost{};
      used = 0;
    }
    u64 delta = event->time - time;
    if (delta >= deltaRange) {
      pages.back().extend(delta);
      used += 8;
      delta = 0;
    }
    pages.back().data(delta, event->payload);
    used += sizeOf(event->payload);
    time = event->time;
  }
  return pages;
}

}  // namespace

EditedRecording::EditedRecording(const std::string& path)
    : path_(path), file_(readDat(readFile(path))) {
  file_.buffers.resize(1);
  // Pages one by one, as the mark of lost events is theirs.
  for (const Stream& stream : file_.buffers[0].streams) {
    for (const Page& page : stream.pages) {
      DatFile one;
      one.buffers = {{"", "", {{stream.cpu, {page}, {}}}}};
      bool lossBefore = page.lost.has_value();
      for (SeenEvent& seen : eventsOf(one)) {
        events.push_back({stream.cpu, seen.time, std::move(seen.payload), lossBefore});
        lossBefore = false;
      }
    }
  }
  std::ranges::stable_sort(events, {}, &Event::time);
  for (const System& system : file_.systems) {
    for (const std::string& text : system.formats) {
      EventFormat format = parseFormat(text, file_.word);
      formats_[format.id] = std::move(format);
    }
  }
  for (const std::string& text : file_.ftraceFormats) {
    EventFormat format = parseFormat(text, file_.word);
    formats_[format.id] = std::move(format);
  }
}

std::string_view EditedRecording::nameOf(const Event& event) const {
  const auto found = formats_.find(static_cast<u32>(numberAt(event.payload, 0, 2, file_.order)));
  return found == formats_.end() ? std::string_view{} : found->second.name;
}

bool EditedRecording::is(const Event& event, std::string_view name) const {
  return nameOf(event) == name;
}

const FormatField& EditedRecording::field(const Event& event, std::string_view name) const {
  const auto found = formats_.find(static_cast<u32>(numberAt(event.payload, 0, 2, file_.order)));
  if (found != formats_.end()) {
    const auto& fields = found->second.fields;
    const auto at = std::ranges::find(fields, name, &FormatField::name);
    if (at != fields.end()) return *at;
  }
  throw std::runtime_error(fmt::format("{}: no field {} in {}", path_, name, nameOf(event)));
}

u64 EditedRecording::get(const Event& event, std::string_view name) const {
  const FormatField& place = field(event, name);
  return numberAt(event.payload, place.offset, place.size, file_.order);
}

s64 EditedRecording::getSigned(const Event& event, std::string_view name) const {
  const u32 spare = 64 - field(event, name).size * 8;
  return static_cast<s64>(get(event, name) << spare) >> spare;
}

void EditedRecording::set(Event& event, std::string_view name, u64 value) const {
  const FormatField& place = field(event, name);
  if (place.offset + place.size > event.payload.size()) {
    throw std::runtime_error("field behind the record");
  }
  Blob bytes;
  append(bytes, file_.order, place.size, value);
  std::ranges::copy(bytes, event.payload.begin() + place.offset);
}

void EditedRecording::loseRows(u32 cpu, u64 from, u64 length, bool marked) {
  std::vector<Event> kept;
  bool gone = false;
  for (Event& event : events) {
    if (event.cpu == cpu && event.time >= from && event.time < from + length) {
      gone = true;
      continue;
    }
    if (event.cpu == cpu && std::exchange(gone, false)) event.lossBefore = marked;
    kept.push_back(std::move(event));
  }
  events = std::move(kept);
}

void EditedRecording::strip(std::string_view event, std::string_view field) {
  const std::string ending = fmt::format(" {};", field);
  for (System& system : file_.systems) {
    for (std::string& text : system.formats) {
      if (parseFormat(text, file_.word).name != event) continue;
      const auto at = text.find(ending);
      if (at == std::string::npos) break;
      const auto from = text.rfind('\n', at) + 1;
      text.erase(from, text.find('\n', at) + 1 - from);
      return;
    }
  }
  throw std::runtime_error(fmt::format("{}: no field {} in {}", path_, field, event));
}

std::shared_ptr<const Recording> EditedRecording::recording() const {
  DatFile file = file_;
  for (Stream& stream : file.buffers[0].streams) {
    std::vector<const Event*> own;
    for (const Event& event : events) {
      if (event.cpu == stream.cpu) own.push_back(&event);
    }
    stream.pages = packed(file, own);
    stream.stored.reset();
  }
  // Packing costs more than all else.
  file.codec = Codec::None;
  return std::make_shared<const Recording>(importedBytes(write(file)));
}

}  // namespace tickscope::support
