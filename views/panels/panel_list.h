// SPDX-License-Identifier: GPL-3.0-or-later
// The panels of the window, in the order of their tabs: a new panel is a line
// here.
#pragma once

#include <QString>
#include <span>

#include "views/document.h"

class QWidget;

namespace tickscope {

enum class PanelPlace : u8 { Bottom, Right };

struct PanelInfo {
  const char* id;  ///< name in settings
  PanelPlace place;
  QString (*title)();
  QWidget* (*make)(Document& document, QWidget* parent);
};

[[nodiscard]] std::span<const PanelInfo> panels();

}  // namespace tickscope
