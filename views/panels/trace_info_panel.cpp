// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the facts of a recording as tables.
#include "views/panels/trace_info_panel.h"

#include "core/base/time_text.h"
#include "core/trace/buffer_summary.h"
#include "views/time_label.h"

namespace tickscope {

namespace {

// More would make the text slow to lay out; the command line prints any number.
constexpr std::size_t mostTableLines = 1024;
constexpr std::size_t mostCpuColumns = 8;

const QString tableBegin = QStringLiteral("<table cellspacing='0' cellpadding='1'>");
const QString tableEnd = QStringLiteral("</table>");

QString words(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace

QString TraceInfoPanel::html() const {
  const Recording& recording = *inspected().recording();
  const Metadata& metadata = recording.metadata;
  const QString unknown = tr("unknown, the file does not say");
  const auto orUnknown = [&](const std::string& text) {
    return text.empty() ? unknown : words(text);
  };
  const auto time = [&](const Known<TraceTime>& at, ClockUnit unit) {
    return at ? timeInGroups(*at, unit) : QStringLiteral("–");
  };

  QString html = heading(tr("File")) + tableBegin;
  html += factRow(tr("path"), words(recording.path));
  html += factRow(tr("size"),
                  tr("%1 (%2 bytes)")
                      .arg(words(bytesWords(recording.fileSize)), countText(recording.fileSize)));
  html += factRow(tr("format"), orUnknown(metadata.format));
  html += factRow(tr("compression"),
                  metadata.compression.empty() ? tr("none") : words(metadata.compression));
  html +=
      factRow(tr("written by"),
              metadata.writer.empty() ? unknown : tr("trace-cmd %1").arg(words(metadata.writer)));
  html += factRow(tr("fingerprint"), orUnknown(recording.fingerprint));
  html += tableEnd;

  html += heading(tr("Kernel")) + tableBegin;
  html += factRow(tr("release"), orUnknown(metadata.release));
  html += factRow(tr("machine"), orUnknown(metadata.machine));
  html += factRow(tr("uname"), orUnknown(metadata.uname));
  html +=
      factRow(tr("words"), tr("%1 bit, %2")
                               .arg(metadata.wordSize * 8)
                               .arg(metadata.bigEndian ? tr("big-endian") : tr("little-endian")));
  html += factRow(tr("ring buffer page"), words(bytesWords(metadata.pageSize)));
  html += factRow(tr("event formats"), countText(metadata.eventFormats));
  for (const std::string& guest : metadata.guests) html += factRow(tr("guest"), words(guest));
  html += tableEnd;

  html += heading(tr("Buffers")) + tableBegin;
  html += headCells({tr("buffer"), tr("clock"), tr("events")}, 2);
  for (const Buffer& buffer : recording.buffers) {
    const QString name = buffer.name.empty() ? tr("(top)") : words(buffer.name);
    html += QStringLiteral("<tr>") +
            textCell(&buffer == inspected().buffer() ? tr("%1, shown").arg(name) : name) +
            textCell(orUnknown(buffer.clock.name)) + numberCell(countText(buffer.events.size())) +
            QStringLiteral("</tr>");
  }
  html += tableEnd;
  for (const std::string& text : recording.textBuffers) {
    html += QStringLiteral("<p>%1</p>")
                .arg(tr("Held as text and not shown: %1").arg(words(text)).toHtmlEscaped());
  }

  const Buffer* const buffer = inspected().buffer();
  if (!buffer) return html;
  const ClockUnit unit = buffer->clock.unit;
  Progress progress;
  const Result<BufferSummary> summed = summarise(*buffer, RowSelection(buffer->events), progress);
  if (!summed) return html;
  const BufferSummary& summary = *summed;

  html += heading(tr("Shown buffer")) + tableBegin;
  html += factRow(tr("clock"), orUnknown(buffer->clock.name));
  if (!buffer->clock.source.empty())
    html += factRow(tr("clock known from"), words(buffer->clock.source));
  html += factRow(tr("unit of times"), unitName(unit));
  html += factRow(tr("events"), countText(summary.events));
  html += factRow(tr("first event"), time(summary.first, unit));
  html += factRow(tr("last event"), time(summary.last, unit));
  if (summary.first && summary.last) {
    html += factRow(tr("duration"), differenceWords(*summary.last - *summary.first, unit));
  }
  QString lost = countText(summary.lost);
  if (summary.gapsOfUnknownSize) {
    lost = tr("at least %1, and an unknown number in %2 gaps")
               .arg(lost, countText(summary.gapsOfUnknownSize));
  }
  html += factRow(tr("events lost"), lost);
  if (summary.backwardSteps)
    html += factRow(tr("backward time stamps"), countText(summary.backwardSteps));
  html += tableEnd;

  html += heading(tr("CPUs")) + tableBegin;
  html += headCells({tr("CPU"), tr("events"), tr("first"), tr("last"), tr("lost"), tr("gaps"),
                     tr("overwritten"), tr("dropped")},
                    1);
  std::size_t line = 0;
  for (const CpuSummary& cpu : summary.cpus) {
    if (line++ == mostTableLines) break;
    const QString name = QStringLiteral("CPU%1").arg(number(cpu.cpu));
    const auto counted = [](const Known<u64>& count) {
      return count ? countText(*count) : QStringLiteral("–");
    };
    QString lostHere = countText(cpu.lost);
    if (cpu.gapsOfUnknownSize) lostHere = QStringLiteral("≥ ") + lostHere;
    html += QStringLiteral("<tr>") + textCell(cpu.inferred ? tr("%1, inferred").arg(name) : name) +
            numberCell(countText(cpu.events)) + numberCell(time(cpu.first, unit)) +
            numberCell(time(cpu.last, unit)) + numberCell(lostHere) +
            numberCell(countText(cpu.gaps)) + numberCell(counted(cpu.overrun)) +
            numberCell(counted(cpu.dropped)) + QStringLiteral("</tr>");
  }
  html += tableEnd;
  if (summary.cpus.size() > mostTableLines) {
    html += QStringLiteral("<p>%1</p>")
                .arg(tr("… and %1 more CPUs; “tickscope-cli info” prints them all.")
                         .arg(countText(summary.cpus.size() - mostTableLines))
                         .toHtmlEscaped());
  }

  html += heading(tr("Events")) + tableBegin;
  const bool wide = summary.cpus.size() > mostCpuColumns;
  QStringList titles = {tr("event"), tr("group"), tr("all")};
  if (!wide) {
    for (const CpuSummary& cpu : summary.cpus)
      titles.append(QStringLiteral("CPU%1").arg(number(cpu.cpu)));
  }
  html += headCells(titles, 2);
  line = 0;
  for (const TypeSummary& type : summary.types) {
    if (line++ == mostTableLines) break;
    html += QStringLiteral("<tr>") + textCell(words(type.name)) + textCell(words(type.system)) +
            numberCell(countText(type.events));
    if (!wide) {
      for (const u64 count : type.perCpu) html += numberCell(countText(count));
    }
    html += QStringLiteral("</tr>");
  }
  html += tableEnd;
  if (summary.types.size() > mostTableLines) {
    html += QStringLiteral("<p>%1</p>")
                .arg(tr("… and %1 more events; “tickscope-cli info” prints "
                        "them all.")
                         .arg(countText(summary.types.size() - mostTableLines))
                         .toHtmlEscaped());
  }
  return html;
}

}  // namespace tickscope
