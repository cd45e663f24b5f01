// SPDX-License-Identifier: GPL-3.0-or-later
// Reads what the options of the model name.
#include "app/options_model.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/shown_text.h"
#include "importers/import.h"

namespace tickscope {

namespace {

/// Profiles are a line a fact.
constexpr u64 largestProfile = u64{1} << 20U;

Error named(Error error, std::string_view option, const std::string& path) {
  // What the system said of the file names it.
  error.what = error.kind == Error::Kind::Io
                   ? fmt::format("{}: {}", option, error.what)
                   : fmt::format("{} {}: {}", option, shown(path), error.what);
  return error;
}

Result<ProfileOverrides> readProfile(const std::string& path) {
  const auto file = ByteSource::file(path);
  if (!file) return tl::unexpected(named(file.error(), "--profile", path));
  if (file->size() > largestProfile) {
    return fail(Error::Kind::Usage,
                fmt::format("--profile {}: this is no list of facts; it is larger than 1 MiB.",
                            shown(path)));
  }
  const std::vector<u8> bytes = file->bytes(0, file->size());
  auto facts = parseProfileText({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!facts) return tl::unexpected(named(std::move(facts.error()), "--profile", path));
  return facts;
}

Result<GivenTimerList> readTimerList(const std::string& path) {
  const auto file = ByteSource::file(path);
  if (!file) return tl::unexpected(named(file.error(), "--timer-list", path));
  auto dump = importTimerList(*file);
  if (!dump) return tl::unexpected(named(std::move(dump.error()), "--timer-list", path));
  return GivenTimerList{path, std::make_shared<const TimerListDump>(std::move(*dump))};
}

}  // namespace

void addModelOptions(CLI::App& app, ModelOptions& options) {
  const CLI::Validator someText{[](const std::string& text) {
                                  return text.empty() ? std::string("the value is empty")
                                                      : std::string();
                                },
                                ""};
  app.add_option("--timer-list", options.timerLists,
                 "A dump of /proc/timer_list of the same boot: one taken before the\n"
                 "recording tells which hrtimers were armed, others are compared\n"
                 "with the model. May be repeated")
      ->allow_extra_args(false)
      ->check(someText)
      ->type_name("FILE");
  app.add_option("--profile", options.profile,
                 "Facts of the kernel, NAME=VALUE a line; # begins a comment")
      ->check(someText)
      ->type_name("FILE");
  app.add_option("--fact", options.facts,
                 "A fact of the kernel, as info prints it: hz=250, hrule=R1. May be\n"
                 "repeated; holds over --profile and over what the recording shows")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
}

Result<void> readFacts(ModelOptions& options) {
  ProfileOverrides overrides;
  if (!options.profile.empty()) {
    const auto file = readProfile(options.profile);
    if (!file) return tl::unexpected(file.error());
    overrides = *file;
  }
  const auto facts = parseFacts(options.facts);
  if (!facts) return tl::unexpected(facts.error());
  overrides.add(*facts);
  options.overrides = std::move(overrides);
  return {};
}

Result<std::vector<GivenTimerList>> readTimerLists(const ModelOptions& options) {
  std::vector<GivenTimerList> lists;
  for (const std::string& path : options.timerLists) {
    auto list = readTimerList(path);
    if (!list) return tl::unexpected(list.error());
    lists.push_back(std::move(*list));
  }
  std::ranges::stable_sort(lists, {}, [](const GivenTimerList& list) { return list.dump->now; });
  return lists;
}

Result<Modelled> modelled(std::shared_ptr<const Recording> recording, u32 buffer,
                          const ModelOptions& options, Progress& progress) {
  AnalysisOptions wanted;
  wanted.buffer = buffer;
  wanted.overrides = options.overrides;
  auto lists = readTimerLists(options);
  if (!lists) return tl::unexpected(lists.error());

  // The analysis takes one dump; only the last one from before the recording tells what was armed at its start.
  std::size_t chosen = 0;
  if (lists->size() > 1) {
    const Buffer& opened = recording->buffers[buffer];
    const ClockMap clocks =
        ClockMap::fit(opened, static_cast<u8>(recording->metadata.wordSize * 8));
    const auto begin = opened.events.empty()
                           ? Known<Bounded<MonoTime>>{}
                           : clocks.mono(opened.events.time(Row{0}), opened.events.cpu(Row{0}));
    for (std::size_t i = 0; i < lists->size() && begin; ++i) {
      const auto& now = (*lists)[i].dump->now;
      if (now && *now <= begin->value) chosen = i;
    }
  }
  if (!lists->empty()) wanted.timerList = (*lists)[chosen].dump;
  auto analysis = analyse(std::move(recording), wanted, progress);
  if (!analysis) return tl::unexpected(analysis.error());
  Modelled result{std::move(*analysis), std::move(*lists), {}};
  if (result.analysis.seeded) {
    result.seededFrom = result.toCompare[chosen].path;
    result.toCompare.erase(result.toCompare.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return result;
}

}  // namespace tickscope
