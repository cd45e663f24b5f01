// SPDX-License-Identifier: GPL-3.0-or-later
// Joins pieces of streams into a store: numbers of the pools, counts, losses, and the one order by time.
#include "core/trace/store_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/parallel.h"
#include "core/trace/stream_merge.h"

namespace tickscope {

bool StreamPiece::openGroup() {
  closeGroup();
  constexpr std::size_t most = sizeof(EventGroup) + groupSize * 0xffU;
  static_assert(groupSize * 0xffU <= 0xffff, "payloadAt has 16 bits");
  u8* const room = arena_->room(most);
  if (!room) return false;
  group_ = reinterpret_cast<EventGroup*>(room);
  groups_.push_back(group_);
  payload_ = group_->payload;
  inGroup_ = 0;
  return true;
}

namespace {

/// Places of the numbers in payloads that belong to a pool.
struct PooledMembers {
  enum class Pool : u8 { Address, String, Task };
  struct Member {
    Pool pool;
    u8 at;
  };
  std::vector<Member> members;
};

PooledMembers pooledMembers(const EventType& type) {
  PooledMembers pooled;
  EventStore::visitKind(type.kind, [&]<class P>() {
    std::size_t member = 0;
    P::Fields::forEach([&]<class F>() {
      using T = typename F::Type;
      const u8 at = type.layout.at[member++];
      if (at == StoredLayout::absent) return;
      if constexpr (std::is_same_v<T, Address>)
        pooled.members.push_back({PooledMembers::Pool::Address, at});
      if constexpr (std::is_same_v<T, StringId>)
        pooled.members.push_back({PooledMembers::Pool::String, at});
      if constexpr (std::is_same_v<T, Task>)
        pooled.members.push_back({PooledMembers::Pool::Task, at});
    });
  });
  return pooled;
}

/// Number in a piece's pool -> number in the store's pool.
struct Renumbering {
  std::vector<u32> addresses, strings, tasks;
  bool identity = true;
};

template <class Pool>
std::vector<u32> mergedInto(Pool& all, const Pool& piece, bool& identity) {
  std::vector<u32> numbers(piece.size());
  for (u32 id = 0; id < piece.size(); ++id) {
    numbers[id] = all.intern(piece[id]);
    identity = identity && numbers[id] == id;
  }
  return numbers;
}

}  // namespace

class StoreAssembly {
 public:
  explicit StoreAssembly(StoreParts parts) : parts_(std::move(parts)) {}

  Result<EventStore> run(std::shared_ptr<Pools> pools, Progress& progress) {
    u64 rows = 0;
    u64 groups = 0;
    for (StreamPieces& stream : parts_.streams) {
      for (StreamPiece& piece : stream.pieces) {
        piece.close();
        rows += piece.size();
        groups += piece.groups_.size();
      }
    }
    if (rows > 0xfffffffeU || groups > (u64{1} << (32 - groupShift))) {
      return fail(
          Error::Kind::TooLarge,
          fmt::format("The recording has {} events; 4,294,967,294 are the most that fit.", rows));
    }
    takeTaskNames(*pools);
    store_.pools_ = std::move(pools);
    lineUp(groups);
    if (!store_.order_.allocate(rows) || !store_.rowOf_.allocate(rows)) {
      return fail(Error::Kind::TooLarge,
                  fmt::format("No memory for the order of {} events.", rows));
    }
    std::vector<MergeInput> inputs;
    for (u32 s = 0; s < store_.streams_.size(); ++s) {
      inputs.push_back({std::span<const EventGroup* const>(store_.groups_)
                            .subspan(firstGroup_[s], firstGroup_[s + 1] - firstGroup_[s]),
                        std::span<const u32>(store_.groupFirst_)
                            .subspan(firstGroup_[s], firstGroup_[s + 1] - firstGroup_[s]),
                        firstGroup_[s], store_.streams_[s].first, store_.streams_[s].count});
    }
    progress.begin("ordering events", rows);
    std::vector<u32> backward;
    if (!mergeStreams(inputs, {store_.order_.data(), rows}, {store_.rowOf_.data(), rows}, backward,
                      progress)) {
      return fail(Error::Kind::Cancelled, "Cancelled.");
    }
    placeLosses();
    placeBackwardSteps(backward);
    for (const auto& arena : parts_.arenas) arena->trim();
    store_.arenas_ = std::move(parts_.arenas);
    return std::move(store_);
  }

  StoreParts& parts() { return parts_; }

  static void renumber(StreamPiece& piece, std::span<const PooledMembers> pooled,
                       const Renumbering& numbers) {
    if (numbers.identity) return;
    for (std::size_t g = 0; g < piece.groups_.size(); ++g) {
      EventGroup& group = *piece.groups_[g];
      const u32 count = g + 1 < piece.groups_.size() ? groupSize : piece.inGroup_;
      for (u32 i = 0; i < count; ++i) {
        for (const PooledMembers::Member member : pooled[group.type[i]].members) {
          u8* const at = group.payload + group.payloadAt[i] + member.at;
          u32 id;
          std::memcpy(&id, at, sizeof id);
          switch (member.pool) {
            case PooledMembers::Pool::Address:
              id = numbers.addresses[id];
              break;
            case PooledMembers::Pool::String:
              id = numbers.strings[id];
              break;
            case PooledMembers::Pool::Task:
              id = numbers.tasks[id];
              break;
          }
          std::memcpy(at, &id, sizeof id);
        }
      }
    }
  }

