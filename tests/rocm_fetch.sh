#!/bin/bash
# `rocm fetch`: the artifacts of a run from a folder, a web server and a bucket; missing names, wrong hashes, truncated
# files, and a second run.
source "$(dirname "$0")/common.inc"
need python3 zstd xz tar sha256sum curl
cd "$t"

# artifact NAME BASE FILE=TEXT…: an archive of the run 77 for Linux, its manifest first.
run_folder=$t/bucket/77-linux
mkdir -p "$run_folder"
artifact() {
  local name=$1 base=$2 place=$t/make/$1 pair
  mkdir -p "$place/$base"
  echo "$base" >"$place/artifact_manifest.txt"
  for pair in "${@:3}"; do
    mkdir -p "$(dirname "$place/$base/${pair%%=*}")"
    echo "${pair#*=}" >"$place/$base/${pair%%=*}"
  done
  pack "$name" "${ending:-.tar.zst}"
}
pack() {
  local archive=$run_folder/$1$2 how=--zstd
  [[ $2 != .tar.xz ]] || how=--xz
  tar -C "$t/make/$1" "$how" -cf "$archive" artifact_manifest.txt $(cd "$t/make/$1" && ls | grep -v artifact_manifest)
  sha256sum "$archive" | cut -d' ' -f1 >"$archive.sha256sum"
}
artifact base_lib_generic base/stage lib/libbase.so=base share/info=x
artifact base_run_generic base/stage bin/tool=tool
chmod +x make/base_run_generic/base/stage/bin/tool
ln -s tool make/base_run_generic/base/stage/bin/link
pack base_run_generic .tar.zst
artifact base_dbg_generic base/stage lib/debug=d
artifact blas_lib_gfx942 math/stage lib/libblas.so=blas942
artifact blas_lib_gfx1151 math/stage lib/libblas-1151.so=blas1151
ending=.tar.xz artifact blas_dev_generic math/stage include/blas.h=header
# Both compressions: zstd is used. Others are not artifacts.
pack base_lib_generic .tar.xz
head -c 3000000 /dev/urandom >make/base_lib_generic/base/stage/lib/large
pack base_lib_generic .tar.zst
echo notes >"$run_folder/index-notes.txt"
echo log >"$run_folder/a_b.tar.zst"
mkdir -p bucket/78-linux
cat >topology.toml <<'TOML'
[build_stages.foundation]
artifact_groups = ["base"]
[build_stages.math-libs]
artifact_groups = ["math"]
type = "per-arch"
[build_stages.apps]
artifact_groups = ["apps"]
[artifact_groups.base]
[artifact_groups.math]
artifact_group_deps = ["base"]
[artifact_groups.apps]
[artifacts.base]
artifact_group = "base"
type = "target-neutral"
[artifacts.only-there]
artifact_group = "base"
disable_platforms = ["linux"]
[artifacts.blas]
artifact_group = "math"
type = "target-specific"
artifact_deps = ["base"]
[artifacts.app]
artifact_group = "apps"
artifact_deps = ["blas"]
TOML

fetch() { run_json rocm fetch --base-url "$@"; }
names() { json '[f["file"] for f in files]' | tr '\n' ' '; }

# From a folder. A dry run, then the real one: each in its folder.
fetch bucket --run-id 77 --dry-run
expect 0 "$status" "$(<"$t/err")"
expect "base_dbg_generic.tar.zst base_lib_generic.tar.zst base_run_generic.tar.zst blas_dev_generic.tar.xz blas_lib_gfx1151.tar.zst blas_lib_gfx942.tar.zst " "$(names)"
[[ ! -e artifacts ]] || fail "a dry run wrote something"
fetch bucket --run-id 77 --output-dir got --targets gfx1151 --exclude-components dbg
expect "0 4 0" "$status $(json downloaded) $(json failed)" "$(<"$t/err")"
for name in base_lib_generic base_run_generic blas_dev_generic blas_lib_gfx1151; do
  diff -r "got/$name" "make/$name" || fail "$name is another"
done
expect "" "$(find got -name '*.tar*')" "archives that stay"
[[ -x got/base_run_generic/base/stage/bin/tool && -L got/base_run_generic/base/stage/bin/link ]] || fail "modes and links"
expect 77-linux "$(json run)"
# The second run fetches nothing; replaced files are fetched.
fetch bucket --run-id 77 --output-dir got --targets gfx1151 --exclude-components dbg
expect "0 0" "$status $(json downloaded)"
echo blas-new >make/blas_lib_gfx1151/math/stage/lib/libblas-1151.so
pack blas_lib_gfx1151 .tar.zst
fetch bucket --run-id 77 --output-dir got --targets gfx1151 --exclude-components dbg
expect "0 1 blas-new" "$status $(json downloaded) $(<got/blas_lib_gfx1151/math/stage/lib/libblas-1151.so)"

