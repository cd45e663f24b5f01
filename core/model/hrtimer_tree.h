// SPDX-License-Identifier: GPL-3.0-or-later
// One clock base of one CPU: armed timers ordered by hard expiry, equal ones by insertion, in a red-black tree.
#pragma once

#include "core/model/model_ids.h"

namespace tickscope {}