 private:
  void takeTaskNames(Pools& pools) {
    for (u32 id = 0; id < pools.tasks.size(); ++id) {
      const auto* comm = reinterpret_cast<const char*>(pools.tasks[id].comm);
      const std::size_t length = strnlen(comm, sizeof pools.tasks[id].comm);
      store_.taskComm_.push_back(static_cast<StringId>(pools.strings.intern({comm, length})));
    }
  }

  void lineUp(u64 groups) {
    store_.types_ = std::move(parts_.types);
    for (const EventType& type : store_.types_) store_.kinds_.push_back(type.kind);
    store_.groups_.reserve(groups);
    store_.groupFirst_.reserve(groups);
    store_.groupStream_.reserve(groups);
    u32 position = 0;
    for (StreamPieces& pieces : parts_.streams) {
      Stream stream{pieces.cpu, position, 0, pieces.cpuInferred};
      firstGroup_.push_back(static_cast<u32>(store_.groups_.size()));
      std::vector<u32> counts(store_.types_.size(), 0);
      for (const StreamPiece& piece : pieces.pieces) {
        for (const StreamPiece::Gap& gap : piece.losses_) {
          gaps_.push_back(
              {static_cast<u32>(store_.streams_.size()), position + gap.before, gap.count});
        }
        for (std::size_t g = 0; g < piece.groups_.size(); ++g) {
          store_.groups_.push_back(piece.groups_[g]);
          store_.groupFirst_.push_back(position);
          store_.groupStream_.push_back(static_cast<u16>(store_.streams_.size()));
          position += g + 1 < piece.groups_.size() ? groupSize : piece.inGroup_;
        }
        for (std::size_t t = 0; t < counts.size(); ++t) counts[t] += piece.counts_[t];
      }
      stream.count = position - stream.first;
      store_.streams_.push_back(stream);
      store_.counts_.insert(store_.counts_.end(), counts.begin(), counts.end());
    }
    firstGroup_.push_back(static_cast<u32>(store_.groups_.size()));
  }

  void placeLosses() {
    for (const Gap& gap : gaps_) {
      const Stream& stream = store_.streams_[gap.stream];
      Loss loss{stream.cpu, gap.count, {}, {}, {}};
      if (gap.before > stream.first) loss.from = store_.time(store_.rowOf_[gap.before - 1]);
      if (gap.before < stream.first + stream.count) {
        loss.next = store_.rowOf_[gap.before];
        loss.to = store_.time(*loss.next);
      }
      store_.losses_.push_back(loss);
    }
  }

  void placeBackwardSteps(std::span<const u32> positions) {
    for (const u32 position : positions) {
      const Row row = store_.rowOf_[position];
      store_.backward_.push_back(
          {row, store_.time(store_.rowOf_[position - 1]) - store_.time(row)});
    }
  }

  struct Gap {
    u32 stream;
    u32 before;  // position
    Known<u64> count;
  };
  StoreParts parts_;
  EventStore store_;
  std::vector<u32> firstGroup_;
  std::vector<Gap> gaps_;
};

Result<EventStore> assemble(StoreParts parts, std::shared_ptr<Pools> pools, Progress& progress) {
  return StoreAssembly(std::move(parts)).run(std::move(pools), progress);
}

Result<EventStore> assemble(StoreParts parts, std::vector<std::unique_ptr<Pools>> piecePools,
                            int threads, Progress& progress) {
  auto all = std::make_shared<Pools>();
  std::vector<Renumbering> numbers(piecePools.size());
  for (std::size_t i = 0; i < piecePools.size(); ++i) {
    numbers[i].addresses =
        mergedInto(all->addresses, piecePools[i]->addresses, numbers[i].identity);
    numbers[i].strings = mergedInto(all->strings, piecePools[i]->strings, numbers[i].identity);
    numbers[i].tasks = mergedInto(all->tasks, piecePools[i]->tasks, numbers[i].identity);
  }
  std::vector<PooledMembers> pooled;
  for (const EventType& type : parts.types) pooled.push_back(pooledMembers(type));
  StoreAssembly assembly(std::move(parts));
  std::vector<StreamPiece*> pieces;
  for (StreamPieces& stream : assembly.parts().streams) {
    for (StreamPiece& piece : stream.pieces) pieces.push_back(&piece);
  }
  parallelFor(static_cast<u32>(pieces.size()), threads,
              [&](u32 i, int) { StoreAssembly::renumber(*pieces[i], pooled, numbers[i]); });
  return assembly.run(std::move(all), progress);
}

}  // namespace tickscope