# Selections.
fetch bucket --run-id 77 --dry-run --generic-only
expect "base_dbg_generic.tar.zst base_lib_generic.tar.zst base_run_generic.tar.zst blas_dev_generic.tar.xz " "$(names)"
fetch bucket --run-id 77 --dry-run '_(lib|run)_' --exclude 942
expect "base_lib_generic.tar.zst base_run_generic.tar.zst blas_lib_gfx1151.tar.zst " "$(names)"
fetch bucket --run-id 77 --dry-run --stage math-libs --topology topology.toml
expect "base_dbg_generic.tar.zst base_lib_generic.tar.zst base_run_generic.tar.zst " "$(names)"
fetch bucket --run-id 77 --dry-run --stage apps --topology topology.toml --targets gfx942 --exclude-artifacts base
expect "blas_dev_generic.tar.xz blas_lib_gfx942.tar.zst " "$(names)"
cp topology.toml "$run_folder/BUILD_TOPOLOGY.toml"
fetch bucket --run-id 77 --dry-run --stage math-libs
expect 3 "$(json 'len(files)')" "by the run's own topology"
rm "$run_folder/BUILD_TOPOLOGY.toml"
fetch bucket --run-id 77 --dry-run --families gfx94X-dcgpu --expand-families blas
expect "blas_dev_generic.tar.xz blas_lib_gfx942.tar.zst " "$(names)"

says_both() { says 1 "anything for gfx1200" --run-id 77 --targets "gfx942$1gfx1200"; }

# says STATUS TEXT ARGUMENT…
says() {
  run rocm fetch --base-url bucket "${@:3}"
  expect "$1" "$status" "$(<"$t/err")"
  [[ $(<"$t/err") == *"$2"* ]] || fail "wanted: $2"$'\n'"$(<"$t/err")"
}
says 1 "no run 99-linux" --run-id 99
says 1 "no run 77-windows" --run-id 77 --platform windows
says 1 "the run has no artifacts" --run-id 78
says_both ,
says_both ';'
says 1 "a file that matches nothing-like-it" --run-id 77 blas nothing-like-it
says 1 "the artifact blas for gfx1200" --run-id 77 --stage apps --topology topology.toml --targets gfx1200
says 1 "is not a valid regular expression" --run-id 77 '('
says 1 "did you mean math-libs?" --run-id 77 --stage math-lib --topology topology.toml
says 2 "no BUILD_TOPOLOGY.toml" --run-id 77 --stage math-libs
says 2 "must not contain" --run-id 77 --external-repo ../..
says 2 "cannot be combined" --run-id 77 --generic-only --targets gfx942
rm "$run_folder/blas_dev_generic.tar.xz.sha256sum"
fetch bucket --run-id 77 --output-dir unverified blas
expect "1 1" "$status $(json failed)"
[[ $(json '[f["error"] for f in files if "error" in f][0]') == *"cannot be verified"* ]] || fail "$(<"$t/out")"
[[ -d unverified/blas_lib_gfx942 ]] || fail "one that fails stopped the others"
pack blas_dev_generic .tar.xz

# All overlaid.
fetch bucket --run-id 77 --output-dir flat --flatten --keep-archives --exclude 1151
expect 0 "$status" "$(<"$t/out")"
expect "base blas942 header tool" "$(cat flat/lib/libbase.so flat/lib/libblas.so flat/include/blas.h flat/bin/link | tr '\n' ' ' | sed 's/ $//')"
[[ -s flat/base_lib_generic.tar.zst ]] || fail "--keep-archives kept none"
fetch bucket --run-id 77 --output-dir flat --flatten --exclude 1151
expect "0 0" "$status $(json downloaded)"
# An archive that would write through another's link.
mkdir -p outside make/evil_lib_generic/e/stage
ln -s "$t/outside" make/evil_lib_generic/e/stage/aaa
echo e/stage >make/evil_lib_generic/artifact_manifest.txt
pack evil_lib_generic .tar.zst
artifact evil_run_generic e/stage aaa/file=gotcha
fetch bucket --run-id 77 --output-dir evil --flatten --concurrency 1 evil
expect 1 "$status"
expect "" "$(ls outside)" "written through a link"
mkdir -p make/worse_lib_generic/e && echo ../../outside >make/worse_lib_generic/artifact_manifest.txt
pack worse_lib_generic .tar.zst
fetch bucket --run-id 77 --output-dir worse --flatten worse
expect 1 "$status"
rm "$run_folder"/{evil,worse}*

