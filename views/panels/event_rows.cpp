// SPDX-License-Identifier: GPL-3.0-or-later
// Maps lines to rows and losses, and prints them.
#include "views/panels/event_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "views/time_label.h"

namespace tickscope {

EventRows::EventRows(std::shared_ptr<const Recording> recording, u32 buffer)
    : recording_(std::move(recording)), buffer_(buffer) {
  const auto losses = events().losses();
  notes_.reserve(losses.size());
  for (u32 i = 0; i < losses.size(); ++i) {
    const Loss& loss = losses[i];
    u32 before = 0;
    if (loss.next) {
      before = number(*loss.next);
    } else if (const auto rows = events().rowsOf(loss.cpu); !rows.empty()) {
      before = number(rows.back()) + 1;
    }
    notes_.push_back({before, i});
  }
  std::stable_sort(notes_.begin(), notes_.end(),
                   [](const Note& a, const Note& b) { return a.before < b.before; });
}

u64 EventRows::lineCount() const { return recording_ ? u64{events().size()} + notes_.size() : 0; }

std::size_t EventRows::notesUpTo(u64 line) const {
  // Note i stands on line before + i, and these lines ascend.
  std::size_t low = 0;
  std::size_t high = notes_.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (notes_[middle].before + u64{middle} <= line) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool EventRows::isNote(u64 line) const {
  const std::size_t notes = notesUpTo(line);
  return notes > 0 && notes_[notes - 1].before + u64{notes - 1} == line;
}

Known<Row> EventRows::rowOf(u64 line) const {
  if (!recording_ || events().empty()) return {};
  const std::size_t notes = notesUpTo(line);
  u64 row = line - notes;
  if (notes > 0 && notes_[notes - 1].before + u64{notes - 1} == line)
    row = notes_[notes - 1].before;
  return Row{static_cast<u32>(std::min<u64>(row, events().size() - 1))};
}

u64 EventRows::lineOf(Row row) const {
  const auto behind = std::upper_bound(notes_.begin(), notes_.end(), number(row),
                                       [](u32 r, const Note& note) { return r < note.before; });
  return number(row) + static_cast<u64>(behind - notes_.begin());
}

QStringList EventRows::texts(u64 line) const {
  if (isNote(line)) {
    const Loss& loss = events().losses()[notes_[notesUpTo(line) - 1].loss];
    const QString cpu = QString::number(number(loss.cpu));
    if (!loss.count) return {tr("CPU%1: events lost, the kernel did not say how many").arg(cpu)};
    return {*loss.count == 1 ? tr("CPU%1: 1 event lost").arg(cpu)
                             : tr("CPU%1: %2 events lost").arg(cpu, countText(*loss.count))};
  }
  const Row row = *rowOf(line);
  const EventText text(*recording_, recording_->buffers[buffer_]);
  const Pid pid = events().pid(row);
  QString delta;
  if (number(row) > 0) {
    delta = differenceInGroups(events().time(row) - events().time(Row{number(row) - 1}), unit());
  }
  return {QString::number(number(row)),
          timeInGroups(events().time(row), unit()),
          delta,
          QString::number(number(events().cpu(row))),
          QString::fromStdString(text.comm(pid)) + QLatin1Char('-') + QString::number(number(pid)),
          QString::fromUtf8(text.eventName(row)),
          QString::fromStdString(text.body(row))};
}

std::vector<TableColumn> EventRows::columns() const {
  const bool ns = !recording_ || unit() == ClockUnit::Nanoseconds;
  int rowDigits = 4;
  int timeDigits = 13;
  int eventLetters = 12;
  int cpuDigits = 3;
  if (recording_ && !events().empty()) {
    const Row last{events().size() - 1};
    rowDigits = std::max(rowDigits, static_cast<int>(QString::number(number(last)).size()));
    for (const Row row : {Row{0}, last}) {
      timeDigits =
          std::max(timeDigits, static_cast<int>(timeInGroups(events().time(row), unit()).size()));
    }
    for (u16 type = 0; type < events().types().size(); ++type) {
      for (u32 stream = 0; stream < events().streams().size(); ++stream) {
        if (!events().count(type, stream)) continue;
        eventLetters = std::max(eventLetters, static_cast<int>(events().types()[type].name.size()));
        break;
      }
    }
    for (const Stream& stream : events().streams()) {
      cpuDigits = std::max(cpuDigits, static_cast<int>(QString::number(number(stream.cpu)).size()));
    }
  }
  const auto column = [](QString title, bool numeric, bool fixed, int characters) {
    TableColumn made;
    made.title = std::move(title);
    made.number = numeric;
    made.fixedFont = fixed;
    made.characters = characters;
    return made;
  };
  std::vector<TableColumn> columns = {
      column(tr("row"), true, true, rowDigits),
      column(ns ? tr("time, s") : tr("time, %1").arg(unitName(unit())), true, true, timeDigits),
      column(ns ? tr("Δ prev, µs") : tr("Δ prev"), true, true, 11),
      column(tr("cpu"), true, true, cpuDigits),
      column(tr("task"), false, false, 18),
      column(tr("event"), false, false, std::min(eventLetters, 26)),
      column(tr("fields"), false, true, 20)};
  columns[2].quiet = true;
  return columns;
}

QString EventRows::kernelText(Row first, Row last) const {
  if (!recording_ || number(last) >= events().size()) return {};
  const EventText text(*recording_, recording_->buffers[buffer_]);
  std::string all;
  for (u64 line = lineOf(first); line <= lineOf(last); ++line) {
    if (!isNote(line)) {
      all += text.line(*rowOf(line));
    } else {
      const Loss& loss = events().losses()[notes_[notesUpTo(line) - 1].loss];
      all += loss.count ? fmt::format("CPU:{} [LOST {} EVENTS]", number(loss.cpu), *loss.count)
                        : fmt::format("CPU:{} [LOST EVENTS]", number(loss.cpu));
    }
    all += '\n';
  }
  return QString::fromStdString(all);
}

}  // namespace tickscope
