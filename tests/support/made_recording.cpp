// SPDX-License-Identifier: GPL-3.0-or-later
// Fills a store through the builder that importers use.
#include "tests/support/made_recording.h"

#include <fmt/format.h>

#include <stdexcept>

namespace tickscope::support {

BufferMaker::BufferMaker() : pools_(std::make_shared<Pools>()) {
  EventType type;
  type.kind = kindOf<HrtimerCancel>;
  type.id = 1;
  type.system = "timer";
  type.name = "hrtimer_cancel";
  type.has = 1;
  type.layout = storedLayout(type.kind, type.has);
  parts_.types.push_back(std::move(type));
  parts_.arenas.push_back(std::make_shared<EventArena>());
}

BufferMaker& BufferMaker::cpu(u16 number) {
  StreamPieces stream;
  stream.cpu = static_cast<Cpu>(number);
  stream.pieces.emplace_back(*parts_.arenas.back(), *pools_, parts_.types);
  if (!parts_.streams.empty()) parts_.streams.back().pieces.back().close();
  parts_.streams.push_back(std::move(stream));
  return *this;
}

BufferMaker& BufferMaker::event(s64 time, s32 pid) {
  const HrtimerCancel payload{static_cast<Address>(0xffff888000000000U + static_cast<u32>(pid))};
  StreamPiece& piece = parts_.streams.back().pieces.back();
  if (!piece.append({time}, static_cast<Pid>(pid), Context{}, 0, payload)) {
    throw std::runtime_error("no memory for the events of a test");
  }
  return *this;
}

BufferMaker& BufferMaker::events(u32 count, s64 from, s64 step) {
  for (u32 i = 0; i < count; ++i)
    event(from + static_cast<s64>(i) * step, static_cast<s32>(i % 10));
  return *this;
}

BufferMaker& BufferMaker::loss(Known<u64> count) {
  parts_.streams.back().pieces.back().loss(count);
  return *this;
}

Buffer BufferMaker::finish(std::string name) {
  Progress progress;
  Result<EventStore> store = assemble(std::move(parts_), std::move(pools_), progress);
  if (!store) throw std::runtime_error(store.error().what);
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.clock = {"mono", "made by a test", ClockUnit::Nanoseconds};
  buffer.events = std::move(*store);
  return buffer;
}

std::shared_ptr<Recording> madeRecording(std::vector<Buffer> buffers) {
  auto recording = std::make_shared<Recording>();
  recording->path = "made.dat";
  recording->metadata.format = "made by a test";
  for (s32 pid = 1; pid < 10; ++pid) {
    recording->metadata.tasks.add(static_cast<Pid>(pid), fmt::format("task-{}", pid));
  }
  recording->buffers = std::move(buffers);
  return recording;
}

std::shared_ptr<Recording> madeRecording(Buffer buffer) {
  std::vector<Buffer> buffers;
  buffers.push_back(std::move(buffer));
  return madeRecording(std::move(buffers));
}

}  // namespace tickscope::support