# start_server MODE
start_server() {
  python3 -u "$tests/rocm_bucket.py" bucket "$1" >server.log 2>requests.log &
  server=$!
  trap 'ended=$?; kill $server 2>/dev/null || true; leave $ended' EXIT
  for _ in {1..100}; do [[ ! -s server.log ]] || break; sleep 0.1; done
  base=http://127.0.0.1:$(sed -n 's/port //p' server.log)
}
stop_server() { kill "$server"; wait "$server" 2>/dev/null || true; : >server.log; }
archives_asked() { grep -cE '\.tar\.(zst|xz)$' requests.log || true; }

for mode in links bucket; do
  start_server "$mode"
  rm -rf http
  fetch "$base" --run-id 77 --output-dir http
  expect "0 6" "$status $(json downloaded)" "$mode: $(<"$t/out") $(<"$t/err")"
  diff -r http/base_lib_generic make/base_lib_generic
  : >requests.log
  fetch "$base/" --run-id 77 --output-dir http
  expect "0 0 0" "$status $(json downloaded) $(archives_asked)" "$mode, the second time"
  rm -rf http
  fetch "$base" --run-id 77 --output-dir http --no-extract base_lib
  expect "$(<"$run_folder/base_lib_generic.tar.zst.sha256sum")" "$(sha256sum <http/base_lib_generic.tar.zst | cut -d' ' -f1)"
  : >requests.log
  fetch "$base" --run-id 77 --output-dir http base_lib
  expect "0 0 0" "$status $(json downloaded) $(archives_asked)" "$mode: unpacked from what is there"
  run rocm fetch --base-url "$base" --run-id 99
  expect 1 "$status"
  [[ $(<"$t/err") == *"no run 99-linux"* ]] || fail "$mode: $(<"$t/err")"
  stop_server
done

# A connection that breaks in the middle: resumed, not restarted.
start_server breaks
fetch "$base" --run-id 77 --output-dir broken base_lib
expect 0 "$status" "$(<"$t/out")"
diff -r broken/base_lib_generic make/base_lib_generic
((2 <= $(archives_asked))) || fail "nothing broke: $(<requests.log)"
stop_server
# A wrong hash; nothing of it stays. Fixed, it is fetched.
start_server links
printf '%064d\n' 7 >"$run_folder/blas_lib_gfx942.tar.zst.sha256sum"
fetch "$base" --run-id 77 --output-dir lies blas_lib
expect "1 1 1" "$status $(json failed) $(json downloaded)"
[[ $(json '[f["error"] for f in files if "error" in f][0]') == *"hash mismatch for"* ]] || fail "$(<"$t/out")"
expect "" "$(find lies -name '*942*')" "what stays of a liar"
echo nonsense >"$run_folder/blas_lib_gfx942.tar.zst.sha256sum"
fetch "$base" --run-id 77 --output-dir lies blas_lib
[[ $(json '[f["error"] for f in files if "error" in f][0]') == *"contains no SHA-256"* ]] || fail "$(<"$t/out")"
pack blas_lib_gfx942 .tar.zst
fetch "$base" --run-id 77 --output-dir lies blas_lib
expect "0 1" "$status $(json downloaded)"
# An archive that leaves its folder, and one that is invalid.
python3 - "$run_folder/out_lib_generic.tar.xz" <<'PYTHON'
import io, sys, tarfile
with tarfile.open(sys.argv[1], "w:xz") as tar:
    for name in ("artifact_manifest.txt", "../outside/gotcha"):
        info = tarfile.TarInfo(name)
        info.size = 2
        tar.addfile(info, io.BytesIO(b"x\n"))
PYTHON
sha256sum "$run_folder/out_lib_generic.tar.xz" | cut -d' ' -f1 >"$run_folder/out_lib_generic.tar.xz.sha256sum"
fetch "$base" --run-id 77 --output-dir leads out_lib
expect 1 "$status"
expect "" "$(ls outside)"
rm "$run_folder"/out*
stop_server
# Interrupted in the middle: the same command resumes.
start_server stalls
"$wheelsmith" rocm fetch --base-url "$base" --run-id 77 --output-dir stopped base_lib >"$t/out" 2>"$t/err" &
pid=$!
part=stopped/.base_lib_generic.tar.zst.part/body
for _ in {1..200}; do [[ ! -s $part ]] || break; sleep 0.05; done
kill -INT "$pid"
status=0
wait "$pid" || status=$?
expect 130 "$status" "interrupted: $(<"$t/err")"
[[ -s $part && ! -e stopped/base_lib_generic ]] || fail "$(find stopped)"
stop_server
start_server links
fetch "$base" --run-id 77 --output-dir stopped base_lib
expect "0 1" "$status $(json downloaded)"
diff -r stopped/base_lib_generic make/base_lib_generic
grep -q "base_lib_generic.tar.zst from [1-9]" requests.log || fail "begun again: $(<requests.log)"
stop_server
