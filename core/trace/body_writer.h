// SPDX-License-Identifier: GPL-3.0-or-later
// Writes `key=value` parts of one event's text.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>

#include "core/base/shown_text.h"
#include "core/trace/address_text.h"
#include "core/trace/recording.h"

namespace tickscope {

/// A part whose field was not recorded is left out; parts are parted by one space. `place` counts
/// fields as infoOf(kind).fields does.
class BodyWriter {
 public:
  BodyWriter(std::string& out, const Recording& recording, const Buffer& buffer, Row row)
      : recording_(&recording),
        buffer_(&buffer),
        row_(row),
        type_(&buffer.events.type(row)),
        addresses_(*recording.metadata.symbols, recording.metadata.wordSize),
        out_(&out) {}

  [[nodiscard]] bool recorded(std::size_t place) const { return type_->recorded(place); }

  template <class... A>
  void part(std::size_t place, fmt::format_string<A...> text, A&&... values) {
    if (begin(place)) fmt::format_to(std::back_inserter(*out_), text, std::forward<A>(values)...);
  }
  void pointer(std::size_t place, std::string_view key, Address address) {
    if (begin(place)) *out_ += key, addresses_.pointer(*out_, number(address));
  }
  void function(std::size_t place, std::string_view key, Address address) {
    if (begin(place)) *out_ += key, addresses_.function(*out_, number(address));
  }
  void symbolOffset(std::size_t place, std::string_view key, Address address) {
    if (begin(place)) *out_ += key, addresses_.symbolOffset(*out_, number(address));
  }
  void text(std::size_t place, std::string_view key, StringId string) {
    if (begin(place)) *out_ += key, appendShown(*out_, buffer_->events.text(string));
  }
  /// A kernel string by its address.
  void kernelString(std::size_t place, std::string_view before, Address address,
                    std::string_view behind) {
    if (!begin(place)) return;
    *out_ += before;
    const auto found = recording_->metadata.printkFormats.find(number(address));
    if (found == recording_->metadata.printkFormats.end()) {
      fmt::format_to(std::back_inserter(*out_), "{:#x}", number(address));
    } else {
      appendShown(*out_, found->second);
    }
    *out_ += behind;
  }
  /// Three fields from `place` on.
  void task(std::size_t place, std::string_view prefix, const Task& task) {
    if (begin(place)) {
      fmt::format_to(std::back_inserter(*out_), "{}comm=", prefix);
      appendShown(*out_, buffer_->events.text(task.comm));
    }
    part(place + 1, "{}pid={}", prefix, number(task.pid));
    part(place + 2, "{}prio={}", prefix, task.prio);
  }

  [[nodiscard]] std::string& out() { return *out_; }
  [[nodiscard]] const AddressText& addresses() const { return addresses_; }
  [[nodiscard]] const Recording& recording() const { return *recording_; }
  [[nodiscard]] const Buffer& buffer() const { return *buffer_; }
  [[nodiscard]] Row row() const { return row_; }

 private:
  bool begin(std::size_t place) {
    if (!type_->recorded(place)) return false;
    if (!first_) *out_ += ' ';
    first_ = false;
    return true;
  }

  const Recording* recording_;
  const Buffer* buffer_;
  Row row_;
  const EventType* type_;
  AddressText addresses_;
  std::string* out_;
  bool first_ = true;
};

}  // namespace tickscope
