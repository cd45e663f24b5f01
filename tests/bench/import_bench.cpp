// SPDX-License-Identifier: GPL-3.0-or-later
// Measures the import of one trace.dat, packed and plain, beside a floor and what others need.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/import.h"
#include "tests/bench/import_bench_floor.h"
#include "tests/bench/import_bench_peers_kshark.h"
#include "tests/bench/import_bench_peers_tracecmd.h"
#include "tests/support/recordings.h"

namespace tickscope::bench {
namespace {

constexpr double goalFloorPacked = 1.5, goalFloorPlain = 2;
constexpr double goalLoopPacked = 4, goalLoopPlain = 6;
constexpr double goalReport = 30, goalKshark = 3, goalKsharkMemory = 0.5, goalTwoThreads = 1.6;

/// What a candidate says about its work; 0 events: it does not count them.
struct Work {
  u64 events = 0;
  double bytesPerEvent = 0;
};

struct Measured {
  Work work;
  double user = 0, system = 0, wall = 0;  ///< seconds
  double peak = 0;                        ///< bytes
  bool ok = false;
  [[nodiscard]] double cpu() const { return user + system; }
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// Runs the work in a process of its own, so that its memory and time are nobody else's. The time
/// ends when the work is done: what the process does to go away does not count. A candidate that
/// replaces the process writes nothing to the pipe; then its whole life counts.
Measured measure(const std::function<Work()>& work) {
  Measured result;
  int ends[2];
  if (pipe(ends) != 0) return result;
  // Or the child would print it again.
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    const auto begin = std::chrono::steady_clock::now();
    Measured own;
    try {
      own.work = work();
    } catch (const std::exception& error) {
      fmt::print(stderr, "import_bench: {}\n", error.what());
      _exit(1);
    }
    own.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    getrusage(RUSAGE_SELF, &after);
    own.user = seconds(after.ru_utime) - seconds(before.ru_utime);
    own.system = seconds(after.ru_stime) - seconds(before.ru_stime);
    const bool isSent = write(ends[1], &own, sizeof own) == sizeof own;
    _exit(isSent ? 0 : 1);
  }
  close(ends[1]);
  const bool isTold = read(ends[0], &result, sizeof result) == sizeof result;
  close(ends[0]);
  int status = 0;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) != child) return result;
  if (!isTold) {
    result.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    result.user = seconds(used.ru_utime);
    result.system = seconds(used.ru_stime);
  }
  result.peak = static_cast<double>(used.ru_maxrss) * 1024;
  result.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return result;
}

Work tickscopeImport(const std::string& path, int threads) {
  const auto source = ByteSource::file(path);
  if (!source) throw std::runtime_error(describe(source.error()));
  Progress progress;
  ImportOptions options;
  options.threads = threads;
  // Never destroyed: the process ends, and the end is not measured.
  static const auto recording = importTrace(*source, options, progress);
  if (!recording) throw std::runtime_error(describe(recording.error()));
  Work work;
  u64 bytes = 0;
  for (const Buffer& buffer : recording->buffers) {
    work.events += buffer.events.size();
    bytes += buffer.events.bytes();
  }
  work.bytesPerEvent =
      work.events == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(work.events);
  return work;
}

Work floorImport(const std::string& path, u32 bytesPerEvent) {
  const FloorResult result = importFloor(path, bytesPerEvent);
  return {result.events, static_cast<double>(result.written) / static_cast<double>(result.events)};
}

Work traceCmdLoop(const std::string& path) {
  struct tracecmd_loop result;
  if (run_tracecmd_loop(path.c_str(), 1, &result) != 0)
    throw std::runtime_error("libtracecmd refuses");
  // The sum is used, so the compiler cannot drop what made it.
  if (result.sum == 0) fmt::print(stderr, "import_bench: the sum is 0\n");
  return {result.events, 0};
}

