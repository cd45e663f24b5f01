// SPDX-License-Identifier: GPL-3.0-or-later
// Takes printf formats apart and prints numbers, text and addresses.
#include "importers/trace_dat/print_conversion.h"

#include <algorithm>

#include "core/base/shown_text.h"

namespace tickscope::trace_dat {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isAlphanumeric(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Reads one conversion behind its `%`.
class ConversionReader {
 public:
  ConversionReader(std::string_view& rest, u8 wordSize) : rest_(&rest), wordSize_(wordSize) {}

  Known<Conversion> read() {
    flags();
    if (!number(conversion_.width, conversion_.widthFromArgument)) return {};
    if (take('.')) {
      conversion_.precision = 0;
      if (!number(conversion_.precision, conversion_.precisionFromArgument)) return {};
    }
    length();
    return letter() ? Known<Conversion>(conversion_) : Known<Conversion>{};
  }

 private:
  bool take(char c) {
    if (rest_->empty() || rest_->front() != c) return false;
    rest_->remove_prefix(1);
    return true;
  }

  void flags() {
    while (true) {
      if (take('-')) {
        conversion_.left = true;
      } else if (take('+')) {
        conversion_.plus = true;
      } else if (take(' ')) {
        conversion_.blank = true;
      } else if (take('#')) {
        conversion_.alternate = true;
      } else if (take('0')) {
        conversion_.zero = true;
      } else {
        return;
      }
    }
  }

  bool number(s32& value, bool& fromArgument) {
    if (take('*')) {
      fromArgument = true;
      return true;
    }
    while (!rest_->empty() && isDigit(rest_->front())) {
      value = std::max(value, 0) * 10 + (rest_->front() - '0');
      if (value > widestConversion) return false;
      rest_->remove_prefix(1);
    }
    return true;
  }

  void length() {
    if (take('h')) {
      conversion_.size = take('h') ? 1 : 2;
    } else if (take('l')) {
      conversion_.size = take('l') ? 8 : wordSize_;
    } else if (take('L') || take('j')) {
      conversion_.size = 8;
    } else if (take('z') || take('Z') || take('t')) {
      conversion_.size = wordSize_;
    }
  }

  bool letter() {
    if (rest_->empty()) return false;
    const char c = rest_->front();
    rest_->remove_prefix(1);
    switch (c) {
      case 'i':
        conversion_.letter = 'd';
        return true;
      case 'd':
      case 'u':
      case 'x':
      case 'X':
      case 'o':
      case 's':
        conversion_.letter = c;
        return true;
      case 'c':
        conversion_.letter = c;
        conversion_.size = 1;
        return true;
      case 'p':
        conversion_.letter = c;
        conversion_.size = wordSize_;
        return pointer();
      default:
        return false;
    }
  }

  /// The letters behind p belong to it as far as the kernel reads them.
  bool pointer() {
    std::size_t size = 0;
    const auto next = [&](std::string_view letters) {
      if (size < rest_->size() && letters.find((*rest_)[size]) != std::string_view::npos) ++size;
    };
    if (rest_->starts_with("I4") || rest_->starts_with("i4")) {
      size = 2;
      next("hnbl");
    } else if (rest_->starts_with("I6") || rest_->starts_with("i6")) {
      size = 2;
      next("c");
    } else if (rest_->starts_with("IS") || rest_->starts_with("iS")) {
      size = 2;
      while (size < rest_->size() && size < 6 &&
             std::string_view("pfschnbl").find((*rest_)[size]) != std::string_view::npos)
        ++size;
    } else if (rest_->starts_with("h")) {
      size = 1;
      next("CDN");
    } else if (rest_->starts_with("U")) {
      size = 1;
      next("bBlL");
    } else if (rest_->starts_with("M")) {
      size = 1;
      next("FR");
    } else if (rest_->starts_with("m")) {
      size = 1;
      next("R");
    } else if (!rest_->empty() &&
               std::string_view("sSfFBKx").find(rest_->front()) != std::string_view::npos) {
      size = 1;
      next("Rb");
    } else if (!rest_->empty() && isAlphanumeric(rest_->front())) {
      return false;
    }
    conversion_.pointer = rest_->substr(0, size);
    rest_->remove_prefix(size);
    return true;
  }

  std::string_view* rest_;
  u8 wordSize_;
  Conversion conversion_;
};

void pad(std::string& out, s64 count, char with) {
  if (count > 0) out.append(static_cast<std::size_t>(count), with);
}

u64 lowBytes(u64 value, u8 size) {
  return size >= 8 ? value : value & ((u64{1} << (size * 8U)) - 1);
}

s64 signExtended(u64 value, u8 size) {
  const unsigned unused = 64U - std::min<unsigned>(size, 8) * 8U;
  return static_cast<s64>(value << unused) >> unused;
}

}  // namespace

Result<std::vector<FormatPiece>> formatPieces(std::string_view format, u8 wordSize) {
  std::vector<FormatPiece> pieces;
  std::string plain;
  while (!format.empty()) {
    const char c = format.front();
    format.remove_prefix(1);
    if (c != '%') {
      plain += c;
      continue;
    }
    if (format.starts_with('%')) {
      plain += '%';
      format.remove_prefix(1);
      continue;
    }
    const Known<Conversion> conversion = ConversionReader(format, wordSize).read();
    if (!conversion)
      return fail(Error::Kind::Unsupported,
                  "the print format has a conversion that is not followed");
    if (!plain.empty()) pieces.push_back({std::move(plain), false, {}});
    plain.clear();
    pieces.push_back({{}, true, *conversion});
  }
  if (!plain.empty()) pieces.push_back({std::move(plain), false, {}});
  return pieces;
}

void appendNumber(std::string& out, const Conversion& conversion, u64 value) {
  if (conversion.letter == 'c') {
    const char c = static_cast<char>(value);
    const std::string text = shown({&c, 1});
    if (!conversion.left) pad(out, conversion.width - 1, ' ');
    out += text;
    if (conversion.left) pad(out, conversion.width - 1, ' ');
    return;
  }
  char sign = 0;
  u64 magnitude = lowBytes(value, conversion.size);
  if (conversion.letter == 'd') {
    const s64 number = signExtended(value, conversion.size);
    if (number < 0) {
      sign = '-';
      magnitude = ~static_cast<u64>(number) + 1;
    } else {
      magnitude = static_cast<u64>(number);
      sign = conversion.plus ? '+' : conversion.blank ? ' ' : '\0';
    }
  }
  const bool hex = conversion.letter == 'x' || conversion.letter == 'X';
  const u64 base = hex ? 16 : conversion.letter == 'o' ? 8 : 10;
  const char* const digits = conversion.letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string reversed;
  for (u64 left = magnitude; left || reversed.empty(); left /= base)
    reversed += digits[left % base];
  std::string_view prefix;
  if (conversion.alternate && hex) prefix = conversion.letter == 'X' ? "0X" : "0x";
  if (conversion.alternate && base == 8 && magnitude) prefix = "0";
  const s64 written = std::max<s64>(conversion.precision, static_cast<s64>(reversed.size()));
  const s64 space = conversion.width - written - static_cast<s64>(prefix.size()) - (sign ? 1 : 0);
  if (!conversion.left && !conversion.zero) pad(out, space, ' ');
  if (sign) out += sign;
  out += prefix;
  if (!conversion.left && conversion.zero) pad(out, space, '0');
  pad(out, written - static_cast<s64>(reversed.size()), '0');
  out.append(reversed.rbegin(), reversed.rend());
  if (conversion.left) pad(out, space, ' ');
}

void appendText(std::string& out, const Conversion& conversion, std::string_view text) {
  if (conversion.precision >= 0)
    text = text.substr(0, static_cast<std::size_t>(conversion.precision));
  const s64 space = conversion.width - static_cast<s64>(text.size());
  if (!conversion.left) pad(out, space, ' ');
  appendShown(out, text);
  if (conversion.left) pad(out, space, ' ');
}

bool appendAddress(std::string& out, const Conversion& conversion, u64 address,
                   const AddressText& addresses, SymbolWords symbol) {
  const u64 value = lowBytes(address, addresses.wordSize());
  std::string text;
  switch (conversion.pointer.empty() ? '\0' : conversion.pointer.front()) {
    case '\0':
    case 'K':
    case 'x':
      addresses.pointer(text, value);
      break;
    case 's':
    case 'f':
      (addresses.*symbol)(text, value);
      break;
    case 'S':
    case 'F':
    case 'B':
      addresses.symbolOffset(text, value);
      break;
    default:
      return false;
  }
  const s64 space = conversion.width - static_cast<s64>(text.size());
  if (!conversion.left) pad(out, space, ' ');
  out += text;
  if (conversion.left) pad(out, space, ' ');
  return true;
}

}  // namespace tickscope::trace_dat
