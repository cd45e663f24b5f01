// SPDX-License-Identifier: GPL-3.0-or-later
// Colours, fonts and sizes of the window, light and dark: no other colour is used anywhere.
#pragma once

#include <QColor>
#include <QFont>
#include <QObject>
#include <QPalette>

#include "core/base/quantity.h"

namespace tickscope {

enum class Tone : u8 {
  Window,
  Panel,
  OddLane,
  CpuHeader,
  EmptyBucket,
  GridMinor,
  GridMajor,
  Border,
  Text,
  SecondText,
  OffText,
  Selection,
  SelectedRow,
  RowUnderPointer,
  Cursor,
  MarkerA,
  MarkerB,
  Hatch,
  HatchGround,
  Task,
  TaskTint,
  Idle,
  HardIrq,
  HardIrqTint,
  SoftirqTimer,
  SoftirqTimerTint,
  SoftirqHrtimer,
  SoftirqHrtimerTint,
  SoftirqOther,
  SoftirqOtherTint,
  Hrtimer,
  HrtimerTint,
  HrtimerSoft,
  HrtimerSoftTint,
  WheelL0,
  WheelL1,
  WheelL2,
  WheelL3,
  WheelTint,
  Due,
  Late,
  LateTint,
  LateText,
  S1,
  S2,
  S3,
  S4,
  End
};

/// The colour of a tone in one of the two schemes.
[[nodiscard]] QColor toneColor(Tone tone, bool dark);

/// Relative contrast as WCAG 2 defines it, 1 to 21.
[[nodiscard]] double contrast(const QColor& a, const QColor& b);

enum class ThemeChoice : u8 { System, Light, Dark };

/// Follows the system unless told otherwise, and gives the application its palette.
class Theme : public QObject {
  Q_OBJECT

 public:
  /// The one of the application, which must exist; made on first use.
  static Theme& application();

  [[nodiscard]] ThemeChoice choice() const { return choice_; }
  void setChoice(ThemeChoice choice);
  [[nodiscard]] bool dark() const { return dark_; }
  [[nodiscard]] QColor color(Tone tone) const { return toneColor(tone, dark_); }
  [[nodiscard]] QPalette palette() const;

  enum class Text : u8 { Body, Lane, Sub, Title, Number };
  /// Fonts grow with the system's font; at 9 pt: body 12 px, lanes and ruler 11, sub-labels 10, page title 15, and
  /// numbers 11 in the fixed font.
  [[nodiscard]] QFont font(Text text) const;
  /// How much larger than 9 pt the system's font is, at least 1: lengths that hold text grow with it.
  [[nodiscard]] double textScale() const;

 signals:
  void changed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  explicit Theme(QObject* parent);
  void evaluate();

  ThemeChoice choice_ = ThemeChoice::System;
  bool dark_ = false;
  bool applying_ = false;
};

}  // namespace tickscope