Work traceCmdReport(const std::string& path) {
  if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(1);
  execlp("trace-cmd", "trace-cmd", "report", path.c_str(), static_cast<char*>(nullptr));
  throw std::runtime_error("trace-cmd is not installed");
}

Work ksharkLoad(const std::string& path) {
  const long count = run_kshark_load(path.c_str());
  if (count < 0) throw std::runtime_error("libkshark refuses");
  return {static_cast<u64>(count), 0};
}

struct Candidate {
  std::string name;
  std::function<Work()> work;
  Measured best;
};

struct Options {
  std::string path;
  int repeat = 5;
  u32 bytesPerEvent = 0;  ///< 0: as Tickscope's store says
};

/// Round by round, so that a noisy minute hits all; the least CPU time of each counts.
void measureAll(std::vector<Candidate>& candidates, int repeat) {
  for (int round = 0; round < repeat; ++round) {
    for (Candidate& candidate : candidates) {
      const Measured now = measure(candidate.work);
      if (!now.ok) continue;
      if (!candidate.best.ok || now.cpu() < candidate.best.cpu()) {
        const double wall = candidate.best.ok ? std::min(now.wall, candidate.best.wall) : now.wall;
        candidate.best = now;
        candidate.best.wall = wall;
      } else {
        candidate.best.wall = std::min(now.wall, candidate.best.wall);
      }
    }
  }
}

void printGoal(std::string_view what, double value, bool isMost, double goal) {
  const bool isReached = isMost ? value <= goal : value >= goal;
  fmt::print("  {:<52} {:6.2f}   goal {} {:g}  {}\n", what, value, isMost ? "<=" : ">=", goal,
             isReached ? "reached" : "MISSED");
}

void printTable(const std::vector<Candidate>& candidates, double events) {
  const double one = candidates[0].best.cpu();
  fmt::print("  {:<34}{:>9}{:>9}{:>9}{:>10}{:>10}{:>12}\n", "CPU time, ns an event", "user",
             "system", "total", "wall ms", "peak MiB", "x Tickscope");
  for (const Candidate& each : candidates) {
    const Measured& best = each.best;
    if (!best.ok) {
      fmt::print("  {:<34}  failed\n", each.name);
      continue;
    }
    const double perEvent = 1e9 / events;
    fmt::print("  {:<34}{:>9.1f}{:>9.1f}{:>9.1f}{:>10.1f}{:>10.1f}{:>12.2f}\n", each.name,
               best.user * perEvent, best.system * perEvent, best.cpu() * perEvent, best.wall * 1e3,
               best.peak / (1 << 20), one > 0 ? best.cpu() / one : 0);
  }
}

