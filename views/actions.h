// SPDX-License-Identifier: GPL-3.0-or-later
// Each gesture of the window once: its key, its name, what it does. Menus, tool bar and key sheet are made from it.
#pragma once

#include <QAction>
#include <QKeySequence>
#include <QList>
#include <QString>
#include <span>

#include "core/base/quantity.h"

namespace tickscope {

enum class ActionId : u8 {
  // File
  Open,
  OpenSample,
  UseTimerList,
  Reload,
  CloseTrace,
  Quit,
  // View
  ShowAll,
  ZoomIn,
  ZoomOut,
  ZoomSelection,
  ClearSelection,
  MoveEarlier,
  MoveLater,
  Follow,
  ThemeSystem,
  ThemeLight,
  ThemeDark,
  // Go
  Back,
  Forward,
  GoTo,
  MarkerA,
  MarkerB,
  ClearMarkers,
  PreviousChange,
  NextChange,
  NextPane,
  PreviousPane,
  // Events
  Copy,
  SelectAllRows,
  // Help
  KeySheet,
  About,
  // With the pointer or by keys of a pane only
  ZoomAtPointer,
  PanByWheel,
  PanByDrag,
  ScrollLanes,
  LaneHeight,
  SelectRange,
  ExtendRange,
  SelectEvent,
  StepInLane,
  StepLanes,
  RulerShowAll,
  DetailsCard,
  OverviewMove,
  StepRows,
  PageRows,
  EndsOfRows,
  ExtendRows,
  StepTimers,
  GoToArm,
  StepBuckets,
  End
};

enum class MenuPlace : u8 { None, File, View, Theme, Go, Events, Help };

/// Where the key acts. Letters act in a timeline only, so that they stay letters wherever one can type.
enum class KeyScope : u8 { Window, Timeline, Table, State };

struct Gesture {
  ActionId id{};
  MenuPlace menu = MenuPlace::None;
  KeyScope scope = KeyScope::Window;
  QString name;
  QString keys;  ///< portable key texts joined by " / ", or words for the pointer ("Ctrl+wheel")
  QString tip;   ///< one sentence
};

/// All gestures, in the order of menus and key sheet.
[[nodiscard]] const QList<Gesture>& gestures();
[[nodiscard]] const Gesture& gestureOf(ActionId id);
/// The keys of a gesture; empty for those of the pointer.
[[nodiscard]] QList<QKeySequence> keySequences(const Gesture& gesture);
/// An action with name, keys and tooltip. The keys of window gestures are live; those of panes are only shown,
/// because the pane handles them while it has the focus.
[[nodiscard]] QAction* makeAction(ActionId id, QObject* parent);
/// The key sheet as rich text, by heading.
[[nodiscard]] QString keySheetHtml();

}  // namespace tickscope
