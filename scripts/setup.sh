#!/bin/bash
# Makes sure that the Debian 12 packages for a purpose are installed; does nothing, and needs no network, when they are.
#   scripts/setup.sh [build|demo|test|proof|fuzz|format|bench|dist]…
#   scripts/setup.sh --list        names the libraries that are linked into the program
# Installs the missing ones when it may (root, or sudo without a password); else prints the one command to run.
set -euo pipefail

build=(cmake ninja-build g++ libfmt-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev
  libdeflate-dev zlib1g-dev liblzma-dev libzstd-dev libsqlite3-dev libssl-dev libre2-dev libboost1.81-dev)
# clang, lld and llvm make and judge the HIP libraries of the end-to-end tests.
# curl, git and patch are what building calls; strace counts what it starts; ccache is a build's own cache, beside ours.
# Slurm and munge are a cluster of three nodes on one machine.
# podman and runc run builds inside an image; Slurm and munge are a cluster of three nodes on this machine; man and groff read the manual pages; zip and dpkg pack and install.
tests=(libgtest-dev binutils unzip zip patchelf python3 python3-dev python3-venv curl git patch strace ccache podman runc man-db groff-base zsh fish slurmctld slurmd slurm-client munge clang-19 clang-tools-19 lld-19 llvm-19)
# zstd reads HIP bundles independently of us; chromium opens reports.
proof=(zstd chromium)
fuzz=(clang-19 libclang-rt-19-dev llvm-19 python3)
format=(clang-format-19 clang-tidy-19)
dist=(zip openssl xz-utils)
bench=(python3 python3-dev python3-venv curl binutils wrk)

if [[ ${1:-} == --list ]]; then
  printf '%s\n' "${build[@]}" libc6-dev libstdc++-12-dev libgcc-12-dev | grep -- '-dev$'
  exit 0
fi
wanted=()
for purpose in "${@:-build}"; do
  case $purpose in
    build) wanted+=("${build[@]}") ;;
    demo) wanted+=("${build[@]}" python3 python3-dev python3-venv curl git) ;;
    test) wanted+=("${build[@]}" "${tests[@]}") ;;
    proof) wanted+=("${build[@]}" "${tests[@]}" "${proof[@]}") ;;
    fuzz) wanted+=("${build[@]}" "${fuzz[@]}") ;;
    format) wanted+=("${format[@]}") ;;
    bench) wanted+=("${build[@]}" "${bench[@]}") ;;
    dist) wanted+=("${build[@]}" "${dist[@]}") ;;
    *) echo "setup: unknown purpose $purpose; there are build, demo, test, proof, fuzz, format, bench, dist" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null; then
  echo "setup: no Debian here; going on with what is installed. Debian calls it: ${wanted[*]}" >&2
  exit 0
fi

installed=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/^ii *//p' || true)
missing=()
for package in "${wanted[@]}"; do
  [[ $'\n'$installed$'\n' == *$'\n'"$package"$'\n'* ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $EUID -ne 0 ]]; then
  as_root=(sudo -n)
  if ! sudo -n true 2>/dev/null; then
    echo "setup: packages are missing. Please run:" >&2
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
fi

apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"; }
install() { apt install -y --no-install-recommends "${missing[@]}"; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "setup: installing ${missing[*]}"
# The package lists of this machine may do; when they are absent or too old, they are fetched and it is tried again.
if ! install >"$log" 2>&1 && ! { apt update && install; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "setup: apt-get could not install: ${missing[*]}" >&2
  exit 1
fi
