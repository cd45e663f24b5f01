// SPDX-License-Identifier: GPL-3.0-or-later
// Parses kallsyms text and finds the symbol of an address.
#include "core/trace/symbols.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace tickscope {

namespace {

constexpr u64 furthest = 1U << 20U;

struct Line {
  u64 address = 0;
  std::string_view name, module;
  bool good = false;  ///< has the shape of a symbol line
  bool kept = false;  ///< and names code or data of the kernel
};

constexpr std::string_view blanks = " \t\r";

std::string_view word(std::string_view& rest) {
  const std::size_t begin = std::min(rest.find_first_not_of(blanks), rest.size());
  rest.remove_prefix(begin);
  const std::string_view found = rest.substr(0, std::min(rest.find_first_of(blanks), rest.size()));
  rest.remove_prefix(found.size());
  return found;
}

Line parse(std::string_view rest) {
  Line line;
  const std::string_view address = word(rest);
  const std::string_view type = word(rest);
  line.name = word(rest);
  line.module = word(rest);
  const char* end = address.data() + address.size();
  const auto [stop, error] = std::from_chars(address.data(), end, line.address, 16);
  if (address.empty() || error != std::errc{} || stop != end) return line;
  if (type.size() != 1 || line.name.empty()) return line;
  if (!line.module.empty()) {
    const bool bracketed =
        line.module.size() > 2 && line.module.front() == '[' && line.module.back() == ']';
    if (!bracketed || !word(rest).empty()) return line;
    line.module = line.module.substr(1, line.module.size() - 2);
  }
  line.good = true;
  line.kept =
      type != "a" && type != "A" && line.name.front() != '$' && !line.name.starts_with("__pfx_");
  return line;
}

template <class Each>
void forEachLine(std::string_view text, Each&& each) {
  while (!text.empty()) {
    std::size_t size = text.find('\n');
    const std::string_view line = text.substr(0, size);
    text.remove_prefix(size == std::string_view::npos ? text.size() : size + 1);
    // Saved texts end in NUL now and then.
    const std::string_view content = line.substr(0, std::min(line.find('\0'), line.size()));
    if (content.find_first_not_of(blanks) != std::string_view::npos) each(content);
  }
}

}  // namespace

void Symbols::index() const {
  std::call_once(once_, [this] {
    const auto place = [this](std::string_view part) {
      return part.empty() ? 0U : static_cast<u32>(part.data() - text_.data());
    };
    const std::string_view text = std::string_view(text_).substr(
        0, std::min<std::size_t>(text_.size(), std::numeric_limits<u32>::max()));
    bool anyAddress = false;
    forEachLine(text, [&](std::string_view content) {
      const Line line = parse(content);
      if (!line.good) {
        ++badLines_;
      } else if (line.kept) {
        anyAddress = anyAddress || line.address != 0;
        entries_.push_back({line.address, place(line.name), static_cast<u32>(line.name.size()),
                            place(line.module), static_cast<u32>(line.module.size())});
      }
    });
    if (!anyAddress) entries_.clear();
    entries_.shrink_to_fit();
    // Stable: of several names for one address the first in the text is shown, as the kernel does.
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.address < b.address; });
  });
}

Known<Symbol> Symbols::at(Address address) const {
  index();
  const u64 wanted = number(address);
  const auto above =
      std::upper_bound(entries_.begin(), entries_.end(), wanted,
                       [](u64 value, const Entry& entry) { return value < entry.address; });
  if (above == entries_.begin()) return {};
  const u64 start = std::prev(above)->address;
  if (wanted - start > furthest) return {};
  const auto found =
      std::lower_bound(entries_.begin(), above, start,
                       [](const Entry& entry, u64 value) { return entry.address < value; });
  const std::string_view text = text_;
  Symbol symbol;
  symbol.name = text.substr(found->name, found->nameLength);
  symbol.module = text.substr(found->module, found->moduleLength);
  symbol.offset = wanted - start;
  if (above != entries_.end()) symbol.size = above->address - start;
  return symbol;
}

Known<Symbols::Range> Symbols::rangeOf(std::string_view name) const {
  // Only the lines from the name on are taken apart: in a kernel of a hundred thousand symbols this is asked for one of
  // them while a file is opened. The kernel writes its list by address.
  const std::string_view text = text_;
  if (name.empty()) return {};
  for (std::size_t at = text.find(name); at != std::string_view::npos;) {
    const std::size_t before = text.rfind('\n', at);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    std::string_view rest = text.substr(begin);
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const Line own = parse(line);
    if (!own.good || !own.kept || own.name != name) {
      at = text.find(name, begin + line.size());
      continue;
    }
    if (own.address == 0) return {};
    u64 to = own.address + std::min(furthest, std::numeric_limits<u64>::max() - own.address);
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
      const Line next = parse(rest.substr(0, rest.find('\n')));
      if (!next.good || !next.kept || next.address <= own.address) continue;
      to = std::min(to, next.address);
      break;
    }
    return Range{own.address, to};
  }
  return {};
}

u32 Symbols::size() const {
  index();
  return static_cast<u32>(entries_.size());
}

u32 Symbols::badLines() const {
  index();
  return badLines_;
}

}  // namespace tickscope
