// SPDX-License-Identifier: GPL-3.0-or-later
// What the file is: kernel, clock, CPUs, buffers, counts and losses.
#pragma once

#include "views/panels/text_panel.h"

namespace tickscope {

class TraceInfoPanel : public TextPanel {
  Q_OBJECT

 public:
  using TextPanel::TextPanel;

 protected:
  [[nodiscard]] QString html() const override;
};

}  // namespace tickscope
