#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Compares a large recording with trace-cmd report, event by event; takes a minute and a gigabyte.
#   tests/differential/big_recording.sh BUILD_FOLDER [RECORDING]
set -eu
build=${1:?"usage: $0 BUILD_FOLDER [RECORDING]"}
recording=${2:-${TICKSCOPE_TRACES:?"set TICKSCOPE_TRACES or name a recording"}/20-big.dat}
TICKSCOPE_COMPARE=$recording exec "$build/tests/differential_tests" --gtest_filter='ReportOfOneFileSlow.*'
