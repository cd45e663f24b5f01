// SPDX-License-Identifier: GPL-3.0-or-later
// Follows the cursor, asks for the state when it is looked at, and shares it out to grids, lists and trees.
#include "views/panels/state_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "views/panels/fact_list.h"
#include "views/panels/tree_diagram.h"
#include "views/panels/wheel_grid.h"
#include "views/panels/wheel_list.h"
#include "views/theme.h"
#include "views/time_label.h"

namespace tickscope {

namespace {

/// Narrower panels leave out their name, which key sheet and menu tell too.
constexpr int titleFrom = 340;
/// Width of the switch that has a sign for its word there.
constexpr int narrowSwitch = 18;

QLabel* wrapped(QWidget* parent, Theme::Text font, QPalette::ColorRole ink) {
  auto* const label = new QLabel(parent);
  label->setWordWrap(true);
  label->setTextFormat(Qt::RichText);
  label->setFont(Theme::application().font(font));
  label->setForegroundRole(ink);
  label->setContentsMargins(6, 0, 6, 0);
  // Its width is that of the panel; otherwise a long word would widen the panel.
  label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  return label;
}

QString inked(const QString& text, Tone tone) {
  return QStringLiteral("<span style='color:%1'>%2</span>")
      .arg(Theme::application().color(tone).name(), text.toHtmlEscaped());
}

QString headingText(const QString& title, const QString& rest) {
  return QStringLiteral("<b>%1</b>&nbsp; %2")
      .arg(title.toHtmlEscaped(), inked(rest, Tone::SecondText));
}

}  // namespace

struct StatePanel::WheelSection {
  QLabel* title;
  FactList* facts;
  WheelGrid* grid;
  WheelList* list;
};

struct StatePanel::TreeSection {
  QLabel* title;
  TreeDiagram* tree;
};

StatePanel::StatePanel(Document& document, QWidget* parent)
    : QWidget(parent), document_(document), reason_(tr("The state is not there yet.")) {
  setAccessibleName(tr("State at the cursor"));
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  makeHeader(column);

  message_ = wrapped(this, Theme::Text::Body, QPalette::WindowText);
  message_->setTextFormat(Qt::PlainText);
  message_->setContentsMargins(12, 12, 12, 12);
  message_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  column->addWidget(message_, 1);

  scroll_ = new QScrollArea(this);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setFocusPolicy(Qt::NoFocus);
  scroll_->viewport()->setBackgroundRole(QPalette::Base);
  content_ = new QWidget(scroll_);
  content_->setBackgroundRole(QPalette::Base);
  auto* const parts = new QVBoxLayout(content_);
  parts->setContentsMargins(4, 6, 4, 8);
  parts->setSpacing(4);
  blind_ = wrapped(content_, Theme::Text::Lane, QPalette::WindowText);
  parts->addWidget(blind_);
  wheelColumn_ = new QVBoxLayout;
  wheelColumn_->setSpacing(2);
  parts->addLayout(wheelColumn_);
  legend_ = wrapped(content_, Theme::Text::Sub, QPalette::WindowText);
  parts->addWidget(legend_);
  parts->addSpacing(8);
  treeColumn_ = new QVBoxLayout;
  treeColumn_->setSpacing(2);
  parts->addLayout(treeColumn_);
  facts_ = new FactList(content_);
  facts_->setAccessibleName(tr("Scalars of the CPU"));
  parts->addWidget(facts_);
  treeNote_ = wrapped(content_, Theme::Text::Sub, QPalette::WindowText);
  parts->addWidget(treeNote_);
  parts->addStretch(1);
  scroll_->setWidget(content_);
  column->addWidget(scroll_, 1);
  content_->installEventFilter(this);
  message_->installEventFilter(this);

  refresh_.setSingleShot(true);
  refresh_.setInterval(0);
  connect(&refresh_, &QTimer::timeout, this, &StatePanel::refresh);
  connect(&document_, &Document::opened, this, &StatePanel::onOpened);
  connect(&document_, &Document::cursorChanged, this, &StatePanel::onCursor);
  // Colours are part of the titles.
  connect(&Theme::application(), &Theme::changed, this, &StatePanel::outdate);
  scroll_->hide();
}

StatePanel::~StatePanel() = default;

QSize StatePanel::sizeHint() const { return {360, 500}; }

void StatePanel::makeHeader(QVBoxLayout* column) {
  auto* const header = new QWidget(this);
  header->setAutoFillBackground(true);
  header->setBackgroundRole(QPalette::Window);
  auto* const row = new QHBoxLayout(header);
  row->setContentsMargins(10, 2, 4, 2);
  row->setSpacing(4);
  title_ = new QLabel(tr("State"), header);
  QFont bold = Theme::application().font(Theme::Text::Body);
  bold.setBold(true);
  title_->setFont(bold);
  row->addWidget(title_);
  cpus_ = new QComboBox(header);
  cpus_->setAccessibleName(tr("CPU"));
  cpus_->setToolTip(
      tr("The CPU that is shown: always the same, or that of the event at the cursor."));
  cpus_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  cpus_->addItem(tr("at cursor"));
  title_->setBuddy(cpus_);
  row->addWidget(cpus_);
  place_ = new QLabel(header);
  place_->setFont(Theme::application().font(Theme::Text::Lane));
  place_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  row->addWidget(place_, 1);
  before_ = new QToolButton(header);
  before_->setText(tr("before"));
  before_->setCheckable(true);
  before_->setAutoRaise(true);
  before_->setFocusPolicy(Qt::TabFocus);
  before_->setFont(Theme::application().font(Theme::Text::Lane));
  before_->setAccessibleName(tr("Before the row"));
  before_->setToolTip(
      tr("Show the state as it was before the row at the cursor, not as it is after it."));
  row->addWidget(before_);
  connect(before_, &QToolButton::toggled, this, &StatePanel::outdate);
  const auto button = [&](Qt::ArrowType arrow, const QString& name, const QString& tip) {
    auto* const made = new QToolButton(header);
    made->setArrowType(arrow);
    made->setAutoRaise(true);
    made->setFocusPolicy(Qt::TabFocus);
    made->setAccessibleName(name);
    made->setToolTip(tip);
    row->addWidget(made);
    return made;
  };
  previous_ = button(Qt::LeftArrow, tr("Previous change"),
                     tr("Go back to the last change of this CPU's state (Ctrl+Up)."));
  next_ = button(Qt::RightArrow, tr("Next change"),
                 tr("Go on to the next change of this CPU's state (Ctrl+Down)."));
  column->addWidget(header);
  connect(cpus_, &QComboBox::activated, this, [this](int index) {
    setCpu(index == 0 ? Known<Cpu>()
                      : Known<Cpu>(Cpu{static_cast<u16>(cpus_->itemData(index).toUInt())}));
  });
  connect(previous_, &QToolButton::clicked, this, &StatePanel::toPreviousChange);
  connect(next_, &QToolButton::clicked, this, &StatePanel::toNextChange);
  setFocusProxy(cpus_);
}

void StatePanel::setSource(StateSource source) {
  source_ = std::move(source);
  outdate();
}

void StatePanel::setReason(const QString& sentence) {
  reason_ = sentence;
  outdate();
}

void StatePanel::setCpu(Known<Cpu> cpu) {
  chosen_ = cpu;
  stepping_.reset();
  outdate();
}

QString StatePanel::message() const { return view_ ? QString() : message_->text(); }

void StatePanel::onOpened() {
  source_ = {};
  chosen_.reset();
  stepping_.reset();
  view_.reset();
  outdate();
}

void StatePanel::onCursor() {
  if (!inStep_) stepping_.reset();
  outdate();
}

bool StatePanel::lookedAt() const {
  // The panel's own region says nothing: its opaque children are no part of it.
  return !message_->visibleRegion().isEmpty() || !content_->visibleRegion().isEmpty();
}

void StatePanel::outdate() {
  stale_ = true;
  if (lookedAt()) {
    refresh_.start();
  } else {
    content_->update();
    message_->update();
  }
}

bool StatePanel::eventFilter(QObject* watched, QEvent* event) {
  // A panel behind another tab counts as visible but is never painted: only this tells that it is looked at.
  if (event->type() == QEvent::Paint && stale_ && !refresh_.isActive()) refresh_.start();
  return QWidget::eventFilter(watched, event);
}

void StatePanel::showEvent(QShowEvent* event) {
  if (stale_) refresh_.start();
  QWidget::showEvent(event);
}

void StatePanel::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange) outdate();
  QWidget::changeEvent(event);
}

