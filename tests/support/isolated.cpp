// SPDX-License-Identifier: GPL-3.0-or-later
// Forks, sets limits, and reads back what the child has to say.
#include "tests/support/isolated.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <exception>
#include <stdexcept>

namespace tickscope::support {

bool underSanitizer() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

namespace {

unsigned secondsOf(const Limits& limits) {
  return underSanitizer() ? 10 * limits.cpuSeconds : limits.cpuSeconds;
}

/// SIGPROF ends the process when it has used that much CPU time from now on.
void limitTime(const Limits& limits) {
  const itimerval timer{{0, 0}, {static_cast<time_t>(secondsOf(limits)), 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

void limitMemory(const Limits& limits) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (underSanitizer()) return;
  const rlimit space{limits.addressSpace, limits.addressSpace};
  setrlimit(RLIMIT_AS, &space);
}

void writeAll(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(to, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string readAll(int from) {
  std::string text;
  char buffer[65536];
  for (ssize_t n; (n = ::read(from, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

std::string inWords(int status, const Limits& limits) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGPROF) return fmt::format("used more than {} s of CPU time", secondsOf(limits));
    return fmt::format("crashed: {}", strsignal(signal));
  }
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace

Outcome isolated(const std::function<std::string()>& work, const Limits& limits) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    close(ends[0]);
    limitMemory(limits);
    limitTime(limits);
    int status = 0;
    try {
      writeAll(ends[1], work());
    } catch (const std::exception& e) {
      writeAll(ends[1], std::string("exception: ") + e.what());
      status = 99;
    }
    // No destructors of the parent's things.
    _exit(status);
  }
  close(ends[1]);
  Outcome outcome;
  outcome.output = readAll(ends[0]);
  close(ends[0]);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  outcome.peakBytes = static_cast<u64>(usage.ru_maxrss) * 1024;
  outcome.ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!outcome.ended) outcome.how = inWords(status, limits);
  return outcome;
}

std::vector<std::string> isolatedCases(u64 count, const std::function<std::string(u64)>& one,
                                       const std::function<std::string(u64)>& describe,
                                       const Limits& limits, std::size_t mostFailures) {
  void* const shared =
      mmap(nullptr, sizeof(u64), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
  auto* const running = static_cast<volatile u64*>(shared);
  std::vector<std::string> failures;
  for (u64 next = 0; next < count && failures.size() < mostFailures;) {
    const Outcome outcome = isolated(
        [&] {
          std::string text;
          std::size_t failed = 0;
          for (u64 i = next; i < count && failed < mostFailures; ++i) {
            *running = i;
            limitTime(limits);
            if (const std::string failure = one(i); !failure.empty()) {
              text += fmt::format("{}: {}", describe(i), failure) + '\0';
              ++failed;
            }
          }
          *running = count;
          return text;
        },
        limits);
    for (std::size_t at = 0; at < outcome.output.size();) {
      const std::size_t end = std::min(outcome.output.find('\0', at), outcome.output.size());
      failures.push_back(outcome.output.substr(at, end - at));
      at = end + 1;
    }
    if (outcome.ended) break;
    failures.push_back(fmt::format("{}: {}", describe(*running), outcome.how));
    next = *running + 1;
  }
  munmap(shared, sizeof(u64));
  return failures;
}

}  // namespace tickscope::support
