// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps one image of the lanes up to date and paints cursor, markers and selection over it.
#include "views/timeline/timeline_widget.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "core/timeline/model_marks.h"
#include "core/timeline/scene_builder.h"
#include "core/timeline/scene_words.h"
#include "core/timeline/timer_rows.h"
#include "core/trace/event_text.h"
#include "views/document.h"
#include "views/theme.h"
#include "views/time_label.h"
#include "views/timeline/hover_card.h"
#include "views/timeline/lane_labels.h"
#include "views/timeline/pointer_gestures.h"
#include "views/timeline/ruler.h"
#include "views/timeline/scene_painter.h"

namespace tickscope {

namespace {

constexpr int ruler = 34;
constexpr int hoverAfterMs = 300;
constexpr double snapReach = 6;
constexpr int smallScreenLanes = 620;

bool hasDurations(ClockUnit unit) {
  return unit != ClockUnit::Events && unit != ClockUnit::Unknown;
}

}  // namespace

TimelineWidget::TimelineWidget(Document& document, QWidget* parent)
    : QWidget(parent),
      document_(document),
      bar_(new QScrollBar(Qt::Vertical, this)),
      card_(new HoverCard(this)),
      gestures_(std::make_unique<PointerGestures>(*this)) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Timeline"));
  bar_->setAccessibleName(tr("Scroll lanes"));
  hover_.setSingleShot(true);
  hover_.setInterval(hoverAfterMs);
  connect(&hover_, &QTimer::timeout, this, [this] { showCard(pointer_); });
  connect(bar_, &QScrollBar::valueChanged, this, &TimelineWidget::invalidate);
  connect(&document, &Document::opened, this, &TimelineWidget::opened);
  connect(&document, &Document::timelineChanged, this, &TimelineWidget::opened);
  connect(&document, &Document::modelLanesChanged, this, &TimelineWidget::modelLanesArrived);
  connect(&document, &Document::visibleChanged, this, [this] {
    heightenSelected();
    invalidate();
  });
  connect(&document, &Document::cursorChanged, this, &TimelineWidget::cursorMoved);
  connect(&document, &Document::selectionChanged, this, qOverload<>(&QWidget::update));
  connect(&document, &Document::markersChanged, this,
          [this] { fromMarkerA_ ? invalidate() : update(); });
  connect(&Theme::application(), &Theme::changed, this, [this] {
    updateScroll();
    invalidate();
  });
  opened();
}

TimelineWidget::~TimelineWidget() = default;

QSize TimelineWidget::sizeHint() const { return {900, 500}; }
QSize TimelineWidget::minimumSizeHint() const { return {360, 120}; }

int TimelineWidget::rulerHeight() const {
  return static_cast<int>(std::ceil(ruler * Theme::application().textScale()));
}

int TimelineWidget::labelWidth() const {
  const int wanted = static_cast<int>(std::ceil(labelColumn * Theme::application().textScale()));
  return std::min(wanted, width() / 3);
}

QRect TimelineWidget::laneArea() const {
  const int right = width() - (bar_->isVisibleTo(this) ? bar_->width() : 0);
  return QRect(labelWidth(), rulerHeight(), std::max(1, right - labelWidth()),
               std::max(1, height() - rulerHeight()));
}

ViewWindow TimelineWidget::window() const {
  const auto& timeline = document_.timeline();
  const TimeSpan seen = document_.visible();
  if (!timeline) return ViewWindow::bounded(0, 1, laneArea().width(), devicePixelRatioF());
  const s64 from = timeline->relative(seen.from);
  return ViewWindow::bounded(from, from + (seen.to - seen.from).value, laneArea().width(),
                             devicePixelRatioF());
}

double TimelineWidget::xOf(TraceTime time) const {
  const TimeSpan seen = document_.visible();
  const double units = static_cast<double>((seen.to - seen.from).value);
  const QRect lanes = laneArea();
  if (!(units > 0)) return lanes.left();
  const double apart = static_cast<double>(time.value) - static_cast<double>(seen.from.value);
  const double exact =
      std::abs(apart) < 9e15 ? static_cast<double>((time - seen.from).value) : apart;
  return lanes.left() + exact / units * lanes.width();
}

