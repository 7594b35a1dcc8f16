#!/bin/bash
# `wheelsmith run`: compilers are intercepted however they are called, they wait for memory and for cores, a killed one
# is retried without a trace, and no failure of the governor stops a build.
source "$(dirname "$0")/common.inc"
need ninja make pgrep
source "$tests/governor.inc"
cd "$t"

# The exit status is the command's, and so are its streams.
governed -- bash -c 'read line; echo "got $line"; echo bad >&2; exit 7' <<<"a line"
expect "7 got a line" "$status $(<"$t/out")"
expect bad "$(head -n 1 "$t/err")"
governed -- no-such-program
expect 127 "$status"
run run --jobs 2
expect 2 "$status" "no command: $(<"$t/err")"

# Every call goes through the shim: a name in PATH, a full path, a variable, a shell, Python, a link.
echo "5 0 says" >a.c
cat >ways.py <<'END'
import os, subprocess, sys
gcc = sys.argv[1]
subprocess.run([gcc, "-c", "a.c", "-o", "p1.o"], check=True)
os.waitpid(os.posix_spawn(gcc, [gcc, "-c", "a.c", "-o", "p2.o"], dict(os.environ)), 0)
if os.fork() == 0: os.execl(gcc, gcc, "-c", "a.c", "-o", "p3.o")
os.wait()
if os.fork() == 0: os.execvp(gcc, [gcc, "-c", "a.c", "-o", "p4.o"])
os.wait()
END
governed -- bash -ec "gcc -c a.c -o 1.o; $t/real/gcc -c a.c -o 2.o; exec python3 ways.py $t/real/gcc"
expect 0 "$status" "$(<"$t/err")"
expect 6 "$(record 'len(compiles)')" "reached: $(record '[c["output"] for c in compiles]')"
expect "object of a.c" "$(<p3.o)"
expect 6 "$(grep -c 'a.c: a warning' "$t/err")" "what compilers say is shown: $(<"$t/err")"
CC=$t/real/gcc governed -- make -f <(printf 'a.o: a.c\n\t$(CC) -c a.c -o a.o\n')
expect "0 1" "$status $(record 'len(compiles)')" "by a variable"
# Queries are neither governed nor counted.
governed -- bash -c 'gcc --version; gcc -E a.c || true'
expect "a compiler 0" "$(head -n 1 "$t/out") $(record 'len(compiles)')"

# Builds take turns: a small unit does not wait for all long ones of another build.
units crowd {1..6}=5,1,good
echo "5 0.05 good" >small.c
"$wheelsmith" run --cores 1 -- gcc -c small.c -o small.o 2>"$t/err" || fail "$(<"$t/err")" # how long it takes is known now
(cd crowd && exec "$wheelsmith" run --cores 1 -- ninja) >"$t/crowd.log" 2>&1 &
for _ in {1..50}; do [[ -e crowd/2.o || -e crowd/1.o ]] && break || sleep 0.1; done
governed --cores 1 -- gcc -c small.c -o small.o
expect "0 True" "$status $(record 'compiles[0]["wait"] < 3')" "waited $(record 'compiles[0]["wait"]') s"
expect 1 "$(jobs -r | wc -l)" "the other build still runs"
wait %% || fail "$(<"$t/crowd.log")"

# A compiler that ran without a shim is reported: a static program calls it by its full path.
mkdir hidden
cp "$t/real/gcc" hidden/cc1plus
sed "s|HERE|$t/hidden|g" >caller.c <<'END'
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char** argv) {
  const char* next = argc > 1 ? "HERE/cc1plus" : "HERE/gcc";
  if (fork() == 0) { execl(next, next, "slow.c", (char*)0); _exit(9); }
  return wait(0) < 0;
}
END
/usr/bin/gcc -O1 -static caller.c -o hidden/gcc
cp hidden/gcc caller
echo "5 2.5 good" >slow.c
governed -- ./caller
expect "0 ['$t/hidden/gcc']" "$status $(json 'str(unreached)' "$t/summary")"
[[ $(tail -n 1 "$t/err") == *"not governed: $t/hidden/gcc"* ]] || fail "$(<"$t/err")"

