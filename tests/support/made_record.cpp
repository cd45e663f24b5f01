// SPDX-License-Identifier: GPL-3.0-or-later
// Makes formats and records.
#include "tests/support/made_record.h"

#include <deque>

namespace tickscope::support {

const trace_dat::EventFormat& madeFormat(const std::vector<std::string>& fields,
                                         const std::string& printFormat, const std::string& system,
                                         const std::string& name) {
  static std::deque<trace_dat::EventFormat> made;
  std::string text = "name: " + name +
                     "\nID: 400\nformat:\n"
                     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                     "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                     "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
  for (const std::string& field : fields) {
    const std::size_t a = field.find(';');
    const std::size_t b = field.find(';', a + 1);
    const std::size_t c = field.find(';', b + 1);
    text += "\tfield:" + field.substr(0, a) + ";\toffset:" + field.substr(a + 1, b - a - 1) +
            ";\tsize:" + field.substr(b + 1, c - b - 1) + ";\tsigned:" + field.substr(c + 1) +
            ";\n";
  }
  made.push_back(trace_dat::parseFormat(system, text + "\nprint fmt: " + printFormat + "\n"));
  return made.back();
}

MadeRecord& MadeRecord::number(u64 value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t byte = bigEndian_ ? size - 1 - i : i;
    // Fields wider than a u64 hold zeros above it.
    bytes_.push_back(byte < sizeof value ? static_cast<u8>(value >> (byte * 8U)) : u8{0});
  }
  return *this;
}

MadeRecord& MadeRecord::text(std::string_view characters, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    bytes_.push_back(i < characters.size() ? static_cast<u8>(characters[i]) : u8{0});
  }
  return *this;
}

MadeSurroundings::MadeSurroundings(u8 wordSize, bool swap)
    : symbols(
          "ffffffff81001000 T hrtimer_interrupt\n"
          "ffffffff81002000 t tick_program_event\n"
          "ffffffff81002080 t next\n"
          "ffffffffc0001000 t lab_fn\t[tsdrv]\n"
          "ffffffffc0001100 t lab_end\t[tsdrv]\n"),
      addresses(symbols, wordSize) {
  around = {&addresses, &strings, swap, swap};
}

}  // namespace tickscope::support
