// SPDX-License-Identifier: GPL-3.0-or-later
// Pages for the event store.
#include "core/trace/event_arena.h"

#include <sys/mman.h>

#include <algorithm>

namespace tickscope {
namespace {

constexpr std::size_t hugePage = std::size_t{2} << 20U;
constexpr std::size_t regionSize = std::size_t{64} << 20U;

std::size_t roundedUp(std::size_t size, std::size_t to) { return (size + to - 1) / to * to; }

u8* mapped(std::size_t size) {
  void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<u8*>(pages);
}

}  // namespace

void* allocatePages(std::size_t size) {
  if (size == 0) return nullptr;
  u8* pages = mapped(size);
  // A small column in a huge page would waste most of it.
  if (pages && size >= 4 * hugePage) madvise(pages, size, MADV_HUGEPAGE);
  return pages;
}

void freePages(void* pages, std::size_t size) {
  if (pages) munmap(pages, size);
}

EventArena::~EventArena() {
  for (const Region& region : regions_) munmap(region.begin, region.size);
}

u8* EventArena::room(std::size_t least) {
  if (static_cast<std::size_t>(end_ - next_) >= least) return next_;
  // The first region starts with small pages, so that a short recording takes what it needs; huge pages begin
  // where a recording has shown itself to be large.
  const std::size_t size =
      std::max(regions_.empty() ? hugePage : regionSize, roundedUp(least, hugePage));
  u8* const begin = mapped(size);
  if (!begin) return nullptr;
  if (!regions_.empty()) madvise(begin, size, MADV_HUGEPAGE);
  regions_.push_back({begin, size});
  next_ = begin;
  end_ = begin + size;
  return next_;
}

void EventArena::used(const u8* end) {
  const auto size = roundedUp(static_cast<std::size_t>(end - next_), 8);
  next_ += size;
  bytes_ += size;
}

void EventArena::trim() {
  if (regions_.empty()) return;
  Region& last = regions_.back();
  const std::size_t kept = roundedUp(static_cast<std::size_t>(next_ - last.begin), 4096);
  if (kept < last.size) {
    munmap(last.begin + kept, last.size - kept);
    last.size = kept;
    end_ = last.begin + kept;
  }
  if (last.size == 0) regions_.pop_back();
}

}  // namespace tickscope
