// SPDX-License-Identifier: GPL-3.0-or-later
// Printing of records by their format, and the kernel's exceptions (events.md 1.8).
#include "importers/trace_dat/record_printer.h"

#include <fmt/format.h>

#include <iterator>

#include "core/base/shown_text.h"
#include "importers/trace_dat/binary_print.h"
#include "importers/trace_dat/field_binding.h"

namespace tickscope::trace_dat {
namespace {

using Kind = FormatField::Kind;

constexpr u32 absent = ~u32{0};

/// A typed event's values under the numbers of its format's fields.
class TypedFieldValues : public FieldValues {
 public:
  TypedFieldValues(std::span<const TypedValue> values, const std::vector<u32>& places)
      : values_(values), places_(&places) {}

  [[nodiscard]] Known<u64> number(u32 field) const override {
    const TypedValue* const value = find(field);
    return value ? Known<u64>(value->number) : Known<u64>{};
  }
  [[nodiscard]] Known<std::string_view> text(u32 field) const override {
    const TypedValue* const value = find(field);
    return value ? Known<std::string_view>(value->text) : Known<std::string_view>{};
  }
  [[nodiscard]] Known<Bytes> memory(u32) const override { return {}; }
  [[nodiscard]] Known<std::string_view> mask(u32 field) const override { return text(field); }

