// SPDX-License-Identifier: GPL-3.0-or-later
// A row's payload as a list of named values, so that tests compare events without knowing their kinds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/trace/event_store.h"

namespace tickscope::support {

struct PayloadField {
  std::string_view name, alias;
  FieldType type{};
  bool recorded{};  ///< the recording has the field; otherwise the values are empty
  bool isText{};
  u64 number{};  ///< sign-extended when the type is signed
  std::string text;
};

/// The fields of infoOf(kind(row)).fields, in that order; none for rows that are kept as bytes.
std::vector<PayloadField> payloadFields(const EventStore&, Row);

/// Where the bytes of a row lie, for kinds that say so.
std::optional<RawRef> rawPlace(const EventStore&, Row);

}  // namespace tickscope::support