# Outside a governed build a shim acts as the compiler: CMake remembers its path.
shim=$("$wheelsmith" run --quiet -- bash -c 'command -v gcc')
[[ $shim == "$t"/store/shims/*/bin/gcc ]] || fail "gcc is $shim"
"$shim" -c a.c -o outside.o 2>/dev/null
expect "object of a.c" "$(<outside.o)"
expect "$shim" "$("$wheelsmith" run --quiet -- bash -c 'command -v gcc')" "its place stays"

# One grant covers a process tree: a compiler that calls compilers is one compile, even with one core.
cat >"$t/real/nvcc" <<END
#!/bin/bash
gcc -c a.c -o n1.o && $t/real/gcc -c a.c -o n2.o && echo "\$*" >nvcc.words
END
chmod +x "$t/real/nvcc"
echo "5 0 good" >k.cu
governed --cores 1 -- timeout 20 nvcc -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 --threads 8 -c k.cu -o k.o
expect "0 1 k.cu" "$status $(record 'len(compiles)') $(record 'compiles[0]["name"]')" "$(<"$t/err")"
[[ $(<nvcc.words) == *"-c k.cu -o k.o --threads 1" ]] || fail "nvcc was called with $(<nvcc.words)"

# A failing compiler fails: its exit status and its output.
units bad bad=5,0,error
governed -- ninja -C bad
[[ $status == [13] ]] || fail "status $status" # since 1.13, ninja ends with the compiler's
[[ $(<"$t/out") == *"bad.c: it is wrong"* ]] || fail "$(<"$t/out")"
expect "3 failed" "$(record 'compiles[0]["exit"]') $(record 'compiles[0]["outcome"]')"

# Cores and jobs limit concurrency; build systems are offered more.
units many $(for i in {1..10}; do echo "u$i=10,0.4,good"; done)
governed --cores 3 -- ninja -C many -j 10
expect "0 3" "$status $(record 'at_once(compiles)')" "cores"
rm many/*.o
MAX_JOBS=2 governed --cores 8 -- ninja -C many -j 10
expect "0 2" "$status $(record 'at_once(compiles)')" "MAX_JOBS of the user"
expect "0 22" "$status $("$wheelsmith" run --quiet --cores 4 -- bash -c 'echo $MAX_JOBS')"

# Memory limits it too. Unknown needs are measured as they grow.
units large $(for i in {1..5}; do echo "l$i=200,0.5,good"; done)
governed --cores 8 --memory 500MB -- ninja -C large -j 8
expect 0 "$status" "$(<"$t/err")"
first=$(record 'at_once([c for c in compiles if c["outcome"] == "done" and not c["paused"]])')
rm large/*.o
governed --cores 8 --memory 500MB -- ninja -C large -j 8
expect "0 2" "$status $(record 'at_once(compiles)')" "learned (first time: $first at once)"
expect 5 "$(record 'sum(c["from"] == "unit" and c["outcome"] == "done" for c in compiles)')"
[[ $(record 'max(c["peak"] for c in compiles) // 1000000') -ge 200 ]] || fail "peak $(record 'max(c["peak"] for c in compiles)')"
[[ $(record '"memory" in [c["why"] for c in compiles]') == True ]] || fail "no compile waited for memory"
# Known in another folder as well.
cp -r large elsewhere && rm elsewhere/*.o
governed --cores 8 --memory 500MB -- ninja -C elsewhere -j 8
expect "0 5" "$status $(record 'sum(c["from"] == "unit" for c in compiles)')"

# A compile past its peak makes room for the next: two peaks do not fit, but a peak beside a tail does.
units falling $(for i in {1..4}; do echo "f$i=$((100 + i)),5,falls"; done)
governed --jobs 1 -- ninja -C falling
rm falling/*.o
governed --cores 8 --memory 220MB -- ninja -C falling -j 8
expect "0 4" "$status $(record 'len(compiles)')" "$(<"$t/err")"
[[ $(record 'at_once(compiles)') -ge 2 ]] || fail "one waits until the other has ended: $(<"$t/record")"
expect True "$(record 'all(b["at"] - a["at"] > 1 for a in compiles for b in compiles if b["at"] > a["at"])')" "two peaks at once"

# Killed once: retried alone, and nothing of the first attempt is left.
units once k=20,0.1,killed-once a=10,0.3,good b=10,0.3,good
governed --cores 4 -- ninja -C once
expect "0 object of k.c" "$status $(<once/k.o)"
expect "1 1" "$(summary tried_again) $(record 'at_once([c for c in compiles if c["try"] == 1])')"
[[ $(<"$t/out")$(<"$t/err") != *"first try"* ]] || fail "the first try is seen: $(<"$t/out")"
# Killed every time: it fails, says why and leaves no partial object.
units never k=20,0.1,killed
governed --cores 4 -- ninja -C never
[[ $status != 0 ]] || fail "it did not fail"
expect 3 "$(record 'len(compiles)')"
[[ $(<"$t/out") == *"k.c does not fit into memory"* ]] || fail "$(<"$t/out")"
[[ ! -e never/k.o ]] || fail "half an object is left"

# The governor killed midway: another takes over, and the build succeeds.
units long $(for i in {1..8}; do echo "g$i=20,0.8,good"; done)
"$wheelsmith" run --cores 2 --log "$t/record" --summary "$t/summary" -- timeout 60 ninja -C long -j 8 >"$t/out" 2>"$t/err" &
build=$!
for _ in 1 2; do
  sleep 0.7
  before=$(governor_pid)
  kill -9 "$before"
done
wait "$build" || fail "the build did not outlive its governor: $(<"$t/out")$(<"$t/err")"
expect 8 "$(ls long/*.o | wc -l)"
expect 0 "$(summary ungoverned)"
[[ $(governor_pid) != "$before" ]] || fail "it is the same governor"
# The shims' connections died with it, but running compiles were taken over: never more than two at once.
[[ $(record 'at_once(compiles)') -le 3 ]] || fail "$(record 'at_once(compiles)') at once"

# Two concurrent builds share the cores.
units one $(for i in {1..4}; do echo "o$i=10,0.4,good"; done)
units two $(for i in {1..4}; do echo "t$i=10,0.4,good"; done)
sleep 6.5
[[ -z $(governor_pid) ]] || fail "the governor is unused, but does not exit"
rm -f "$t/record"
"$wheelsmith" run --quiet --cores 3 --log "$t/record" -- ninja -C one -j 8 >/dev/null &
"$wheelsmith" run --quiet --cores 3 --log "$t/record2" -- ninja -C two -j 8 >/dev/null
wait $! || fail "the other build failed"
cat "$t/record2" >>"$t/record"
expect "8 3" "$(record 'len(compiles)') $(record 'at_once(compiles)')"

# A real kill by the kernel, where we can create a cgroup: a unit with a learned need of 20 MB takes 440 MB beside three
# others. The governor would see it coming, so it is stopped for that moment. The build system sees none of it.
if need_cgroup; then
  units liar liar=20,0.1,good $(for i in {1..3}; do echo "s$i=60,2.5,good"; done)
  governed -- ninja -C liar
  expect 0 "$status"
  # Each step waits for the one before, so the kill does not depend on the speed of this machine: all four run, the
  # governor stops, the unit grows, the kernel kills it, the others end.
  sed -i -e 's/^int main/#include "holds.h"\n&/' \
    -e 's/memory = mmap/if (strstr(source, "liar")) { hold("liar.runs", "grow"); size = 440; strcpy(word, "fast"); } &/' \
    -e 's/  if (strcmp(word, "falls") == 0) {/  if (source[0] == '"'s'"') hold(strcat(mark, ".runs"), "end");\n&/' "$t/compiler.c"
  cat >"$t/holds.h" <<'END'
static void hold(const char* running, const char* until) {
  int i;
  close(open(running, O_CREAT | O_WRONLY, 0666));
  for (i = 0; i < 6000 && access(until, F_OK) != 0; ++i) usleep(10000);
}
END
  /usr/bin/gcc -O1 -w "$t/compiler.c" -o "$t/real/gcc"
  rm liar/*.o
  in_limit 500 "$wheelsmith" run --cores 4 --log "$t/record" --summary "$t/summary" -- ninja -C liar -j 8 >"$t/out" 2>"$t/err" &
  build=$!
  for _ in {1..300}; do [[ $(ls liar/*.runs 2>/dev/null | wc -l) == 4 ]] && break || sleep 0.1; done
  expect 4 "$(ls liar/*.runs | wc -l)" "running units"
  stopped=$(governor_pid)
  kill -STOP "$stopped"
  touch liar/grow
  for _ in {1..300}; do [[ $(kills) -ge 1 ]] && break || sleep 0.1; done
  touch liar/end
  kill -CONT "$stopped"
  wait "$build" || fail "a kill has reached the build system: $(<"$t/out")"
  echo "$(kills) kills by the kernel, $(summary tried_again) retried, $(summary set_back) preempted, $(summary paused) paused"
  expect "4 object of liar.c" "$(ls liar/*.o | wc -l) $(<liar/liar.o)"
  [[ $(kills) -ge 1 && $(summary tried_again) -ge 1 ]] || fail "nothing was killed: $(<"$t/summary")"
  [[ $(<"$t/out") != *[Kk]illed* ]] || fail "the kill is seen: $(<"$t/out")"
  # A unit that never fits fails, and reports its memory.
  units huge huge=700,0,fast
  status=0
  in_limit 500 "$wheelsmith" run --quiet --cores 4 --log "$t/record" -- ninja -C huge >"$t/out" 2>&1 || status=$?
  [[ $status != 0 ]] || fail "it did not fail"
  grep -E 'huge.c does not fit into memory: running alone, it was killed at [0-9]+ MB; the limit is 500 MB' "$t/out" ||
    fail "$(<"$t/out")"
else
  echo "no memory cgroup may be made here: no real kill"
fi
