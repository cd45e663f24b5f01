// SPDX-License-Identifier: GPL-3.0-or-later
// Ties go to the stream that the builder gets first.
#include "tests/support/stream_order.h"

#include <algorithm>
#include <stdexcept>

#include "core/trace/store_builder.h"

namespace tickscope::support {
namespace {

/// Strings as numbers of another pool.
template <class P>
P moved(P payload, const EventStore& from, Pools& to) {
  const auto number = [&](StringId id) {
    return static_cast<StringId>(to.strings.intern(from.text(id)));
  };
  P::Fields::forEach([&]<class F>() {
    auto& member = payload.*F::member;
    using Member = std::remove_cvref_t<decltype(member)>;
    if constexpr (std::is_same_v<Member, StringId>) {
      member = number(member);
    } else if constexpr (std::is_same_v<Member, Task>) {
      member.comm = number(member.comm);
    }
  });
  return payload;
}

}  // namespace

std::shared_ptr<const Recording> inCoarseTime(const Recording& recording, s64 grain,
                                              TieOrder order) {
  const Buffer& buffer = recording.buffers.at(recording.mainBuffer());
  const EventStore& events = buffer.events;
  if (!events.losses().empty()) throw std::runtime_error("a recording with lost events");
  std::vector<u32> streams(events.streams().size());
  for (u32 i = 0; i < streams.size(); ++i) streams[i] = i;
  if (order == TieOrder::LastCpuFirst) std::ranges::reverse(streams);

  StoreParts parts;
  const auto pools = std::make_shared<Pools>();
  parts.types.assign(events.types().begin(), events.types().end());
  parts.arenas.push_back(std::make_shared<EventArena>());
  for (const u32 stream : streams) {
    StreamPieces made;
    made.cpu = events.streams()[stream].cpu;
    made.pieces.emplace_back(*parts.arenas.back(), *pools, parts.types);
    StreamPiece& piece = made.pieces.back();
    for (const Row row : events.rowsOfStream(stream)) {
      const TraceTime time{(events.time(row).value + grain - 1) / grain * grain};
      events.visit(row, [&](const auto& payload) {
        if (!piece.append(time, events.pid(row), events.context(row), events.typeIndex(row),
                          moved(payload, events, *pools))) {
          throw std::runtime_error("no memory for the events of a test");
        }
      });
    }
    piece.close();
    parts.streams.push_back(std::move(made));
  }
  Progress progress;
  Result<EventStore> store = assemble(std::move(parts), pools, progress);
  if (!store) throw std::runtime_error(store.error().what);
  auto result = std::make_shared<Recording>();
  result->path = recording.path;
  result->metadata = recording.metadata;
  Buffer& one = result->buffers.emplace_back();
  one.name = buffer.name;
  one.clock = buffer.clock;
  one.events = std::move(*store);
  one.raw = buffer.raw;
  return result;
}

}  // namespace tickscope::support
