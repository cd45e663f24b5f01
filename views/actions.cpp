// SPDX-License-Identifier: GPL-3.0-or-later
// The table of gestures, and what is made from it.
#include "views/actions.h"

#include <QCoreApplication>

namespace tickscope {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("tickscope::Actions", text); }

QList<Gesture> makeGestures() {
  using enum ActionId;
  using M = MenuPlace;
  using K = KeyScope;
  // clang-format off
  return {
    {Open, M::File, K::Window, tr("&Open…"), "Ctrl+O", tr("Open a recording.")},
    {OpenSample, M::File, K::Window, tr("Open &sample"), "", tr("Open the recording that comes with the program.")},
    {UseTimerList, M::File, K::Window, tr("Use timer &list…"), "", tr("Let a dump of /proc/timer_list of the same boot tell which timers were armed.")},
    {Reload, M::File, K::Window, tr("&Reload"), "F5", tr("Read the file again.")},
    {CloseTrace, M::File, K::Window, tr("&Close"), "Ctrl+W", tr("Close the recording.")},
    {Quit, M::File, K::Window, tr("&Quit"), "Ctrl+Q", tr("Close the window.")},

    {ShowAll, M::View, K::Timeline, tr("Show &all"), "0 / Home", tr("Show the whole recording.")},
    {ZoomIn, M::View, K::Timeline, tr("Zoom &in"), "W / +", tr("Show less time: W at the pointer, + at the selection.")},
    {ZoomOut, M::View, K::Timeline, tr("Zoom &out"), "S / -", tr("Show more time: S at the pointer, - at the selection.")},
    {ZoomSelection, M::View, K::Timeline, tr("&Zoom to selection"), "Z / Return", tr("Show the selected range of time.")},
    {ClearSelection, M::View, K::Timeline, tr("&Clear selection"), "Esc", tr("Forget the selected range of time.")},
    {MoveEarlier, M::View, K::Timeline, tr("Move &earlier"), "A", tr("Move the view by a quarter to earlier times.")},
    {MoveLater, M::View, K::Timeline, tr("Move &later"), "D", tr("Move the view by a quarter to later times.")},
    {Follow, M::View, K::Timeline, tr("&Follow the cursor"), "F", tr("Move the view along when the cursor leaves it.")},
    {ThemeSystem, M::Theme, K::Window, tr("As the &system"), "", tr("Use light or dark colours as the system does.")},
    {ThemeLight, M::Theme, K::Window, tr("&Light"), "", tr("Use light colours.")},
    {ThemeDark, M::Theme, K::Window, tr("&Dark"), "", tr("Use dark colours.")},

    {Back, M::Go, K::Window, tr("&Back"), "Alt+Left", tr("Show what was in view before.")},
    {Forward, M::Go, K::Window, tr("&Forward"), "Alt+Right", tr("Undo a step back.")},
    {GoTo, M::Go, K::Window, tr("&Go to…"), "Ctrl+G", tr("Go to a time or a row.")},
    {MarkerA, M::Go, K::Timeline, tr("Set marker &A"), "Shift+A", tr("Put marker A at the cursor.")},
    {MarkerB, M::Go, K::Timeline, tr("Set marker &B"), "Shift+B", tr("Put marker B at the cursor.")},
    {ClearMarkers, M::Go, K::Window, tr("&Remove markers"), "", tr("Remove markers A and B.")},
    {PreviousChange, M::Go, K::Window, tr("Previous change of the s&tate"), "Ctrl+Up", tr("Go back to the last change of the shown CPU's state.")},
    {NextChange, M::Go, K::Window, tr("Next &change of the state"), "Ctrl+Down", tr("Go on to the next change of the shown CPU's state.")},
    {NextPane, M::Go, K::Window, tr("&Next pane"), "F6", tr("Move the keyboard to the next pane.")},
    {PreviousPane, M::Go, K::Window, tr("&Previous pane"), "Shift+F6", tr("Move the keyboard to the previous pane.")},

    {Copy, M::Events, K::Table, tr("&Copy rows"), "Ctrl+C", tr("Copy the selected rows as the kernel prints them.")},
    {SelectAllRows, M::Events, K::Table, tr("Select &all rows"), "Ctrl+A", tr("Select every row of the table.")},

    {KeySheet, M::Help, K::Window, tr("&Keys"), "? / F1", tr("Show all keys and pointer gestures.")},
    {About, M::Help, K::Window, tr("&About Tickscope"), "", tr("Show version and licence.")},

    {ZoomAtPointer, M::None, K::Timeline, tr("Zoom at the pointer"), tr("Ctrl+wheel"), tr("Show more or less time around the pointer.")},
    {PanByWheel, M::None, K::Timeline, tr("Move in time"), tr("Shift+wheel"), tr("Move the view in time.")},
    {PanByDrag, M::None, K::Timeline, tr("Move in time"), tr("middle drag"), tr("Move the view with the pointer.")},
    {ScrollLanes, M::None, K::Timeline, tr("Scroll lanes"), tr("wheel"), tr("Scroll lanes up and down.")},
    {LaneHeight, M::None, K::Timeline, tr("Lane height"), tr("Ctrl+Shift+wheel"), tr("Choose lower or higher lanes.")},
    {SelectRange, M::None, K::Timeline, tr("Select a range"), tr("left drag"), tr("Select a range of time; its edges snap to events.")},
    {ExtendRange, M::None, K::Timeline, tr("Extend the range"), tr("Shift+click"), tr("Move the nearer edge of the range.")},
    {SelectEvent, M::None, K::Timeline, tr("Select an event"), tr("click"), tr("Put the cursor on the event under the pointer.")},
    {StepInLane, M::None, K::Timeline, tr("Previous or next in the lane"), tr("Left, Right"), tr("Step along the lane.")},
    {StepLanes, M::None, K::Timeline, tr("Other lane"), tr("Up, Down"), tr("Step to the lane above or below.")},
    {RulerShowAll, M::None, K::Timeline, tr("Show all"), tr("double click on the ruler"), tr("Show the whole recording.")},
    {DetailsCard, M::None, K::Timeline, tr("Details"), tr("hover, Space"), tr("Show what is known of the event.")},
    {OverviewMove, M::None, K::Timeline, tr("Move by the overview"), tr("click or drag in the overview"), tr("Show that part of the recording.")},
    {StepRows, M::None, K::Table, tr("Previous or next row"), tr("Up, Down"), tr("Move the cursor by one event.")},
    {PageRows, M::None, K::Table, tr("Page of rows"), tr("PgUp, PgDown"), tr("Move the cursor by a page.")},
    {EndsOfRows, M::None, K::Table, tr("First or last row"), tr("Home, End"), tr("Move the cursor to the first or last event.")},
    {ExtendRows, M::None, K::Table, tr("Extend the rows"), tr("Shift with click or key"), tr("Select rows from the cursor on.")},
    {StepTimers, M::None, K::State, tr("Previous or next timer"), tr("Up, Down"), tr("Step along the timers of a list or tree.")},
    {GoToArm, M::None, K::State, tr("Where it was armed"), tr("Return, double click"), tr("Put the cursor on the event that armed the timer.")},
    {StepBuckets, M::None, K::State, tr("Other bucket"), tr("arrow keys in the wheel"), tr("Step to the next bucket or level that holds timers.")},
  };
  // clang-format on
}

}  // namespace

