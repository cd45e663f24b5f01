# SPDX-License-Identifier: GPL-3.0-or-later
# The Debian 12 packages that Tickscope needs, and how to get them. Sourced by app/run, tests/run and
# .ci/run: the only place where packages are listed.

# shellcheck shell=bash disable=SC2034  # The lists are used by the scripts that source this file.
packages_build=(
  cmake ninja-build g++ pkg-config
  libfmt-dev libexpected-dev libboost-dev robin-map-dev nlohmann-json3-dev libcli11-dev libre2-dev
  zlib1g-dev libzstd-dev liblzma-dev libtraceevent-dev
)
packages_window=(
  qt6-base-dev libqt6opengl6-dev qt6-svg-dev
  qt6-qpa-plugins fonts-dejavu-core
)
packages_tests=(libgtest-dev libgmock-dev librapidcheck-dev trace-cmd)
packages_fuzz=(clang-16 libclang-rt-16-dev llvm-16)
packages_checks=(clang-format-16 git)
packages_bench=(libtracecmd-dev libtracefs-dev libkshark-dev libjson-c-dev)

# missing_packages PACKAGE...: prints those that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    case "$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null)" in
      ?i*) ;;
      *) printf '%s\n' "$package" ;;
    esac
  done
}

# need_packages PACKAGE...: installs what is missing, after saying so. All output goes to stderr,
# because the output of `app/run cli` belongs to the program. Sets packages_changed.
packages_changed=no
need_packages() {
  local -a missing as_root=()
  if ! command -v dpkg-query >/dev/null; then
    # Not Debian: whoever builds here has the libraries under other names; CMake says what is missing.
    return 0
  fi
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then
    return 0
  fi
  echo "Not installed yet: ${missing[*]}" >&2
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "Please install them as root: apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  local -a install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
    apt-get install -y -q --no-install-recommends "${missing[@]}")
  echo "Installing with: ${install[*]}" >&2
  # Package lists may be missing or too old for the archive; only then are they fetched.
  if ! "${install[@]}" >&2 </dev/null; then
    echo "That failed; trying again with fresh package lists." >&2
    "${as_root[@]}" apt-get update -q >&2 </dev/null || return 1
    "${install[@]}" >&2 </dev/null || return 1
  fi
  packages_changed=yes
}