void StatePanel::refresh() {
  // Hidden since: it waits until it is looked at again.
  if (!isVisible()) return;
  stale_ = false;
  view_.reset();
  QString sentence;
  const Buffer* const buffer = document_.buffer();
  const Known<Row> row = document_.rowAtCursor();
  if (!buffer) {
    sentence = tr("No recording is open.");
  } else if (!source_) {
    sentence = reason_;
  } else if (!row) {
    sentence =
        tr("Put the cursor on an event: click one in the timeline or in the table. Here stands "
           "then what each "
           "timer base of its CPU held at that instant.");
  } else if (before_->isChecked() && *row == Row{0}) {
    sentence = tr("This is the first row: nothing is known of the state before it.");
  } else {
    const bool before = before_->isChecked();
    const SystemState state = source_.stateAt(before ? Row{number(*row) - 1} : *row);
    const Cpu atCursor = buffer->events.cpu(*row);
    fillCpus(state, atCursor);
    const Cpu shown = chosen_ ? *chosen_ : stepping_.value_or(atCursor);
    view_ = viewOf(source_, state, shown, *document_.recording(), *buffer);
    if (!view_) sentence = tr("Nothing is known of CPU%1.").arg(number(shown));
    const bool onRow = document_.cursor() && document_.cursor()->row;
    const bool last = number(*row) + 1 >= document_.rowCount();
    placeWords_ = {before          ? tr("before row %1").arg(countText(number(*row)))
                   : onRow || last ? tr("after row %1").arg(countText(number(*row)))
                                   : tr("after row %1, before %2")
                                         .arg(countText(number(*row)), countText(number(*row) + 1)),
                   tr("row %1").arg(countText(number(*row)))};
  }
  if (!view_) placeWords_.clear();
  showPlace();
  message_->setText(sentence);
  message_->setVisible(!view_);
  scroll_->setVisible(view_.has_value());
  cpus_->setEnabled(view_.has_value() || chosen_);
  before_->setEnabled(static_cast<bool>(source_));
  previous_->setEnabled(view_ && source_.previousChange);
  next_->setEnabled(view_ && source_.nextChange);
  if (view_) showView();
}

