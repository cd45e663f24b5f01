/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A peer of the import: libtracecmd reads every record and each field of it is decoded. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tracecmd_loop {
  uint64_t events;
  uint64_t sum; /* of all that was decoded, so that nothing is optimised away */
};

/* Opens the file and reads the records of all CPUs, merged by time or one CPU behind the other.
   Returns 0, or -1 when the library cannot open the file. */
int run_tracecmd_loop(const char* path, int merged, struct tracecmd_loop* result);

#ifdef __cplusplus
}
#endif
