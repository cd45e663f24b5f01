// SPDX-License-Identifier: GPL-3.0-or-later
// The table of tones, and the palette made from it.
#include "views/theme.h"

#include <QApplication>
#include <QEvent>
#include <QFontDatabase>
#include <QFontInfo>
#include <QPointer>
#include <cmath>

namespace tickscope {

namespace {

struct ToneRow {
  Tone tone;
  QRgb light, dark;
};

// clang-format off
constexpr ToneRow tones[] = {
    {Tone::Window, 0xF1F3F5, 0x14171A},
    {Tone::Panel, 0xFFFFFF, 0x1A1E22},
    {Tone::OddLane, 0xF7F8FA, 0x1F242A},
    {Tone::CpuHeader, 0xE7EAEE, 0x272D34},
    {Tone::EmptyBucket, 0xE6E9ED, 0x2A3138},
    {Tone::GridMinor, 0xEDEFF2, 0x23292F},
    {Tone::GridMajor, 0xD3D8DE, 0x363E47},
    {Tone::Border, 0xC2C8D0, 0x3E4751},
    {Tone::Text, 0x14181D, 0xE4E8EC},
    {Tone::SecondText, 0x48515C, 0xA7B1BC},
    {Tone::OffText, 0x68717C, 0x87929D},
    {Tone::Selection, 0x0B62C4, 0x6FB1FF},
    {Tone::SelectedRow, 0xDCE9F9, 0x1D3654},
    {Tone::RowUnderPointer, 0xEEF3FA, 0x232B34},
    {Tone::Cursor, 0x14181D, 0xE4E8EC},
    {Tone::MarkerA, 0x00695C, 0x5FD0BE},
    {Tone::MarkerB, 0x7A4A00, 0xE0B05A},
    {Tone::Hatch, 0x7C8590, 0x7C8793},
    {Tone::HatchGround, 0xE3E6EA, 0x2A3037},
    {Tone::Task, 0x67727F, 0x8E9AA7},
    {Tone::TaskTint, 0xD5DBE2, 0x3A434D},
    {Tone::Idle, 0xB6BEC8, 0x4A545F},
    {Tone::HardIrq, 0x45195A, 0xE3C2F4},
    {Tone::HardIrqTint, 0xE2D3EA, 0x4A3560},
    {Tone::SoftirqTimer, 0x008B66, 0x5CCFA6},
    {Tone::SoftirqTimerTint, 0xBFE3D7, 0x1C4A3C},
    {Tone::SoftirqHrtimer, 0x1156A2, 0x4E9BEA},
    {Tone::SoftirqHrtimerTint, 0xC5DCF4, 0x1E4166},
    {Tone::SoftirqOther, 0x5E5748, 0x857C68},
    {Tone::SoftirqOtherTint, 0xE8E5DE, 0x3A362E},
    {Tone::Hrtimer, 0x1156A2, 0x4E9BEA},
    {Tone::HrtimerTint, 0xC5DCF4, 0x1E4166},
    {Tone::HrtimerSoft, 0x3C8CC4, 0xA6D4F2},
    {Tone::HrtimerSoftTint, 0xE0F0FA, 0x22384A},
    {Tone::WheelL0, 0x3F9F7E, 0x227F6E},
    {Tone::WheelL1, 0x16805F, 0x34997B},
    {Tone::WheelL2, 0x005F45, 0x62C4A0},
    {Tone::WheelL3, 0x003325, 0xAEEFD8},
    {Tone::WheelTint, 0xBFE3D7, 0x1C4A3C},
    {Tone::Due, 0x14181D, 0xF2F4F6},
    {Tone::Late, 0xCF4A00, 0xFF8A3D},
    {Tone::LateTint, 0xFBD9C6, 0x5A3015},
    {Tone::LateText, 0xA83C00, 0xFF8A3D},
    {Tone::S1, 0x9A0018, 0xFF6B73},
    {Tone::S2, 0xC25600, 0xFFA85A},
    {Tone::S3, 0x4A62C0, 0x93A8FF},
    {Tone::S4, 0x56616D, 0x8794A1},
};
// clang-format on
static_assert(std::size(tones) == static_cast<std::size_t>(Tone::End));

constexpr double bodyPixels = 12;

double linear(double channel) {
  return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& color) {
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) +
         0.0722 * linear(color.blueF());
}

double systemPixels() { return QFontInfo(QApplication::font()).pixelSize(); }

}  // namespace

