#!/bin/bash
# Edited ELF files load and compute the same, for every linker layout (elf_edit.py, random); non-libraries are not
# changed; and the verification detects patchelf's corruption of constants after the program headers. TESTS_SEED=N
# repeats a run, TESTS_CASES=N makes it longer.
. "$(dirname "$0")/common.inc"
need gcc readelf patchelf
seed=${TESTS_SEED:-$RANDOM$RANDOM}
echo "seed $seed"
python3 "$tests/elf_edit.py" "$wheelsmith" "$t/random" "$seed" "${TESTS_CASES:-100}"
cd "$t/random"

# --- not libraries: refused, and not a byte changed ---------------------------------------------------------------
gcc -c depend.c -o object.o
printf 'int main(void) { return 0; }\n' >main.c
gcc -static main.c -o static
gcc -static-pie main.c -o static-pie
head -c 3000 deps/libdepend.so.1 >cut.so
head -c -1 deps/libdepend.so.1 >cut-last.so
{ printf '\177ELF\2\1\1'; head -c 5000 /dev/zero; } >magic.dat
objcopy --only-keep-debug deps/libextra.so debug.so
echo '#!/bin/sh' >script
for file in object.o static static-pie cut.so cut-last.so magic.dat debug.so script; do
  cp "$file" before
  run elf edit "$file" --run-path '$ORIGIN'
  expect 1 $status "$file"
  cmp "$file" before
done
run_json elf edit object.o deps/libextra.so --run-path '$ORIGIN'
expect 1 $status
expect "neither a shared library nor a program" "$(json 'items[0].error.split("it is ")[1]')"
expect true "$(json 'items[1].changed')"
run_json elf edit deps/libextra.so --run-path '$ORIGIN'
expect false "$(json 'items[0].changed')" "the same edit again"

# --- a mode stays, a link stays a link ----------------------------------------------------------------------------
chmod 750 deps/libextra.so
ln -sf libextra.so deps/libextra-link.so
run elf edit deps/libextra-link.so --run-path '$ORIGIN/sub'
expect 0 $status
[[ -L deps/libextra-link.so ]] || fail "the link became a file"
expect 750 "$(stat -c %a deps/libextra.so)"

# --- the constants after the program headers ---------------------------------------------------------------------
long=/$(printf 'x%.0s' {1..600}):\$ORIGIN/deps
link() { gcc -shared -fuse-ld=bfd shared1000.o -o "$1" -Ldeps -l:libdepend.so.1 "${@:2}"; }
link constants.so -Wl,-T,constants_first.ld
link plain.so
[[ $(readelf -SW constants.so) == *' 1] .rodata '* ]] || fail "the script did not put the constants first"
wanted=$(LD_LIBRARY_PATH=deps ./loader ./constants.so)
for library in constants.so plain.so; do
  run elf edit "$library" --run-path "$long" --out "ours-$library"
  expect "$wanted" "$(./loader "./ours-$library")" "our $library"
  run elf prove "$library" "ours-$library"
  expect 0 $status "$(<"$t/out")"
done
# patchelf of Debian 12 (0.14): the verification names the constants, and the library computes a wrong result.
version=$(patchelf --version)
if [[ $version == 'patchelf 0.1'[0-8]* ]]; then
  cp constants.so theirs.so
  patchelf --set-rpath "$long" theirs.so
  run elf prove constants.so theirs.so
  expect 1 $status "the proof of what $version made"
  [[ $(<"$t/out") == *'.rodata'* ]] || fail "the proof does not name the constants: $(<"$t/out")"
  theirs=$(./loader ./theirs.so || true)
  [[ $theirs != "$wanted" ]] || fail "$version did no harm: the comparison is void"
  # Where it does no harm the verification passes: it does not reject the tool itself.
  cp plain.so theirs.so
  patchelf --set-rpath "$long" theirs.so
  expect "$wanted" "$(./loader ./theirs.so)"
  run elf prove plain.so theirs.so
  expect 0 $status "$(<"$t/out")"
fi
