#!/bin/sh
# Installs what is missing and runs all tests.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh
cargo test --workspace "$@"