bool run(const std::string& title, const std::string& path, bool isPacked, const Options& options) {
  const Measured first = measure([&] { return tickscopeImport(path, 1); });
  const double bytes = options.bytesPerEvent != 0 ? options.bytesPerEvent
                       : first.ok                 ? first.work.bytesPerEvent
                                                  : 36;
  const u32 floorBytes = static_cast<u32>(std::clamp(bytes + 0.5, 8.0, 64.0));
  std::vector<Candidate> all = {
      {"(a) Tickscope, 1 thread", [&] { return tickscopeImport(path, 1); }, {}},
      {"(a) Tickscope, 2 threads", [&] { return tickscopeImport(path, 2); }, {}},
      {fmt::format("(b) floor, {} bytes an event", floorBytes),
       [&] { return floorImport(path, floorBytes); },
       {}},
      {"(c) libtracecmd loop, all fields", [&] { return traceCmdLoop(path); }, {}},
      {"(d) trace-cmd report >/dev/null", [&] { return traceCmdReport(path); }, {}},
      {"(e) KernelShark library load", [&] { return ksharkLoad(path); }, {}},
  };
  measureAll(all, options.repeat);
  const Measured &one = all[0].best, &two = all[1].best, &floor = all[2].best;
  const u64 events = floor.work.events;
  fmt::print("\n{}: {} events, {} runs each, least CPU time\n", title, events, options.repeat);
  printTable(all, static_cast<double>(std::max<u64>(events, 1)));
  if (!one.ok) return false;
  fmt::print("  Tickscope keeps {:.1f} bytes an event", one.work.bytesPerEvent);
  fmt::print("; peak {:.2f} x that\n",
             one.peak / (one.work.bytesPerEvent * static_cast<double>(one.work.events)));
  const double cpu = one.cpu();
  printGoal("Tickscope / floor", cpu / floor.cpu(), true,
            isPacked ? goalFloorPacked : goalFloorPlain);
  printGoal("libtracecmd loop / Tickscope", all[3].best.cpu() / cpu, false,
            isPacked ? goalLoopPacked : goalLoopPlain);
  printGoal("trace-cmd report / Tickscope", all[4].best.cpu() / cpu, false, goalReport);
  printGoal("KernelShark load / Tickscope", all[5].best.cpu() / cpu, false, goalKshark);
  printGoal("Tickscope peak / KernelShark peak", one.peak / all[5].best.peak, true,
            goalKsharkMemory);
  const double threads = one.wall / two.wall;
  if (isPacked) {
    printGoal("wall of one thread / wall of two threads", threads, false, goalTwoThreads);
  } else {
    fmt::print("  {:<52} {:6.2f}\n", "wall of one thread / wall of two threads", threads);
  }
  for (const Candidate& each : all) {
    if (each.best.ok && each.best.work.events != 0 && each.best.work.events != events) {
      fmt::print("  {} saw {} events, the floor {}\n", each.name, each.best.work.events, events);
      return false;
    }
  }
  return true;
}

/// The recording as a plain version 6 file, made by trace-cmd.
bool convert(const std::string& from, const std::string& to) {
  return std::system(fmt::format("trace-cmd convert --file-version 6 --compression none -i '{}' "
                                 "-o '{}' >/dev/null 2>&1",
                                 from, to)
                         .c_str()) == 0;
}

bool parse(int count, char** words, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const auto number = [&](auto& to) {
      const std::string_view value = ++i < count ? words[i] : "";
      const auto read = std::from_chars(value.data(), value.data() + value.size(), to);
      return read.ec == std::errc{} && read.ptr == value.data() + value.size() && to > 0;
    };
    if (word == "--repeat") {
      if (!number(options.repeat)) return false;
    } else if (word == "--bytes") {
      if (!number(options.bytesPerEvent)) return false;
    } else if (word.starts_with("-") || !options.path.empty()) {
      return false;
    } else {
      options.path = word;
    }
  }
  // The large recording is not bundled; the sample is, but its start costs more than its events.
  for (const char* name : {"20-big.dat", "02-ncm-double.dat"}) {
    if (options.path.empty()) options.path = support::recording(name).value_or("");
  }
  return !options.path.empty();
}

int main(int count, char** words) {
  Options options;
  if (!parse(count, words, options)) {
    fmt::print(stderr,
               "Usage: import_bench [--repeat N] [--bytes N] [FILE]\n"
               "FILE is a packed trace.dat; without it 20-big.dat of $TICKSCOPE_TRACES, or the "
               "sample. --bytes: what the floor writes an event.\n");
    return 2;
  }
  const support::TemporaryFolder folder;
  const std::string plain = folder.path("plain.dat");
  bool isGood = run("As recorded, " + options.path, options.path, true, options);
  if (convert(options.path, plain)) {
    isGood = run("Converted to plain version 6", plain, false, options) && isGood;
  } else {
    fmt::print(stderr, "import_bench: trace-cmd cannot convert {}\n", options.path);
    isGood = false;
  }
  return isGood ? 0 : 1;
}

}  // namespace
}  // namespace tickscope::bench

int main(int count, char** words) { return tickscope::bench::main(count, words); }
