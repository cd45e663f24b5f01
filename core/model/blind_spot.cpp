// SPDX-License-Identifier: GPL-3.0-or-later
// Codes and reasons of blind spots.
#include "core/model/blind_spot.h"

#include <array>

namespace tickscope {

namespace {

struct Words {
  std::string_view code, reason;
};
constexpr std::array<Words, blindSpotKindCount> words{{
    {"", ""},
    {"B01", "armed before the recording"},
    {"B02", "events were lost"},
    {"B03", "the events that would tell were not recorded"},
    {"B04", "the CPU was offline, or had just come up"},
    {"B05", "the recording was filtered"},
    {"B06", "the CPU that the timer was queued on is not known"},
    {"B07", "mod_timer within one bucket leaves no event"},
    {"B08", "the clock of the timer is not known"},
    {"B09", "whether the timer is a soft one is not known"},
    {"B10", "the recording's clock cannot be compared with the timer's here"},
    {"B11", "the machine was suspended"},
    {"B12", "interrupt and softirq context was not recorded"},
    {"B13", "cpu and idx of timer_start are those of the arm before"},
    {"B14", "two timers cannot be told apart"},
    {"B15", "a remote run of the wheel without timer_migration events"},
    {"B16", "the device is programmed after the interrupt (deferred rearm)"},
    {"B17", "the hang delay was in force"},
    {"B18", "the CPU was not in high resolution mode"},
    {"B19", "the recording ends"},
    {"B20", "the text lacks a field"},
    {"B21", "the buffers have unlike clocks"},
    {"B22", "outside the model"},
    {"B23", "no call of tick_program_event was recorded"},
    {"B24", "the CPU number was guessed while salvaging"},
}};

}  // namespace

std::string_view codeOf(BlindSpotKind kind) { return words[static_cast<std::size_t>(kind)].code; }
std::string_view reasonOf(BlindSpotKind kind) {
  return words[static_cast<std::size_t>(kind)].reason;
}

}  // namespace tickscope
