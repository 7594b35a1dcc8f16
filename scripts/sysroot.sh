#!/bin/bash
# Fetches the static libraries of another architecture for a cross build: Debian packages, unpacked below build/.
#   scripts/sysroot.sh aarch64 FOLDER [PACKAGE…]
# Without PACKAGE it fetches the development packages that setup.sh lists; with it these and all that they depend on, which is
# how a test makes a whole system to run under qemu.
#
# apt gets package lists of its own for this, so that the machine's packages stay as they are: no foreign architecture is added,
# no root is needed, and packages that cannot be installed side by side do no harm. apt checks signatures as always.
set -euo pipefail
cd "$(dirname "$0")/.."
arch=$1 root=$2
shift 2
case $arch in
  aarch64) debian=arm64 ;;
  x86_64) debian=amd64 ;;
  *) echo "sysroot: unknown architecture $arch; valid: x86_64, aarch64" >&2; exit 2 ;;
esac
closure=no
packages=("$@")
if [[ ${#packages[@]} -gt 0 ]]; then
  closure=yes
else
  # The C++ library comes with the cross compiler. So does a C library, but one without Debian's security fixes. The last
  # three are for test programs and for files that CMake looks for; the program is linked with none of them.
  mapfile -t packages < <(scripts/setup.sh --list | grep -vE '^(libstdc|libgcc)')
  packages+=(linux-libc-dev libgtest-dev libc6 libfmt9)
fi
# The mark is named after what was asked for: another list starts from an empty folder.
mark=$root/.complete-$(printf '%s\n' "$debian" "$closure" "${packages[@]}" | sha256sum | cut -c1-16)
[[ ! -e $mark ]] || exit 0
if ! command -v apt-get >/dev/null; then
  echo "sysroot: apt-get is missing, and with it the static libraries for $arch" >&2
  exit 1
fi

rm -rf "$root"
apt=$root/.apt
mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,packages}
root=$(realpath "$root") apt=$(realpath "$apt")
: >"$apt/status"
options=(-qq -o "APT::Architecture=$debian" -o "APT::Architectures=$debian" -o "Dir::State=$apt/state" -o "Dir::State::status=$apt/status"
  -o "Dir::Cache=$apt/cache" -o APT::Install-Recommends=false -o APT::Sandbox::User= -o Debug::NoLocking=true -o Acquire::Retries=3)
log=$apt/log
apt_get() { apt-get "${options[@]}" "$@" >"$log" 2>&1 || { cat "$log" >&2; echo "sysroot: apt-get $1 failed" >&2; exit 1; }; }
echo "sysroot: fetching ${#packages[@]} packages for $debian"
apt_get update
if [[ $closure == yes ]]; then
  apt_get install -y --download-only "${packages[@]}"
  mv "$apt"/cache/archives/*.deb "$apt/packages"
else
  (cd "$apt/packages" && apt_get download "${packages[@]}")
fi
for file in "$apt"/packages/*.deb; do
  dpkg-deb -x "$file" "$root"
done
# What the program is linked with, for the bill of materials.
for file in "$apt"/packages/*.deb; do
  dpkg-deb -W --showformat='${Package} ${Version}\n' "$file"
done | sort >"$root/.packages"
rm -rf "$apt"
touch "$mark"
