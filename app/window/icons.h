// SPDX-License-Identifier: GPL-3.0-or-later
// Icons drawn in the colours of the theme.
#pragma once

#include <QColor>
#include <QIcon>

namespace tickscope {

/// The icon of that name in resources/icons, in two colours: usual and disabled. Null when there is none.
[[nodiscard]] QIcon icon(const char* name, const QColor& ink, const QColor& disabled);

}  // namespace tickscope
