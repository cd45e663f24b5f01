// SPDX-License-Identifier: GPL-3.0-or-later
// Copies events member by member and moves what is a time.
#include "tests/bench/state_bench_repeat.h"

#include <stdexcept>

#include "core/trace/store_builder.h"

namespace tickscope::bench {
namespace {

constexpr s64 jiffiesApart = s64{1} << 30U;

struct Shift {
  s64 ns, jiffies;
};

/// The event as it would have been at another time, in the pools of another store.
template <class P>
P moved(P event, const EventStore& store, Pools& pools, const Shift& by) {
  const auto text = [&](StringId& id) { id = StringId{pools.strings.intern(store.text(id))}; };
  P::Fields::forEach([&]<class F>() {
    auto& member = event.*F::member;
    using T = typename F::Type;
    if constexpr (std::is_same_v<T, StringId>) text(member);
    if constexpr (std::is_same_v<T, Task>) text(member.comm);
    if constexpr (std::is_same_v<T, BaseTime>) member.value += by.ns;
    if constexpr (std::is_same_v<T, Jiffies>) member.value += by.jiffies;
  });
  if constexpr (std::is_same_v<P, ProgramEventProbe>) event.expires += by.ns;
  return event;
}

}  // namespace

Recording repeated(const Recording& recording, u32 buffer, u32 times, u32 hz) {
  const EventStore& from = recording.buffers[buffer].events;
  auto pools = std::make_shared<Pools>();
  StoreParts parts;
  parts.types.assign(from.types().begin(), from.types().end());
  for (u32 stream = 0; stream < from.streams().size(); ++stream) {
    parts.arenas.push_back(std::make_shared<EventArena>());
    StreamPieces& pieces = parts.streams.emplace_back();
    pieces.cpu = from.streams()[stream].cpu;
    for (u32 part = 0; part < times; ++part) {
      StreamPiece& piece = pieces.pieces.emplace_back(*parts.arenas.back(), *pools, parts.types);
      if (part > 0) piece.loss({});
      const s64 jiffies = jiffiesApart * part;
      const Shift by{jiffies * (1'000'000'000 / hz), jiffies};
      for (const Row row : from.rowsOfStream(stream)) {
        const TraceTime time{from.time(row).value + by.ns};
        from.visit(row, [&](const auto& event) {
          if (!piece.append(time, from.pid(row), from.context(row), from.typeIndex(row),
                            moved(event, from, *pools, by))) {
            throw std::runtime_error("no memory for the repeated events");
          }
        });
      }
      piece.close();
    }
  }
  Progress progress;
  auto events = assemble(std::move(parts), pools, progress);
  if (!events) throw std::runtime_error(events.error().what);
  Recording made;
  made.path = recording.path;
  made.metadata = recording.metadata;
  Buffer& filled = made.buffers.emplace_back();
  filled.clock = recording.buffers[buffer].clock;
  filled.raw = recording.buffers[buffer].raw;
  filled.events = std::move(*events);
  return made;
}

}  // namespace tickscope::bench
