/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The libtracecmd loop; C because trace-cmd.h is. */
#include "tests/bench/import_bench_peers_tracecmd.h"

#include <string.h>
#include <trace-cmd.h>

static uint64_t sum_of_bytes(const unsigned char* at, const unsigned char* end) {
  uint64_t sum = 0;
  for (; at < end; ++at) sum = sum * 31 + *at;
  return sum;
}

/* Texts as bytes up to NUL, arrays of numbers as bytes, everything else as one number. */
static uint64_t sum_of_fields(struct tep_handle* tep, const struct tep_event* event,
                              const struct tep_record* record) {
  const unsigned char* data = record->data;
  const unsigned char* end = data + record->size;
  uint64_t sum = 0;
  for (struct tep_format_field* field = event->format.fields; field; field = field->next) {
    const unsigned char* at = data + field->offset;
    unsigned long size = (unsigned long)field->size;
    if (field->flags & TEP_FIELD_IS_DYNAMIC) {
      const uint64_t place = tep_read_number(tep, at, 4);
      at = data + (place & 0xffff);
      size = place >> 16;
    } else if (!(field->flags & TEP_FIELD_IS_ARRAY)) {
      unsigned long long value = 0;
      tep_read_number_field(field, data, &value);
      sum += value;
      continue;
    }
    const unsigned char* stop = size != 0 && at + size < end ? at + size : end;
    if (field->flags & TEP_FIELD_IS_STRING) {
      const unsigned char* nul = memchr(at, 0, (size_t)(stop - at));
      if (nul) stop = nul;
    }
    sum += sum_of_bytes(at, stop);
  }
  return sum;
}

static void take(struct tep_handle* tep, struct tep_record* record, struct tracecmd_loop* result) {
  uint64_t sum = (uint64_t)record->ts + (uint64_t)record->cpu;
  sum += (uint64_t)tep_data_pid(tep, record) + (uint64_t)tep_data_flags(tep, record);
  sum += (uint64_t)tep_data_preempt_count(tep, record);
  const struct tep_event* event = tep_find_event_by_record(tep, record);
  if (event) sum += sum_of_fields(tep, event, record);
  ++result->events;
  result->sum += sum;
}

static int take_next(struct tracecmd_input* file, struct tep_record* record, int cpu,
                     void* result) {
  (void)cpu;
  take(tracecmd_get_tep(file), record, result);
  return 0;
}

int run_tracecmd_loop(const char* path, int merged, struct tracecmd_loop* result) {
  memset(result, 0, sizeof *result);
  struct tracecmd_input* file = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
  if (!file) return -1;
  struct tep_handle* tep = tracecmd_get_tep(file);
  if (merged) {
    tracecmd_iterate_events(file, NULL, 0, take_next, result);
  } else {
    for (int cpu = 0; cpu < tep_get_cpus(tep); ++cpu) {
      struct tep_record* record;
      while ((record = tracecmd_read_data(file, cpu))) {
        take(tep, record, result);
        tracecmd_free_record(record);
      }
    }
  }
  tracecmd_close(file);
  return 0;
}
