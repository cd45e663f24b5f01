// SPDX-License-Identifier: GPL-3.0-or-later
// Sums up losses and the import log in sentences.
#include "app/window/recording_notices.h"

#include <QCoreApplication>
#include <QStringList>
#include <map>

#include "views/time_label.h"

namespace tickscope {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("tickscope::Notices", text); }

void add(LossTotal& total, const Loss& loss) {
  ++total.gaps;
  if (loss.count) {
    total.events += *loss.count;
  } else {
    ++total.unknownGaps;
  }
}

QString gapsText(const LossTotal& total) {
  return total.gaps == 1 ? tr("one gap") : tr("%1 gaps").arg(countText(total.gaps));
}

QString lineOf(const LogEntry& entry) {
  QString line = QString::fromStdString(sentenceOf(entry));
  if (!entry.examples.empty() && entry.examples.front().offset) {
    const QString place = tr("first at byte %1").arg(countText(*entry.examples.front().offset));
    // The sentence may name its first place already.
    if (!line.contains(QString::number(*entry.examples.front().offset)) &&
        !line.contains(countText(*entry.examples.front().offset))) {
      line += QStringLiteral(" (%1)").arg(place);
    }
  }
  return line;
}

}  // namespace

LossTotal lossesOf(const EventStore& events) {
  LossTotal total;
  for (const Loss& loss : events.losses()) add(total, loss);
  return total;
}

QString lossWords(const LossTotal& total) {
  if (total.gaps > 0 && total.events == 0) return tr("events lost, number unknown");
  if (total.unknownGaps > 0) return tr("at least %1 events lost").arg(countText(total.events));
  return total.events == 1 ? tr("1 event lost") : tr("%1 events lost").arg(countText(total.events));
}

std::vector<Notice> noticesOf(const Recording& recording, u32 buffer) {
  QStringList damage;
  QStringList lost;
  for (const LogEntry& entry : recording.log.entries()) {
    const Severity severity = severityOf(entry.counter);
    if (severity == Severity::Error || severity == Severity::Damage) damage.append(lineOf(entry));
    // Gaps are told per CPU below.
    const bool gap =
        entry.counter == Counter::MissedEvents || entry.counter == Counter::MissedUnknown;
    if (severity == Severity::Loss && !gap) lost.append(lineOf(entry));
  }
  std::vector<Notice> notices;
  if (!damage.isEmpty()) {
    Notice notice{Notice::Level::Error, damage.front(), {}};
    if (damage.size() > 1) {
      notice.sentence += tr(" … and %1 more").arg(damage.size() - 1);
    }
    notice.details = damage.join(QLatin1Char('\n')) + QLatin1Char('\n') +
                     tr("All remarks are in the import log.");
    notices.push_back(std::move(notice));
  }
  QStringList perCpu;
  LossTotal total;
  if (buffer < recording.buffers.size()) {
    std::map<Cpu, LossTotal> byCpu;
    for (const Loss& loss : recording.buffers[buffer].events.losses()) {
      add(byCpu[loss.cpu], loss);
      add(total, loss);
    }
    for (const auto& [cpu, loss] : byCpu) {
      perCpu.append(
          tr("CPU%1: %2 in %3").arg(QString::number(number(cpu)), lossWords(loss), gapsText(loss)));
    }
  }
  if (total.gaps > 0 || !lost.isEmpty()) {
    Notice notice{Notice::Level::Loss, {}, {}};
    if (total.gaps > 0) {
      QString words = lossWords(total);
      words[0] = words[0].toUpper();
      notice.sentence = total.gaps == 1
                            ? tr("%1 in one gap, which is hatched in the timeline.").arg(words)
                            : tr("%1 in %2 gaps, which are hatched in the timeline.")
                                  .arg(words, countText(total.gaps));
      if (!lost.isEmpty()) notice.sentence += QLatin1Char(' ') + lost.front();
    } else {
      notice.sentence = lost.front();
    }
    const QStringList details = perCpu + lost;
    notice.details = details.join(QLatin1Char('\n'));
    notices.push_back(std::move(notice));
  }
  return notices;
}

Notice noticeOf(const Error& error) {
  Notice notice{Notice::Level::Error, QString::fromStdString(error.what), {}};
  if (error.offset) {
    notice.details = tr("Place in the file: byte %1 (0x%2)")
                         .arg(countText(*error.offset), QString::number(*error.offset, 16));
  }
  return notice;
}

}  // namespace tickscope
