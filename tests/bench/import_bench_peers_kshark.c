/* SPDX-License-Identifier: GPL-3.0-or-later */
/* KernelShark's library load. */
#include "tests/bench/import_bench_peers_kshark.h"

/* libkshark.h needs it and does not say so. */
#include <sys/types.h>

#include <libkshark.h>

long run_kshark_load(const char* path) {
  struct kshark_context* context = NULL;
  if (!kshark_instance(&context)) return -1;
  const int stream = kshark_open(context, path);
  if (stream < 0) return -1;
  struct kshark_entry** rows = NULL;
  const ssize_t count = kshark_load_entries(context, stream, &rows);
  return (long)count;
}
