#!/bin/bash
# Configures build/PRESET once; after that ninja reconfigures when a CMake file changes. UNITY=OFF in the environment
# compiles every source separately, ON each folder as one unit; without it the last choice applies.
set -euo pipefail
cd "$(dirname "$0")/.."
options=()
[[ -z ${UNITY:-} ]] || options=(-D "WHEELSMITH_UNITY=$UNITY")
# Neither CMakePresets.json nor the environment is an input of the generated build, so check for changes here.
if [[ build/$1/build.ninja -nt CMakePresets.json ]] &&
   { [[ ${#options[@]} -eq 0 ]] || grep -qx "WHEELSMITH_UNITY:BOOL=$UNITY" "build/$1/CMakeCache.txt"; }; then
  exit 0
fi
cmake --preset "$1" --log-level=WARNING "${options[@]}"
