#!/bin/bash
# torch-scatter 2.1.2 from its sdist, without a recipe, against torch 2.13.0 for the CPU: installed by pip, it computes
# correctly.
source "$(dirname "$0")/build.inc"
source "$tests/proof/torch_scatter.inc"
torch=2.13.0

build torch-scatter --source torch-scatter==2.1.2 --variant cpu --torch "$torch"
[[ ${wheel##*/} == torch_scatter-2.1.2-cp*-linux*_x86_64.whl || ${wheel##*/} == torch_scatter-2.1.2-cp*-manylinux_*_x86_64.whl ]] ||
  fail "the name is ${wheel##*/}"
expect true "$(json 'len(steps) == 1')"

new_environment "torch==$torch" numpy
"$env" -m pip install -q --disable-pip-version-check --no-index --no-deps "$wheel"
cd /
"$env" -c "$scatter_sum" cpu
