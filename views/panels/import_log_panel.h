// SPDX-License-Identifier: GPL-3.0-or-later
// What the import met that was not as it should be, with places in the file.
#pragma once

#include "views/panels/text_panel.h"

namespace tickscope {

class ImportLogPanel : public TextPanel {
  Q_OBJECT

 public:
  using TextPanel::TextPanel;

 protected:
  [[nodiscard]] QString html() const override;
};

}  // namespace tickscope
