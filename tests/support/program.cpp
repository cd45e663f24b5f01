// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a child with its streams in files, so that no pipe can fill up and block.
#include "tests/support/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/support/recordings.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace tickscope::support {

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

ProgramRun runProgram(const std::string& program, const std::vector<std::string>& arguments,
                      const ProgramInput& input) {
  const TemporaryFolder folder;
  const std::string in = folder.write(
      "in", {reinterpret_cast<const u8*>(input.standardInput.data()), input.standardInput.size()});
  const std::string out = input.outputTo.empty() ? folder.path("out") : input.outputTo;
  const std::string err = folder.path("err");

  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = input.environment;
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text = *variable;
    bool replaced = false;
    for (const std::string& own : input.environment) {
      replaced |= text.starts_with(own.substr(0, own.find('=') + 1));
    }
    if (!replaced) environment.emplace_back(text);
  }

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (!input.folder.empty()) {
    ::posix_spawn_file_actions_addchdir_np(&actions, input.folder.c_str());
  }
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, program.c_str(), &actions, nullptr,
                                   pointers(words).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed) throw std::runtime_error(program + ": " + std::strerror(failed));
  if (input.interruptAfterMs >= 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(input.interruptAfterMs));
    ::kill(child, SIGINT);
  }
  int state = 0;
  while (::waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  ProgramRun run;
  run.status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  if (input.outputTo.empty()) run.output = contents(out);
  run.error = contents(err);
  return run;
}

}  // namespace tickscope::support
