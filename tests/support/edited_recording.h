// SPDX-License-Identifier: GPL-3.0-or-later
// A real recording whose events tests delete, move, add and change before it is opened.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/recording.h"
#include "tests/support/trace_dat_convert.h"

namespace tickscope::support {

/// Only the top buffer is kept. Functions throw std::runtime_error on events or fields that the recording has not.
class EditedRecording {
 public:
  struct Event {
    u32 cpu{};
    u64 time{};
    Blob payload;
    bool lossBefore = false;  ///< marked as following lost events, without their number
  };

  explicit EditedRecording(const std::string& path);

  /// As rows stand: by time, those of one time by CPU. To be kept so: events of one CPU are written in this order.
  std::vector<Event> events;

  [[nodiscard]] bool is(const Event&, std::string_view name) const;
  [[nodiscard]] std::string_view nameOf(const Event&) const;
  [[nodiscard]] u64 get(const Event&, std::string_view field) const;
  [[nodiscard]] s64 getSigned(const Event&, std::string_view field) const;
  void set(Event&, std::string_view field, u64 value) const;
  /// The format no longer tells of the field.
  void strip(std::string_view event, std::string_view field);
  /// The CPU loses its rows in from <= time < from + length. `marked`: its next one says so.
  void loseRows(u32 cpu, u64 from, u64 length, bool marked);
  /// The first event at or after place `from` that `test` holds for; events.size(): none.
  template <class Test>
  [[nodiscard]] std::size_t find(std::size_t from, Test&& test) const {
    while (from < events.size() && !test(events[from])) ++from;
    return from;
  }

  [[nodiscard]] std::shared_ptr<const Recording> recording() const;

 private:
  [[nodiscard]] const FormatField& field(const Event&, std::string_view name) const;

  std::string path_;
  DatFile file_;
  std::map<u32, EventFormat> formats_;
};

}  // namespace tickscope::support
