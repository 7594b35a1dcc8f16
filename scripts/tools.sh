#!/bin/bash
# Makes build/tools, a Python environment with the tools that judge us (auditwheel and what it needs). Done once; again
# when the list below changes. Takes the package index from pip's own configuration. Without a registry in reach it says
# so and succeeds: the tests that need a judge are skipped then.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=(auditwheel==6.8.2 packaging uv "cyclonedx-python-lib[json-validation]" pypi-attestations in-toto-attestation check-jsonschema)
stamp=build/tools/stamp
[[ -f $stamp && $(<"$stamp") == "${wanted[*]}" ]] && exit 0

mkdir -p build
# Made under its final name, because environments hold their own path; the stamp comes last.
rm -rf build/tools
if python3 -m venv build/tools >build/tools.log 2>&1 &&
   build/tools/bin/python -m pip install --quiet --disable-pip-version-check --retries 1 "${wanted[@]}" >>build/tools.log 2>&1; then
  echo "${wanted[*]}" >"$stamp"
else
  rm -rf build/tools
  echo "tools: no Python registry in reach (see build/tools.log); tests judged by auditwheel are skipped"
fi
