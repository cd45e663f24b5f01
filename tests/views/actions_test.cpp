// SPDX-License-Identifier: GPL-3.0-or-later
// The table of gestures: complete, without clashes, and without keys that steal letters.
#include "views/actions.h"

#include <gtest/gtest.h>

#include <QMap>
#include <QSet>

namespace tickscope {
namespace {

TEST(Actions, EachGestureIsListedOnce) {
  QSet<int> seen;
  for (const Gesture& gesture : gestures()) {
    EXPECT_FALSE(seen.contains(static_cast<int>(gesture.id))) << gesture.name.toStdString();
    seen.insert(static_cast<int>(gesture.id));
    EXPECT_FALSE(gesture.name.isEmpty());
    EXPECT_TRUE(gesture.tip.endsWith('.')) << gesture.tip.toStdString();
  }
  EXPECT_EQ(seen.size(), static_cast<int>(ActionId::End)) << "a gesture has no line in the table";
}

TEST(Actions, NoKeyMeansTwoThings) {
  QMap<QString, QString> taken;
  for (const Gesture& gesture : gestures()) {
    for (const QKeySequence& key : keySequences(gesture)) {
      ASSERT_FALSE(key.isEmpty()) << gesture.keys.toStdString();
      const QString text = key.toString(QKeySequence::PortableText);
      EXPECT_FALSE(taken.contains(text)) << text.toStdString() << ": " << gesture.name.toStdString()
                                         << " and " << taken.value(text).toStdString();
      taken.insert(text, gesture.name);
    }
  }
}

TEST(Actions, LettersActInPanesOnly) {
  for (const Gesture& gesture : gestures()) {
    if (gesture.scope != KeyScope::Window) continue;
    for (const QKeySequence& key : keySequences(gesture)) {
      const QString text = key.toString(QKeySequence::PortableText);
      // A question mark is no letter; where text is typed it stays a character.
      EXPECT_TRUE(text.contains('+') || text.startsWith('F') || text == "?") << text.toStdString();
    }
  }
}

TEST(Actions, MenuShowsKeysOfPanesWithoutTakingThem) {
  QObject parent;
  const QAction* const zoom = makeAction(ActionId::ZoomSelection, &parent);
  EXPECT_TRUE(zoom->text().endsWith("\tZ")) << zoom->text().toStdString();
  EXPECT_TRUE(zoom->shortcuts().isEmpty());
  const QAction* const open = makeAction(ActionId::Open, &parent);
  EXPECT_EQ(open->shortcut(), QKeySequence("Ctrl+O"));
  EXPECT_TRUE(open->toolTip().contains("Ctrl+O"));
}

TEST(Actions, KeySheetNamesEveryGestureWithAKey) {
  const QString sheet = keySheetHtml();
  for (const Gesture& gesture : gestures()) {
    if (gesture.keys.isEmpty()) continue;
    EXPECT_TRUE(sheet.contains(gesture.tip.toHtmlEscaped())) << gesture.tip.toStdString();
  }
}

}  // namespace
}  // namespace tickscope
