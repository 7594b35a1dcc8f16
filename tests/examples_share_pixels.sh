#!/bin/bash
# Both example packages must give identical results; each must build alone, so the arithmetic is a copy.
. "$(dirname "$0")/common.inc"

cmp "$tests/../examples/texture/src/pixels.h" "$tests/../examples/texture-torch/csrc/pixels.h"
