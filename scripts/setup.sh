#!/bin/bash
# Checks that the Debian 12 packages for a purpose are installed; does nothing, and needs no network, if they are.
#   scripts/setup.sh [build|demo|test|proof|fuzz|format|bench|dist|docs|cross-aarch64]…
#   scripts/setup.sh --list        lists the libraries that are linked into the program
# Installs missing ones if possible (root, or sudo without a password); otherwise prints the command to run.
set -euo pipefail

build=(cmake ninja-build g++ libfmt-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev
  libdeflate-dev zlib1g-dev liblzma-dev libzstd-dev libsqlite3-dev libssl-dev libre2-dev libboost1.81-dev)
# clang, lld and llvm build and verify the HIP libraries of the end-to-end tests. curl, git and patch are used by
# builds; strace counts their processes; ccache is a build's own cache, beside ours. podman and runc run builds inside
# an image; Slurm and munge are a cluster on one machine; musl-tools and the compiler for aarch64 (40 MB to download)
# make wheels of another libc and another machine; man and groff read the manual pages; cmark-gfm renders the documentation; zip and dpkg pack and install.
tests=(libgtest-dev binutils unzip zip patchelf python3 python3-dev python3-venv curl git patch strace ccache podman runc man-db groff-base cmark-gfm zsh fish libtbb-dev slurmctld slurmd slurm-client munge musl-tools gcc-aarch64-linux-gnu libc6-dev-arm64-cross clang-19 clang-tools-19 lld-19 llvm-19)
# zstd reads HIP bundles independently of our code; chromium opens reports.
proof=(zstd chromium)
fuzz=(clang-19 libclang-rt-19-dev llvm-19 python3)
format=(clang-format-19 clang-tidy-19)
dist=(zip openssl xz-utils)
# The compiler for another architecture, and the emulator that runs what it makes. The libraries: scripts/sysroot.sh.
cross_aarch64=(g++-aarch64-linux-gnu qemu-user-static)
# cmark-gfm turns Markdown into HTML as code hosts do; chromium takes the picture of a report.
docs=(python3 cmark-gfm chromium)
bench=(python3 python3-dev python3-venv curl binutils wrk ccache)

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
    cross-aarch64) wanted+=("${build[@]}" "${cross_aarch64[@]}") ;;
    docs) wanted+=("${build[@]}" "${docs[@]}") ;;
    *) echo "setup: unknown purpose $purpose; use one of build, demo, test, proof, fuzz, format, bench, dist, docs, cross-aarch64" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system; continuing with the installed packages. Required (Debian names): ${wanted[*]}" >&2
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
    echo "setup: missing packages. Run:" >&2
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
fi

apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"; }
install() { apt install -y --no-install-recommends "${missing[@]}"; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "setup: installing ${missing[*]}"
# The existing package lists may suffice; if they are missing or outdated, update them and retry.
if ! install >"$log" 2>&1 && ! { apt update && install; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "setup: apt-get could not install: ${missing[*]}" >&2
  exit 1
fi
