// SPDX-License-Identifier: GPL-3.0-or-later
// Isolated CPUs: which they are, when one user task has them for itself, and what comes between.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/findings/material.h"

namespace tickscope {

/// Rows from <= r < to in which one user task ran and no other was runnable on the CPU.
struct AloneSpan {
  Row from{}, to{};
};

/// Known from the kernel's command line, else CPUs whose tick was stopped while a user task ran; ascending.
struct IsolatedCpus {
  CpuList cpus;
  bool learned = false;
};
IsolatedCpus isolatedCpus(const Material& material);

/// Spans of one user task on a CPU, in their order.
std::vector<AloneSpan> aloneSpans(const Material& material, Cpu cpu);

/// By its name: what the kernel itself runs.
bool isKernelThread(std::string_view comm);

struct Disturbance {
  Row entry{}, exit = noRow;
  Row origin =
      noRow;  ///< the arm of the timer, the sending of the IPI, the refusal to stop the tick
  std::string cause;   ///< what the rows of the table are counted by
  Token::Is name{};    ///< how redaction has to treat `detail`
  std::string detail;  ///< a function or task that goes with it; may be empty
  s64 ns = 0;          ///< how long it took from the task
  SpanId span{~u32{0}};
};

/// What interrupted the task within those spans; tracing's own interrupts are counted in `tracing` only.
std::vector<Disturbance> disturbancesOf(const Material& material, Cpu cpu,
                                        const std::vector<AloneSpan>& alone, u64& tracing);

}  // namespace tickscope
