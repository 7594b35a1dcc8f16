#!/usr/bin/env bash
# The Python side of the ROCm packages, in environments, with pip and (if available) uv: what frameworks call, the
# commands, eight concurrent processes, killed ones, uninstalling in any order. ROCM_PYTHON_SEED repeats a run,
# ROCM_PYTHON_ONLY=killed runs the tests of that name, ROCM_PYTHON_ROUNDS sets how often one is killed.
. "$(dirname "$0")/common.inc"
need gcc python3
python=python3
[[ ! -x ${TESTS_PYTHON:-/nonexistent} ]] || python=$TESTS_PYTHON
"$python" -m pip --version >/dev/null 2>&1 || skip "no pip here"
uv=$(command -v uv || true)
if [[ -z $uv && -x ${TESTS_PYTHON:-/nonexistent} ]]; then
  if "$TESTS_PYTHON" -m pip install -q --disable-pip-version-check --retries 1 --target "$t/uv_package" uv >/dev/null 2>&1; then uv=$t/uv_package/bin/uv; fi
fi
[[ -n $uv ]] || echo "without uv"

# release FOLDER VERSION MODE TARGET…, packed by the options in `more`
more=()
release() {
  python3 "$tests/rocm_python_sdk.py" "$t/artifacts.$1" "$3" "${@:4}"
  run rocm package --artifact-dir "$t/artifacts.$1" --dest-dir "$t/$1" --version "$2" "${more[@]}"
  expect 0 "$status" "$(<"$t/err")"
  rm -r "$t/artifacts.$1"
}
release first 7.10.0a20261115 kpack gfx942 gfx1151
release other 7.11.0 kpack gfx942
more=(--devel-tarball-compression)
release family 7.10.0 family gfx94X-dcgpu
mkdir "$t/work"
"$python" "$tests/rocm_python_side.py" "$t/work" "$t/first/dist" "$t/other/dist" "$t/family/dist" ${uv:+"$uv"}
