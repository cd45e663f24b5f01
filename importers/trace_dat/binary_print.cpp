// SPDX-License-Identifier: GPL-3.0-or-later
// Steps through packed arguments as lib/vsprintf.c packed them.
#include "importers/trace_dat/binary_print.h"

#include <fmt/format.h>

#include "core/base/shown_text.h"
#include "importers/trace_dat/print_format.h"

namespace tickscope::trace_dat {
namespace {

class Arguments {
 public:
  Arguments(Bytes packed, bool swap) : packed_(packed), swap_(swap) {}

  Known<u64> number(u8 size) {
    const std::size_t alignment = std::min<std::size_t>(size, 4);
    at_ = (at_ + alignment - 1) / alignment * alignment;
    if (at_ > packed_.size() || size > packed_.size() - at_) return {};
    const u8* const from = packed_.data() + at_;
    at_ += size;
    switch (size) {
      case 1:
        return *from;
      case 2:
        return loadNumber<u16>(from, swap_);
      case 4:
        return loadNumber<u32>(from, swap_);
      default:
        return loadNumber<u64>(from, swap_);
    }
  }

  Known<std::string_view> text() {
    if (at_ > packed_.size()) return {};
    const std::string_view rest = asText(packed_.subspan(at_));
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) return {};
    at_ += end + 1;
    return rest.substr(0, end);
  }

 private:
  Bytes packed_;
  bool swap_;
  std::size_t at_ = 0;
};

/// The kernel packs plain, symbolic and unhashed pointers as numbers, all others as their text.
bool packedAsNumber(const Conversion& conversion) {
  return conversion.pointer.empty() ||
         std::string_view("sSfFBKx").find(conversion.pointer.front()) != std::string_view::npos;
}

bool append(std::string& out, Conversion conversion, Arguments& arguments,
            const PrintSurroundings& around) {
  const auto given = [&](s32& to) {
    const Known<u64> number = arguments.number(4);
    if (number) to = std::clamp(static_cast<s32>(*number), -1, widestConversion);
    return number.has_value();
  };
  if (conversion.widthFromArgument && !given(conversion.width)) return false;
  if (conversion.precisionFromArgument && !given(conversion.precision)) return false;
  if (conversion.letter == 's' || (conversion.letter == 'p' && !packedAsNumber(conversion))) {
    const Known<std::string_view> text = arguments.text();
    if (!text) return false;
    if (conversion.letter == 's') {
      appendText(out, conversion, *text);
    } else {
      appendShown(out, *text);
    }
    return true;
  }
  const Known<u64> number = arguments.number(conversion.size);
  if (!number) return false;
  if (conversion.letter == 'p') return appendAddress(out, conversion, *number, *around.addresses);
  appendNumber(out, conversion, *number);
  return true;
}

}  // namespace

Result<std::string> binaryPrint(std::string_view format, Bytes packed,
                                const PrintSurroundings& around) {
  const auto pieces = formatPieces(format, around.addresses->wordSize());
  if (!pieces) return tl::unexpected(pieces.error());
  Arguments arguments(packed, around.swap);
  std::string out;
  bool lost = false;  // behind a missing argument nothing is in its place
  for (const FormatPiece& piece : *pieces) {
    if (!piece.isConversion) {
      appendShown(out, piece.plain, Breaks::Keep);
    } else if (lost || !append(out, piece.conversion, arguments, around)) {
      lost = true;
      out += '?';
    }
    if (out.size() > longestPrinted) {
      return fmt::format("{}…", std::string_view(out).substr(0, longestPrinted));
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

}  // namespace tickscope::trace_dat
