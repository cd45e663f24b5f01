// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the release and the formats of a recording.
#include "core/model/profile_sources.h"

#include <charconv>
#include <set>

#include "core/model/recorded_field.h"

namespace tickscope {

Known<Release> releaseOf(std::string_view text) {
  Release release;
  const char* const end = text.data() + text.size();
  const auto [dot, bad] = std::from_chars(text.data(), end, release.major);
  if (bad != std::errc{} || dot == end || *dot != '.') return {};
  if (std::from_chars(dot + 1, end, release.minor).ec != std::errc{}) return {};
  return release;
}

TimerFormats formatsOf(const EventStore& events) {
  TimerFormats formats;
  std::set<std::string_view> names;
  for (const EventType& type : events.types()) {
    if (type.kind == kindOf<Raw>) {
      if (type.system == "timer_migration") formats.migration = true;
      if (type.system == "timer") names.insert(type.name);
      continue;
    }
    names.insert(infoOf(type.kind).event);
    if (infoOf(type.kind).event.starts_with("tmigr_")) formats.migration = true;
    // A record without a format lacks what its writer did not print: only presence counts then.
    const auto take = [&](Known<bool>& fact, std::size_t field) {
      if (type.recorded(field)) {
        fact = true;
      } else if (type.id != 0 && !fact) {
        fact = false;
      }
    };
    if (type.kind == kindOf<HrtimerStart>) {
      take(formats.mode, placeOf<HrtimerStart>("mode"));
      take(formats.wasArmed, placeOf<HrtimerStart>("was_armed"));
    } else if (type.kind == kindOf<TimerStart>) {
      take(formats.bucketExpiry, placeOf<TimerStart>("bucket_expiry"));
      take(formats.flags, placeOf<TimerStart>("flags"));
    } else if (type.kind == kindOf<TimerExpireEntry>) {
      take(formats.baseclk, placeOf<TimerExpireEntry>("baseclk"));
    }
  }
  formats.rearm = names.count("hrtimer_rearm") != 0;
  formats.startExpired = names.count("hrtimer_start_expired") != 0;
  formats.tickStop = names.count("tick_stop") != 0;
  formats.wholeGroup = names.count("timer_init") && names.count("hrtimer_cancel") &&
                       names.count("itimer_state") && names.count("itimer_expire");
  return formats;
}

}  // namespace tickscope
