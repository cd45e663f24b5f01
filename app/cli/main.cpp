// SPDX-License-Identifier: GPL-3.0-or-later
// tickscope-cli: the list of commands, the way from arguments to exit status, and Ctrl-C.
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/info_report.h"
#include "app/cli/progress_line.h"
#include "core/base/shown_text.h"

namespace tickscope {
namespace {

constexpr std::array<CommandInfo, 9> commands{{
    {"info", "What the file is, what it holds and what it lost", makeInfoCommand},
    {"events", "Events in the kernel's text form, filtered", makeEventsCommand},
    {"state", "What the wheel and the hrtimer trees of each CPU hold at an instant",
     makeStateCommand},
    {"selfcheck", "How far the model of the timer code and the recording agree",
     makeSelfcheckCommand},
    {"findings", "What is wrong with the timers, how sure, and on what evidence",
     makeFindingsCommand},
    {"compare", "Two recordings, before and after a patch: what changed", makeCompareCommand, true},
    {"latency", "What timers asked for against what they got", makeLatencyCommand},
    {"timers", "What timers did, by callback, owner or timer", makeTimersCommand},
    {"check", "One line a finding, for scripts: fails from a severity on", makeCheckCommand},
}};

// --- Ctrl-C: the first one asks the job to stop, the next one does not ask
// ------------------------

std::atomic<Progress*> running{nullptr};
std::atomic<bool> waitingForInput{false};
static_assert(std::atomic<Progress*>::is_always_lock_free);

void onInterrupt(int /*signal*/) {
  Progress* const progress = running.load();
  // Nothing can wake a read from a terminal or a pipe, and nothing was printed yet.
  if (!progress || progress->cancelled() || waitingForInput.load()) {
    ::_exit(static_cast<int>(ExitStatus::Cancelled));
  }
  progress->cancel();
}

void listenForInterrupts(Progress& progress) {
  running.store(&progress);
  struct sigaction action {};
  action.sa_handler = onInterrupt;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  // A reader that leaves early (head) is seen by write().
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
}

// --- Words on standard error --------------------------------------------------------------------

void say(std::string_view text) {
  Output error(STDERR_FILENO);
  error.text(text);
  error.text("\n");
  // There is no other place to complain.
  [[maybe_unused]] const auto written = error.finish();
}

int failed(const Error& error) {
  if (error.kind != Error::Kind::Cancelled) {
    say("tickscope-cli: " + shown(describe(error), Breaks::Keep));
  }
  return static_cast<int>(exitStatusOf(error));
}

bool coloured(const CommonOptions& options) {
  const char* const noColor = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return !options.noColor && !(noColor && *noColor) && terminal &&
         std::string_view(terminal) != "dumb" && ::isatty(STDERR_FILENO);
}

/// What was lost or damaged, a line each. Mere remarks are in `info`.
void sayLog(const Recording& recording, const CommonOptions& options) {
  if (options.quiet) return;
  const bool colours = coloured(options);
  for (const LogEntry& entry : recording.log.entries()) {
    const Severity severity = severityOf(entry.counter);
    if (severity == Severity::Info) continue;
    const std::string_view colour = severity == Severity::Loss ? "\x1b[33m" : "\x1b[31m";
    say(fmt::format("{}: {}{}{}: {}", shown(recording.path), colours ? colour : "",
                    nameOf(severity), colours ? "\x1b[0m" : "", shown(sentenceOf(entry))));
  }
}

/// Names of CPUs that were asked for in vain are said: an empty answer could be taken for an idle
/// CPU.
void sayMissingCpus(const Recording& recording, const CommonOptions& options) {
  if (options.quiet || options.cpus.empty()) return;
  const auto wanted = readCpuList(options.cpus);
  const auto chosen = chosenBuffer(recording, options);
  if (!wanted || !chosen) return;
  const std::vector<u32> present = cpusWithEvents(recording.buffers[*chosen]);
  std::vector<u32> missing;
  std::set_difference(wanted->begin(), wanted->end(), present.begin(), present.end(),
                      std::back_inserter(missing));
  if (missing.empty()) return;
  say(fmt::format("{}: info: no events in this buffer on CPU {}.", shown(recording.path),
                  cpuListText(missing)));
}

// --- Commands -----------------------------------------------------------------------------------

/// Standard input, pipes, and files that the kernel makes while they are read, which say that they
/// are empty.
bool mayWait(const std::string& path) {
  if (path == "-") return true;
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return false;
  return !S_ISREG(facts.st_mode) || facts.st_size == 0;
}

Result<Opened> open(const OpenRequest& request, const CommonOptions& options, Progress& progress) {
  Known<ProgressLine> line;
  if (!options.quiet && ::isatty(STDERR_FILENO)) line.emplace(progress);
  waitingForInput.store(mayWait(request.formatsFrom) ||
                        std::any_of(request.inputs.begin(), request.inputs.end(), mayWait));
  auto opened = openInputs(request, progress);
  waitingForInput.store(false);
  return opened;
}

/// Opens and says what was lost. With two traces the second one goes to the command.
Result<Opened> openAll(const CommandInfo& info, Command& command, OpenRequest request,
                       const CommonOptions& options, Progress& progress) {
  const auto said = [&](const Opened& opened) {
    if (!opened.recording) return;
    sayLog(*opened.recording, options);
    sayMissingCpus(*opened.recording, options);
  };
  if (info.twoTraces) {
    if (request.inputs.size() != 2) {
      return fail(Error::Kind::Usage, fmt::format("{} takes two traces.", info.name));
    }
    OpenRequest other = request;
    other.inputs.erase(other.inputs.begin());
    request.inputs.pop_back();
    auto second = open(other, options, progress);
    if (!second) return second;
    said(*second);
    command.second(std::move(*second));
  }
  auto opened = open(request, options, progress);
  if (opened) said(*opened);
  return opened;
}

Result<ExitStatus> runCommand(const CommandInfo& info, Command& command,
                              const CommonOptions& options, Progress& progress) {
  const auto request = openRequest(options);
  if (!request) return tl::unexpected(request.error());
  if (const auto checked = command.check(); !checked) return tl::unexpected(checked.error());
  if (!options.cpus.empty()) {
    if (const auto cpus = readCpuList(options.cpus); !cpus) return tl::unexpected(cpus.error());
  }
  const auto opened = openAll(info, command, *request, options, progress);
  if (!opened) return tl::unexpected(opened.error());
  Output out(STDOUT_FILENO);
  const auto done = [&] {
    // Where the results go to the terminal they show by themselves how far it is.
    Known<ProgressLine> line;
    if (!options.quiet && ::isatty(STDERR_FILENO) && !::isatty(STDOUT_FILENO)) {
      line.emplace(progress);
    }
    return command.run(*opened, options, out, progress);
  }();
  const auto written = out.finish();
  if (!done) return tl::unexpected(done.error());
  if (!written) return tl::unexpected(written.error());
  if (options.strict && opened->recording && opened->recording->log.lossOrDamage())
    return ExitStatus::Damaged;
  return command.found() ? ExitStatus::Found : ExitStatus::Done;
}

int usage(std::string_view problem) {
  say(fmt::format("tickscope-cli: {}\nTry 'tickscope-cli --help'.", problem));
  return static_cast<int>(ExitStatus::Usage);
}

int printed(const std::string& text) {
  Output out(STDOUT_FILENO);
  out.text(text);
  const auto written = out.finish();
  return written ? static_cast<int>(ExitStatus::Done) : failed(written.error());
}

int printVersion() { return printed("tickscope-cli " TICKSCOPE_VERSION "\n"); }

int printHelp() {
  std::string text =
      "Usage: tickscope-cli COMMAND TRACE [OPTION...]\n\n"
      "Says what the kernel's timers did in a recorded trace.\n\n"
      "Commands:\n";
  for (const CommandInfo& command : commands) {
    text += fmt::format("  {:<10}{}\n", command.name, command.purpose);
  }
  text +=
      "\nOptions:\n"
      "  --help      This text; 'tickscope-cli COMMAND --help' has the options of a command\n"
      "  --version   The version\n"
      "\nExit status: 0 done, 1 check found something, 2 usage, 3 the input cannot be opened or is "
      "no trace, 4 --strict and "
      "the input was\n"
      "damaged or lost events, 5 a fault of Tickscope, 130 cancelled.\n";
  return printed(text);
}

/// The parser's own words for a repeated option speak of how many values it wanted.
std::string problemOf(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_name() == "ArgumentMismatch") {
    for (const CLI::Option* const option : app.get_options()) {
      if (option->get_items_expected_max() == 1 && option->count() > 1)
        return option->get_name() + " is given more than once";
    }
  }
  return error.what();
}

int parseAndRun(const CommandInfo& info, std::vector<std::string> arguments) {
  const auto command = info.make();
  CommonOptions options;
  CLI::App app{std::string(info.purpose), "tickscope-cli " + std::string(info.name)};
  app.set_help_flag("--help", "Print this text");
  app.get_formatter()->column_width(28);
  app.add_flag_callback(
         "--version", [] { throw CLI::CallForVersion(TICKSCOPE_VERSION, 0); }, "Print the version")
      ->trigger_on_parse();
  command->addOptions(app);
  addCommonOptions(app, options);
  try {
    std::reverse(arguments.begin(), arguments.end());
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return printed(app.help());
  } catch (const CLI::CallForVersion&) {
    return printVersion();
  } catch (const CLI::ParseError& error) {
    say(fmt::format("tickscope-cli {}: {}\nTry 'tickscope-cli {} --help'.", info.name,
                    shown(problemOf(app, error)), info.name));
    return static_cast<int>(ExitStatus::Usage);
  }
  Progress progress;
  listenForInterrupts(progress);
  const auto status = withLastCatch([&] { return runCommand(info, *command, options, progress); });
  // The job is over: what comes now may end at once.
  running.store(nullptr);
  return status ? static_cast<int>(*status) : failed(status.error());
}

int run(std::vector<std::string> arguments) {
  if (arguments.empty()) return usage("A command is missing.");
  const std::string first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") return printHelp();
  if (first == "--version") return printVersion();
  arguments.erase(arguments.begin());
  for (const CommandInfo& command : commands) {
    if (command.name == first) return parseAndRun(command, std::move(arguments));
  }
  if (first.starts_with("-"))
    return usage(fmt::format("A command stands before options such as {}.", shown(first)));
  return usage(fmt::format("There is no command '{}'.", shown(first)));
}

}  // namespace
}  // namespace tickscope

int main(int count, char** values) {
  try {
    return tickscope::run({values + (count > 0 ? 1 : 0), values + count});
  } catch (...) {
    return tickscope::failed(tickscope::errorOfCurrentException());
  }
}
