// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses the importer by the content of the input.
#include "app/load.h"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <new>

namespace tickscope {

namespace {

/// Standard input has to be kept in memory: half of what the machine has, unless a limit was given.
u64 mostStandardInput(const OpenRequest& request) {
  if (request.import.maxMemory) return *request.import.maxMemory;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long pageSize = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || pageSize <= 0) return u64{1} << 30U;
  return static_cast<u64>(pages) * static_cast<u64>(pageSize) / 2;
}

Result<ByteSource> openOne(const std::string& path, const OpenRequest& request) {
  if (path == "-") return ByteSource::standardInput(mostStandardInput(request));
  return ByteSource::file(path);
}

/// The importers do not know what the user calls their input.
Error named(Error error, const std::string& path) {
  switch (error.kind) {
    case Error::Kind::NotATrace:
    case Error::Kind::Damaged:
    case Error::Kind::Unsupported:
    case Error::Kind::TooLarge:
      error.what = (path == "-" ? "standard input" : path) + ": " + error.what;
      break;
    case Error::Kind::Io:
    case Error::Kind::Cancelled:
    case Error::Kind::Usage:
    case Error::Kind::Internal:
      break;
  }
  return error;
}

Result<Opened> openRawPages(const std::vector<ByteSource>& sources, const OpenRequest& request,
                            Opened opened, Progress& progress) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sniff(sources[i]) == InputKind::TraceDat) {
      return tl::unexpected(
          named({Error::Kind::NotATrace,
                 "This is a trace.dat; only raw pages need the formats of another one.",
                 {}},
                request.inputs[i]));
    }
  }
  auto formats = openOne(request.formatsFrom, request);
  if (!formats) return tl::unexpected(named(std::move(formats.error()), request.formatsFrom));
  auto recording = importRawPages(sources, *formats, request.import, progress);
  if (!recording) {
    return tl::unexpected(named(std::move(recording.error()), request.formatsFrom));
  }
  opened.recording = std::make_shared<const Recording>(std::move(*recording));
  return opened;
}

Result<Opened> openByContent(const ByteSource& source, const OpenRequest& request, Opened opened,
                             Progress& progress) {
  switch (sniff(source)) {
    case InputKind::TimerList: {
      auto dump = importTimerList(source);
      if (!dump) return tl::unexpected(std::move(dump.error()));
      opened.timerList = std::make_shared<const TimerListDump>(std::move(*dump));
      return opened;
    }
    case InputKind::RawPages:
      return fail(Error::Kind::NotATrace,
                  "These are raw pages of a recorder that was killed; their event formats are in a "
                  "trace.dat of the same kernel: give it with --formats-from FILE.");
    case InputKind::Unknown:
      return fail(Error::Kind::NotATrace,
                  source.size() ? "This is neither a trace.dat nor a /proc/timer_list dump."
                                : "This is empty.");
    case InputKind::TraceDat:
      break;
  }
  auto recording = importTrace(source, request.import, progress);
  if (!recording) return tl::unexpected(std::move(recording.error()));
  opened.recording = std::make_shared<const Recording>(std::move(*recording));
  return opened;
}

Result<Opened> open(const OpenRequest& request, Progress& progress) {
  if (request.inputs.empty()) return fail(Error::Kind::Usage, "No trace was given.");
  if (request.inputs.size() > 1 && request.formatsFrom.empty()) {
    return fail(
        Error::Kind::Usage,
        "Several traces go together only as raw pages of one recorder, with --formats-from.");
  }
  Opened opened;
  opened.path = request.inputs.front();
  std::vector<ByteSource> sources;
  for (const std::string& path : request.inputs) {
    auto source = openOne(path, request);
    if (!source) return tl::unexpected(named(std::move(source.error()), path));
    opened.size += source->size();
    sources.push_back(std::move(*source));
  }
  opened.fingerprint = sources.front().fingerprint();
  if (!request.formatsFrom.empty()) {
    return openRawPages(sources, request, std::move(opened), progress);
  }
  const std::string path = opened.path;
  auto read = openByContent(sources.front(), request, std::move(opened), progress);
  if (!read) return tl::unexpected(named(std::move(read.error()), path));
  return read;
}

}  // namespace

Error errorOfCurrentException() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {Error::Kind::TooLarge, "There is not enough memory.", {}};
  } catch (const std::exception& error) {
    return {
        Error::Kind::Internal, fmt::format("Something in Tickscope failed: {}", error.what()), {}};
  } catch (...) {
    return {Error::Kind::Internal, "Something in Tickscope failed.", {}};
  }
}

Result<Opened> openInputs(const OpenRequest& request, Progress& progress) {
  return withLastCatch([&] { return open(request, progress); });
}

ExitStatus exitStatusOf(const Error& error) {
  switch (error.kind) {
    case Error::Kind::Usage:
      return ExitStatus::Usage;
    case Error::Kind::Cancelled:
      return ExitStatus::Cancelled;
    case Error::Kind::Internal:
      return ExitStatus::Internal;
    case Error::Kind::Io:
    case Error::Kind::NotATrace:
    case Error::Kind::Damaged:
    case Error::Kind::Unsupported:
    case Error::Kind::TooLarge:
      break;
  }
  return ExitStatus::Unreadable;
}

}  // namespace tickscope
