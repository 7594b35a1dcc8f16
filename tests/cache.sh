#!/bin/bash
# The compile cache: a unit compiled before is not compiled again, in another folder and from another machine's storage;
# changed units are; and there is no other visible effect.
source "$(dirname "$0")/common.inc"
need ninja make ccache gcc g++ pgrep
source "$tests/governor.inc"
rm -rf "${t:?}/real"  # its compiler is none; these are real
export PATH=${PATH#"$t/real:"}
for name in $(compgen -e CCACHE_ || true); do unset "$name"; done
unset NVCC_APPEND_FLAGS NVCC_PREPEND_FLAGS CPATH
cd "$t"

# sources FOLDER: C and C++ that include a header and print their own path.
sources() {
  mkdir -p "$1/src" "$1/out"
  echo '#define VALUE 1' >"$1/src/value.h"
  printf '#include "value.h"\nint one(void) { return VALUE; }\n' >"$1/src/one.c"
  printf '#include <string>\n#include "value.h"\nstd::string two() { return std::string(__FILE__) + char(VALUE); }\n' >"$1/src/two.cc"
  cat >"$1/Makefile" <<'MAKE'
all: out/one.o out/two.o
out/one.o: src/one.c
	gcc -O1 $(MAP) -MD -MF out/one.d -c $(CURDIR)/src/one.c -o $(CURDIR)/out/one.o
out/two.o: src/two.cc
	g++ -O1 $(MAP) -c $(CURDIR)/src/two.cc -o out/two.o
MAKE
}
# cached FOLDER ARGUMENT…: make with the cache; leaves "hits misses uncacheable" in $counts.
cached() {
  (cd "$1" && governed --cache on "${@:2}" -- make -s "MAP=${MAP:-}"; echo "$status" >"$t/status")
  status=$(<"$t/status")
  expect 0 "$status" "$(<"$t/err")"
  counts=$(record '" ".join(str(sum(c.get("cache") == word for c in compiles)) for word in ("hit", "miss", "pass"))')
}
again() { rm -f "$1"/out/*; }

# Cold, then warm, then in another folder; dependency files are restored with the object.
sources a
MAP='-ffile-prefix-map=$(CURDIR)=.'
cached a
expect "0 2 0" "$counts" "cold"
[[ $(tail -n 1 "$t/err") == *"2 compiles, 0 of 2 from the cache"* ]] || fail "$(<"$t/err")"
cp -r a/out cold
again a
cached a
expect "2 0 0" "$counts" "warm"
expect 2 "$(summary cache.hits)"
# What the two compiles took is measured; it is more than nothing and less than a minute.
expect '{"errors": 0, "hits": 2, "misses": 0, "remote_hits": 0, "uncacheable": 0} True' \
  "$(python3 -c 'import json, sys; last = [json.loads(l) for l in open(sys.argv[1]) if "\"cache\"" in l][-1]; saved = last.pop("saved_seconds"); print(json.dumps({k: v for k, v in last.items() if k != "event"}, sort_keys=True), 0 < saved < 60)' "$t/record")"
for name in one.o two.o one.d; do [[ -s a/out/$name ]] || fail "a hit restored no $name"; done
cmp a/out/one.o cold/one.o
sources b
cached b
expect "2 0 0" "$counts" "in another folder"
grep -q value.h b/out/one.d || fail "the dependencies are not told: $(<b/out/one.d)"

# The same bytes as without the cache.
sources c
(cd c && make -s "MAP=$MAP")
for name in one.o two.o; do
  cmp "c/out/$name" "b/out/$name" || fail "$name is another than without the cache"
  cmp "c/out/$name" "cold/$name"
done

# Changes are compiled: a header, a flag, a source.
echo '#define VALUE 2' >b/src/value.h
again b
cached b
expect "0 2 0" "$counts" "after a header changed"
again b
MAP="$MAP -fno-inline" cached b
expect "0 2 0" "$counts" "with another flag"

# A lookup takes little memory, which does not count as the unit's need.
units_before=$(sha256sum <"$t/store/units/journal.tsv")
again b
cached b
expect "2 0 0" "$counts"
expect "$units_before" "$(sha256sum <"$t/store/units/journal.tsv")" "a hit taught the memory model something"
expect True "$(record 'all(c["reserved"] <= 256 << 20 for c in compiles)')"

# Disabled means disabled; so it is by default, and for builds with their own cache.
again a
governed -- make -s -C a "MAP=$MAP"
expect "0 0" "$status $(record 'sum("cache" in c for c in compiles)')" "not requested"
again a
WHEELSMITH_CACHE=off governed -- make -s -C a "MAP=$MAP"
expect "0 0" "$status $(record 'sum("cache" in c for c in compiles)')" "off by a variable"
again a
export CCACHE_DIR=$t/own
(cd a && governed --cache on -- ccache gcc -O1 -c src/one.c -o out/one.o)
expect "1 0" "$(record 'str(len(compiles)) + " " + str(sum("cache" in c for c in compiles))')" "below a ccache of the build's own"
unset CCACHE_DIR
# The user's ccache variables only affect the user's ccache.
again a
CCACHE_DISABLE=1 CCACHE_DIR=$t/nowhere MAP='-ffile-prefix-map=$(CURDIR)=.' cached a
expect "2 0 0" "$counts" "with variables of the user's ccache"
[[ ! -e $t/nowhere ]] || fail "the cache followed a variable that was not meant for it"

# Failures are reported as usual, and not cached.
echo 'int f( { return 1; }' >bad.c
for _ in 1 2; do
  governed --cache on --quiet -- gcc -c bad.c -o bad.o
  expect 1 "$status"
  gcc -c bad.c -o bad.o 2>plain || true
  cmp plain "$t/err" || fail "another message: $(<"$t/err")"
  expect "[None]" "$(record '[c.get("cache") for c in compiles]')"
done
echo '#include "nothing.h"' >bad.c
governed --cache on --quiet -- gcc -c bad.c -o bad.o
gcc -c bad.c -o bad.o 2>plain || true
cmp plain "$t/err" || fail "another message: $(<"$t/err")"
# Each hit repeats the warning.
echo 'int f(void) { int x; return x; }' >warn.c
for wanted in miss hit; do
  governed --cache on --quiet -- gcc -Wall -O1 -c warn.c -o warn.o
  expect "0 ['$wanted']" "$status $(record '[c["cache"] for c in compiles]')"
  gcc -Wall -O1 -c warn.c -o warn.o 2>plain
  cmp plain "$t/err" || fail "another warning: $(<"$t/err")"
done
# Links, several sources and pipes are not cached.
echo 'int main(void) { return 0; }' >main.c
governed --cache on -- bash -c 'gcc main.c -o main && ./main && gcc -c one.c main.c 2>/dev/null; echo "int x;" | gcc -xc -c - -o x.o'
expect "0 0" "$status $(record 'sum("cache" in c for c in compiles)')"

# An unusable cache folder does not stop a build.
echo >file
governed --cache on --cache-dir file/x -- gcc -c main.c -o main.o
expect 0 "$status" "$(<"$t/err")"
[[ $(summary cache_problem) == *file/x* && $(<"$t/err") == *'no compile cache: '*file/x* ]] || fail "it is not told: $(<"$t/err")"
mkdir full && echo >full/tmp
governed --cache on --cache-dir full -- gcc -c main.c -o main.o
expect 0 "$status" "$(<"$t/err")"
[[ -s main.o ]] || fail "no object"

# Killed for lack of memory and retried without a trace: a compiler whose first attempt is killed.
mkdir killed
cat >killed/gcc <<END
#!/bin/bash
case " \$* " in *" -E "* | *" --version "*) exec /usr/bin/gcc "\$@" ;; esac
if [[ ! -e $t/killed/mark ]]; then
  touch $t/killed/mark
  echo "the output of a first try" >&2
  kill -9 \$\$
fi
exec /usr/bin/gcc "\$@"
END
chmod +x killed/gcc
PATH=$t/killed:$PATH governed --cache on -- gcc -O1 -c main.c -o main.o
expect "0 ['out-of-memory', 'done']" "$status $(record '[c["outcome"] for c in compiles]')" "$(<"$t/err")"
[[ $(<"$t/err") != *"first try"* ]] || fail "the first try shows: $(<"$t/err")"
PATH=$t/killed:$PATH governed --cache on -- gcc -O1 -c main.c -o main.o
expect "['hit']" "$(record '[c["cache"] for c in compiles]')" "after a second try"

# A lookup is admitted where the compile does not fit; then the compile waits, and survives the governor's end.
mkdir large
cat >large/gcc <<END
#!/bin/bash
case " \$* " in *" -E "* | *" --version "*) exec /usr/bin/gcc "\$@" ;; esac
/usr/bin/python3 -c 'import time; x = b"x" * 400_000_000; time.sleep(4)'
exec /usr/bin/gcc "\$@"
END
chmod +x large/gcc
printf 'rule cc\n  command = gcc -c $in -o $out\nbuild l1.o: cc l1.c\nbuild l2.o: cc l2.c\n' >build.ninja
echo 'int a;' >l1.c
echo 'int b;' >l2.c
PATH=$t/large:$PATH governed --cores 2 -- gcc -c l1.c -o l1.o
rm l1.o
(
  PATH=$t/large:$PATH governed --cache on --cores 2 --memory 700MB -- ninja
  echo "$status" >"$t/status"
) &
waits=$!
for _ in {1..100}; do
  [[ $(pgrep -f "$t/large/gcc -c l.*" | wc -l) -ge 1 ]] && break
  sleep 0.1
done
sleep 1
kill -9 "$(governor_pid)"
wait "$waits"
expect 0 "$(<"$t/status")" "$(<"$t/err")"
[[ -s l1.o && -s l2.o ]] || fail "no objects"
expect "2 1" "$(record 'str(len(compiles)) + " " + str(at_once(compiles))')" "$(<"$t/record")"
rm l1.o l2.o
PATH=$t/large:$PATH governed --cache on --cores 2 --memory 700MB -- ninja
expect "0 ['hit', 'hit']" "$status $(record '[c["cache"] for c in compiles]')"

# A different compiler of the same name is a different compiler.
mkdir other
printf '#!/bin/sh\n[ "$1" = --version ] && { echo "gcc (other) 1.0"; exit; }\nexec /usr/bin/gcc -DOTHER "$@"\n' >other/gcc
chmod +x other/gcc
PATH=$t/other:$PATH governed --cache on -- gcc -O1 -c main.c -o main.o
expect "['miss']" "$(record '[c["cache"] for c in compiles]')" "by another compiler"
PATH=$t/other:$PATH governed --cache on -- gcc -O1 -c main.c -o main.o
sed -i 's/1\.0/1.1/' other/gcc
PATH=$t/other:$PATH governed --cache on -- gcc -O1 -c main.c -o main.o
expect "['miss']" "$(record '[c["cache"] for c in compiles]')" "by another version of it"

# Shared remote storage, with a password that appears nowhere.
mkdir storage
echo me:secret-word >login
python3 -u "$tests/cache_server.py" storage login >server.log &
server=$!
trap 'ended=$?; kill $server 2>/dev/null || true; end_governor; leave $ended' EXIT
for _ in {1..100}; do [[ ! -s server.log ]] || break; sleep 0.1; done
port=$(sed -n 's/port //p' server.log)
export WHEELSMITH_CACHE_REMOTE=http://me:secret-word@127.0.0.1:$port/cache
again a
cached a --cache-dir "$t/first"
expect "0 2 0" "$counts"
[[ -n $(ls storage) ]] || fail "nothing was put into the remote storage"
again a
cached a --cache-dir "$t/second"
expect "2 0 0" "$counts" "on another machine"
expect 2 "$(summary cache.remote_hits)"
[[ $(tail -n 1 "$t/err") == *"2 of 2 from the cache (2 from the remote storage)"* ]] || fail "$(<"$t/err")"
! grep -rq secret-word "$t/record" "$t/err" "$t/summary" "$t/store" || fail "the password is in a file"
[[ $("$wheelsmith" config show) != *secret-word* ]] || fail "config show shows the password"
(cd a && again . && "$wheelsmith" run --cache on --cache-dir "$t/second" -- bash -c 'cat /proc/*/cmdline 2>/dev/null | tr "\0" " "; env' >"$t/seen" 2>&1)
! grep -v WHEELSMITH_CACHE_REMOTE "$t/seen" | grep -q secret-word || fail "the password is on a command line"
unset WHEELSMITH_CACHE_REMOTE
run run --cache on --cache-remote "http://me:secret-word@127.0.0.1:$port/cache" -- true
expect 2 "$status" "a password on the command line"
run run --cache on --cache-remote https://example.org -- true
expect 2 "$status" "https"
kill "$server"
wait "$server" 2>/dev/null || true
again a
cached a --cache-dir "$t/third" --cache-remote "http://127.0.0.1:$port/cache"
expect "0 2 0" "$counts" "from a storage that is gone"
[[ $(tail -n 1 "$t/err") == *"the remote storage failed"* ]] || fail "$(<"$t/err")"
if command -v redis-server >/dev/null; then
  redis-server --port 0 --unixsocket "$t/redis" --save '' --dir "$t" >/dev/null &
  server=$!
  for _ in {1..100}; do [[ ! -S $t/redis ]] || break; sleep 0.1; done
  again a
  cached a --cache-dir "$t/fourth" --cache-remote "redis+unix://$t/redis"
  again a
  cached a --cache-dir "$t/fifth" --cache-remote "redis+unix://$t/redis"
  expect "2 0 0 2" "$counts $(summary cache.remote_hits)" "by Redis"
  kill "$server"
fi

# clang's HIP: a header that only one architecture sees counts.
clang=$(compgen -c clang++- | grep -E '^clang\+\+-[0-9]+$' | sort -V | tail -n 1 || true)
if [[ -n $clang ]]; then
  cat >k.hip <<'HIP'
extern "C" int hipLaunchKernel(const void*, unsigned, unsigned, void**, unsigned long, void*);
#if defined(__gfx1151__)
#include "only.h"
#else
#define N 1
#endif
extern "C" __attribute__((device)) __attribute__((used)) int f() { return N; }
HIP
  echo '#define N 2' >only.h
  hip() { governed --cache on -- "$clang" -x hip -nogpuinc -nogpulib --offload-arch=gfx90a --offload-arch=gfx1151 -c k.hip -o k.o; }
  hip
  if [[ $status == 0 ]]; then
    hip
    expect "['hit']" "$(record '[c["cache"] for c in compiles]')" "HIP"
    echo '#define N 3' >only.h
    hip
    expect "['miss']" "$(record '[c["cache"] for c in compiles]')" "HIP, after a header of one architecture changed"
  fi
fi

# nvcc, whose preprocessor shows only one of its passes.
if command -v nvcc >/dev/null; then
  mkdir -p cuda/n other-cuda
  cat >cuda/n/k.cu <<'CUDA'
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#include "only.h"
#else
#define N 1
#endif
__global__ void k(int* p) { *p = N; }
CUDA
  echo '#define N 2' >cuda/n/only.h
  flags=(-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90)
  # nv FOLDER ARGUMENT…
  nv() {
    (cd "$1" && governed --cache on -- nvcc "${flags[@]}" "${@:2}"; echo "$status" >"$t/status")
    expect 0 "$(<"$t/status")" "$(<"$t/err")"
    got=$(record '" ".join(c.get("cache", "none") for c in compiles)')
  }
  nv cuda -c n/k.cu -o k.o
  expect miss "$got" "nvcc"
  [[ -s cuda/k.o && -z $(ls cuda | grep wheelsmith) ]] || fail "$(ls cuda)"
  nv cuda --threads 2 -c n/k.cu -o k.o
  expect hit "$got" "the number of threads is not part of the key"
  cp -r cuda/n other-cuda
  nv other-cuda -c n/k.cu -o k.o
  expect hit "$got" "in another folder"
  sed -i 's/N 2/N 3/' cuda/n/only.h
  nv cuda -c n/k.cu -o k.o
  expect miss "$got" "a header of one architecture changed"
  sed -i 's/N 1/N 7/' cuda/n/k.cu
  nv cuda -c n/k.cu -o k.o
  expect miss "$got" "a line of another pass changed"
  NVCC_APPEND_FLAGS=-DMORE nv cuda -c n/k.cu -o k.o
  expect miss "$got" "a variable of nvcc's"
  printf -- '-DFROM_A_FILE=1' >cuda/flags
  nv cuda --options-file flags --generate-dependencies-with-compile --dependency-output k.d --compile n/k.cu --output-file=k.o
  expect miss "$got" "options from a file"
  rm cuda/k.d
  nv cuda --options-file flags --generate-dependencies-with-compile --dependency-output k.d --compile n/k.cu --output-file=k.o
  expect hit "$got" "options from a file, again"
  grep -q only.h cuda/k.d || fail "a hit restored no dependencies"
  printf -- '-DFROM_A_FILE=2' >cuda/flags
  nv cuda --options-file flags --generate-dependencies-with-compile --dependency-output k.d --compile n/k.cu --output-file=k.o
  expect miss "$got" "other options from the file"
  nv cuda --keep --keep-dir . -c n/k.cu -o k.o
  expect pass "$got" "--keep"
fi
