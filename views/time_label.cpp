// SPDX-License-Identifier: GPL-3.0-or-later
// Writes and reads times in groups of three digits.
#include "views/time_label.h"

#include <QCoreApplication>

#include "core/base/time_text.h"

namespace tickscope {

namespace {

constexpr u64 nsPerSecond = 1'000'000'000;

QString inThrees(u64 number) {
  QString digits = QString::number(number);
  for (qsizetype at = digits.size() - 3; at > 0; at -= 3) digits.insert(at, QLatin1Char(' '));
  return digits;
}

/// `places` digits (3, 6 or 9) behind the point, in groups.
QString decimals(u64 fraction, int places) {
  QString digits = QString::number(fraction).rightJustified(places, QLatin1Char('0'));
  for (qsizetype at = places - 3; at > 0; at -= 3) digits.insert(at, QLatin1Char(' '));
  return digits;
}

u64 magnitude(TraceDelta difference) {
  return difference.value < 0 ? u64{0} - static_cast<u64>(difference.value)
                              : static_cast<u64>(difference.value);
}

}  // namespace

QString timeInGroups(TraceTime time, ClockUnit unit) {
  const u64 value = static_cast<u64>(time.value);
  if (unit != ClockUnit::Nanoseconds) return inThrees(value);
  return QString::number(value / nsPerSecond) + QLatin1Char('.') + decimals(value % nsPerSecond, 9);
}

QString timeForCopy(TraceTime time, ClockUnit unit) {
  return timeInGroups(time, unit).remove(QLatin1Char(' '));
}

QString differenceInGroups(TraceDelta difference, ClockUnit unit) {
  const u64 size = magnitude(difference);
  const QString sign = difference.value < 0 ? QString(QChar(0x2212)) : QStringLiteral("+");
  if (unit != ClockUnit::Nanoseconds) return sign + inThrees(size);
  return sign + inThrees(size / 1000) + QLatin1Char('.') + decimals(size % 1000, 3);
}

QString differenceWords(TraceDelta difference, ClockUnit unit) {
  const u64 size = magnitude(difference);
  const QString sign = difference.value < 0 ? QString(QChar(0x2212)) : QString();
  if (unit != ClockUnit::Nanoseconds) {
    return sign + inThrees(size) + QLatin1Char(' ') + unitName(unit);
  }
  if (size < 1000) return sign + QString::number(size) + QStringLiteral(" ns");
  struct Scale {
    u64 ns;
    int places;
    const char* name;
  };
  constexpr Scale scales[] = {{nsPerSecond, 9, " s"}, {1'000'000, 6, " ms"}, {1000, 3, " µs"}};
  for (const Scale& scale : scales) {
    if (size < scale.ns) continue;
    QString digits = decimals(size % scale.ns, scale.places);
    // Groups of zeros say nothing; one stays, as the mark of a measured value.
    while (digits.endsWith(QLatin1String(" 000"))) digits.chop(4);
    return sign + QString::number(size / scale.ns) + QLatin1Char('.') + digits +
           QString::fromUtf8(scale.name);
  }
  return {};
}

QString unitName(ClockUnit unit) {
  const auto tr = [](const char* text) {
    return QCoreApplication::translate("tickscope::TimeLabel", text);
  };
  switch (unit) {
    case ClockUnit::Nanoseconds:
      return tr("s");
    case ClockUnit::Cycles:
      return tr("cycles");
    case ClockUnit::Jiffies100Hz:
      return tr("× 10 ms");
    case ClockUnit::Events:
      return tr("events");
    case ClockUnit::Unknown:
      break;
  }
  return tr("counts");
}

QString countText(u64 count) { return QString::fromStdString(grouped(count)); }

Known<TraceTime> readTime(const QString& text, ClockUnit unit) {
  QString bare = text.simplified().remove(QLatin1Char(' '));
  bare.replace(QChar(0xb5), QLatin1Char('u'));
  const Known<WrittenNumber> written = readNumber(bare.toStdString());
  if (!written) return {};
  const Known<Whole> whole = unit == ClockUnit::Nanoseconds
                                 ? inNanoseconds(*written, WrittenNumber::Unit::Second)
                                 : asWhole(*written);
  if (!whole || whole->negative) return {};
  return TraceTime{static_cast<s64>(whole->magnitude)};
}

}  // namespace tickscope