 private:
  [[nodiscard]] const TypedValue* find(u32 field) const {
    const u32 place = field < places_->size() ? (*places_)[field] : absent;
    return place < values_.size() && values_[place].recorded ? &values_[place] : nullptr;
  }
  std::span<const TypedValue> values_;
  const std::vector<u32>* places_;
};

u64 fieldOr(const EventFormat& format, std::string_view name, Bytes record, bool swap,
            u64 otherwise) {
  const FormatField* const field = format.find(name);
  return (field ? fieldNumber(*field, record, swap) : Known<u64>{}).value_or(otherwise);
}

void replaceFirst(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
}

bool isCodeAddress(std::string_view name) {
  return name == "ip" || name == "parent_ip" || name == "func" || name == "__probe_ip" ||
         name == "__probe_func" || name == "__probe_ret_ip";
}

std::string hexBytes(Bytes bytes) {
  constexpr std::size_t most = 256;
  std::string text;
  for (std::size_t i = 0; i < std::min(bytes.size(), most); ++i) {
    if (i) text += ' ';
    fmt::format_to(std::back_inserter(text), "{:02x}", bytes[i]);
  }
  return bytes.size() > most ? text + " …" : text;
}

std::string elements(const FormatField& field, Bytes bytes, bool swap) {
  const u32 size = field.elementSize;
  if (size != 2 && size != 4 && size != 8) return hexBytes(bytes);
  constexpr std::size_t most = 128;
  std::string text = "{";
  FormatField one = field;
  one.kind = Kind::Integer;
  one.size = size;
  one.isSigned = false;
  for (std::size_t i = 0; i < bytes.size() / size && i < most; ++i) {
    one.offset = static_cast<u32>(i) * size;
    fmt::format_to(std::back_inserter(text), "{}{:#x}", i ? "," : "",
                   fieldNumber(one, bytes, swap).value_or(0));
  }
  return text + (bytes.size() / size > most ? ",…}" : "}");
}

}  // namespace

RecordPrinter::RecordPrinter(const EventFormat& format, EventKind kind, u8 wordSize)
    : format_(format), original_(&format), wordSize_(wordSize) {
  const std::string_view name = format.name;
  if (format.system == "ftrace") {
    named_ = false;
    if (name == "kernel_stack") style_ = Style::KernelStack;
    if (name == "user_stack") style_ = Style::UserStack;
    if (name == "raw_data") style_ = Style::RawData;
    if (name == "bprint") style_ = Style::BinaryPrint;
  } else if (format.system == "syscalls" && name.starts_with("sys_enter_")) {
    style_ = Style::SyscallEnter;
    named_ = false;
  } else if (format.system == "syscalls" && name.starts_with("sys_exit_")) {
    style_ = Style::SyscallExit;
    named_ = false;
  }
  if (style_ != Style::Format) return;
  isProbe_ = format.find("__probe_ip") || format.find("__probe_func");
  rewrite();
  auto compiled =
      PrintFormat::compile(format_, wordSize, isProbe_ ? PrintDialect::Probe : PrintDialect::Plain);
  if (!compiled) return;
  compiled_ = std::move(*compiled);
  for (u32 i = 0; const FormatField* field = compiled_->expressions().field(i); ++i) {
    const auto infos = infoOf(kind).fields;
    const auto found = std::find_if(infos.begin(), infos.end(), [&](const FieldInfo& info) {
      return info.name == field->name || (!info.alias.empty() && info.alias == field->name);
    });
    placeOfField_.push_back(found == infos.end() ? absent
                                                 : static_cast<u32>(found - infos.begin()));
  }
}

/// The kernel prints probes with symbols and synthetic events without commas, whatever their format
/// says.
void RecordPrinter::rewrite() {
  std::string& text = format_.printFormat;
  if (format_.find("__probe_func") && text.starts_with("\"(%lx <- %lx)")) {
    replaceFirst(text, "\"(%lx <- %lx)", "\"(%pS <- %ps)");
    replaceFirst(text, "REC->__probe_func, REC->__probe_ret_ip",
                 "REC->__probe_ret_ip, REC->__probe_func");
  } else if (format_.find("__probe_ip") && text.starts_with("\"(%lx)")) {
    replaceFirst(text, "\"(%lx)", "\"(%pS)");
  } else if (format_.system == "synthetic") {
    // The closing quote moves with each comma that goes; those behind it part arguments.
    for (std::size_t at = text.find(", "); at < text.find('"', 1); at = text.find(", ", at)) {
      text.erase(at, 1);
    }
  }
}

RecordPrinter::Way RecordPrinter::way() const {
  if (style_ != Style::Format) return Way::Own;
  return compiled_ ? Way::Format : Way::FieldList;
}

std::string RecordPrinter::print(Bytes record, const PrintSurroundings& around,
                                 const TraceEventText& library) const {
  switch (style_) {
    case Style::KernelStack:
    case Style::UserStack:
      return stack(record, around);
    case Style::RawData:
      return rawData(record, around);
    case Style::BinaryPrint:
      return binary(record, around);
    case Style::SyscallEnter:
    case Style::SyscallExit:
      return syscall(record, around);
    case Style::Format:
      break;
  }
  if (compiled_ && isProbe_) {
    PrintSurroundings places = around;
    places.symbols = PrintSurroundings::Symbols::Places;
    return compiled_->print(record, places);
  }
  if (compiled_) return compiled_->print(record, around);
  if (Known<std::string> text = library.print(*original_, record)) return std::move(*text);
  return fieldList(*original_, record, around);
}

Known<std::string> RecordPrinter::typed(std::span<const TypedValue> values,
                                        const PrintSurroundings& around) const {
  if (!compiled_) return {};
  PrintSurroundings functions = around;
  functions.symbols = PrintSurroundings::Symbols::Functions;
  return compiled_->printWhole(TypedFieldValues(values, placeOfField_), functions);
}

std::string RecordPrinter::stack(Bytes record, const PrintSurroundings& around) const {
  const bool user = style_ == Style::UserStack;
  std::string text = user ? "<user stack trace>" : "<stack trace>";
  const FormatField* const caller = format_.find("caller");
  if (!caller || caller->offset > record.size()) return text;
  // The declared size of the array is none of its own: the kernel keeps as many as `size` says.
  const Bytes words = record.subspan(caller->offset);
  const u64 kept = words.size() / wordSize_;
  const u64 count = user ? std::min<u64>(kept, 8)
                         : std::min(kept, fieldOr(format_, "size", record, around.swap, kept));
  FormatField word = *caller;
  word.kind = Kind::Integer;
  word.size = wordSize_;
  const u64 none = wordSize_ == 4 ? 0xffffffffU : ~u64{0};
  for (u64 i = 0; i < count; ++i) {
    word.offset = static_cast<u32>(i * wordSize_);
    word.isSigned = false;
    const u64 address = fieldNumber(word, words, around.swap).value_or(none);
    if (address == none || (user && address == 0)) break;
    text += "\n => ";
    if (user) {
      text += " <";
      around.addresses->pointer(text, address);
      text += '>';
    } else {
      around.addresses->place(text, address);
    }
  }
  return text;
}

std::string RecordPrinter::rawData(Bytes record, const PrintSurroundings& around) const {
  std::string text = fmt::format("# {:x} buf:", fieldOr(format_, "id", record, around.swap, 0));
  const FormatField* const data = format_.find("buf");
  if (!data || data->offset > record.size()) return text;
  for (const u8 byte : record.subspan(data->offset))
    fmt::format_to(std::back_inserter(text), " {:02x}", byte);
  return text;
}

std::string RecordPrinter::binary(Bytes record, const PrintSurroundings& around) const {
  std::string text;
  around.addresses->markerPlace(text, fieldOr(format_, "ip", record, around.swap, 0));
  text += ": ";
  const FormatField* const packed = format_.find("buf");
  const u64 address = fieldOr(format_, "fmt", record, around.swap, 0);
  const auto found = around.strings->find(address);
  if (found == around.strings->end() || !packed || packed->offset > record.size()) {
    return text + fmt::format("{:#x} {}", address, fieldList(format_, record, around));
  }
  const auto printed = binaryPrint(found->second, record.subspan(packed->offset), around);
  return text + (printed ? *printed : shown(found->second));
}

std::string RecordPrinter::syscall(Bytes record, const PrintSurroundings& around) const {
  const bool enter = style_ == Style::SyscallEnter;
  std::string text = "sys_";
  appendShown(text, std::string_view(format_.name).substr(enter ? 10 : 9));
  const u64 word = wordSize_ == 4 ? 0xffffffffU : ~u64{0};
  if (!enter)
    return text + fmt::format(" -> {:#x}", fieldOr(format_, "ret", record, around.swap, 0) & word);
  text += '(';
  bool first = true;
  for (const FormatField& field : format_.fields) {
    if (field.name == "__syscall_nr" || field.name == "nr") continue;
    if (!first) text += ", ";
    first = false;
    appendShown(text, field.name);
    const Known<u64> value = fieldNumber(field, record, around.swap);
    text += value ? fmt::format(": {:x}", *value & word) : ": ?";
  }
  return text + ')';
}

std::vector<FieldValue> recordFields(const EventFormat& format, Bytes record,
                                     const PrintSurroundings& around) {
  std::vector<FieldValue> fields;
  fields.reserve(format.fields.size());
  for (const FormatField& field : format.fields) {
    FieldValue shownField{field.name, {}, false};
    const Known<u64> number = fieldNumber(field, record, around.swap);
    const Known<Bytes> memory = fieldMemory(field, record, around.swap);
    switch (field.kind) {
      case Kind::Integer:
        if (number && field.isSigned) {
          shownField.value = static_cast<s64>(*number);
        } else if (number) {
          shownField.value = *number;
        }
        shownField.address = isCodeAddress(field.name);
        break;
      case Kind::Pointer:
        if (number) shownField.value = *number;
        shownField.address = true;
        break;
      default:
        if (!memory) break;
        if (field.isChars || field.kind == Kind::Chars) {
          const std::string_view text = asText(*memory);
          shownField.value = std::string(text.substr(0, text.find('\0')));
        } else if (field.declaration.find("cpumask") != std::string::npos) {
          shownField.value = maskText(*memory, around.bigEndian, around.addresses->wordSize());
        } else {
          shownField.value = elements(field, *memory, around.swap);
        }
    }
    fields.push_back(std::move(shownField));
  }
  return fields;
}

std::string fieldList(const EventFormat& format, Bytes record, const PrintSurroundings& around) {
  std::string text;
  for (const FieldValue& field : recordFields(format, record, around)) {
    if (!text.empty()) text += ' ';
    appendShown(text, field.name);
    text += '=';
    if (const auto* number = std::get_if<u64>(&field.value)) {
      if (field.address) {
        around.addresses->pointer(text, *number);
      } else {
        fmt::format_to(std::back_inserter(text), "{}", *number);
      }
    } else if (const auto* value = std::get_if<s64>(&field.value)) {
      fmt::format_to(std::back_inserter(text), "{}", *value);
    } else if (const auto* string = std::get_if<std::string>(&field.value)) {
      appendShown(text, *string);
    } else {
      text += '?';
    }
    if (text.size() > longestPrinted) return text.substr(0, longestPrinted) + "…";
  }
  return text;
}

}  // namespace tickscope::trace_dat
