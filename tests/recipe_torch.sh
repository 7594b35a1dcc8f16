#!/bin/bash
# torch, and the torchvision and torchaudio that belong to it, built by the built-in recipes from small repositories;
# and each trap that torch's recipe avoids, triggered by removing its handling.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
source "$tests/small_torch.inc"
need_registry
need_disk 17
need unzip
small_torch "$t"
related=$(git -C "$root/up/pytorch/vision" rev-parse 'v0.28.0^{commit}')
# The small torch has no operators: here it pins the releases, which need none.
git -C "$root/up/pytorch/vision" tag -f v0.28.0 pinned >"$t/tagged"
git -C "$root/up/pytorch/audio" tag -f v2.11.0 pinned >"$t/tagged"
publish pytorch/vision
publish pytorch/audio
cd "$t"
good() { [[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "$1 ended with $status"; }; }

# The small torch has no tensors: tests that compute are skipped.
imports='imports = ["torch", "torch.nn", "torch.utils.cpp_extension", "torchgen"]'
version="script = 'import torch; assert torch.__version__[:6] == \"2.13.0\", torch.__version__'"
torch_as_is() { smaller pytorch "$@" '[[test]]' 'name = "imports"' "$imports" '[[test]]' 'name = "version"' "$version"; }
torch_as_is
for name in torchvision torchaudio; do
  smaller $name '[[test]]' 'name = "same-torch"' "script = 'import torch, $name.version as v; assert v.torch == torch.__version__'"
done
options=(--variant cpu --set blas=machine)
no_images=(--set png=off --set jpeg=off)

# Vision and audio are the releases that belong to this torch, and are compiled with the torch just built (its ATen.h is
# unique).
run_json build pytorch torchvision torchaudio "${options[@]}" "${no_images[@]}"
good "build of three"
expect "pytorch built,torchvision built,torchaudio built" "$(json '[s.package + " " + s.outcome for s in steps]' | paste -sd, -)"
[[ $(json 'steps[0].wheel') == */torch-2.13.0+cpu-cp*.whl ]] || fail "$(json 'steps[0].wheel')"
expect "imports pass,version pass,no-gpu pass,distributed pass" \
  "$(json '[x.id + " " + x.outcome for x in steps[0].tests]' | paste -sd, -)"
while read -r name tag; do
  pin=$(git -C "$root/up/pytorch/$name" rev-parse "$tag^{commit}")
  [[ $(json notes) == *"torch$name: $tag, which matches torch 2.13"* ]] || fail "$(json notes)"
  [[ $(unzip -p "$t"/wheelhouse/torch$name-*.whl "torch$name/version.py") == *"git_version = '$pin'"*"torch = '2.13.0+cpu'"* ]] ||
    fail "torch$name is of another commit or another torch"
  # Another torch 2.13.0 is not the one that they were compiled with.
  [[ $(unzip -p "$t"/wheelhouse/torch$name-*.whl '*/METADATA') == *"Requires-Dist: torch==2.13.0+cpu"$'\n'* ]] || fail "pin of torch"
done <<'PAIRS'
vision v0.28.0
audio v2.11.0
PAIRS
# Every option in the environment reached CMake.
switches=$(unzip -p "$t"/wheelhouse/torch-*.whl torch/version.py)
for name in USE_CUDA=0 USE_ROCM=0 USE_XPU=0 USE_DISTRIBUTED=on USE_GLOO=on USE_MKLDNN=on USE_NUMA=off BUILD_TEST=off; do
  [[ $switches == *"'${name%=*}': '${name#*=}'"* ]] || fail "$name: $switches"
done

# Again: all three are there.
run_json build pytorch torchvision torchaudio "${options[@]}" "${no_images[@]}"
expect "cached,cached,cached" "$(json '[s.outcome for s in steps]' | paste -sd, -)"

# Only packages built together install together; pip itself rejects a torch of the same version with another label.
python3 -m venv "$t/together"
"$t/together/bin/python" -m pip install -q --no-index --no-deps "$t"/wheelhouse/torch*.whl
"$t/together/bin/python" - <<'PYTHON'
import importlib.metadata as m
from pip._vendor.packaging.requirements import Requirement
for name in ("torchvision", "torchaudio"):
    wants = [Requirement(text) for text in m.requires(name) if text.startswith("torch")]
    assert [w.specifier.contains(m.version("torch")) for w in wants] == [True], wants
    assert not wants[0].specifier.contains("2.13.0+cu130"), wants
PYTHON

# At a commit of torch that is not a release its pin files decide.
run_json plan pytorch torchvision torchaudio "${options[@]}" "${no_images[@]}" --ref pytorch=main
good "plan of main"
for name in vision audio; do
  pin=$(git -C "$root/up/pytorch/$name" rev-parse pinned)
  [[ $(json notes) == *"torch$name: $pin, pinned by .github/ci_commit_pins/$name.txt of pytorch"* ]] || fail "$(json notes)"
done
# checkout decides in the same way.
run checkout pytorch --variant cpu --into "$t/release"
good "checkout of a release"
run checkout torchvision --torch-dir "$t/release" --into "$t/release-vision"
good "checkout of vision for a release"
expect "$(git -C "$root/up/pytorch/vision" rev-parse 'v0.28.0^{commit}')" "$(git -C "$t/release-vision" rev-parse HEAD)"
# A release that belongs to another torch is built, with a warning.
run_json plan pytorch torchaudio "${options[@]}" --ref torchaudio=v2.8.0
good "plan of another pair"
[[ $(json notes) == *"warning: torchaudio: v2.8.0 is made for torch 2.8, but it is built against torch 2.13"* ]] || fail "$(json notes)"

# Files of torch's own test folder, with the wheel and outside the source.
run_json build pytorch "${options[@]}" --set upstream-tests=on
good "build with upstream's tests"
expect "upstream-indexing pass,upstream-views pass,upstream-types pass,upstream-layers pass" \
  "$(json '[x.id + " " + x.outcome for x in steps[0].tests if x.id.startswith("upstream")]' | paste -sd, -)"
# The wheel alone has no such files.
run_json test "$(json 'steps[0].wheel')"
expect "not-run the source is not available" "$(json '[x.outcome + " " + x.why for x in items[0].tests if x.id == "upstream-views"]')"

# A torch without pins: vision and audio belong to its version, not to the newest torch.
git -C "$root/up/pytorch/pytorch" checkout -q -b no-pins
git -C "$root/up/pytorch/pytorch" rm -q -r .github
git -C "$root/up/pytorch/pytorch" commit -q -m "no pins"
publish pytorch/pytorch
cd "$t"
run_json plan pytorch torchvision torchaudio "${options[@]}" "${no_images[@]}" --ref pytorch=no-pins
good "plan without pins"
[[ $(json notes) == *"torchvision: v0.28.0, which matches torch 2.13"* ]] || fail "$(json notes)"

# Every named setting reaches the environment: all non-default values at once.
settings=(tests=on functorch=off numpy=off distributed=off gloo=off tensorpipe=off mpi=on numa=on mkldnn=off fbgemm=off xnnpack=off
  nnpack=off openmp=off kineto=off itt=off ccache=off blas=openblas build-number=2 version-suffix=+mine extra-requirements=sympy)
run_json plan pytorch --variant cpu "${settings[@]/#/--set=}"
good "plan with settings"
while read -r variable wanted; do
  expect "$wanted" "$(json "steps[0].environment['$variable']")" "$variable"
done <<'SETTINGS'
BUILD_TEST on
BUILD_FUNCTORCH off
USE_NUMPY off
USE_DISTRIBUTED off
USE_GLOO off
USE_TENSORPIPE off
USE_MPI on
USE_NUMA on
USE_MKLDNN off
USE_FBGEMM off
USE_XNNPACK off
USE_NNPACK off
USE_OPENMP off
USE_KINETO off
USE_ITT off
USE_CCACHE off
BLAS OpenBLAS
PYTORCH_BUILD_NUMBER 2
PYTORCH_BUILD_VERSION 2.13.0+mine
PYTORCH_EXTRA_INSTALL_REQUIREMENTS sympy
SETTINGS
run_json plan pytorch --variant cpu
[[ $(json 'steps[0].requirements') == *mkl-static==* ]] || fail "no MKL"
expect '1 ${env}/lib' "$(json 'steps[0].environment["USE_STATIC_MKL"] + " " + steps[0].environment["CMAKE_LIBRARY_PATH"]')"
run_json plan pytorch --variant cpu --set release-type=dev
expect "2.13.0+git$(git -C "$root/up/pytorch/pytorch" rev-parse v2.13.0 | cut -c1-8).cpu" \
  "$(json 'steps[0].environment["PYTORCH_BUILD_VERSION"]')"

# Traps. trap TEXT LINE…: with those lines in the recipe the build fails, and the output contains the text.
trap_bites() {
  torch_as_is "${@:2}"
  run build pytorch "${options[@]}"
  expect 1 "$status" "without the handling: ${*:2}"
  [[ $(<"$t/out")$(<"$t/err")$(cat "$(ls -t "$t"/store/logs/pytorch-* | head -n 1)") == *"$1"* ]] ||
    { cat "$t/out" "$t/err" >&2; fail "no word of «$1»"; }
}
# Submodules that the CPU never compiles are required all the same.
trap_bites "Could not find any of" '[checkout]' 'submodules = ["third_party/gloo", "third_party/psimd"]'
# The number and the version go together.
trap_bites "no build number" 'build.environment.PYTORCH_BUILD_NUMBER = "{set.nothing}"'
# Without both the commit is in the version, which is not the planned wheel.
trap_bites "2.13.0a0+git" 'build.environment.PYTORCH_BUILD_NUMBER = "{set.nothing}"' 'variant.cpu.build.environment.PYTORCH_BUILD_VERSION = "{set.nothing}"'
# NCCL is cloned for the CPU, too, unless CUDA is disabled.
trap_bites "NVIDIA/nccl" 'variant.cpu.build.environment.USE_CUDA = "{set.nothing}"'
# CMake 4 rejects a submodule's requirement.
trap_bites "Compatibility with CMake < 3.5 has been removed" 'build.requires = ["cmake>=4", "ninja", "wheel"]'
# pip isolates nothing here: we installed the requirements of pyproject.toml.
trap_bites 'Unable to `import yaml`' 'build.drop-requires = ["pyyaml"]'

# An existing configuration is not regenerated, and new options are ignored: one in a folder (ignored by git) is not
# copied, and our own is removed when the options change.
torch_as_is
run checkout pytorch --variant cpu --into "$t/here"
good checkout
mkdir "$t/here/build"
printf 'rule nothing\n  command = true\nbuild install: nothing\n' >"$t/here/build/build.ninja"
printf 'CMAKE_GENERATOR:INTERNAL=Ninja\nCMAKE_MAKE_PROGRAM:FILEPATH=%s\nUSE_DISTRIBUTED:BOOL=OFF\n' "$(command -v ninja)" \
  >"$t/here/build/CMakeCache.txt"
run_json build pytorch "${options[@]}" --source "pytorch=$t/here"
good "build of a folder with an old configuration"
run_json build pytorch "${options[@]}" --source "pytorch=$t/here" --set distributed=off --set gloo=off
good "build with other switches"
[[ $(unzip -p "$(json 'steps[0].wheel')" torch/version.py) == *"'USE_DISTRIBUTED': 'off'"*"'USE_GLOO': 'off'"* ]] ||
  fail "switches of the build before"
torch_as_is 'build.clean = []'
run_json build pytorch "${options[@]}" --source "pytorch=$t/here" --set gloo=off
expect "1 fail" "$status $(json '[x.outcome for x in steps[0].tests if x.id == "distributed"]')" "with an old configuration"

# related_commits of AMD's repository take precedence over pin files; a required but missing record is an error.
torch_as_is
run checkout pytorch --variant rocm --ref release/2.13 --no-hipify --into "$t/amd"
good "checkout of AMD's branch"
run checkout torchvision --torch-dir "$t/amd" --require-related-commit --into "$t/amd-vision"
good "checkout of vision"
expect "$related" "$(git -C "$t/amd-vision" rev-parse HEAD)"
run checkout torchaudio --torch-dir "$t/amd" --require-related-commit --into "$t/amd-audio"
expect 1 "$status"
[[ $(<"$t/err") == *torchaudio* && ! -e $t/amd-audio ]] || fail "$(<"$t/err")"
