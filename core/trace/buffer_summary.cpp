// SPDX-License-Identifier: GPL-3.0-or-later
// Adds up what the store counts, or counts the rows of a selection.
#include "core/trace/buffer_summary.h"

#include <algorithm>
#include <map>

namespace tickscope {

namespace {

bool earlier(TraceTime a, TraceTime b) {
  return static_cast<u64>(a.value) < static_cast<u64>(b.value);
}

void widen(Known<TraceTime>& first, Known<TraceTime>& last, TraceTime time) {
  if (!first || earlier(time, *first)) first = time;
  if (!last || earlier(*last, time)) last = time;
}

class Summing {
 public:
  Summing(const Buffer& buffer, const RowSelection& selection)
      : store_(&buffer.events), selection_(&selection) {
    for (const Stream& stream : store_->streams()) {
      if (stream.count) at(stream.cpu).inferred |= stream.cpuInferred;
    }
    for (const CpuStatistics& statistics : buffer.statistics) {
      CpuSummary& cpu = at(statistics.cpu);
      cpu.overrun = statistics.overrun;
      cpu.dropped = statistics.dropped;
      cpu.commitOverrun = statistics.commitOverrun;
    }
    for (const Loss& loss : store_->losses()) at(loss.cpu);
  }

  Result<BufferSummary> run(Progress& progress) {
    counts_.assign(store_->streams().size() * store_->types().size(), 0);
    if (!(selection_->everything() ? countAll() : countRows(progress))) {
      return fail(Error::Kind::Cancelled, "Cancelled.");
    }
    addLosses();
    for (const BackwardStep& step : store_->backwardSteps()) {
      if (!selected(step.row)) continue;
      CpuSummary& cpu = at(store_->cpu(step.row));
      ++cpu.backwardSteps;
      cpu.largestBackwardStep = std::max(cpu.largestBackwardStep, step.by);
    }
    return total();
  }

 private:
  CpuSummary& at(Cpu cpu) {
    CpuSummary& summary = cpus_[cpu];
    summary.cpu = cpu;
    return summary;
  }
  [[nodiscard]] bool selected(Row row) const {
    return number(row) >= selection_->from() && number(row) < selection_->to() &&
           selection_->has(row);
  }

  bool countAll() {
    for (u32 s = 0; s < store_->streams().size(); ++s) {
      const auto rows = store_->rowsOfStream(s);
      if (rows.empty()) continue;
      for (u16 t = 0; t < store_->types().size(); ++t) {
        counts_[s * store_->types().size() + t] = store_->count(t, s);
      }
      CpuSummary& cpu = at(store_->streams()[s].cpu);
      widen(cpu.first, cpu.last, store_->time(rows.front()));
      widen(cpu.first, cpu.last, store_->time(rows.back()));
    }
    // Only where time steps back can other rows than the ends be the first and last.
    for (const BackwardStep& step : store_->backwardSteps()) {
      const u32 place = store_->placeInStream(step.row);
      CpuSummary& cpu = at(store_->cpu(step.row));
      widen(cpu.first, cpu.last, store_->time(step.row));
      if (!place) continue;
      widen(cpu.first, cpu.last,
            store_->time(store_->rowsOfStream(store_->streamOf(step.row))[place - 1]));
    }
    return true;
  }

  bool countRows(Progress& progress) {
    std::vector<Known<TraceTime>> first(store_->streams().size());
    std::vector<Known<TraceTime>> last(store_->streams().size());
    constexpr u32 step = 65'536;
    u32 left = step;
    bool running = true;
    selection_->forEach([&](Row row) {
      const u32 stream = store_->streamOf(row);
      ++counts_[stream * store_->types().size() + store_->typeIndex(row)];
      widen(first[stream], last[stream], store_->time(row));
      if (!--left) {
        left = step;
        running = progress.advance(step);
      }
      return running;
    });
    for (std::size_t s = 0; s < first.size(); ++s) {
      if (!first[s]) continue;
      CpuSummary& cpu = at(store_->streams()[s].cpu);
      widen(cpu.first, cpu.last, *first[s]);
      widen(cpu.first, cpu.last, *last[s]);
    }
    return running;
  }

  void addLosses() {
    for (const Loss& loss : store_->losses()) {
      const bool counts = loss.next
                              ? selected(*loss.next)
                              : selection_->to() == store_->size() && selection_->hasCpu(loss.cpu);
      if (!counts) continue;
      CpuSummary& cpu = at(loss.cpu);
      ++cpu.gaps;
      if (loss.count)
        cpu.lost += *loss.count;
      else
        ++cpu.gapsOfUnknownSize;
    }
  }

  BufferSummary total() {
    BufferSummary summary;
    std::map<Cpu, std::size_t> place;
    for (auto& [cpu, facts] : cpus_) {
      if (!selection_->hasCpu(cpu)) continue;
      place[cpu] = summary.cpus.size();
      summary.cpus.push_back(facts);
    }
    std::map<std::pair<std::string, std::string>, TypeSummary> types;
    for (std::size_t s = 0; s < store_->streams().size(); ++s) {
      const auto column = place.find(store_->streams()[s].cpu);
      if (column == place.end()) continue;
      for (std::size_t t = 0; t < store_->types().size(); ++t) {
        const u64 count = counts_[s * store_->types().size() + t];
        if (!count) continue;
        const EventType& type = store_->types()[t];
        TypeSummary& of = types[{type.name, type.system}];
        of.system = type.system;
        of.name = type.name;
        of.perCpu.resize(summary.cpus.size(), 0);
        of.perCpu[column->second] += count;
        of.events += count;
        summary.cpus[column->second].events += count;
      }
    }
    for (auto& [name, type] : types) {
      summary.events += type.events;
      summary.types.push_back(std::move(type));
    }
    std::stable_sort(
        summary.types.begin(), summary.types.end(),
        [](const TypeSummary& a, const TypeSummary& b) { return a.events > b.events; });
    for (const CpuSummary& cpu : summary.cpus) {
      if (cpu.first) widen(summary.first, summary.last, *cpu.first);
      if (cpu.last) widen(summary.first, summary.last, *cpu.last);
      summary.lost += cpu.lost;
      summary.gaps += cpu.gaps;
      summary.gapsOfUnknownSize += cpu.gapsOfUnknownSize;
      summary.backwardSteps += cpu.backwardSteps;
    }
    return summary;
  }

  const EventStore* store_;
  const RowSelection* selection_;
  std::map<Cpu, CpuSummary> cpus_;
  std::vector<u64> counts_;
};

}  // namespace

Result<BufferSummary> summarise(const Buffer& buffer, const RowSelection& selection,
                                Progress& progress) {
  return Summing(buffer, selection).run(progress);
}

}  // namespace tickscope
