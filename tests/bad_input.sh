#!/bin/bash
# Hostile input ends in a finding or in a one-line error: no crash, no hang, bounded memory (1 GB of address space with
# two threads, including the mapped file), no control characters on the terminal, one JSON document.
. "$(dirname "$0")/common.inc"
grep -qa __asan_init "$wheelsmith" || limit="ulimit -v 1000000"
printf '#!/bin/bash\n%s\nexec timeout -s KILL 20 "%s" "$@" --threads 2\n' "${limit:-}" "$wheelsmith" >"$t/limited"
chmod +x "$t/limited"
wheelsmith=$t/limited

# judge ARGUMENT…: run() fails the test on an undocumented exit status, including a kill by the time limit.
judge() {
  run "$@"
  if grep -qaP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$t/out" "$t/err"; then fail "control characters: wheelsmith $*"; fi
  iconv -f UTF-8 -t UTF-8 "$t/out" "$t/err" >/dev/null || fail "no UTF-8: wheelsmith $*"
  [[ $(stat -c %s "$t/out") -lt 3000000 ]] || fail "$(stat -c %s "$t/out") bytes of text: wheelsmith $*"
  local text_status=$status
  run_json "$@"
  expect "$text_status" $status "status with and without --json: wheelsmith $*"
  expect '' "$(json '[i.error for i in items if "\n" in i.get("error", "")]')" "an error of several lines: wheelsmith $*"
}

python3 "$tests/hostile_input.py" "$t/made" >"$t/folders"
while read -r folder; do
  judge inspect "$folder"/*
  judge check "$folder"/*
  judge check "$folder"
done <"$t/folders"

# Files that are not wheels, and files that cannot be read.
mkfifo "$t/fifo.whl"
ln -s loop.whl "$t/loop.whl"
ln -s nothing "$t/dangling.whl"
touch "$t/empty-1.0-py3-none-any.whl"
mkdir "$t/folder.whl"
ln -s . "$t/folder.whl/again"
long=$(printf 'a%.0s' {1..300})
escape=$'\e[31m\n\x9b.whl'
for path in "$t"/{fifo,loop,dangling,folder}.whl "$t/empty-1.0-py3-none-any.whl" "$t/$long" "$t/$escape" /dev/zero ''; do
  judge inspect "$path"
  judge check "$path"
done

# Options read files too. The wheel itself is good.
good=$t/demo-1.0-py3-none-any.whl
echo 'x = 1' >"$t/init.py"
make_wheel "$good" "demo/__init__.py=$t/init.py"
printf 'a = %s' "$(printf '[%.0s' {1..20000})" >"$t/nested.toml"
printf '"\e[31m" = \xff' >"$t/escape.toml"
for option in --against --policy-file; do
  for path in "$t"/{loop.whl,fifo.whl,none,"$long","$escape"} "$t"/{nested,escape}.toml /dev/zero; do
    judge check "$good" $option "$path"
    expect 2 $status "wheelsmith check $option $path"
  done
done
nines=$(printf '9%.0s' {1..50000})
for option in --arch --gpu --policy --max-size --explain; do
  for value in "$nines" "$escape" $'\xff'; do
    judge check "$good" $option "$value"
    expect 2 $status "wheelsmith check $option ${value:0:20}"
  done
done
many=()
for ((i = 0; i < 500; ++i)); do many+=("$good"); done
judge check "${many[@]}"
expect 0 $status
