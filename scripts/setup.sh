#!/bin/sh
# Installs the Debian packages that building and testing p3-ir need, if they are missing.
set -eu

packages="
  afl++
  build-essential
  clang-16
  csmith
  libclang-rt-16-dev
  libc6-dev
  libcsmith-dev
  libncurses-dev
  llvm-16-dev
  zlib1g-dev
"

missing=
for package in $packages; do
  dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q ' installed$' ||
    missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
$as_root apt-get update
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