const QList<Gesture>& gestures() {
  static const QList<Gesture> all = makeGestures();
  return all;
}

const Gesture& gestureOf(ActionId id) {
  for (const Gesture& gesture : gestures()) {
    if (gesture.id == id) return gesture;
  }
  static const Gesture none{ActionId::End, MenuPlace::None, KeyScope::Window, {}, {}, {}};
  return none;
}

QList<QKeySequence> keySequences(const Gesture& gesture) {
  QList<QKeySequence> keys;
  if (gesture.menu == MenuPlace::None) return keys;
  for (const QString& key : gesture.keys.split(QStringLiteral(" / "), Qt::SkipEmptyParts)) {
    keys.append(QKeySequence(key, QKeySequence::PortableText));
  }
  return keys;
}

QAction* makeAction(ActionId id, QObject* parent) {
  const Gesture& gesture = gestureOf(id);
  auto* const action = new QAction(gesture.name, parent);
  const QList<QKeySequence> keys = keySequences(gesture);
  QString tip = gesture.tip;
  if (!keys.isEmpty()) {
    QStringList shown;
    for (const QKeySequence& key : keys) shown.append(key.toString(QKeySequence::NativeText));
    tip += QStringLiteral(" (%1)").arg(shown.join(QStringLiteral(", ")));
    if (gesture.scope == KeyScope::Window) {
      action->setShortcuts(keys);
    } else {
      // A tab in the text makes a menu show the key without taking it from text fields.
      action->setText(gesture.name + QLatin1Char('\t') + shown.first());
    }
  }
  action->setToolTip(tip);
  action->setStatusTip(gesture.tip);
  QString icon = gesture.name;
  icon.remove(QLatin1Char('&')).remove(QChar(0x2026));
  action->setIconText(icon);
  return action;
}

QString keySheetHtml() {
  struct Heading {
    QString title;
    KeyScope scope;
  };
  const Heading headings[] = {{tr("Everywhere"), KeyScope::Window},
                              {tr("In the timeline"), KeyScope::Timeline},
                              {tr("In the table of events"), KeyScope::Table},
                              {tr("In the state at the cursor"), KeyScope::State}};
  QString html = QStringLiteral("<table cellspacing='0' cellpadding='2'>");
  for (const Heading& heading : headings) {
    html += QStringLiteral("<tr><td colspan='2'><b>%1</b></td></tr>")
                .arg(heading.title.toHtmlEscaped());
    for (const Gesture& gesture : gestures()) {
      if (gesture.scope != heading.scope || gesture.keys.isEmpty()) continue;
      QStringList shown;
      for (const QKeySequence& key : keySequences(gesture)) {
        shown.append(key.toString(QKeySequence::NativeText));
      }
      const QString keys = shown.isEmpty() ? gesture.keys : shown.join(QStringLiteral(", "));
      html += QStringLiteral(
                  "<tr><td style='padding-right:16px; white-space:pre'><code>%1</code></td>"
                  "<td>%2</td></tr>")
                  .arg(keys.toHtmlEscaped(), gesture.tip.toHtmlEscaped());
    }
  }
  return html + QStringLiteral("</table>");
}

}  // namespace tickscope