TraceTime TimelineWidget::timeAt(double x) const {
  const TimeSpan seen = document_.visible();
  const QRect lanes = laneArea();
  const double share = std::clamp((x - lanes.left()) / lanes.width(), 0.0, 1.0);
  const double units = static_cast<double>((seen.to - seen.from).value);
  return seen.from + TraceDelta{static_cast<s64>(std::floor(share * units))};
}

Known<StripPlace> TimelineWidget::stripAt(QPointF place) const {
  if (place.y() < rulerHeight() || !document_.timeline()) return {};
  return layout_.at(static_cast<s64>(place.y()) - rulerHeight() + bar_->value());
}

QRect TimelineWidget::areaOf(const StripPlace& place) const {
  const s64 y = std::clamp<s64>(place.y - bar_->value() + rulerHeight(), -(1 << 20), 1 << 20);
  const QRect lanes = laneArea();
  return QRect(lanes.left(), static_cast<int>(y), lanes.width(), place.height);
}

TraceTime TimelineWidget::snapped(QPointF place) const {
  const auto& timeline = document_.timeline();
  const auto strip = stripAt(place);
  const TraceTime bare = timeAt(place.x());
  if (!timeline || !strip || strip->header) return bare;
  const CpuTrack& track = timeline->tracks[strip->track];
  const Picked picked = pickAt(*timeline, track, track.lanes[number(strip->lane)], window(),
                               place.x() - laneArea().left(), snapReach);
  return picked.event ? timeline->store->time(*picked.event) : bare;
}

void TimelineWidget::opened() {
  const auto& timeline = document_.timeline();
  const u32 tracks = timeline ? static_cast<u32>(timeline->tracks.size()) : 0;
  current_.reset();
  scene_ = {};
  layout_.reset(tracks);
  // More CPUs than fit: their headers show where something happens.
  if (tracks > 16) layout_.setAllFolded(true);
  bar_->setValue(0);
  hideCard();
  updateScroll();
  invalidate();
  cursorMoved();
}

void TimelineWidget::modelLanesArrived() {
  updateScroll();
  stale_ = true;
  update();
}

void TimelineWidget::fitRows() {
  if (model() && timerRows_) {
    fitTimerRows(layout_, *model(), std::max(1, height() - rulerHeight()));
  } else {
    layout_.setTimerRows({});
  }
  heightenSelected();
}

Known<SpanId> TimelineWidget::selectedSpan() const {
  if (!model() || !document_.cursor() || !document_.cursor()->row) return {};
  return model()->spanOfRow(*document_.cursor()->row);
}

void TimelineWidget::heightenSelected() {
  std::vector<TimerRows> rows;
  for (u32 track = 0; track < layout_.tracks(); ++track) {
    rows.push_back(layout_.timerRows(track));
    rows.back().hrtimers.tall = rows.back().wheel.tall = 0;
  }
  if (const Known<SpanId> id = selectedSpan()) {
    const ArmedSpan& span = model()->span(*id);
    const LaneKind kind = model()->isWheel(span) ? LaneKind::Wheel : LaneKind::Hrtimer;
    const ViewWindow seen = window();
    for (u32 track = 0; track < rows.size(); ++track) {
      TimerRows::OfLane& own = rows[track].ofTimers(kind);
      const ArmedLane& lane = model()->armed(track, kind);
      if (model()->timeline->tracks[track].cpu != span.owner || own.count == 0) continue;
      const auto chosen = timersInRows(*model(), lane, seen.from, seen.to, own.count, span.timer);
      const auto at = std::ranges::find(chosen, lane.placeOf(span.timer));
      if (at != chosen.end()) own.tall = static_cast<u32>(at - chosen.begin()) + 1;
    }
  }
  const s64 before = layout_.height();
  layout_.setTimerRows(std::move(rows));
  if (layout_.height() != before) setScrollRange();
}

Known<TimerId> TimelineWidget::timerOfRow(const StripPlace& place) {
  if (!place.timerRow) return {};
  for (const SceneStrip& strip : scene().strips) {
    if (strip.track == place.track && strip.lane == place.lane && strip.timerRow == place.timerRow)
      return strip.timer;
  }
  return {};
}

void TimelineWidget::setTimerRows(bool on) {
  timerRows_ = on;
  updateScroll();
  invalidate();
}

const ModelLanes* TimelineWidget::model() const {
  const auto& lanes = document_.modelLanes();
  return lanes && lanes->timeline == document_.timeline().get() ? lanes.get() : nullptr;
}

