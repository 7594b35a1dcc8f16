#!/bin/bash
# Packages the program for users: a wheel (pip, uv, pipx), a Debian package, a tarball, an SBOM and checksums. The same
# program and the same commit give the same bytes.
#   scripts/dist.sh PROGRAM FOLDER [ARCH]
# ARCH is x86_64 or aarch64; default: this machine's. A program for another architecture runs under qemu to print its
# completions and manual pages.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "$1") out=$2 arch=${3:-$(uname -m)}
case $arch in
  x86_64) debian=amd64 ;;
  aarch64) debian=arm64 ;;
  *) echo "dist: unsupported architecture $arch; use x86_64 or aarch64" >&2; exit 2 ;;
esac
talking=("$program")
if [[ $arch != "$(uname -m)" ]]; then
  talking=("qemu-$arch-static" "$program")
fi
version=$(sed -n 's/^project(wheelsmith VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
# Time of the last commit; ZIP times start in 1980.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1700000000)}
export TZ=UTC LC_ALL=C
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
out=$(realpath "$out")
summary='Builds GPU Python packages from source into verified wheels'

# stamp FOLDER: give every file the commit's time.
stamp() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; }
# fill FOLDER: install the program and its files below FOLDER/bin and FOLDER/share.
fill() {
  install -D -m 755 "$program" "$1/bin/wheelsmith"
  install -d "$1/share/bash-completion/completions" "$1/share/zsh/site-functions" "$1/share/fish/vendor_completions.d" \
    "$1/share/man/man1" "$1/share/doc/wheelsmith"
  "${talking[@]}" completion bash >"$1/share/bash-completion/completions/wheelsmith"
  "${talking[@]}" completion zsh >"$1/share/zsh/site-functions/_wheelsmith"
  "${talking[@]}" completion fish >"$1/share/fish/vendor_completions.d/wheelsmith.fish"
  "${talking[@]}" man "$1/share/man/man1"
  find "$1/share/man" -name '*.1' -exec gzip -9n {} +
  install -m 644 README.md CHANGELOG.md "$work/sbom.cdx.json" "$1/share/doc/wheelsmith"
}

# version_of PACKAGE: the version of a package that was linked. A cross build takes it from the sysroot, else from the
# cross compiler's packages.
version_of() {
  if [[ $arch == "$(uname -m)" ]]; then
    dpkg-query -W -f '${Version}' "$1" 2>/dev/null
  elif ! sed -n "s/^$1 //p" "build/sysroot-$arch/.packages" 2>/dev/null | grep .; then
    dpkg-query -W -f '${Version}' "$1-$debian-cross" 2>/dev/null
  fi
}

# Libraries linked into the program, with the versions of their packages.
sbom() {
  local package version separator=
  printf '{\n "bomFormat": "CycloneDX",\n "specVersion": "1.6",\n "version": 1,\n "metadata": {\n'
  printf '  "timestamp": "%s",\n' "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)"
  printf '  "component": {"type": "application", "bom-ref": "wheelsmith", "name": "wheelsmith", "version": "%s",' "$1"
  printf ' "licenses": [{"license": {"id": "Apache-2.0"}}],'
  printf ' "hashes": [{"alg": "SHA-256", "content": "%s"}]}\n },\n "components": [' "$(sha256sum <"$program" | cut -d' ' -f1)"
  for package in $(scripts/setup.sh --list); do
    version=$(version_of "$package") || continue
    printf '%s\n  {"type": "library", "bom-ref": "%s", "name": "%s", "version": "%s", "purl": "pkg:deb/debian/%s@%s?arch=%s"}' \
      "$separator" "$package" "$package" "$version" "$package" "${version//+/%2B}" "$debian"
    separator=,
  done
  printf '\n ]\n}\n'
}
sbom "$version" >"$work/sbom.cdx.json"

