// SPDX-License-Identifier: GPL-3.0-or-later
// The built-in text of typed events against the recordings' own print formats: two ways to one
// line.
#include <gtest/gtest.h>

#include "core/trace/event_body.h"
#include "core/trace/event_text.h"
#include "importers/import.h"
#include "tests/support/recordings.h"

namespace tickscope {
namespace {

class TypedText : public testing::TestWithParam<std::string> {};

TEST_P(TypedText, BuiltInAndOwnFormatAgree) {
  TICKSCOPE_NEED_RECORDING(path, GetParam());
  const auto source = ByteSource::file(path);
  ASSERT_TRUE(source) << describe(source.error());
  Progress progress;
  const auto recording = importTrace(*source, {}, progress);
  ASSERT_TRUE(recording) << describe(recording.error());
  std::size_t different = 0;
  for (const Buffer& buffer : recording->buffers) {
    const EventText printer(*recording, buffer);
    for (u32 row = 0; row < buffer.events.size() && different < 10; ++row) {
      if (buffer.events.kind(Row{row}) == kindOf<Raw>) continue;
      std::string builtIn;
      appendTypedBody(builtIn, *recording, buffer, Row{row});
      const std::string byFormat = printer.body(Row{row});
      if (builtIn == byFormat) continue;
      ++different;
      ADD_FAILURE() << "row " << row << " of " << GetParam() << ", " << printer.eventName(Row{row})
                    << "\nbuilt-in:  " << builtIn << "\nby format: " << byFormat;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Recordings, TypedText,
    testing::Values("formats/vectors.dat", "formats/hotplug.dat", "formats/instances.dat",
                    "formats/subbuf-16k.dat", "formats/fprobe.dat", "formats/driver.dat",
                    "formats/synthetic.dat", "arch/arch-armhf.dat", "arch/arch-arm64.dat",
                    "arch/arch-s390x.dat", "01-idle-6.12-hz1000.dat", "09-hotplug.dat",
                    "15-nohzfull.dat", "16-posix.dat", "17-setclock.dat", "02-ncm-e2-double.dat"),
    [](const auto& tested) {
      std::string name = tested.param;
      for (char& c : name) {
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
      }
      return name;
    });

}  // namespace
}  // namespace tickscope
