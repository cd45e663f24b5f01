// SPDX-License-Identifier: GPL-3.0-or-later
// Runs trace-cmd and takes its lines apart by columns, because task names may hold anything.
#include "tests/support/trace_cmd_report.h"

#include <stdio.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tickscope::support {

bool hasTraceCmd() {
  static const bool has = std::system("command -v trace-cmd >/dev/null 2>&1") == 0;
  return has;
}

struct TraceCmdReport::Pipe {
  explicit Pipe(const std::string& path)
      : file(popen(("trace-cmd report -R -t '" + path + "' 2>/dev/null").c_str(), "r")),
        buffer(1U << 16U) {}
  ~Pipe() {
    if (file) pclose(file);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  FILE* file;
  std::vector<char> buffer;
  std::size_t at = 0, end = 0;
};

std::vector<std::string> reportLines(const std::string& path) {
  std::vector<std::string> lines;
  FILE* const pipe = popen(("trace-cmd report -R -t '" + path + "' 2>/dev/null").c_str(), "r");
  if (!pipe) return lines;
  std::string text;
  char buffer[65536];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  pclose(pipe);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TraceCmdReport::TraceCmdReport(const std::string& path, const std::vector<std::string>& buffers)
    : pipe_(std::make_unique<Pipe>(path)) {
  for (const std::string& name : buffers) {
    if (!name.empty()) prefix_ = std::max(prefix_, name.size() + 2);
  }
}

TraceCmdReport::~TraceCmdReport() = default;

bool TraceCmdReport::nextLine(std::string& line) {
  line.clear();
  Pipe& pipe = *pipe_;
  for (;;) {
    const char* const from = pipe.buffer.data() + pipe.at;
    const auto* const newline =
        static_cast<const char*>(std::memchr(from, '\n', pipe.end - pipe.at));
    if (newline) {
      line.append(from, newline);
      pipe.at = static_cast<std::size_t>(newline - pipe.buffer.data()) + 1;
      return true;
    }
    line.append(from, pipe.end - pipe.at);
    pipe.at = 0;
    pipe.end = pipe.file ? fread(pipe.buffer.data(), 1, pipe.buffer.size(), pipe.file) : 0;
    if (pipe.end == 0) return !line.empty();
  }
}

bool TraceCmdReport::takeApart(const std::string& line, ReportEvent& event) const {
  const char* const end = line.data() + line.size();
  if (line.size() < prefix_ + 24 || line[prefix_ + 16] != '-') return false;
  const char* at = line.data() + prefix_ + 17;
  const auto number = [&](auto& value) {
    const auto [rest, error] = std::from_chars(at, end, value);
    at = rest;
    return error == std::errc{};
  };
  const auto blanks = [&] {
    while (at < end && *at == ' ') ++at;
  };
  if (!number(event.pid)) return false;
  blanks();
  if (at == end || *at++ != '[' || !number(event.cpu) || at == end || *at++ != ']') return false;
  blanks();
  if (!number(event.time)) return false;
  if (at < end && *at == '.') {
    u64 fraction = 0;
    const char* const digits = ++at;
    if (!number(fraction) || at - digits != 9) return false;
    event.time = event.time * 1'000'000'000 + fraction;
  }
  if (at == end || *at++ != ':') return false;
  blanks();
  const auto* const colon =
      static_cast<const char*>(std::memchr(at, ':', static_cast<std::size_t>(end - at)));
  if (!colon) return false;
  event.name.assign(at, colon);
  at = colon + 1;
  blanks();
  event.body.assign(at, end);
  event.comm = line.substr(prefix_, 16);
  const std::string_view prefix = std::string_view(line).substr(0, prefix_);
  event.buffer = prefix.substr(0, std::min(prefix.find(':'), prefix.find_last_not_of(' ') + 1));
  event.line = line;
  return true;
}

bool TraceCmdReport::takeLoss(const std::string& line) {
  const std::size_t from = line.find_first_not_of(' ');
  if (from == std::string::npos || line.compare(from, 4, "CPU:") != 0 ||
      !line.ends_with("EVENTS DROPPED]"))
    return false;
  ReportLoss loss;
  const char* const end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data() + from + 4, end, loss.cpu);
  if (error != std::errc{} || end - rest < 2 || rest[0] != ' ' || rest[1] != '[') return false;
  u64 count = 0;
  if (std::from_chars(rest + 2, end, count).ec == std::errc{}) loss.count = count;
  loss.before = events_ + (ahead_ ? 1 : 0);
  losses_.push_back(loss);
  return true;
}

bool TraceCmdReport::next(ReportEvent& event) {
  std::string line;
  while (nextLine(line)) {
    ReportEvent found;
    if (takeApart(line, found)) {
      std::optional<ReportEvent> before = std::exchange(ahead_, std::move(found));
      if (!before) continue;
      event = std::move(*before);
      ++events_;
      return true;
    }
    if (takeLoss(line) || !ahead_) continue;
    ahead_->body += '\n';
    ahead_->body += line;
  }
  if (!ahead_) return false;
  event = std::move(*ahead_);
  ahead_.reset();
  ++events_;
  return true;
}

}  // namespace tickscope::support
