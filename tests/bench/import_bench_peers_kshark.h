/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A peer of the import: what KernelShark does to open a file, which decodes no fields. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Loads all entries into memory, as the program does before it draws, and leaves them there: what
   is measured is a loaded file. Returns their number, or -1 when the library cannot open it. */
long run_kshark_load(const char* path);

#ifdef __cplusplus
}
#endif
