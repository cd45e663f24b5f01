// SPDX-License-Identifier: GPL-3.0-or-later
// Lazy rich text, and the pieces that panels build it from.
#include "views/panels/text_panel.h"

#include <QScrollBar>

#include "views/theme.h"

namespace tickscope {

namespace {

QString second() { return Theme::application().color(Tone::SecondText).name(); }

}  // namespace

TextPanel::TextPanel(Document& document, QWidget* parent)
    : QTextBrowser(parent), document_(document) {
  setFrameShape(QFrame::NoFrame);
  setOpenLinks(false);
  setTabChangesFocus(true);
  setFont(Theme::application().font(Theme::Text::Body));
  connect(&document_, &Document::opened, this, &TextPanel::outdate);
  // Colours are part of the text.
  connect(&Theme::application(), &Theme::changed, this, &TextPanel::outdate);
}

void TextPanel::outdate() {
  stale_ = true;
  viewport()->update();
}

void TextPanel::paintEvent(QPaintEvent* event) {
  QTextBrowser::paintEvent(event);
  // A panel behind another tab counts as visible but is never painted: only this tells that it is looked at.
  if (stale_) QMetaObject::invokeMethod(this, &TextPanel::write, Qt::QueuedConnection);
}

void TextPanel::write() {
  if (!stale_) return;
  stale_ = false;
  const int place = verticalScrollBar()->value();
  const QFont numbers = Theme::application().font(Theme::Text::Number);
  document()->setDocumentMargin(10);
  document()->setDefaultStyleSheet(QStringLiteral("code { font-family: '%1'; font-size: %2px }")
                                       .arg(numbers.family())
                                       .arg(numbers.pixelSize()));
  setHtml(document_.recording() ? html() : QString());
  verticalScrollBar()->setValue(place);
}

QString factRow(const QString& name, const QString& value) {
  return QStringLiteral("<tr><td width='150' style='color:%1'>%2</td><td>%3</td></tr>")
      .arg(second(), name.toHtmlEscaped(), value.toHtmlEscaped());
}

QString heading(const QString& title) {
  return QStringLiteral("<p style='margin-top:10px; margin-bottom:2px'><b>%1</b></p>")
      .arg(title.toHtmlEscaped());
}

QString numberCell(const QString& text) {
  return QStringLiteral(
             "<td align='right' style='padding-left:18px; "
             "white-space:pre'><code>%1</code></td>")
      .arg(text.toHtmlEscaped());
}

QString textCell(const QString& text) {
  return QStringLiteral("<td style='padding-right:6px'>%1</td>").arg(text.toHtmlEscaped());
}

QString headCells(const QStringList& titles, int textColumns) {
  QString html;
  for (int i = 0; i < titles.size(); ++i) {
    html += QStringLiteral("<td align='%1' style='color:%2; padding-left:%3px'>%4</td>")
                .arg(i < textColumns ? QStringLiteral("left") : QStringLiteral("right"), second(),
                     i < textColumns ? QStringLiteral("0") : QStringLiteral("18"),
                     titles[i].toHtmlEscaped());
  }
  return QStringLiteral("<tr>%1</tr>").arg(html);
}

}  // namespace tickscope
