// SPDX-License-Identifier: GPL-3.0-or-later
// Decoding of records: a fast way for usual layouts, a complete one for all.
#include "importers/trace_dat/decode_function.h"

#include <fmt/format.h>

namespace tickscope::trace_dat {
namespace {

using How = FieldMove::How;

/// A member that the fast way can bring: numbers, addresses, and tasks whose three fields lie side by side.
template <class T>
constexpr bool isPlain = !std::is_same_v<T, StringId> && !std::is_same_v<T, RawRef>;

template <class P>
constexpr bool allPlain = []<class... F>(FieldList<F...>) {
  return (isPlain<typename F::Type> && ...);
}(typename P::Fields{});

template <class P>
void decodeUsual(const DecodePlan& plan, const u8* record, u32, u8* to, DecodeTarget& target) {
  std::size_t member = 0;
  P::Fields::forEach([&]<class F>() {
    using T = typename F::Type;
    const u8 at = plan.layout.at[member];
    const u16 from = plan.offsets[member];
    ++member;
    if (at == StoredLayout::absent) return;
    if constexpr (std::is_same_v<T, Address>) {
      const u32 id = target.pools.addresses.intern(loadNumber<u64>(record + from, false));
      std::memcpy(to + at, &id, sizeof id);
    } else if constexpr (std::is_same_v<T, Task>) {
      TaskBlock block;
      std::memcpy(&block, record + from, sizeof block);
      const u32 id = target.taskId(block, std::is_same_v<P, SchedSwitch>);
      std::memcpy(to + at, &id, sizeof id);
    } else {
      std::memcpy(to + at, record + from, sizeof(T));
    }
  });
}

u64 integerAt(const u8* from, u32 width, bool isSigned, bool swap) {
  switch (width) {
    case 1:
      return isSigned ? static_cast<u64>(static_cast<s64>(static_cast<s8>(*from))) : *from;
    case 2: {
      const u16 value = loadNumber<u16>(from, swap);
      return isSigned ? static_cast<u64>(static_cast<s64>(static_cast<s16>(value))) : value;
    }
    case 4: {
      const u32 value = loadNumber<u32>(from, swap);
      return isSigned ? static_cast<u64>(static_cast<s64>(static_cast<s32>(value))) : value;
    }
    default:
      return loadNumber<u64>(from, swap);
  }
}

void storeInteger(u8* to, u64 value, u8 width) {
  switch (width) {
    case 1:
      *to = static_cast<u8>(value);
      break;
    case 2: {
      const auto v = static_cast<u16>(value);
      std::memcpy(to, &v, 2);
      break;
    }
    case 4: {
      const auto v = static_cast<u32>(value);
      std::memcpy(to, &v, 4);
      break;
    }
    default:
      std::memcpy(to, &value, 8);
  }
}

std::string_view upToNul(const u8* from, u32 most) {
  const auto* text = reinterpret_cast<const char*>(from);
  return {text, strnlen(text, most)};
}

/// The bytes that a dynamic field names; empty with ok = false when they do not lie in the record.
Bytes dynamicBytes(const u8* record, u32 length, const FieldMove& move, bool swap, bool& ok) {
  const u32 word = loadNumber<u32>(record + move.offset, swap);
  u64 from = word & 0xffffU;
  const u32 size = word >> 16U;
  if (move.relative) from += move.offset + 4U;
  ok = from + size <= length && (size == 0 || from >= 8);
  return ok ? Bytes(record + from, size) : Bytes{};
}

void decodeAny(const DecodePlan& plan, const u8* record, u32 length, u8* to, DecodeTarget& target) {
  for (const FieldMove& move : plan.moves) {
    u8* const at = to + move.at;
    const auto putString = [&](std::string_view text) {
      storeInteger(at, target.pools.strings.intern(text), 4);
    };
    switch (move.how) {
      case How::Integer:
        storeInteger(at, integerAt(record + move.offset, move.width, move.isSigned, target.swap),
                     move.to);
        break;
      case How::Address:
        storeInteger(at,
                     target.pools.addresses.intern(
                         integerAt(record + move.offset, move.width, false, target.swap)),
                     4);
        break;
      case How::Chars:
        putString(upToNul(record + move.offset, move.width));
        break;
      case How::Tail:
        putString(upToNul(record + move.offset, length - move.offset));
        break;
      case How::Dynamic:
      case How::Mask: {
        bool ok = false;
        const Bytes bytes = dynamicBytes(record, length, move, target.swap, ok);
        if (!ok) {
          ++target.badStrings;
          putString("?");
        } else if (move.how == How::Mask) {
          putString(maskText(bytes, target.bigEndian, target.wordSize));
        } else {
          putString(upToNul(bytes.data(), static_cast<u32>(bytes.size())));
        }
        break;
      }
      case How::Task: {
        TaskBlock block{};
        if (move.offset != FieldMove::missing)
          std::memcpy(block.comm, record + move.offset, sizeof block.comm);
        if (move.pid != FieldMove::missing)
          block.pid = loadNumber<s32>(record + move.pid, target.swap);
        if (move.prio != FieldMove::missing)
          block.prio = loadNumber<s32>(record + move.prio, target.swap);
        storeInteger(at, target.pools.tasks.intern(block), 4);
        break;
      }
      case How::Check: {
        bool ok = false;
        dynamicBytes(record, length, move, target.swap, ok);
        if (!ok) ++target.badStrings;
        break;
      }
      case How::Place:
        std::memcpy(at, &target.place, sizeof target.place);
        break;
    }
  }
}

bool isUsual(const FieldMove& move) {
  switch (move.how) {
    case How::Integer:
      return move.width == move.to;
    case How::Address:
      return move.width == 8;
    case How::Task:
      return move.pid == move.offset + 16U && move.prio == move.offset + 20U;
    default:
      return false;
  }
}

}  // namespace

DecodeFunction decodeFunction(EventKind kind, const DecodePlan& plan, bool otherByteOrder) {
  DecodeFunction function = decodeAny;
  if (otherByteOrder || !std::all_of(plan.moves.begin(), plan.moves.end(), isUsual))
    return function;
  EventStore::visitKind(kind, [&]<class P>() {
    if constexpr (allPlain<P>) function = decodeUsual<P>;
  });
  return function;
}

std::string maskText(Bytes words, bool bigEndian, u8 wordSize) {
  // Bytes from the least significant on: within words in the machine's order, words ascending.
  std::vector<u8> bits(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t word = i / wordSize * wordSize;
    const std::size_t last = std::min<std::size_t>(word + wordSize, words.size()) - 1;
    bits[i] = words[bigEndian ? last - (i - word) : i];
  }
  std::string text;
  for (std::size_t group = (bits.size() + 3) / 4; group-- > 0;) {
    u32 value = 0;
    for (std::size_t b = 4; b-- > 0;)
      value = value << 8U | (group * 4 + b < bits.size() ? bits[group * 4 + b] : 0U);
    text += fmt::format("{}{:08x}", text.empty() ? "" : ",", value);
  }
  return text;
}

}  // namespace tickscope::trace_dat