void StatePanel::showPlace() {
  const bool wide = width() >= titleFrom * Theme::application().textScale();
  title_->setVisible(wide);
  before_->setText(wide ? tr("before") : QStringLiteral("⇤"));
  before_->setMaximumWidth(wide ? QWIDGETSIZE_MAX : narrowSwitch);
  before_->parentWidget()->layout()->setSpacing(wide ? 4 : 1);
  layout()->activate();
  before_->parentWidget()->layout()->activate();
  const QFontMetrics metrics(place_->font());
  QString shown;
  for (const QString& text : placeWords_) {
    shown = text;
    if (metrics.horizontalAdvance(text) <= place_->width()) break;
  }
  place_->setText(metrics.elidedText(shown, Qt::ElideLeft, place_->width()));
  place_->setToolTip(placeWords_.value(0));
}

void StatePanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  showPlace();
}

void StatePanel::fillCpus(const SystemState& state, Cpu atCursor) {
  const int wanted = static_cast<int>(state.cpus.size()) + 1;
  if (cpus_->count() != wanted) {
    cpus_->clear();
    cpus_->addItem(QString());
    for (const CpuState& cpu : state.cpus)
      cpus_->addItem(QStringLiteral("CPU%1").arg(number(cpu.cpu)), number(cpu.cpu));
  }
  const Cpu followed = stepping_.value_or(atCursor);
  cpus_->setItemText(0, tr("cursor: CPU%1").arg(number(followed)));
  int index = 0;
  for (int i = 1; chosen_ && i < cpus_->count(); ++i) {
    if (cpus_->itemData(i).toUInt() == number(*chosen_)) index = i;
  }
  cpus_->setCurrentIndex(index);
}

StatePanel::WheelSection& StatePanel::wheelSection(std::size_t place) {
  while (wheels_.size() <= place) {
    auto made = std::make_unique<WheelSection>();
    made->title = wrapped(content_, Theme::Text::Body, QPalette::WindowText);
    if (!wheels_.empty()) made->title->setContentsMargins(6, 8, 6, 0);
    made->facts = new FactList(content_);
    made->grid = new WheelGrid(content_);
    made->list = new WheelList(content_);
    for (QWidget* const part :
         std::initializer_list<QWidget*>{made->title, made->facts, made->grid, made->list})
      wheelColumn_->addWidget(part);
    WheelSection& section = *made;
    connect(section.grid, &WheelGrid::bucketChosen, section.list, &WheelList::showBucket);
    connect(section.list, &LineList::currentChanged, this, [this, &section](int line) {
      if (line >= 0)
        section.grid->setCurrent(section.list->timers()[static_cast<std::size_t>(line)].bucket);
    });
    connect(section.list, &LineList::wantsVisible, this,
            [this, &section](QRect part) { reveal(section.list, part); });
    connect(section.list, &LineList::activated, this, [this, &section](int line) {
      goTo(section.list->timers()[static_cast<std::size_t>(line)].armed);
    });
    wheels_.push_back(std::move(made));
  }
  return *wheels_[place];
}

StatePanel::TreeSection& StatePanel::treeSection(std::size_t place) {
  while (trees_.size() <= place) {
    auto made = std::make_unique<TreeSection>();
    made->title = wrapped(content_, Theme::Text::Body, QPalette::WindowText);
    if (!trees_.empty()) made->title->setContentsMargins(6, 8, 6, 0);
    made->tree = new TreeDiagram(content_);
    treeColumn_->addWidget(made->title);
    treeColumn_->addWidget(made->tree);
    TreeSection& section = *made;
    connect(section.tree, &LineList::wantsVisible, this,
            [this, &section](QRect part) { reveal(section.tree, part); });
    connect(section.tree, &LineList::activated, this, [this, &section](int line) {
      goTo(section.tree->tree().nodes[static_cast<std::size_t>(line)].armed);
    });
    trees_.push_back(std::move(made));
  }
  return *trees_[place];
}

