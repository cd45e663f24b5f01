// SPDX-License-Identifier: GPL-3.0-or-later
// Binds event formats to payloads by field name, never by kernel version.
#include "importers/trace_dat/field_binding.h"

#include <fmt/format.h>

#include <map>

#include "importers/trace_dat/decode_function.h"

namespace tickscope::trace_dat {
namespace {

using Kind = FormatField::Kind;
using How = FieldMove::How;

bool isInteger(const FormatField& field) {
  return (field.kind == Kind::Integer || field.kind == Kind::Pointer) &&
         (field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8);
}

/// Bytes of an integer field in the store.
u8 storedWidth(FieldType type) {
  switch (type) {
    case FieldType::U8:
    case FieldType::Bool:
      return 1;
    case FieldType::U16:
      return 2;
    case FieldType::U32:
    case FieldType::S32:
    case FieldType::PidValue:
      return 4;
    default:
      return 8;
  }
}

/// How a field of the format becomes a member of that type; `how` empty: it cannot.
Known<How> wayOf(FieldType type, const FormatField& field) {
  switch (type) {
    case FieldType::Address:
      if (isInteger(field) && field.size >= 4) return How::Address;
      return {};
    case FieldType::Text:
      if (field.kind == Kind::Chars) return field.size ? How::Chars : How::Tail;
      if (field.kind == Kind::DataLoc) return field.isChars ? How::Dynamic : How::Mask;
      if (field.kind == Kind::RelLoc && field.isChars) return How::Dynamic;
      return {};
    default:
      if (isInteger(field) && field.size <= storedWidth(type)) return How::Integer;
      return {};
  }
}

/// Fields of one payload in one format.
struct BoundFields {
  u32 has = 0;
  u32 least = 0;
  bool misfit = false;  ///< a field of a name that we know is of a kind that we cannot take
  std::vector<FieldMove> moves;  // `at` not yet set
  std::vector<std::size_t> memberOfMove;
};

class Binder {
 public:
  Binder(const EventFormat& format) : format_(format) {}

  template <class P>
  BoundFields bind() {
    std::size_t member = 0;
    std::size_t name = 0;
    P::Fields::forEach([&]<class F>() {
      bindMember<F>(member++, name);
      name += F::names;
    });
    return std::move(bound_);
  }

 private:
  template <class F>
  void bindMember(std::size_t member, std::size_t name) {
    using T = typename F::Type;
    if constexpr (std::is_same_v<T, RawRef>) {
      add(member, {.how = How::Place, .to = 12});
    } else if constexpr (std::is_same_v<T, Task>) {
      bindTask(member, name, F::infos);
    } else {
      const FormatField* const field = find(F::infos[0]);
      if (!field) return;
      const Known<How> how = wayOf(F::infos[0].type, *field);
      if (!how) {
        bound_.misfit = true;
        return;
      }
      FieldMove move{.how = *how,
                     .offset = static_cast<u16>(field->offset),
                     .width = static_cast<u16>(field->size),
                     .isSigned = field->isSigned,
                     .relative = field->kind == Kind::RelLoc,
                     .to = static_cast<u8>(storedSize<T>())};
      add(member, move);
      bound_.has |= 1U << name;
      need(*field);
    }
  }

  void bindTask(std::size_t member, std::size_t name, std::span<const FieldInfo> infos) {
    FieldMove move{.how = How::Task,
                   .offset = FieldMove::missing,
                   .width = 16,
                   .to = 4,
                   .pid = FieldMove::missing,
                   .prio = FieldMove::missing};
    if (const FormatField* comm = find(infos[0])) {
      if (comm->kind != Kind::Chars || comm->size != 16) {
        bound_.misfit = true;
        return;
      }
      move.offset = static_cast<u16>(comm->offset);
      bound_.has |= 1U << name;
      need(*comm);
    }
    for (std::size_t i = 1; i < 3; ++i) {
      const FormatField* const field = find(infos[i]);
      if (!field) continue;
      if (!isInteger(*field) || field->size != 4) {
        bound_.misfit = true;
        return;
      }
      (i == 1 ? move.pid : move.prio) = static_cast<u16>(field->offset);
      bound_.has |= 1U << (name + i);
      need(*field);
    }
    if (bound_.has >> name & 7U) add(member, move);
  }

