#!/bin/bash
# Creates build/tools, a Python environment with the tools that verify our results (auditwheel and others). Runs once,
# and again when the list below changes. Uses the package index from pip's configuration. Without a reachable index it
# prints a note and succeeds: the tests that need these tools are then skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=(auditwheel==6.8.2 packaging uv pipx "cyclonedx-python-lib[json-validation]" pypi-attestations in-toto-attestation check-jsonschema variantlib==0.2.2)
stamp=build/tools/stamp
[[ -f $stamp && $(<"$stamp") == "${wanted[*]}" ]] && exit 0

mkdir -p build
# Created under its final name, because environments contain their own path; the stamp comes last.
rm -rf build/tools
if python3 -m venv build/tools >build/tools.log 2>&1 &&
   build/tools/bin/python -m pip install --quiet --disable-pip-version-check --retries 1 "${wanted[@]}" >>build/tools.log 2>&1; then
  echo "${wanted[*]}" >"$stamp"
else
  rm -rf build/tools
  echo "tools: cannot reach the package index (see build/tools.log); tests that use auditwheel will be skipped"
fi
