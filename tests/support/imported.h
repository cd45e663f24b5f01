// SPDX-License-Identifier: GPL-3.0-or-later
// Opens recordings in tests that are about what is in them, not about how they are opened.
#pragma once

#include <span>
#include <string>

#include "core/base/result.h"
#include "core/trace/recording.h"
#include "importers/import.h"

namespace tickscope::support {

Result<Recording> tryImport(const ByteSource&, int threads = 1);
/// Throws std::runtime_error when the file cannot be opened.
Recording imported(const std::string& path, int threads = 1);
Recording importedBytes(std::span<const u8> bytes, int threads = 1);

/// What a Recording's log says, a line an entry with its examples.
std::string logText(const ImportLog&);

/// Prints every row and all its fields as the program would. Returns the bytes of text.
u64 printAll(const Recording&);

}  // namespace tickscope::support
