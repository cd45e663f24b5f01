// SPDX-License-Identifier: GPL-3.0-or-later
// Quotes strings for JSON.
#include "app/cli/json_text.h"

#include "core/base/shown_text.h"

namespace tickscope {

void appendJsonString(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : shown(text, Breaks::Keep)) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += c;
    }
  }
  out += '"';
}

std::string_view jsonNameOf(ClockUnit unit) {
  switch (unit) {
    case ClockUnit::Nanoseconds:
      return "ns";
    case ClockUnit::Cycles:
      return "cycles";
    case ClockUnit::Jiffies100Hz:
      return "jiffies_100hz";
    case ClockUnit::Events:
      return "events";
    case ClockUnit::Unknown:
      break;
  }
  return {};
}

}  // namespace tickscope
