// SPDX-License-Identifier: GPL-3.0-or-later
// A payload's fields written once: name, member and kind drive binary binding, packing, printing and filter.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <tuple>

#include "core/base/ids.h"

namespace tickscope {

template <std::size_t N>
struct FixedString {
  char text[N]{};
  // NOLINTNEXTLINE(google-explicit-constructor): written as a literal in template arguments
  constexpr FixedString(const char (&from)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = from[i];
  }
  [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }
};

/// What sched events say of a task in three neighbouring fields.
struct Task {
  StringId comm{};
  Pid pid{};
  s32 prio{};
};

/// Where the bytes of a record lie that is not decoded, or not wholly.
struct RawRef {
  u32 block{};   ///< index into the recording's table of unpacked blocks
  u32 offset{};  ///< byte of the record's payload in that block
  u32 length{};  ///< of the payload, bytes
};

/// How a field is held and shown. Numbers are widened from whatever width the format gives.
enum class FieldType : u8 {
  U8,
  U16,
  U32,
  U64,
  S32,
  S64,
  Bool,
  Address,       ///< kernel address
  Ktime,         ///< BaseTime: s64 ns of the timer's own clock
  JiffiesValue,  ///< u64, zero-extended
  PidValue,
  Text,  ///< string
  TaskComm,
  TaskPid,
  TaskPrio
};

struct FieldInfo {
  std::string_view name;
  std::string_view alias;  ///< the name other kernels give it; empty: none
  FieldType type;
};

/// FieldType of a member's C++ type.
template <class T>
struct FieldTypeOf;
template <>
struct FieldTypeOf<u8> {
  static constexpr auto value = FieldType::U8;
};
template <>
struct FieldTypeOf<u16> {
  static constexpr auto value = FieldType::U16;
};
template <>
struct FieldTypeOf<u32> {
  static constexpr auto value = FieldType::U32;
};
template <>
struct FieldTypeOf<u64> {
  static constexpr auto value = FieldType::U64;
};
template <>
struct FieldTypeOf<s32> {
  static constexpr auto value = FieldType::S32;
};
template <>
struct FieldTypeOf<s64> {
  static constexpr auto value = FieldType::S64;
};
template <>
struct FieldTypeOf<bool> {
  static constexpr auto value = FieldType::Bool;
};
template <>
struct FieldTypeOf<Address> {
  static constexpr auto value = FieldType::Address;
};
template <>
struct FieldTypeOf<BaseTime> {
  static constexpr auto value = FieldType::Ktime;
};
template <>
struct FieldTypeOf<Jiffies> {
  static constexpr auto value = FieldType::JiffiesValue;
};
template <>
struct FieldTypeOf<Pid> {
  static constexpr auto value = FieldType::PidValue;
};
template <>
struct FieldTypeOf<StringId> {
  static constexpr auto value = FieldType::Text;
};

template <class M>
struct MemberOf;
template <class P, class T>
struct MemberOf<T P::*> {
  using Payload = P;
  using Type = T;
};

template <FixedString Name, auto Member, FixedString Alias = "">
struct Field {
  static constexpr auto member = Member;
  using Type = typename MemberOf<decltype(Member)>::Type;
  static constexpr std::size_t names = 1;
  static constexpr std::array<FieldInfo, 1> infos{
      FieldInfo{Name.view(), Alias.view(), FieldTypeOf<Type>::value}};
};

/// Three fields of the record that are one member.
template <FixedString Comm, FixedString PidName, FixedString Prio, auto Member>
struct TaskField {
  static constexpr auto member = Member;
  using Type = Task;
  static constexpr std::size_t names = 3;
  static constexpr std::array<FieldInfo, 3> infos{FieldInfo{Comm.view(), "", FieldType::TaskComm},
                                                  FieldInfo{PidName.view(), "", FieldType::TaskPid},
                                                  FieldInfo{Prio.view(), "", FieldType::TaskPrio}};
};

/// No field of the record: where its bytes lie, for printing what the other members do not say.
template <auto Member>
struct RawField {
  static constexpr auto member = Member;
  using Type = RawRef;
  static constexpr std::size_t names = 0;
  static constexpr std::array<FieldInfo, 0> infos{};
};

template <class... F>
struct FieldList {
  static constexpr std::size_t names = (F::names + ... + 0);
  static constexpr std::size_t members = sizeof...(F);
  static constexpr std::array<FieldInfo, names> infos = [] {
    std::array<FieldInfo, names> all{};
    std::size_t at = 0;
    ((std::copy(F::infos.begin(), F::infos.end(), all.begin() + at), at += F::names), ...);
    return all;
  }();
  /// Calls f.template operator()<FieldType>() for each, in order.
  template <class Fn>
  static constexpr void forEach(Fn&& f) {
    (f.template operator()<F>(), ...);
  }
};

/// Bytes that a member takes in the store: addresses, strings and tasks are numbers into pools.
template <class T>
constexpr std::size_t storedSize() {
  if constexpr (std::is_same_v<T, Address> || std::is_same_v<T, StringId> ||
                std::is_same_v<T, Task>) {
    return 4;
  } else if constexpr (std::is_same_v<T, RawRef>) {
    return 12;
  } else {
    return sizeof(T);
  }
}

template <class List>
struct StoredSizeOf;
template <class... F>
struct StoredSizeOf<FieldList<F...>> {
  static constexpr std::size_t value = (storedSize<typename F::Type>() + ... + 0);
};
template <class P>
constexpr std::size_t storedSizeOf = StoredSizeOf<typename P::Fields>::value;

}  // namespace tickscope
