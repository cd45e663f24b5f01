// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the import log, worst first.
#include "views/panels/import_log_panel.h"

#include "views/theme.h"
#include "views/time_label.h"

namespace tickscope {

namespace {

Tone inkOf(Severity severity) {
  switch (severity) {
    case Severity::Error:
    case Severity::Damage:
      return Tone::S1;
    case Severity::Loss:
      return Tone::S2;
    case Severity::Info:
      break;
  }
  return Tone::SecondText;
}

QString words(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace

QString ImportLogPanel::html() const {
  const std::vector<LogEntry> entries = inspected().recording()->log.entries();
  if (entries.empty()) {
    return QStringLiteral("<p>%1</p>")
        .arg(tr("The file was read without a remark.").toHtmlEscaped());
  }
  QString html = QStringLiteral("<table cellspacing='0' cellpadding='2'>");
  for (const LogEntry& entry : entries) {
    const Severity severity = severityOf(entry.counter);
    html +=
        QStringLiteral(
            "<tr><td style='color:%1; "
            "padding-right:12px'><b>%2</b></td><td>%3</td></tr>")
            .arg(Theme::application().color(inkOf(severity)).name(),
                 words(nameOf(severity)).toHtmlEscaped(), words(sentenceOf(entry)).toHtmlEscaped());
    QStringList places;
    for (const LogExample& example : entry.examples) {
      QStringList place;
      if (example.offset) place.append(tr("byte %1").arg(countText(*example.offset)));
      if (example.cpu) place.append(QStringLiteral("CPU%1").arg(number(*example.cpu)));
      if (!example.detail.empty()) place.append(words(example.detail));
      if (!place.isEmpty()) places.append(place.join(QStringLiteral(", ")));
    }
    if (places.isEmpty()) continue;
    const QString line = tr("first at: %1").arg(places.join(QStringLiteral("; ")));
    html += QStringLiteral("<tr><td></td><td style='color:%1'>%2</td></tr>")
                .arg(Theme::application().color(Tone::SecondText).name(), line.toHtmlEscaped());
  }
  return html + QStringLiteral("</table>");
}

}  // namespace tickscope
