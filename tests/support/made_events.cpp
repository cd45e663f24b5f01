// SPDX-License-Identifier: GPL-3.0-or-later
// Fills stores through the builder that importers use.
#include "tests/support/made_events.h"

namespace tickscope::support {

EventMaker::EventMaker() : pools_(std::make_shared<Pools>()) {
  const auto declare = [&](EventKind kind, std::string_view name) {
    EventType type;
    type.kind = kind;
    type.id = static_cast<u16>(parts_.types.size() + 1);
    type.system = "made";
    type.name = name.empty() ? infoOf(kind).event : name;
    type.has = (1U << infoOf(kind).fields.size()) - 1;
    type.layout = storedLayout(kind, type.has);
    parts_.types.push_back(std::move(type));
  };
  for (const EventKind kind :
       {kindOf<SchedSwitch>, kindOf<SchedWaking>, kindOf<IrqHandlerEntry>, kindOf<IrqHandlerExit>,
        kindOf<LocalTimerEntry>, kindOf<LocalTimerExit>, kindOf<SoftirqRaise>, kindOf<SoftirqEntry>,
        kindOf<SoftirqExit>, kindOf<HrtimerStart>, kindOf<HrtimerCancel>,
        kindOf<HrtimerExpireEntry>, kindOf<HrtimerExpireExit>, kindOf<HrtimerRearm>,
        kindOf<TimerStart>, kindOf<TimerCancel>, kindOf<TimerExpireEntry>,
        kindOf<TimerExpireExit>}) {
    declare(kind, "");
  }
  declare(kindOf<ProgramEvent>, "function");
  declare(kindOf<VectorEntry>, "reschedule_entry");
  declare(kindOf<VectorExit>, "reschedule_exit");
  parts_.arenas.push_back(std::make_shared<EventArena>());
}

u16 EventMaker::typeOf(EventKind kind) const {
  for (u16 type = 0; type < parts_.types.size(); ++type) {
    if (parts_.types[type].kind == kind) return type;
  }
  throw std::runtime_error("the maker has no such type");
}

EventMaker& EventMaker::cpu(u16 number) {
  StreamPieces stream;
  stream.cpu = static_cast<Cpu>(number);
  stream.pieces.emplace_back(*parts_.arenas.back(), *pools_, parts_.types);
  if (!parts_.streams.empty()) parts_.streams.back().pieces.back().close();
  parts_.streams.push_back(std::move(stream));
  return *this;
}

EventMaker& EventMaker::loss(Known<u64> count) {
  parts_.streams.back().pieces.back().loss(count);
  return *this;
}

StringId EventMaker::string(std::string_view text) {
  return static_cast<StringId>(pools_->strings.intern(text));
}

Task EventMaker::task(const std::string& name) {
  if (name == "idle") return {string("swapper/0"), Pid{0}, 120};
  const auto dash = name.rfind('-');
  return {string(name.substr(0, dash)), static_cast<Pid>(std::stoi(name.substr(dash + 1))), 120};
}

EventMaker& EventMaker::switchTo(s64 time, const std::string& from, const std::string& to) {
  return add(time, SchedSwitch{task(from), 0, task(to)});
}

EventMaker& EventMaker::irq(s64 from, s64 to, s32 number) {
  add(from, IrqHandlerEntry{number, string("device")});
  return add(to, IrqHandlerExit{number, 1});
}

EventMaker& EventMaker::softirq(s64 raise, s64 from, s64 to, u32 vector) {
  add(raise, SoftirqRaise{vector});
  add(from, SoftirqEntry{vector});
  return add(to, SoftirqExit{vector});
}

EventMaker& EventMaker::expiry(s64 from, s64 to, u64 timer) {
  const auto address = static_cast<Address>(timer);
  add(from, HrtimerCancel{address});
  add(from, HrtimerExpireEntry{address, {from}, Address{0x1000}});
  return add(to, HrtimerExpireExit{address});
}

EventMaker& EventMaker::call(s64 time) { return add(time, ProgramEvent{}); }

EventStore EventMaker::finish() {
  Progress progress;
  Result<EventStore> store = assemble(std::move(parts_), std::move(pools_), progress);
  if (!store) throw std::runtime_error(store.error().what);
  return std::move(*store);
}

std::shared_ptr<Recording> EventMaker::recording(ClockUnit unit) {
  auto recording = std::make_shared<Recording>();
  recording->path = "made.dat";
  recording->metadata.format = "made by a test";
  Buffer buffer;
  buffer.clock = {unit == ClockUnit::Nanoseconds ? "mono" : "counter", "made by a test", unit};
  buffer.events = finish();
  recording->buffers.push_back(std::move(buffer));
  return recording;
}

}  // namespace tickscope::support