void StatePanel::showView() {
  const CpuView& view = *view_;
  blind_->setVisible(!view.blind.isEmpty());
  blind_->setText(inked(view.blind, Tone::SecondText));

  bool anyLevels = false, anyOverdue = false;
  for (std::size_t i = 0; i < view.wheel.size(); ++i) {
    const WheelView& wheel = view.wheel[i];
    WheelSection& section = wheelSection(i);
    QString title = headingText(wheel.title, wheel.summary);
    if (wheel.overdue) {
      title += inked(QStringLiteral(", "), Tone::SecondText) +
               QStringLiteral("<b>%1</b>")
                   .arg(inked(tr("%1 overdue").arg(countText(wheel.overdue)), Tone::LateText));
    }
    section.title->setText(title);
    section.facts->setFacts(wheel.facts);
    section.facts->setAccessibleName(wheel.title);
    section.grid->setView(wheel);
    section.grid->setAccessibleName(tr("Buckets of %1").arg(wheel.title));
    section.list->setTimers(wheel.timers, wheel.moreTimers);
    section.title->show();
    section.facts->show();
    section.grid->setVisible(wheel.levels);
    section.list->setVisible(!wheel.timers.empty());
    anyLevels = anyLevels || wheel.levels;
    anyOverdue = anyOverdue || wheel.overdue;
  }
  for (std::size_t i = view.wheel.size(); i < wheels_.size(); ++i) {
    for (QWidget* const part : std::initializer_list<QWidget*>{wheels_[i]->title, wheels_[i]->facts,
                                                               wheels_[i]->grid, wheels_[i]->list})
      part->hide();
  }
  const QString space = QStringLiteral(" &nbsp; ");
  QString legend =
      tr("▯ clk hand") + space + tr("▲ next_expiry") + space + tr("filled: timers in bucket");
  if (anyOverdue) legend += space + inked(tr("■ overdue: behind clk"), Tone::LateText);
  legend_->setText(QStringLiteral("<span style='color:%1'>%2</span>")
                       .arg(Theme::application().color(Tone::SecondText).name(), legend));
  legend_->setVisible(anyLevels);

  for (std::size_t i = 0; i < view.trees.size(); ++i) {
    TreeSection& section = treeSection(i);
    section.title->setText(headingText(view.trees[i].title, view.trees[i].summary));
    section.tree->setTree(view.trees[i]);
    section.tree->setAccessibleName(
        QStringLiteral("%1 %2").arg(view.trees[i].title, view.trees[i].summary));
    section.title->show();
    section.tree->show();
  }
  for (std::size_t i = view.trees.size(); i < trees_.size(); ++i) {
    trees_[i]->title->hide();
    trees_[i]->tree->hide();
  }
  facts_->setFacts(view.facts);
  treeNote_->setVisible(!view.trees.empty());
  treeNote_->setText(
      inked(tr("● black  ○ red: a correct tree of these timers; its colours need not be the traced "
               "kernel's. Bars: softexpires … expires; full: may run now."),
            Tone::SecondText));
}

void StatePanel::reveal(QWidget* widget, QRect part) {
  const QPoint at = widget->mapTo(content_, part.center());
  scroll_->ensureVisible(at.x(), at.y(), 0, part.height());
}

void StatePanel::goTo(Known<Row> armed) {
  if (armed) {
    document_.setCursor(*armed);
  } else {
    emit notice(tr("It was armed before the recording."));
  }
}

void StatePanel::step(const std::function<Known<Row>(Cpu, Row)>& change, const QString& none) {
  const Known<Row> row = document_.rowAtCursor();
  if (!row || !source_ || !change) return;
  // The panel may not have been looked at since the cursor moved.
  const Cpu cpu = chosen_     ? *chosen_
                  : stepping_ ? *stepping_
                              : document_.buffer()->events.cpu(*row);
  const Known<Row> to = change(cpu, *row);
  if (!to) {
    emit notice(none.arg(number(cpu)));
    return;
  }
  inStep_ = true;
  stepping_ = cpu;
  document_.setCursor(*to);
  inStep_ = false;
}

void StatePanel::toPreviousChange() {
  step(source_.previousChange, tr("The state of CPU%1 does not change before this row."));
}

void StatePanel::toNextChange() {
  step(source_.nextChange, tr("The state of CPU%1 does not change after this row."));
}

}  // namespace tickscope