QColor toneColor(Tone tone, bool dark) {
  for (const ToneRow& row : tones) {
    if (row.tone == tone) return QColor::fromRgb(dark ? row.dark : row.light);
  }
  return {};
}

double contrast(const QColor& a, const QColor& b) {
  const double one = luminance(a);
  const double two = luminance(b);
  return (std::max(one, two) + 0.05) / (std::min(one, two) + 0.05);
}

Theme& Theme::application() {
  static QPointer<Theme> theme;
  if (!theme) theme = new Theme(qApp);
  return *theme;
}

Theme::Theme(QObject* parent) : QObject(parent) {
  qApp->installEventFilter(this);
  evaluate();
}

void Theme::setChoice(ThemeChoice choice) {
  if (choice == choice_) return;
  choice_ = choice;
  evaluate();
}

bool Theme::eventFilter(QObject* watched, QEvent* event) {
  const bool ofSystem =
      event->type() == QEvent::ThemeChange || event->type() == QEvent::ApplicationFontChange;
  if (ofSystem && watched == qApp && !applying_) evaluate();
  return QObject::eventFilter(watched, event);
}

void Theme::evaluate() {
  applying_ = true;
  // Without a palette of our own, the application's is the system's.
  QApplication::setPalette(QPalette());
  const bool systemDark = QApplication::palette().color(QPalette::Window).lightness() < 128;
  dark_ = choice_ == ThemeChoice::Dark || (choice_ == ThemeChoice::System && systemDark);
  QApplication::setPalette(palette());
  applying_ = false;
  emit changed();
}

QPalette Theme::palette() const {
  QPalette palette;
  const auto set = [&](QPalette::ColorRole role, Tone tone) {
    palette.setColor(role, color(tone));
  };
  set(QPalette::Window, Tone::Window);
  set(QPalette::WindowText, Tone::Text);
  set(QPalette::Base, Tone::Panel);
  set(QPalette::AlternateBase, Tone::OddLane);
  set(QPalette::Text, Tone::Text);
  set(QPalette::Button, Tone::CpuHeader);
  set(QPalette::ButtonText, Tone::Text);
  set(QPalette::BrightText, Tone::LateText);
  set(QPalette::ToolTipBase, Tone::Panel);
  set(QPalette::ToolTipText, Tone::Text);
  set(QPalette::PlaceholderText, Tone::OffText);
  set(QPalette::Highlight, Tone::SelectedRow);
  set(QPalette::HighlightedText, Tone::Text);
  set(QPalette::Link, Tone::Selection);
  set(QPalette::LinkVisited, Tone::Selection);
  set(QPalette::Light, Tone::Panel);
  set(QPalette::Midlight, Tone::OddLane);
  set(QPalette::Mid, Tone::Border);
  set(QPalette::Dark, Tone::Border);
  set(QPalette::Shadow, Tone::OffText);
  for (const QPalette::ColorRole role :
       {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, color(Tone::OffText));
  }
  return palette;
}

double Theme::textScale() const { return std::max(1.0, systemPixels() / bodyPixels); }

QFont Theme::font(Text text) const {
  QFont font = text == Text::Number ? QFontDatabase::systemFont(QFontDatabase::FixedFont)
                                    : QApplication::font();
  double pixels = bodyPixels;
  switch (text) {
    case Text::Body:
      pixels = bodyPixels;
      break;
    case Text::Lane:
    case Text::Number:
      pixels = 11;
      break;
    case Text::Sub:
      pixels = 10;
      break;
    case Text::Title:
      pixels = 15;
      break;
  }
  font.setPixelSize(static_cast<int>(std::lround(pixels * textScale())));
  return font;
}

}  // namespace tickscope