# The wheel: the program is its only script and does not depend on Python.
pack_wheel() {
  local tag=py3-none-manylinux_2_17_$arch info=wheelsmith-$version.dist-info name
  mkdir -p "$work/wheel/$info/licenses" "$work/wheel/$info/sboms" "$work/wheel/wheelsmith-$version.data/scripts"
  cd "$work/wheel"
  install -m 755 "$program" "wheelsmith-$version.data/scripts/wheelsmith"
  install -m 644 "$OLDPWD/LICENSE" "$info/licenses/LICENSE"
  install -m 644 "$work/sbom.cdx.json" "$info/sboms/wheelsmith.cdx.json"
  {
    printf 'Metadata-Version: 2.4\nName: wheelsmith\nVersion: %s\nSummary: %s\n' "$version" "$summary"
    printf 'License-Expression: Apache-2.0\nLicense-File: LICENSE\nRequires-Python: >=3.8\n'
    printf 'Classifier: Operating System :: POSIX :: Linux\nClassifier: Topic :: Software Development :: Build Tools\n'
    printf 'Description-Content-Type: text/markdown\n\n'
    cat "$OLDPWD/README.md"
  } >"$info/METADATA"
  printf 'Wheel-Version: 1.0\nGenerator: wheelsmith %s\nRoot-Is-Purelib: false\nTag: %s\n' "$version" "$tag" >"$info/WHEEL"
  while read -r name; do
    printf '%s,sha256=%s,%s\n' "$name" "$(openssl dgst -sha256 -binary "$name" | base64 -w0 | tr '+/' '-_' | tr -d =)" \
      "$(stat -c %s "$name")"
  done < <(find . -type f -printf '%P\n' | sort) >"$work/record"
  printf '%s/RECORD,,\n' "$info" >>"$work/record"
  mv "$work/record" "$info/RECORD"
  stamp .
  local wheel=$out/wheelsmith-$version-$tag.whl
  rm -f "$wheel"
  # RECORD last, as the specification recommends.
  { find . -type f ! -name RECORD -printf '%P\n' | sort; echo "$info/RECORD"; } | zip -q -9 -X -D "$wheel" -@
  cd "$OLDPWD"
}

pack_debian() {
  local root=$work/debian
  fill "$root/usr"
  gzip -9n "$root/usr/share/doc/wheelsmith/CHANGELOG.md"
  mv "$root/usr/share/doc/wheelsmith/CHANGELOG.md.gz" "$root/usr/share/doc/wheelsmith/changelog.gz"
  mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
  install -m 644 LICENSE "$root/usr/share/doc/wheelsmith/copyright"
  mkdir "$root/DEBIAN"
  {
    printf 'Package: wheelsmith\nVersion: %s\nArchitecture: %s\nMaintainer: The Wheelsmith developers <wheelsmith@localhost>\n' \
      "$version" "$debian"
    printf 'Section: devel\nPriority: optional\nInstalled-Size: %s\n' "$(du -sk --apparent-size "$root/usr" | cut -f1)"
    printf 'Recommends: curl, git, patch\nSuggests: g++, python3-dev, ninja-build, cmake, uv\n'
    printf 'Description: %s\n' "$summary"
    printf ' One static program that builds PyTorch, FBGEMM_GPU, flash-attention, vLLM\n and any other package into wheels'
    printf ' with the right architectures and ABI, and\n inspects and checks finished wheels.\n'
  } >"$root/DEBIAN/control"
  (cd "$root" && find usr -type f -exec md5sum {} + | sort -k2) >"$work/md5sums"
  install -m 644 "$work/md5sums" "$root/DEBIAN/md5sums"
  stamp "$root"
  dpkg-deb --root-owner-group -Zxz --build "$root" "$out/wheelsmith_${version}_$debian.deb" >/dev/null
}

pack_tarball() {
  local name=wheelsmith-$version-linux-$arch
  fill "$work/$name"
  install -m 644 LICENSE "$work/$name"
  stamp "$work/$name"
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu -c "$name" |
    gzip -9n >"$out/$name.tar.gz"
}

pack_wheel
pack_debian
pack_tarball
install -m 644 "$work/sbom.cdx.json" "$out/wheelsmith-$version-$arch.cdx.json"
(cd "$out" && sha256sum ./*.whl ./*.deb ./*.tar.gz ./*.cdx.json | sed 's|\./||' >SHA256SUMS)
echo "dist: $(ls "$out" | tr '\n' ' ')"
