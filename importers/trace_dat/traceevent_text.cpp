// SPDX-License-Identifier: GPL-3.0-or-later
// The only user of event-parse.h.
#include "importers/trace_dat/traceevent_text.h"

#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include <atomic>
#include <bit>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/base/shown_text.h"
#include "importers/trace_dat/format_guard.h"
#include "importers/trace_dat/print_format.h"

namespace tickscope::trace_dat {
namespace {

constexpr std::size_t zeroBytesBehind = 64;

/// The resolver's answer must live until the next question of the thread.
struct Resolver {
  std::shared_ptr<const Symbols> symbols;
  std::string name, module;
};

char* resolve(void* privately, unsigned long long* address, char** module) {
  auto* const resolver = static_cast<Resolver*>(privately);
  const Known<Symbol> found = resolver->symbols->at(static_cast<Address>(*address));
  if (!found) return nullptr;
  resolver->name = found->name;
  resolver->module = found->module;
  *address -= found->offset;
  if (!resolver->module.empty()) *module = resolver->module.data();
  return resolver->name.data();
}

/// A library handle for the formats of one recording.
class Handle {
 public:
  Handle(std::shared_ptr<const Symbols> symbols, u8 wordSize, bool bigEndian, u32 pageSize)
      : tep_(tep_alloc()),
        resolver_(std::make_unique<Resolver>(Resolver{std::move(symbols), {}, {}})) {
    if (!tep_) return;
    tep_set_loglevel(TEP_LOG_NONE);
    tep_set_long_size(tep_, wordSize);
    tep_set_page_size(tep_, static_cast<int>(pageSize));
    tep_set_file_bigendian(tep_, bigEndian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
    tep_set_local_bigendian(
        tep_, std::endian::native == std::endian::big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
    tep_set_function_resolver(tep_, resolve, resolver_.get());
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { tep_free(tep_); }

  /// nullptr: refused.
  tep_event* event(const EventFormat& format) {
    const auto [at, isNew] = events_.try_emplace(&format, nullptr);
    if (isNew && tep_ && !whyRefused(format)) at->second = add(format);
    return at->second;
  }

  Known<std::string> print(Bytes record) {
    std::vector<u8> copy(record.begin(), record.end());
    copy.resize(copy.size() + zeroBytesBehind, 0);
    tep_record given{};
    given.data = copy.data();
    given.size = static_cast<int>(record.size());
    trace_seq text;
    trace_seq_init(&text);
    tep_print_event(tep_, &text, &given, "%s", TEP_PRINT_INFO);
    std::string printed;
    if (text.state == TRACE_SEQ__GOOD) {
      appendShown(printed, {text.buffer, std::min<std::size_t>(text.len, longestPrinted)});
      if (text.len > longestPrinted) printed += "…";
    }
    const bool good = text.state == TRACE_SEQ__GOOD;
    trace_seq_destroy(&text);
    return good ? Known<std::string>(std::move(printed)) : Known<std::string>{};
  }

 private:
  tep_event* add(const EventFormat& format) {
    // The library's lexer keeps its place in variables that all threads share.
    static std::mutex parsing;
    const std::scoped_lock lock(parsing);
    const std::string text = rebuiltFormat(format);
    if (tep_parse_event(tep_, text.data(), text.size(), format.system.c_str()) !=
        TEP_ERRNO__SUCCESS)
      return nullptr;
    tep_event* const event = tep_find_event(tep_, format.id);
    return event && !(event->flags & TEP_EVENT_FL_FAILED) ? event : nullptr;
  }

  tep_handle* tep_;
  std::unique_ptr<Resolver> resolver_;
  std::unordered_map<const EventFormat*, tep_event*> events_;
};

struct ThreadHandle {
  u64 identity = 0;
  std::unique_ptr<Handle> handle;
};

}  // namespace

TraceEventText::TraceEventText(std::shared_ptr<const Symbols> symbols, u8 wordSize, bool bigEndian,
                               u32 pageSize)
    : symbols_(std::move(symbols)),
      pageSize_(pageSize),
      wordSize_(wordSize),
      bigEndian_(bigEndian) {
  static std::atomic<u64> next{1};
  identity_ = next.fetch_add(1);
}

Known<std::string> TraceEventText::print(const EventFormat& format, Bytes record) const {
  const bool swap = bigEndian_ != (std::endian::native == std::endian::big);
  if (!recordFits(format, record, swap)) return {};
  // The library goes by the record's own id.
  const FormatField* const type = format.find("common_type");
  if (!type || fieldNumber(*type, record, swap) != Known<u64>(format.id)) return {};
  thread_local ThreadHandle mine;
  if (mine.identity != identity_) {
    mine.handle = std::make_unique<Handle>(symbols_, wordSize_, bigEndian_, pageSize_);
    mine.identity = identity_;
  }
  tep_event* const event = mine.handle->event(format);
  return event ? mine.handle->print(record) : Known<std::string>{};
}

}  // namespace tickscope::trace_dat
