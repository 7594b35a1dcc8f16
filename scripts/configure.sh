#!/bin/bash
# Configures build/PRESET once; afterwards ninja does it again by itself when a CMake file changes.
set -euo pipefail
cd "$(dirname "$0")/.."
# CMakePresets.json is no input of the generated build, so a change there is looked for here.
[[ build/$1/build.ninja -nt CMakePresets.json ]] || cmake --preset "$1" --log-level=WARNING