void TimelineWidget::invalidate() {
  stale_ = true;
  hideCard();
  update();
}

void TimelineWidget::cursorMoved() {
  const auto& timeline = document_.timeline();
  const Known<Row> row = document_.cursor() ? document_.cursor()->row : Known<Row>();
  if (timeline && row) {
    const auto lane = laneOf(*timeline, *row);
    if (lane && !(current_ && current_->track == lane->track && current_->lane == lane->lane &&
                  !current_->header)) {
      current_ = Place{lane->track, lane->lane, layout_.folded(lane->track)};
      stale_ = true;
      reveal(*current_);
    }
  }
  // The outline of the selected event is part of the image; the cursor's line is not.
  if (row != outlined_) {
    stale_ = true;
    heightenSelected();
  }
  outlined_ = row;
  describe();
  update();
}

void TimelineWidget::describe() {
  const Buffer* const buffer = document_.buffer();
  if (!buffer || !document_.timeline()) {
    setAccessibleDescription(tr("No recording is open."));
    return;
  }
  QString words;
  if (current_ && current_->track < document_.timeline()->tracks.size()) {
    words = QStringLiteral("CPU%1").arg(number(document_.timeline()->tracks[current_->track].cpu));
    if (!current_->header) {
      const std::string_view name = nameOf(current_->lane);
      words +=
          QLatin1Char(' ') + QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
    }
  }
  if (document_.cursor()) {
    words += tr(", time %1").arg(timeInGroups(document_.cursor()->time, buffer->clock.unit));
    if (document_.cursor()->row) {
      const EventText text(*document_.recording(), *buffer);
      words += tr(", row %1, %2")
                   .arg(number(*document_.cursor()->row))
                   .arg(QString::fromStdString(text.nameAndBody(*document_.cursor()->row)));
    }
  }
  setAccessibleDescription(words);
}

void TimelineWidget::updateScroll() {
  layout_.setScale(Theme::application().textScale());
  fitRows();
  setScrollRange();
}

void TimelineWidget::setScrollRange() {
  const int page = std::max(1, height() - rulerHeight());
  const s64 rest = std::min<s64>(std::max<s64>(layout_.height() - page, 0), 1 << 30);
  bar_->setVisible(rest > 0);
  bar_->setRange(0, static_cast<int>(rest));
  bar_->setPageStep(page);
  bar_->setSingleStep(20);
  const int wide = bar_->sizeHint().width();
  bar_->setGeometry(width() - wide, rulerHeight(), wide, page);
}

const Scene& TimelineWidget::scene() {
  if (stale_) render();
  return scene_;
}

void TimelineWidget::render() {
  stale_ = false;
  const auto& timeline = document_.timeline();
  if (!timeline || !document_.buffer()) {
    scene_ = {};
    return;
  }
  const Theme& theme = Theme::application();
  const QRect lanes = laneArea();
  const double ratio = devicePixelRatioF();
  const EventText text(*document_.recording(), *document_.buffer());
  SceneNames names;
  names.task = [&](Pid pid) { return text.comm(pid); };
  names.symbol = [&](Address address) { return text.symbol(address); };
  const ViewWindow seen = window();
  SceneRequest request;
  request.from = seen.from;
  request.to = seen.to;
  request.width = lanes.width();
  request.ratio = ratio;
  request.durations = hasDurations(document_.buffer()->clock.unit);
  request.top = bar_->value();
  request.places = layout_.placesIn(request.top, request.top + lanes.height());
  request.model = model();
  request.selected = selectedSpan();
  request.timeWords = [&](s64 time) {
    return timeInGroups(timeline->absolute(time), document_.buffer()->clock.unit).toStdString();
  };
  scene_ = buildScene(*timeline, names, request);

  const QSize size = QSize(lanes.right() + 1, lanes.height()) * ratio;
  if (image_.size() != size) image_ = QImage(size, QImage::Format_RGB32);
  image_.setDevicePixelRatio(ratio);
  // Strips paint their own ground; only what is below them is left.
  const s64 below = layout_.height() - request.top;
  if (below < lanes.height()) {
    QPainter(&image_).fillRect(QRectF(0, static_cast<double>(below), lanes.right() + 1,
                                      static_cast<double>(lanes.height() - below)),
                               theme.color(Tone::Window));
  }
  PaintOptions options;
  RulerScale scale{
      document_.visible(), static_cast<double>(lanes.width()), document_.buffer()->clock.unit, {}};
  if (fromMarkerA_) scale.base = document_.marker(Marker::A);
  const QFontMetricsF numbers(theme.font(Theme::Text::Number));
  options.grid =
      rulerTicks(scale, numbers.horizontalAdvance(timeInGroups(scale.visible.to, scale.unit)) + 14);
  if (current_) {
    options.selectedTrack = current_->track;
    options.selectedLane = current_->lane;
    options.headerSelected = current_->header;
  }
  if (document_.cursor()) options.selectedRow = document_.cursor()->row;
  ScenePainter(theme).paint(image_, scene_, labelWidth(), options);
  paintLaneLabels(image_, scene_, labelWidth(), theme, options);
}

void TimelineWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& theme = Theme::application();
  if (stale_) render();
  if (!document_.timeline() || !document_.rowCount()) {
    paintEmpty(painter);
    return;
  }
  painter.fillRect(QRect(0, 0, width(), rulerHeight()), theme.color(Tone::Window));
  if (bar_->isVisibleTo(this))
    painter.fillRect(QRect(laneArea().right() + 1, 0, width(), height()),
                     theme.color(Tone::Window));
  painter.drawImage(0, rulerHeight(), image_);
  paintRuler(painter, QRectF(0, 0, laneArea().right() + 1, rulerHeight()), labelWidth(), document_,
             theme, fromMarkerA_);
  paintOverlays(painter);
  if (hasFocus()) {
    painter.setClipping(false);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.color(Tone::Selection), 2));
    painter.drawRect(rect().adjusted(1, 1, -1, -1));
  }
}

void TimelineWidget::paintEmpty(QPainter& painter) {
  const Theme& theme = Theme::application();
  painter.fillRect(rect(), theme.color(Tone::Window));
  painter.setFont(theme.font(Theme::Text::Body));
  painter.setPen(theme.color(Tone::SecondText));
  QString words = tr("No recording is open.");
  if (document_.buffer() && !document_.rowCount()) words = tr("This buffer holds no events.");
  if (document_.rowCount()) words = tr("Drawing up lanes…");
  painter.drawText(rect().adjusted(16, 16, -16, -16), Qt::AlignCenter | Qt::TextWordWrap, words);
}

void TimelineWidget::paintOverlays(QPainter& painter) {
  const Theme& theme = Theme::application();
  const QRect lanes = laneArea();
  painter.setClipRect(lanes);
  if (const auto& selection = document_.selection()) {
    const double from = std::clamp(xOf(selection->from), lanes.left() - 4.0, lanes.right() + 4.0);
    const double to = std::clamp(xOf(selection->to), lanes.left() - 4.0, lanes.right() + 4.0);
    QColor veil = theme.color(Tone::Selection);
    veil.setAlpha(36);
    painter.fillRect(QRectF(from, lanes.top(), to - from, lanes.height()), veil);
    painter.fillRect(QRectF(std::floor(from), lanes.top(), 1, lanes.height()),
                     theme.color(Tone::Selection));
    painter.fillRect(QRectF(std::floor(to), lanes.top(), 1, lanes.height()),
                     theme.color(Tone::Selection));
  }
  const auto line = [&](TraceTime time, Tone tone, Qt::PenStyle style, double thick) {
    const double x = xOf(time);
    if (x < lanes.left() - 1 || x > lanes.right() + 1) return;
    painter.setPen(QPen(theme.color(tone), thick, style));
    const double at = std::floor(x) + 0.5;
    painter.drawLine(QPointF(at, lanes.top()), QPointF(at, lanes.bottom() + 1));
  };
  if (document_.marker(Marker::A))
    line(*document_.marker(Marker::A), Tone::MarkerA, Qt::SolidLine, 1.5);
  if (document_.marker(Marker::B))
    line(*document_.marker(Marker::B), Tone::MarkerB, Qt::DashLine, 1.5);
  if (document_.cursor()) line(document_.cursor()->time, Tone::Cursor, Qt::SolidLine, 1);
}

void TimelineWidget::resizeEvent(QResizeEvent* event) {
  // Small windows begin with low lanes (look.md 5); who chose another height keeps it.
  const bool small = height() < smallScreenLanes && width() < 1100;
  if (!sizeChosen_) layout_.setSize(small ? LaneSize::Compact : LaneSize::Default);
  updateScroll();
  invalidate();
  QWidget::resizeEvent(event);
}