  /// Empty for fields that the format declares in an unusable way, as for those that it lacks.
  const FormatField* find(const FieldInfo& info) const {
    const FormatField* field = format_.find(info.name);
    if (!field && !info.alias.empty()) field = format_.find(info.alias);
    return field && field->kind != Kind::Unusable ? field : nullptr;
  }
  void add(std::size_t member, FieldMove move) {
    bound_.moves.push_back(move);
    bound_.memberOfMove.push_back(member);
  }
  void need(const FormatField& field) {
    bound_.least = std::max(bound_.least, field.offset + field.size);
  }

  const EventFormat& format_;
  BoundFields bound_;
};

BoundFields boundFields(EventKind kind, const EventFormat& format) {
  BoundFields bound;
  EventStore::visitKind(kind, [&]<class P>() { bound = Binder(format).bind<P>(); });
  return bound;
}

/// The field's place in most formats.
struct Majority {
  std::map<std::pair<u32, u32>, u32> votes;
  void vote(const FormatField& field) { ++votes[{field.offset, field.size}]; }
  [[nodiscard]] Known<std::pair<u32, u32>> winner() const {
    Known<std::pair<u32, u32>> best;
    u32 most = 0;
    for (const auto& [place, count] : votes) {
      if (count > most) {
        most = count;
        best = place;
      }
    }
    return best;
  }
};

CommonFields commonFields(std::span<const EventFormat> formats) {
  std::map<std::string_view, Majority> places;
  for (const EventFormat& format : formats) {
    for (const FormatField& field : format.common) {
      if (isInteger(field) && field.offset < 64) places[field.name].vote(field);
    }
  }
  CommonFields common;
  const auto take = [&](std::string_view name, u16& offset, u32 size) {
    const auto place = places[name].winner();
    if (place && place->second == size) offset = static_cast<u16>(place->first);
    common.least = std::max<u32>(common.least, offset + size);
  };
  const auto type = places["common_type"].winner();
  if (type && (type->second == 1 || type->second == 2)) {
    common.typeOffset = static_cast<u16>(type->first);
    common.typeSize = static_cast<u8>(type->second);
  }
  common.least = common.typeOffset + common.typeSize;
  take("common_flags", common.flagsOffset, 1);
  take("common_preempt_count", common.preemptOffset, 1);
  take("common_pid", common.pidOffset, 4);
  common.usual = common.typeOffset == 0 && common.typeSize == 2 && common.flagsOffset == 2 &&
                 common.preemptOffset == 3 && common.pidOffset == 4;
  return common;
}

class FormatTable {
 public:
  FormatTable(const Container& container, ImportLog& log) : container_(container), log_(log) {
    program_ =
        container.metadata.symbols->rangeOf("tick_program_event").value_or(Symbols::Range{0, 0});
  }

  Binding take() {
    binding_.ring = container_.ring;
    binding_.planOfId.assign(65536, 0);
    addType(kindOf<Raw>, "", "unknown", 0, 0, ~0U);
    for (const FormatText& text : container_.formats) parse(text);
    binding_.common = commonFields(binding_.formats);
    for (u32 i = 0; i < binding_.formats.size(); ++i) plan(i);
    return std::move(binding_);
  }

 private:
  void parse(const FormatText& text) {
    if (text.text.size() > largestFormat) {
      log_.note(Counter::FormatTooBig, {text.offset, {}, text.system});
      return;
    }
    EventFormat format = parseFormat(text.system, text.text);
    format.offset = text.offset;
    for (const std::string& problem : format.problems) {
      log_.note(Counter::FormatBad, {text.offset, {}, fmt::format("{}: {}", format.name, problem)});
    }
    if (format.id == 0) return;
    if (binding_.planOfId[format.id]) {
      const u32 owner = binding_.planOfId[format.id] - 1U;
      // The same format can stand in a file twice (append, convert); only a second owner is worth a word.
      if (binding_.formats[owner].name != format.name) {
        log_.note(Counter::FormatTwice,
                  {text.offset,
                   {},
                   fmt::format("id {} is {} and {}; the first is used", format.id,
                               binding_.formats[owner].name, format.name)});
      }
      return;
    }
    // Until the plans are made, the place of the format; both lists grow together.
    binding_.formats.push_back(std::move(format));
    binding_.planOfId[binding_.formats.back().id] = static_cast<u16>(binding_.formats.size());
  }

  u16 addType(EventKind kind, std::string system, std::string name, u16 id, u32 has, u32 format) {
    EventType type{kind, id, std::move(system), std::move(name), has, storedLayout(kind, has)};
    binding_.types.push_back(std::move(type));
    binding_.formatOfType.push_back(format);
    return static_cast<u16>(binding_.types.size() - 1);
  }

