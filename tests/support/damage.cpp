// SPDX-License-Identifier: GPL-3.0-or-later
// Compares events by what stands in their heads.
#include "tests/support/damage.h"

#include <fmt/format.h>

#include <algorithm>

namespace tickscope::support {

Control::ByCpu Control::eventsByCpu(const Recording& recording) {
  ByCpu all;
  for (const tickscope::Buffer& buffer : recording.buffers) {
    const EventStore& store = buffer.events;
    for (u32 s = 0; s < store.streams().size(); ++s) {
      std::vector<Event>& events = all[number(store.streams()[s].cpu)];
      for (const Row row : store.rowsOfStream(s)) {
        events.push_back({store.time(row).value, static_cast<u32>(number(store.pid(row))),
                          store.type(row).id, store.context(row).flags,
                          store.context(row).preemptCount});
      }
    }
  }
  return all;
}

u64 Control::rows() const {
  u64 sum = 0;
  for (const auto& [cpu, events] : events_) sum += events.size();
  return sum;
}

u64 Control::rows(u32 cpu) const { return of(cpu).size(); }

u64 Control::rowsOf(const Recording& recording) {
  u64 sum = 0;
  for (const tickscope::Buffer& buffer : recording.buffers) sum += buffer.events.size();
  return sum;
}

const std::vector<Control::Event>& Control::of(u32 cpu) const {
  static const std::vector<Event> none;
  const auto found = events_.find(cpu);
  return found == events_.end() ? none : found->second;
}

std::string Control::differenceOfPrefix(const Recording& found) const {
  for (const auto& [cpu, events] : eventsByCpu(found)) {
    const std::vector<Event>& whole = of(cpu);
    if (events.size() > whole.size())
      return fmt::format("CPU {} has {} events of {}", cpu, events.size(), whole.size());
    const auto [a, b] = std::mismatch(events.begin(), events.end(), whole.begin());
    if (a != events.end())
      return fmt::format("event {} of CPU {} is another one", a - events.begin(), cpu);
  }
  return "";
}

std::string Control::differenceOfOthers(const Recording& found, u32 cpu) const {
  ByCpu events = eventsByCpu(found);
  for (const auto& [other, expected] : events_) {
    if (other != cpu && events[other] != expected) {
      return fmt::format("CPU {} has {} events, not its {} as before", other, events[other].size(),
                         expected.size());
    }
  }
  return "";
}

std::string Control::differenceElsewhere(const Recording& found, u32 cpu, u32 page,
                                         const DatFile& file) const {
  if (std::string text = differenceOfOthers(found, cpu); !text.empty()) return text;
  u64 before = 0;
  u64 behind = 0;
  for (const Buffer& buffer : file.buffers) {
    for (const Stream& stream : buffer.streams) {
      if (stream.cpu != cpu) continue;
      for (u32 p = 0; p < stream.pages.size(); ++p) {
        if (p != page) (p < page ? before : behind) += eventsOn(stream.pages[p]);
      }
    }
  }
  const std::vector<Event> events = eventsByCpu(found)[cpu];
  const std::vector<Event>& whole = of(cpu);
  if (events.size() < before + behind)
    return fmt::format("CPU {}: {} events, the other pages have {}", cpu, events.size(),
                       before + behind);
  using Step = std::ptrdiff_t;
  if (!std::equal(events.begin(), events.begin() + static_cast<Step>(before), whole.begin())) {
    return fmt::format("CPU {}: other events on the pages before", cpu);
  }
  if (!std::equal(events.end() - static_cast<Step>(behind), events.end(),
                  whole.end() - static_cast<Step>(behind))) {
    return fmt::format("CPU {}: other events on the pages behind", cpu);
  }
  return "";
}

u64 eventsOn(const Page& page) {
  return static_cast<u64>(
      std::count_if(page.records.begin(), page.records.end(), [](const Record& record) {
        return record.kind == Record::Kind::Data || record.kind == Record::Kind::LongData;
      }));
}

bool saysWhereDamage(const ImportLog& log) {
  for (const LogEntry& entry : log.entries()) {
    if (severityOf(entry.counter) == Severity::Info) continue;
    if (std::any_of(entry.examples.begin(), entry.examples.end(),
                    [](const LogExample& e) { return e.offset.has_value(); }))
      return true;
  }
  return false;
}

}  // namespace tickscope::support