void TimelineWidget::setFolded(u32 track, bool folded) {
  if (track >= layout_.tracks() || layout_.folded(track) == folded) return;
  layout_.setFolded(track, folded);
  if (current_ && current_->track == track && folded) current_->header = true;
  updateScroll();
  invalidate();
}

void TimelineWidget::setAllFolded(bool folded) {
  layout_.setAllFolded(folded);
  if (current_ && folded) current_->header = true;
  updateScroll();
  invalidate();
}

void TimelineWidget::setLaneSize(LaneSize size) {
  sizeChosen_ = true;
  if (size == layout_.size()) return;
  layout_.setSize(size);
  updateScroll();
  invalidate();
}

void TimelineWidget::stepLaneSize(int steps) {
  const int size =
      std::clamp(static_cast<int>(layout_.size()) + steps, 0, static_cast<int>(LaneSize::Huge));
  setLaneSize(static_cast<LaneSize>(size));
}

void TimelineWidget::scrollLanes(int pixels) { bar_->setValue(bar_->value() + pixels); }

void TimelineWidget::setFromMarkerA(bool on) {
  fromMarkerA_ = on;
  invalidate();
}

void TimelineWidget::reveal(const Place& place) {
  if (place.track >= layout_.tracks()) return;
  const StripPlace strip =
      place.header ? layout_.headerOf(place.track) : layout_.placeOf(place.track, place.lane);
  const s64 page = laneArea().height();
  if (strip.y < bar_->value()) bar_->setValue(static_cast<int>(strip.y));
  if (strip.y + strip.height > bar_->value() + page)
    bar_->setValue(static_cast<int>(strip.y + strip.height - page));
}

void TimelineWidget::setCurrent(Place place) {
  if (place.track >= layout_.tracks()) return;
  if (layout_.folded(place.track)) place.header = true;
  current_ = place;
  reveal(place);
  stale_ = true;
  describe();
  update();
}

Known<SpanId> TimelineWidget::armedTimerAt(const StripPlace& place, QPointF at) {
  if (place.header || !model()) return {};
  for (const SceneStrip& strip : scene().strips) {
    if (strip.header || strip.track != place.track || strip.lane != place.lane ||
        strip.timerRow != place.timerRow)
      continue;
    return armedAt(strip, at.x() - laneArea().left(), at.y() - areaOf(place).top());
  }
  return {};
}

void TimelineWidget::showCard(QPointF place) {
  const auto strip = stripAt(place);
  if (!strip || strip->header || gestures_->busy() || place.x() < labelWidth()) return hideCard();
  if (strip->timerRow) {
    const QRect area = areaOf(*strip);
    const Known<TimerId> timer = timerOfRow(*strip);
    const s64 time = document_.timeline()->relative(timeAt(place.x()));
    const Known<SpanId> span =
        timer ? model()->spanAt(model()->armed(strip->track, strip->lane), *timer, time)
              : Known<SpanId>();
    return card_->present(span ? cardOfArmed(document_, *span) : CardText{}, place.toPoint(),
                          area.top(), area.bottom());
  }
  const CardText text = cardOfPlace(document_, {strip->track, strip->lane}, window(),
                                    place.x() - laneArea().left(), armedTimerAt(*strip, place));
  const QRect area = areaOf(*strip);
  card_->present(text, place.toPoint(), area.top(), area.bottom());
}

void TimelineWidget::showCardOfCursor() {
  if (card_->isVisible()) return hideCard();
  if (!document_.cursor()) return;
  const auto row = document_.rowAtCursor();
  if (!row) return;
  const QRect lanes = laneArea();
  const int x = static_cast<int>(
      std::clamp<double>(xOf(document_.cursor()->time), lanes.left(), lanes.right()));
  QRect area(lanes.left(), lanes.top(), lanes.width(), 1);
  if (current_ && current_->track < layout_.tracks())
    area = areaOf(layout_.placeOf(current_->track, current_->lane));
  card_->present(cardOfRow(document_, *row), QPoint(x, area.center().y()), area.top(),
                 area.bottom());
}

void TimelineWidget::hideCard() {
  hover_.stop();
  card_->hide();
}

}  // namespace tickscope
