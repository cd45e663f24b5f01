// SPDX-License-Identifier: GPL-3.0-or-later
// A gap in what the kernel recorded on one CPU.
#pragma once

#include "core/base/ids.h"

namespace tickscope {

struct Loss {
  Cpu cpu{};
  Known<u64> count;  ///< events lost; empty: the kernel did not say
  Known<TraceTime>
      from;  ///< last record of that CPU before the gap; empty: the recording begins with the gap
  Known<TraceTime> to;  ///< first record behind it; empty: none follows
  Known<Row> next;      ///< row of that record
};

}  // namespace tickscope