  void plan(u32 index) {
    const EventFormat& format = binding_.formats[index];
    checkCommon(format);
    DecodePlan plan;
    plan.rawType = addType(kindOf<Raw>, format.system, format.name, format.id, 0, index);
    const FormatField* const probeIp = format.find("__probe_ip");
    const FormatField* const probeFunction = format.find("__probe_func");
    EventKind kind = kindOfEvent(format.system, format.name);
    if (kind == kindOf<Raw> && probeIp && isInteger(*probeIp)) kind = kindOf<ProgramEventProbe>;
    if (kind == kindOf<Raw> && probeFunction && isInteger(*probeFunction))
      kind = kindOf<ProgramEventReturn>;
    plan.probe = kind == kindOf<ProgramEventProbe> || kind == kindOf<ProgramEventReturn>;

    BoundFields bound = boundFields(kind, format);
    if (bound.misfit && kind != kindOf<Raw> && !plan.probe) {
      log_.note(
          Counter::FormatBad,
          {format.offset,
           {},
           fmt::format("{}: a field is of another kind than known; its records are kept as bytes",
                       format.name)});
      kind = kindOf<Raw>;
      bound = boundFields(kind, format);
    }
    if (bound.least > 0xffff) {
      kind = kindOf<Raw>;
      bound = boundFields(kind, format);
    }
    plan.type = kind == kindOf<Raw>
                    ? plan.rawType
                    : addType(kind, format.system, format.name, format.id, bound.has, index);
    plan.layout = binding_.types[plan.type].layout;
    plan.least = std::max(bound.least, binding_.common.least);
    for (std::size_t i = 0; i < bound.moves.size(); ++i) {
      bound.moves[i].at = plan.layout.at[bound.memberOfMove[i]];
      plan.offsets[bound.memberOfMove[i]] = bound.moves[i].offset;
    }
    plan.moves = std::move(bound.moves);
    if (kind != kindOf<Raw>) checkOtherDynamicFields(plan, format);
    plan.decode = decodeFunction(kind, plan, binding_.ring.swap || binding_.ring.bigEndian);
    if (kind == kindOf<Function>)
      bindProgram(
          plan, "ip",
          addType(kindOf<ProgramEvent>, format.system, format.name, format.id, bound.has, index),
          format);
    if (plan.probe)
      bindProgram(plan, kind == kindOf<ProgramEventProbe> ? "__probe_ip" : "__probe_func",
                  plan.type, format);
    plan.byPlace = plan.programSize || plan.probe;
    binding_.plans.push_back(std::move(plan));
  }

  static void checkOtherDynamicFields(DecodePlan& plan, const EventFormat& format) {
    for (const FormatField& field : format.fields) {
      if ((field.kind != Kind::DataLoc && field.kind != Kind::RelLoc) || field.offset > 0xfff0)
        continue;
      const bool taken =
          std::any_of(plan.moves.begin(), plan.moves.end(), [&](const FieldMove& move) {
            return move.offset == field.offset &&
                   (move.how == How::Dynamic || move.how == How::Mask);
          });
      if (taken) continue;
      plan.moves.push_back({.how = How::Check,
                            .offset = static_cast<u16>(field.offset),
                            .width = 4,
                            .relative = field.kind == Kind::RelLoc});
      plan.least = std::max(plan.least, field.offset + 4);
    }
  }

  void bindProgram(DecodePlan& plan, std::string_view ip, u16 type, const EventFormat& format) {
    const FormatField* const field = format.find(ip);
    if (!field || !isInteger(*field) || field->size != container_.ring.commitSize) return;
    plan.programType = type;
    plan.ipOffset = static_cast<u16>(field->offset);
    plan.programFrom = program_.from;
    plan.programSize = program_.to - program_.from;
  }

  void checkCommon(const EventFormat& format) {
    for (const FormatField& field : format.common) {
      if (field.name == "common_type" &&
          (field.offset != binding_.common.typeOffset || field.size != binding_.common.typeSize)) {
        log_.note(
            Counter::FormatBad,
            {format.offset,
             {},
             fmt::format("{}: common_type is not where the other formats have it", format.name)});
      }
    }
  }

  const Container& container_;
  ImportLog& log_;
  Binding binding_;
  Symbols::Range program_{};
};

}  // namespace

Binding bindFormats(const Container& container, ImportLog& log) {
  return FormatTable(container, log).take();
}

}  // namespace tickscope::trace_dat
