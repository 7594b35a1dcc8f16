#!/bin/bash
# The two example packages promise the same bits; each must build from its own folder, so the arithmetic is a copy.
. "$(dirname "$0")/common.inc"

cmp "$tests/../examples/texture/src/pixels.h" "$tests/../examples/texture-torch/csrc/pixels.h"
