// SPDX-License-Identifier: GPL-3.0-or-later
// What is claimed about a recording: findings, what was judged without one, and what could not be judged.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/sentence.h"
#include "core/base/table.h"
#include "core/findings/confidence.h"
#include "core/findings/thresholds.h"
#include "core/model/machine_baseline.h"
#include "core/model/model_ids.h"
#include "core/stats/histogram.h"

namespace tickscope {

/// S1: bug, act. S2: likely problem. S3: inefficiency. S4: note.
enum class Grade : u8 { S1 = 1, S2, S3, S4 };
std::string_view nameOf(Grade grade);

/// One place where a fault showed.
struct Instance {
  TimeSpan when{};  ///< of the recording's clock; what was late or wrong, from begin to end
  Cpu cpu{};
  u64 causeKey = 0;   ///< instances with one key are one finding; its meaning is the detector's
  s64 magnitude = 0;  ///< in the unit of the finding's distribution; the worst are the greatest
  std::array<Row, 4> evidence{noRow, noRow, noRow, noRow};
  Known<TimerId> timer;
  u32 detail = 0;  ///< for the detector: its own notes
};

/// Counter-evidence K1..K15: an innocent cause that was looked for.
struct CounterEvidence {
  enum class Result : u8 {
    Absent,    ///< looked for, not found
    Excluded,  ///< instances that it explains were left out
    Open       ///< it could explain them and cannot be excluded: takes from the confidence
  };
  std::string_view id;  ///< "K4"
  Result result{};
  Sentence note;
};

std::string_view nameOf(CounterEvidence::Result result);  ///< "absent", "excluded", "open"

struct EvidenceRow {
  Row row{};
  Sentence remark;  ///< what stands behind `<<<` in a mail; may be empty
};

struct Explained {
  std::string_view id;
  char kind = 0;
  u64 count = 0;
};

struct Finding {
  std::string_view id;  ///< "F06"
  char kind = 0;        ///< sub-kind letter; 0: none
  Grade grade{};
  Confidence confidence;
  Sentence title, claim;  ///< who, where, how often; and one paragraph
  Sentence predicted, observed, disproof;
  std::vector<Cpu> cpus;                          ///< ascending
  TimeSpan when{};                                ///< first and last instance
  u64 count = 0, opportunities = 0, dropped = 0;  ///< dropped: instances inside blind spots
  s64 judgedNs = 0;                               ///< sum over its CPUs
  std::string_view what, unit;                    ///< of the distribution: "late by", "ns"
  bool byClockMap = false;  ///< the magnitude compares the trace's clock with the timers' own
  Histogram distribution;
  std::vector<Instance> worst;  ///< at most three, the worst first; then `first`
  Known<Instance> first;
  std::vector<TimerId> timers;        ///< at most 20 by number of instances
  std::vector<Address> callbacks;     ///< at most 20, likewise
  std::vector<EvidenceRow> evidence;  ///< ascending by row
  std::vector<CounterEvidence> counterEvidence;
  std::vector<std::string_view> upstream;  ///< ids of known upstream commits, "U12"
  std::vector<Explained> explains;
  std::vector<Table> tables;
  std::vector<Sentence> advice;
  std::string_view record;  ///< what to record to see it better: key of the recording advice

  [[nodiscard]] std::string name() const {
    return std::string(id) + (kind ? std::string(1, kind) : "");
  }
};

/// Undecidable from this recording.
struct NotJudged {
  std::string_view id;
  char kind = 0;
  Sentence why;
  std::vector<std::string_view> missing;  ///< groups of events, or fields
  std::vector<Cpu> cpus;                  ///< empty: all
  std::vector<TimeSpan> intervals;        ///< empty: the whole recording
  std::string_view record;
};

/// Judged: instances in opportunities. Without an instance this is what proves a patch.
struct JudgedCount {
  std::string_view id;
  char kind = 0;
  u64 instances = 0, explained = 0, opportunities = 0, dropped = 0;
  s64 judgedNs = 0;
};

struct Findings {
  std::vector<Finding> findings;  ///< by severity, confidence, count, id, first time
  std::vector<Finding> weak;      ///< below conf.show, in the same order
  std::vector<JudgedCount> judged;
  std::vector<NotJudged> notJudged;
  MachineBaseline baseline;
  Thresholds thresholds;
};

}  // namespace tickscope
