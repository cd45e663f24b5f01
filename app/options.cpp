// SPDX-License-Identifier: GPL-3.0-or-later
// Declares the common options and reads their values.
#include "app/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <thread>

#include "core/base/time_text.h"

namespace tickscope {

namespace {

constexpr u32 highestCpu = 65'535;
constexpr int mostThreads = 256;

Result<Known<u64>> size(const std::string& text, std::string_view option) {
  if (text.empty()) return Known<u64>{};
  const auto bytes = readSize(text);
  if (bytes && *bytes) return bytes;
  return fail(Error::Kind::Usage,
              fmt::format("{} takes a size such as 500M or 2G, not '{}'.", option, text));
}

Known<u32> cpuNumber(std::string_view text) {
  u32 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return {};
  return value <= highestCpu ? Known<u32>(value) : Known<u32>{};
}

/// An empty value is a variable that the shell did not find: it must not mean "all".
CLI::Validator someText() {
  return {[](const std::string& text) {
            return text.empty() ? std::string("the value is empty") : std::string();
          },
          ""};
}

}  // namespace

void addCommonOptions(CLI::App& app, CommonOptions& options) {
  app.add_option("TRACE", options.inputs,
                 "A trace.dat or a /proc/timer_list dump; - is standard input;\n"
                 "several files only with --formats-from")
      ->required()
      ->check(someText())
      ->type_name("");
  app.add_flag("--json", options.json, "Print JSON; resources/schema describes it");
  app.add_option_function<std::string>(
         "--buffer", [&options](const std::string& name) { options.buffer = name; },
         "Use this buffer (instance); '' is the top buffer")
      ->type_name("NAME");
  app.add_option("--from", options.from,
                 "Leave out what is earlier. T: trace time as printed (12.345678901),\n"
                 "a number with ns us ms s, or event:ROW")
      ->check(someText())
      ->type_name("T");
  app.add_option("--to", options.to, "Leave out this time, or row, and what is later")
      ->check(someText())
      ->type_name("T");
  app.add_option("--cpu", options.cpus, "Only these CPUs: 0,2-5")
      ->check(someText())
      ->type_name("LIST");
  app.add_option("--formats-from", options.formatsFrom,
                 "Read raw pages of a killed recorder (trace.dat.cpu0 ...) with the\n"
                 "event formats of this trace.dat of the same kernel")
      ->check(someText())
      ->type_name("FILE");
  app.add_flag("--strict", options.strict, "Exit with 4 when the input is damaged or lost events");
  app.add_option("--max-memory", options.maxMemory,
                 "Stop reading when the events take more memory: 500M, 2G")
      ->check(someText())
      ->type_name("SIZE");
  app.add_option("--max-unpack", options.maxUnpack, "Stop reading when packed data unpack to more")
      ->check(someText())
      ->type_name("SIZE");
  app.add_option("--threads", options.threads,
                 "Threads that read the trace, 1 to 256; as many as CPUs by default")
      ->check(CLI::Range(1, mostThreads).description(""))
      ->type_name("N");
  app.add_flag("--quiet", options.quiet, "No progress and no remarks about the input");
  app.add_flag("--no-color", options.noColor, "No colours on standard error");
}

Result<OpenRequest> openRequest(const CommonOptions& options) {
  OpenRequest request;
  request.inputs = options.inputs;
  request.formatsFrom = options.formatsFrom;
  const auto memory = size(options.maxMemory, "--max-memory");
  if (!memory) return tl::unexpected(memory.error());
  request.import.maxMemory = *memory;
  const auto unpack = size(options.maxUnpack, "--max-unpack");
  if (!unpack) return tl::unexpected(unpack.error());
  request.import.maxUnpack = *unpack;
  request.import.threads = options.threads;
  if (!options.threads) {
    request.import.threads =
        std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, mostThreads);
  }
  return request;
}

Result<std::vector<u32>> readCpuList(const std::string& text) {
  std::vector<u32> cpus;
  const auto wrong = [&] {
    return fail(Error::Kind::Usage,
                fmt::format("--cpu takes a list such as 0,2-5, not '{}'.", text));
  };
  std::string_view rest = text;
  for (bool more = true; more;) {
    const auto comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    rest.remove_prefix(more ? comma + 1 : rest.size());
    const auto dash = part.find('-');
    const auto first = cpuNumber(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : cpuNumber(part.substr(dash + 1));
    if (!first || !last || *first > *last) return wrong();
    for (u32 cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    // A list of overlapping ranges may not grow without bound.
    if (cpus.size() > highestCpu + 1) {
      std::sort(cpus.begin(), cpus.end());
      cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
    }
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

}  // namespace tickscope
