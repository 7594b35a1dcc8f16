#!/bin/bash
# Extensions compiled with a real torch's headers (2.13.0): with that torch's flag, with the other, and using a function
# that torch 2.15.0 no longer has (at::qr). Confirmed by importing them for 2.13.0, and by `nm -D` for 2.15.0.
# $PROOF_TORCH names a site-packages that has torch; otherwise torch is installed into build/proof-torch, once.
#   WHEELSMITH=… tests/proof/torch_abi.sh [FOLDER WITH A TORCH WHEEL]
. "$(dirname "$0")/../common.inc"
wheels=${1:-${WHEELS:-}}
need g++ nm unzip python3
version=2.13.0

if [[ -z ${PROOF_TORCH:-} ]]; then
  home=$(realpath -m "$tests/../build/proof-torch")
  PROOF_TORCH=$home/site
  pip=(python3 -m pip)
  [[ ! -x ${TESTS_PYTHON:-} ]] || pip=("$TESTS_PYTHON" -m pip)
  install() {
    "${pip[@]}" install --quiet --disable-pip-version-check --upgrade --only-binary :all: --target "$PROOF_TORCH" "$@" "torch==$version" \
      typing_extensions >"$home/pip.log" 2>&1 || skip "torch $version is not to be had: $(tail -n 1 "$home/pip.log")"
  }
  if [[ ! -e $home/complete ]]; then
    mkdir -p "$home"
    # A CPU build needs nothing else; a CUDA build needs gigabytes of libraries, or it cannot be imported.
    install --no-deps
    PYTHONPATH=$PROOF_TORCH python3 -W ignore -c 'import torch' 2>"$home/import.log" || install
    touch "$home/complete"
  fi
fi
torch=$PROOF_TORCH/torch
[[ -e $torch/lib/libc10.so ]] || skip "no torch in $PROOF_TORCH"
python_include=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')
[[ -e $python_include/Python.h ]] || skip "no Python.h"
nm -D --defined-only "$torch/lib/libc10.so" >"$t/c10.names"
own_flag=$(grep -q 'St7__cxx11' "$t/c10.names" && echo 1 || echo 0)

cat >"$t/extension.cc" <<'END'
#include <Python.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#ifdef USE_GONE
#include <ATen/ops/qr.h>
#endif
extern "C" PyObject* run(PyObject*, PyObject*) {
  at::Tensor a = at::ones({2, 2});
  TORCH_CHECK(a.dim() == 2, "two dimensions, not ", std::to_string(a.dim()));  // std::string crosses the border here
#ifdef USE_GONE
  a = std::get<1>(at::qr(a));
#endif
  return PyFloat_FromDouble(c10::Device(std::string("cpu")).is_cpu() ? a.sum().item<double>() : 0);
}
static PyMethodDef methods[] = {{"run", run, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_MODULE", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};
#define NAMED(x) PyInit__##x
#define INIT(x) NAMED(x)
PyMODINIT_FUNC INIT(MODULE)() { return PyModule_Create(&module); }
END
# build NAME FLAG…: compiled as by torch's own helpers, as a wheel.
build() {
  g++ -shared -fPIC -O0 -std=c++20 -w -DMODULE="$1" "${@:2}" "-I$python_include" "-I$torch/include" \
    "-I$torch/include/torch/csrc/api/include" "$t/extension.cc" -o "$t/_$1.so" "-L$torch/lib" -lc10 -ltorch_cpu -ltorch
  make_wheel "$t/$1-1.0-cp311-cp311-linux_x86_64.whl" "$1/_$1.cpython-311-x86_64-linux-gnu.so=$t/_$1.so"
}
# imports NAME: whether a Python with that torch loads it and its function works
imports() {
  (cd "$t" && PYTHONPATH=$PROOF_TORCH python3 -W ignore -c "import torch, sys; sys.path.insert(0, '.'); import _$1; assert _$1.run() is not None") \
    >"$t/import" 2>&1
}
# judge NAME AGAINST: "verdict id…" of the findings about torch
judge() {
  run_json check "$t/$1-1.0-cp311-cp311-linux_x86_64.whl" --against "$2"
  json '[f"{f.id} {f.what}" for f in items[0].findings if f.id.startswith("torch-")]' >"$t/said"
  echo "$(json 'items[0].verdict') $(cut -d' ' -f1 "$t/said" | paste -sd' ')"
}
proved=0
proves() { expect "$1" "$2" "$3: $(<"$t/said")"; proved=$((proved + 1)); echo "  $3: $2"; }

build same "-D_GLIBCXX_USE_CXX11_ABI=$own_flag"
build other_flag "-D_GLIBCXX_USE_CXX11_ABI=$((1 - own_flag))"
build gone "-D_GLIBCXX_USE_CXX11_ABI=$own_flag" -DUSE_GONE

# Against the torch it was built with, installed.
imports same || fail "the good one does not import: $(<"$t/import")"
proves "good torch-abi-fits" "$(judge same "$PROOF_TORCH")" "same flag, same torch, imports"
imports gone || fail "at::qr is not in $PROOF_TORCH: $(<"$t/import")"
proves "good torch-abi-fits" "$(judge gone "$PROOF_TORCH")" "at::qr, same torch, imports"
! imports other_flag || fail "built with the other flag, and it imports"
symbol=$(sed -n 's/.*undefined symbol: //p' "$t/import")
[[ -n $symbol ]] || fail "another reason: $(<"$t/import")"
verdict=$(judge other_flag "$PROOF_TORCH")
grep -qF "_GLIBCXX_USE_CXX11_ABI=$((1 - own_flag)), " "$t/said" || fail "flag is not named: $(<"$t/said")"
proves "bad torch-cxx11-abi" "$verdict" "other flag, does not import ($symbol)"

# Against a later torch, as a wheel.
later=$(compgen -G "$wheels/torch-2.15.*.whl" | head -n 1 || true)
if [[ -z $wheels || -z $later ]]; then
  echo "  no torch 2.15 wheel in the folder: that half is not judged"
else
  unzip -q -j "$later" torch/lib/libc10.so torch/lib/libtorch_cpu.so -d "$t/later"
  nm -D --defined-only "$t/later"/*.so | awk 'NF == 3 { print $3 }' | sort -u >"$t/later.names"
  # missing NAME: torch symbols that it needs and the later torch lacks
  missing() {
    nm -D --undefined-only "$t/_$1.so" | awk '{ print $2 }' | grep -E '^_ZNK?(3c10|2at|5torch)' | sort -u |
      comm -23 - "$t/later.names"
  }
  expect "" "$(missing same)" "nm on both"
  proves "good torch-abi-fits" "$(judge same "$later")" "for 2.13, asks for nothing that 2.15 lacks"
  expect _ZN2at4_ops2qr4callERKNS_6TensorEb "$(missing gone)" "nm on both"
  verdict=$(judge gone "$later")
  grep -qF 'at::_ops::qr::call(at::Tensor const&, bool)' "$t/said" || fail "at::qr is not named: $(<"$t/said")"
  proves "bad torch-version" "$verdict" "for 2.13, at::qr is not in 2.15"
  verdict=$(judge other_flag "$later")
  proves "bad torch-cxx11-abi" "$verdict" "other flag, 2.15"
fi
echo "$proved of $proved cases agree with importing and nm"
