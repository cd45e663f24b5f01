// SPDX-License-Identifier: GPL-3.0-or-later
// Text and fields of records that are kept as bytes: read again from the input when shown.
#pragma once

#include <memory>
#include <vector>

#include "core/trace/metadata.h"
#include "core/trace/raw_event_text.h"
#include "importers/byte_source.h"
#include "importers/trace_dat/container.h"
#include "importers/trace_dat/field_binding.h"

namespace tickscope::trace_dat {

/// Thread-safe. Keeps the input open, and the last few blocks unpacked.
class RecordText : public RawEventText {
 public:
  /// `blocks` is the table that RawRef::block means; of the metadata, symbols and printk formats
  /// are taken.
  RecordText(ByteSource source, std::shared_ptr<const Binding> binding, std::vector<Block> blocks,
             const Metadata& metadata);
  ~RecordText() override;

  [[nodiscard]] std::string body(u16 type, const RawRef& record) const override;
  [[nodiscard]] std::vector<FieldValue> fields(u16 type, const RawRef& record) const override;
  [[nodiscard]] bool namedInText(u16 type) const override;
  [[nodiscard]] std::vector<u8> bytes(const RawRef& record) const override;
  [[nodiscard]] Known<std::string> typedBody(u16 type,
                                             std::span<const TypedValue> values) const override;
  [[nodiscard]] std::string_view fieldName(u16 type, std::size_t place) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tickscope::trace_dat
