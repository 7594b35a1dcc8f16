#!/bin/bash
# Recreates the logs under tests/logs: each is the output of real tools that failed (or succeeded noisily), and none is
# written by hand. tests/logs/answers.tsv has the expected answer for each.
#
#   make_logs.sh [--out FOLDER] [NAME…]    runs these (all, when none is named) and leaves FOLDER/NAME.log
#   make_logs.sh --answers                 prints the table of answers
#
# Each failure is a function in failures/*.sh, declared by a `log` line with its answer. It runs as root in its own
# mount and process namespaces, in /home/me/project, with system folders that it may change without harm (`changeable`),
# so the logs contain no path of the machine. Slow inputs (environments, toolkits, sdists) are created once and kept in
# build/logs. A function that lacks a tool exits with 77 and leaves the old log alone. Requirements beyond the base
# system: gcc and g++ 11 and 12, clang 14 and 19, CUDA 13.0 in /usr/local/cuda, CMake 3.25, ninja, autoconf, a package
# index, and Pythons from pyenv.
set -euo pipefail
proof=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
state=${PROOF_STATE:-$(cd "$proof/../.." && pwd)/build/logs}
largest=61440

names=()
declare -A answer_class answer_fix answer_command
# log NAME CLASS FIX COMMAND: the answer for a log. FIX is a text that the cause or its fix must contain, COMMAND a part
# of the failed command; '-' for nothing. The class of a successful build is no-failure.
log() {
  [[ -z ${answer_class[$1]:-} ]] || { echo "two logs are called $1" >&2; exit 2; }
  names+=("$1")
  answer_class[$1]=$2 answer_fix[$1]=$3 answer_command[$1]=$4
}

source "$proof/failures/tools.inc"
for file in "$proof"/failures/*.sh; do source "$file"; done

print_answers() {
  printf '# file\tclass\tfix\tcommand\n'
  for name in "${names[@]}"; do
    printf '%s.log\t%s\t%s\t%s\n' "$name" "${answer_class[$name]}" "${answer_fix[$name]}" "${answer_command[$name]}"
  done | sort
}

# The log must not reveal where this ran, and which index answered.
neutral() {
  sed -E -e "s#${proof}/[a-z_/]+\.(inc|sh): line [0-9]+: +#bash: #g" -e "s#${state}/run/[^/ ]+/home#/home/me#g; s#${state}#/home/me/.cache/build#g; s#(^|[^a-z0-9_.-])${HOME_OUTSIDE}(/|\b)#\1/home/me\2#g; s#/home/me/[.]pyenv/versions/([0-9]+[.][0-9]+)[0-9.]*#/opt/python/\1#g" \
    -e "s#\b$(uname -n)\b#builder#g" \
    -e 's#https?://[A-Za-z0-9.-]+\.[a-z]+/(simple|packages|pypi)(/|\b)#https://pypi.example/\1\2#g' \
    -e "s#(host=')[a-z0-9-]+(\.[a-z0-9-]+)*\.(org|com|net)(')#\1pypi.example\4#g"
}

# Inside the namespaces: $1 is the failure.
if [[ ${1:-} == --inside ]]; then
  enter "$2"
  status=0
  set +e
  (set +eu; "$2") >"$state/run/$2/raw" 2>&1 </dev/null
  status=$?
  echo "$status" >"$state/run/$2/status"
  exit 0
fi

out=$(cd "$proof/.." && pwd)/logs
wanted=()
while (($#)); do
  case $1 in
    --answers) print_answers; exit ;;
    --out) out=$2; shift ;;
    -*) echo "unknown option $1" >&2; exit 2 ;;
    *) wanted+=("$1") ;;
  esac
  shift
done
((${#wanted[@]})) || wanted=("${names[@]}")
((UID == 0)) || { echo "namespaces, mounts and memory limits need root" >&2; exit 77; }
mkdir -p "$out" "$state"
export HOME_OUTSIDE=$HOME

failed=0
for name in "${wanted[@]}"; do
  class=${answer_class[$name]:?no log is called $name}
  rm -rf "$state/run/$name"
  mkdir -p "$state/run/$name"
  timeout -k 5 "${PROOF_SECONDS:-240}" unshare --mount --pid --fork --kill-child --mount-proc \
    env -i HOME_OUTSIDE="$HOME" PROOF_STATE="$state" PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 \
    ${https_proxy:+https_proxy="$https_proxy"} bash "$proof/make_logs.sh" --inside "$name" </dev/null || true
  status=$(cat "$state/run/$name/status" 2>/dev/null || echo 124)
  verdict=
  case $status:$class in
    77:*) verdict=skipped ;;
    124:* | 143:* | 0:[!n]* | [!0]*:no-failure) verdict="NOT AS EXPECTED" ;;
  esac
  if [[ -z $verdict ]]; then
    neutral <"$state/run/$name/raw" >"$state/run/$name/log"
    size=$(stat -c %s "$state/run/$name/log")
    if ((size > largest)); then verdict="TOO LARGE"; elif ((size == 0)); then verdict=EMPTY; else
      cp "$state/run/$name/log" "$out/$name.log"
    fi
  fi
  [[ -z $verdict || $verdict == skipped ]] || failed=1
  printf '%-40s %-14s status %-3s %6s bytes  %s\n' "$name" "$class" "$status" "${size:--}" "$verdict"
  [[ -n ${PROOF_KEEP:-} ]] || rm -rf "$state/run/$name"/{home,tmp,change}
done
exit $failed
