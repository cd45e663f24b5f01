// SPDX-License-Identifier: GPL-3.0-or-later
// Recomputes the contrasts and distances that the colours were chosen by.
#include "views/theme.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QSignalSpy>
#include <array>
#include <cmath>
#include <initializer_list>
#include <numbers>

namespace tickscope {
namespace {

double worst(const QColor& ink, std::initializer_list<Tone> grounds, bool dark) {
  double least = 21;
  for (const Tone ground : grounds) least = std::min(least, contrast(ink, toneColor(ground, dark)));
  return least;
}

TEST(Theme, ContrastIsThatOfTheStandard) {
  EXPECT_NEAR(contrast(Qt::black, Qt::white), 21, 1e-9);
  EXPECT_NEAR(contrast(QColor(0x77, 0x77, 0x77), Qt::white), 4.48, 0.005);
}

TEST(Theme, TextIsReadableOnEveryGround) {
  struct Expected {
    Tone ink;
    double light, dark;
  };
  const auto grounds = {Tone::Window,    Tone::Panel,       Tone::OddLane,
                        Tone::CpuHeader, Tone::SelectedRow, Tone::RowUnderPointer};
  for (const Expected& one :
       {Expected{Tone::Text, 14.5, 10.0}, Expected{Tone::SecondText, 6.5, 5.7},
        Expected{Tone::LateText, 5.2, 5.2}}) {
    EXPECT_NEAR(worst(toneColor(one.ink, false), grounds, false), one.light, 0.06);
    EXPECT_NEAR(worst(toneColor(one.ink, true), grounds, true), one.dark, 0.06);
  }
  const auto quiet = {Tone::Window, Tone::Panel, Tone::OddLane};
  EXPECT_NEAR(worst(toneColor(Tone::OffText, false), quiet, false), 4.5, 0.06);
  EXPECT_NEAR(worst(toneColor(Tone::OffText, true), quiet, true), 4.9, 0.06);
}

TEST(Theme, TextIsReadableOnTintsAndBadges) {
  const auto tints = {Tone::TaskTint,           Tone::HardIrqTint,      Tone::SoftirqTimerTint,
                      Tone::SoftirqHrtimerTint, Tone::SoftirqOtherTint, Tone::HrtimerTint,
                      Tone::HrtimerSoftTint,    Tone::WheelTint,        Tone::LateTint};
  EXPECT_NEAR(worst(toneColor(Tone::Text, false), tints, false), 12.5, 0.06);
  EXPECT_NEAR(worst(toneColor(Tone::Text, true), tints, true), 8.1, 0.06);
  const auto badges = {Tone::S1, Tone::S2, Tone::S3, Tone::S4};
  EXPECT_NEAR(worst(toneColor(Tone::Panel, false), badges, false), 4.5, 0.06);
  EXPECT_NEAR(worst(toneColor(Tone::Panel, true), badges, true), 5.4, 0.06);
}

TEST(Theme, InksAreVisibleOnLanes) {
  const auto lanes = {Tone::Panel, Tone::OddLane};
  for (const bool dark : {false, true}) {
    double least = 21;
    for (const Tone ink : {Tone::Task, Tone::HardIrq, Tone::SoftirqTimer, Tone::SoftirqHrtimer,
                           Tone::SoftirqOther, Tone::Hrtimer, Tone::HrtimerSoft, Tone::WheelL0,
                           Tone::WheelL1, Tone::WheelL2, Tone::WheelL3, Tone::Late, Tone::Due}) {
      least = std::min(least, worst(toneColor(ink, dark), lanes, dark));
    }
    EXPECT_NEAR(least, dark ? 3.2 : 3.1, 0.06);
  }
}

// --- Distances: CIEDE2000 of colours as people with full and reduced colour vision see them ---------------------

using Three = std::array<double, 3>;
using Matrix = std::array<Three, 3>;

constexpr Matrix identity{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
// Machado, Oliveira, Fernandes 2009, severity 1.0, on linear RGB.
constexpr Matrix protan{{{0.152286, 1.052583, -0.204868},
                         {0.114503, 0.786281, 0.099216},
                         {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix deutan{{{0.367322, 0.860646, -0.227968},
                         {0.280085, 0.672501, 0.047413},
                         {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix tritan{{{1.255528, -0.076749, -0.178779},
                         {-0.078411, 0.930809, 0.147602},
                         {0.004733, 0.691367, 0.303900}}};

Three times(const Matrix& m, const Three& v) {
  Three out{};
  for (std::size_t i = 0; i < 3; ++i) out[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return out;
}

Three labOf(const QColor& color, const Matrix& vision) {
  const auto linear = [](double c) {
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  Three rgb = times(vision, {linear(color.redF()), linear(color.greenF()), linear(color.blueF())});
  for (double& c : rgb) c = std::clamp(c, 0.0, 1.0);
  constexpr Matrix xyz{{{0.4124564, 0.3575761, 0.1804375},
                        {0.2126729, 0.7151522, 0.0721750},
                        {0.0193339, 0.1191920, 0.9503041}}};
  const Three v = times(xyz, rgb);
  const auto f = [](double t) {
    return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
  };
  const double x = f(v[0] / 0.95047);
  const double y = f(v[1]);
  const double z = f(v[2] / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double ciede2000(const Three& one, const Three& two) {
  const double pi = std::numbers::pi;
  const double meanC = (std::hypot(one[1], one[2]) + std::hypot(two[1], two[2])) / 2;
  const double g =
      0.5 * (1 - std::sqrt(std::pow(meanC, 7) / (std::pow(meanC, 7) + std::pow(25.0, 7))));
  const double a1 = one[1] * (1 + g);
  const double a2 = two[1] * (1 + g);
  const double c1 = std::hypot(a1, one[2]);
  const double c2 = std::hypot(a2, two[2]);
  const auto hue = [&](double a, double b) {
    if (a == 0 && b == 0) return 0.0;
    const double h = std::atan2(b, a);
    return h < 0 ? h + 2 * pi : h;
  };
  const double h1 = hue(a1, one[2]);
  const double h2 = hue(a2, two[2]);
  double dh = 0;
  if (c1 * c2 != 0) {
    dh = h2 - h1;
    if (dh > pi) dh -= 2 * pi;
    if (dh < -pi) dh += 2 * pi;
  }
  const double dL = two[0] - one[0];
  const double dC = c2 - c1;
  const double dH = 2 * std::sqrt(c1 * c2) * std::sin(dh / 2);
  const double meanL = (one[0] + two[0]) / 2;
  const double meanCp = (c1 + c2) / 2;
  double meanH = h1 + h2;
  if (c1 * c2 != 0) {
    if (std::abs(h1 - h2) > pi) meanH += meanH < 2 * pi ? 2 * pi : -2 * pi;
    meanH /= 2;
  }
  const double t = 1 - 0.17 * std::cos(meanH - pi / 6) + 0.24 * std::cos(2 * meanH) +
                   0.32 * std::cos(3 * meanH + pi / 30) -
                   0.20 * std::cos(4 * meanH - 63 * pi / 180);
  const double around = (meanH * 180 / pi - 275) / 25;
  const double turn = 60 * std::exp(-around * around) * pi / 180;
  const double rc = 2 * std::sqrt(std::pow(meanCp, 7) / (std::pow(meanCp, 7) + std::pow(25.0, 7)));
  const double l50 = (meanL - 50) * (meanL - 50);
  const double sL = 1 + 0.015 * l50 / std::sqrt(20 + l50);
  const double sC = 1 + 0.045 * meanCp;
  const double sH = 1 + 0.015 * meanCp * t;
  const double rT = -std::sin(turn) * rc;
  return std::sqrt(std::pow(dL / sL, 2) + std::pow(dC / sC, 2) + std::pow(dH / sH, 2) +
                   rT * (dC / sC) * (dH / sH));
}

TEST(Theme, DistanceIsThatOfThePublishedTestPairs) {
  EXPECT_NEAR(ciede2000({50, 2.6772, -79.7751}, {50, 0, -82.7485}), 2.0425, 1e-4);
  EXPECT_NEAR(ciede2000({50, 2.5, 0}, {73, 25, -18}), 27.1492, 1e-4);
  EXPECT_NEAR(ciede2000({2.0776, 0.0795, -1.1350}, {0.9033, -0.0636, -0.5514}), 0.9082, 1e-4);
}

TEST(Theme, WhatMustDifferIsAsFarApartAsTheTableSays) {
  struct Pair {
    const char* name;
    std::vector<Tone> one, other;
    std::array<int, 4> light, dark;  // normal, protan, deutan, tritan
  };
  const std::vector<Tone> wheel = {Tone::WheelL0, Tone::WheelL1, Tone::WheelL2, Tone::WheelL3};
  const std::vector<Pair> pairs = {
      {"late, hrtimer",
       {Tone::Late},
       {Tone::Hrtimer, Tone::HrtimerSoft},
       {49, 50, 52, 59},
       {45, 43, 44, 52}},
      {"late, wheel", {Tone::Late}, wheel, {52, 16, 22, 56}, {47, 17, 22, 56}},
      {"deadline, late", {Tone::Due}, {Tone::Late}, {45, 37, 47, 46}, {34, 35, 31, 30}},
      {"deadline, hrtimer and irq",
       {Tone::Due},
       {Tone::Hrtimer, Tone::HrtimerSoft, Tone::HardIrq},
       {20, 17, 16, 22},
       {16, 14, 15, 16}},
      {"deadline, wheel", {Tone::Due}, wheel, {20, 12, 9, 14}, {20, 9, 6, 20}},
      {"hard, soft hrtimer",
       {Tone::Hrtimer},
       {Tone::HrtimerSoft},
       {20, 19, 18, 18},
       {17, 17, 19, 15}},
      {"irq, softirqs",
       {Tone::HardIrq},
       {Tone::SoftirqTimer, Tone::SoftirqHrtimer, Tone::SoftirqOther},
       {26, 17, 14, 18},
       {31, 14, 21, 25}},
      {"marker A, B", {Tone::MarkerA}, {Tone::MarkerB}, {37, 20, 25, 46}, {36, 21, 28, 51}},
  };
  for (const Pair& pair : pairs) {
    for (const bool dark : {false, true}) {
      const std::array<Matrix, 4> visions{identity, protan, deutan, tritan};
      for (std::size_t v = 0; v < 4; ++v) {
        double least = 1000;
        for (const Tone one : pair.one) {
          for (const Tone other : pair.other) {
            least = std::min(least, ciede2000(labOf(toneColor(one, dark), visions[v]),
                                              labOf(toneColor(other, dark), visions[v])));
          }
        }
        EXPECT_NEAR(least, (dark ? pair.dark : pair.light)[v], 0.75)
            << pair.name << (dark ? " dark " : " light ") << v;
      }
    }
  }
}

TEST(Theme, SaysWhenItChangesAndGivesTheApplicationItsPalette) {
  Theme& theme = Theme::application();
  theme.setChoice(ThemeChoice::Light);
  QSignalSpy changed(&theme, &Theme::changed);
  theme.setChoice(ThemeChoice::Dark);
  EXPECT_EQ(changed.count(), 1);
  EXPECT_TRUE(theme.dark());
  EXPECT_EQ(QApplication::palette().color(QPalette::Window), toneColor(Tone::Window, true));
  theme.setChoice(ThemeChoice::Dark);
  EXPECT_EQ(changed.count(), 1);
  theme.setChoice(ThemeChoice::System);
  EXPECT_FALSE(theme.dark()) << "the offscreen platform is light";
}

TEST(Theme, FontsKeepTheirProportionsAndAreNeverSmallerThanTen) {
  const Theme& theme = Theme::application();
  EXPECT_GE(theme.font(Theme::Text::Sub).pixelSize(), 10);
  EXPECT_GT(theme.font(Theme::Text::Lane).pixelSize(), theme.font(Theme::Text::Sub).pixelSize());
  EXPECT_GT(theme.font(Theme::Text::Title).pixelSize(), theme.font(Theme::Text::Body).pixelSize());
}

}  // namespace
}  // namespace tickscope
