// SPDX-License-Identifier: GPL-3.0-or-later
// Cards of what the reference model knows: a life of a timer, and what is due next.
#include <cstdlib>

#include "core/timeline/model_lanes.h"
#include "core/trace/event_text.h"
#include "views/document.h"
#include "views/time_label.h"
#include "views/timeline/hover_card.h"

namespace tickscope {

namespace {

QString words(SpanEnd end) {
  switch (end) {
    case SpanEnd::Open:
      return HoverCard::tr("still armed at the end");
    case SpanEnd::Restarted:
      return HoverCard::tr("restarted");
    case SpanEnd::Cancelled:
      return HoverCard::tr("cancelled");
    case SpanEnd::Expired:
      return HoverCard::tr("expired");
    case SpanEnd::Moved:
      return HoverCard::tr("moved to another CPU");
    case SpanEnd::ReInitialised:
      return HoverCard::tr("initialised anew while armed");
    case SpanEnd::ExpiredAtStart:
      return HoverCard::tr("had expired when started");
    case SpanEnd::Unknown:
      return HoverCard::tr("ended unseen, not later than");
  }
  return {};
}

QString atRow(const QString& what, Row row) {
  return row == noRow ? what : HoverCard::tr("%1, row %2").arg(what, countText(number(row)));
}

QString clockOf(ClockBase base) {
  static constexpr const char* names[] = {"MONOTONIC", "REALTIME", "BOOTTIME", "TAI"};
  const QString name = QString::fromLatin1(names[number(hardOf(base))]);
  return isSoft(base) ? HoverCard::tr("%1, soft").arg(name) : HoverCard::tr("%1, hard").arg(name);
}

QString ownTime(s64 ns) { return timeInGroups(TraceTime{ns}, ClockUnit::Nanoseconds); }

void addExpiry(CardText& card, const ModelLanes& lanes, const ArmedSpan& span) {
  const QString unknown = HoverCard::tr("unknown");
  if (lanes.isWheel(span)) {
    card.lines.emplace_back(HoverCard::tr("expires, jiffies"),
                            span.expiryKnown ? countText(static_cast<u64>(span.expires)) : unknown);
    card.lines.emplace_back(HoverCard::tr("bucket of level %1, jiffies").arg(span.bucketIndex / 64),
                            span.secondKnown ? countText(static_cast<u64>(span.second)) : unknown);
    return;
  }
  card.lines.emplace_back(HoverCard::tr("expires (%1)").arg(clockOf(span.clockBase())),
                          span.expiryKnown ? ownTime(span.expires) : unknown);
  if (span.secondKnown && span.second != span.expires)
    card.lines.emplace_back(HoverCard::tr("softexpires"), ownTime(span.second));
}

}  // namespace

CardText cardOfArmed(const Document& document, SpanId id) {
  CardText card;
  const auto& lanes = document.modelLanes();
  const Buffer* const buffer = document.buffer();
  if (!lanes || !buffer || number(id) >= lanes->tables->spans.size()) return card;
  const ArmedSpan& span = lanes->span(id);
  const ModelTimer& timer = lanes->tables->timers[number(span.timer)];
  const EventText text(*document.recording(), *buffer);
  const ClockUnit unit = buffer->clock.unit;
  const Timeline& timeline = *lanes->timeline;
  const auto place = [&](s64 time) { return timeInGroups(timeline.absolute(time), unit); };
  card.title = QString::fromStdString(
      text.symbol(timer.function == Address{} ? timer.address : timer.function));
  card.corner = lanes->isWheel(span) ? HoverCard::tr("wheel timer") : HoverCard::tr("hrtimer");
  if (span.armed == noRow) {
    card.lines.emplace_back(HoverCard::tr("armed before the recording"), QString());
  } else {
    card.lines.emplace_back(atRow(HoverCard::tr("armed"), span.armed), place(lanes->beginOf(span)));
    const Context context = buffer->events.context(span.armed);
    if (!context.hardIrq() && !context.softIrq()) {
      const Pid pid = buffer->events.pid(span.armed);
      card.lines.emplace_back(
          HoverCard::tr("by"),
          QStringLiteral("%1-%2").arg(QString::fromStdString(text.comm(pid))).arg(number(pid)));
    }
  }
  addExpiry(card, *lanes, span);
  const Known<s64> due = lanes->dueOf(span);
  card.lines.emplace_back(HoverCard::tr("due"), due ? place(*due) : HoverCard::tr("unknown"));
  card.lines.emplace_back(atRow(words(span.end), span.ended), place(lanes->endOf(span)));
  if (!due || !lanes->nanoseconds) return card;
  const s64 late = *lanes->latenessOf(span);
  const bool open = span.end == SpanEnd::Open;
  if (late >= 0) {
    card.lines.emplace_back(open                           ? HoverCard::tr("armed past due for")
                            : span.end == SpanEnd::Expired ? HoverCard::tr("after it was due")
                                                           : HoverCard::tr("ended past due by"),
                            differenceWords({late}, unit));
  } else {
    card.lines.emplace_back(HoverCard::tr("before it was due"), differenceWords({-late}, unit));
  }
  return card;
}

CardText cardOfStepLine(const Document& document, u32 track, TraceTime time) {
  CardText card;
  const auto& lanes = document.modelLanes();
  const Buffer* const buffer = document.buffer();
  if (!lanes || !buffer || track >= lanes->tracks.size()) return card;
  const DueLine& line = lanes->tracks[track].due;
  if (line.empty()) return card;
  const s64 at = lanes->timeline->relative(time);
  const Known<u32> step = at > line.end() ? Known<u32>() : line.stepAt(at);
  card.title = QStringLiteral("expires_next");
  card.corner = QStringLiteral("CPU%1").arg(number(lanes->timeline->tracks[track].cpu));
  const ClockUnit unit = buffer->clock.unit;
  card.lines.emplace_back(HoverCard::tr("at"), timeInGroups(time, unit));
  if (!step || line.due(*step) == DueLine::unknown) {
    card.lines.emplace_back(HoverCard::tr("the recording does not tell"), HoverCard::tr("unknown"));
  } else if (line.due(*step) == DueLine::never) {
    card.lines.emplace_back(HoverCard::tr("nothing is due, or the timer interrupt runs"),
                            QString());
  } else {
    const s64 due = line.due(*step);
    card.lines.emplace_back(HoverCard::tr("next event due"),
                            timeInGroups(lanes->timeline->absolute(due), unit));
    card.lines.emplace_back(due >= at ? HoverCard::tr("left") : HoverCard::tr("overdue for"),
                            differenceWords({std::abs(due - at)}, unit));
    card.lines.emplace_back(HoverCard::tr("in force since"),
                            timeInGroups(lanes->timeline->absolute(line.at(*step)), unit));
  }
  return card;
}

}  // namespace tickscope
