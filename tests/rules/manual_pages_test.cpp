// SPDX-License-Identifier: GPL-3.0-or-later
// The manual page of the command line program names what its --help names.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/program.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

std::set<std::string> longOptions(const std::string& help) {
  std::set<std::string> found;
  // An option begins its line; others in the text are only mentioned.
  const std::regex option(R"((^|\n) +(--[a-z][a-z-]*))");
  for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at) {
    found.insert((*at)[2]);
  }
  return found;
}

std::string manualPage() {
  std::ifstream in(support::sourceFolder() / "resources" / "man" / "tickscope-cli.1");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(ManualPages, NameEveryCommandAndOption) {
  const std::string program = TICKSCOPE_BINARY_DIR "/tickscope-cli";
  const std::string page = manualPage();
  ASSERT_FALSE(page.empty());
  const std::string help = support::runProgram(program, {"--help"}).output;
  // Commands are indented lines between "Commands:" and "Options:".
  const std::string commands =
      help.substr(help.find("Commands:"), help.find("Options:") - help.find("Commands:"));
  const std::regex command(R"(\n  ([a-z]+) )");
  int count = 0;
  for (std::sregex_iterator at(commands.begin(), commands.end(), command), end; at != end; ++at) {
    ++count;
    const std::string name = (*at)[1];
    EXPECT_NE(page.find("\n.It Cm " + name + "\n"), std::string::npos) << "command " << name;
    const std::string ownHelp = support::runProgram(program, {name, "--help"}).output;
    const std::set<std::string> options = longOptions(ownHelp);
    EXPECT_FALSE(options.empty()) << ownHelp;
    for (const std::string& option : options) {
      // mdoc writes --json as "Fl -json".
      EXPECT_NE(page.find("Fl " + option.substr(1)), std::string::npos)
          << name << " " << option << " is not in tickscope-cli.1";
    }
  }
  EXPECT_GE(count, 2) << help;
}

}  // namespace
}  // namespace tickscope
