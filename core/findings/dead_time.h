// SPDX-License-Identifier: GPL-3.0-or-later
// K4: time in which a CPU cannot have run, by what it did not log.
#pragma once

#include "core/findings/material.h"

namespace tickscope {

/// ns between two rows of one CPU in gaps that a running CPU does not leave: longer than vm.silence while it is not
/// idle, or a quarter of a tick and more inside a timer interrupt outside of callbacks. A hypervisor that took the CPU
/// away looks like that; so does a section with interrupts off (the first kind).
s64 deadNs(const Material& material, Row from, Row to);

}  // namespace tickscope
