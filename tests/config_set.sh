#!/bin/bash
# `config set` writes the user's own file: valid names and values only, comments kept, and the next command uses it.
. "$(dirname "$0")/common.inc"
cd "$t"
file=$XDG_CONFIG_HOME/wheelsmith/config.toml

run config set jobs 3
expect 0 $status "$(<"$t/err")"
run_json config show
expect 3 "$(json 'settings.jobs.value' 2>/dev/null || json '[s.value for s in settings if s.name == "jobs"][0]')"
cat >"$file" <<'TOML'
# my settings
jobs = 3  # a small machine

arch = [
  "8.0",
  "9.0",  # H100
]

# for all builds
[env]
CFLAGS_EXTRA = "-g" # debug
TOML
cp "$file" "$t/before"
run config set jobs 8
expect 0 $status "$(<"$t/err")"
diff "$t/before" "$file" | grep '^[<>]' >"$t/diff" || true
expect $'< jobs = 3  # a small machine\n> jobs = "8"  # a small machine' "$(<"$t/diff")"
run config set env LDFLAGS_EXTRA=-s
run config set arch "10.0"
run config set out wheels
expect 0 $status
expect "['10.0'] {'CFLAGS_EXTRA': '-g', 'LDFLAGS_EXTRA': '-s'} $t/wheels 8" "$(python3 -c '
import sys, tomllib
c = tomllib.load(open(sys.argv[1], "rb"))
print(c["arch"], dict(sorted(c["env"].items())), c["out"], c["jobs"])' "$file")" "judged by Python"
grep -q '# my settings' "$file"
grep -q '# for all builds' "$file"
run config unset jobs
run config unset env.CFLAGS_EXTRA
expect "False {'LDFLAGS_EXTRA': '-s'}" "$(python3 -c '
import sys, tomllib
c = tomllib.load(open(sys.argv[1], "rb"))
print("jobs" in c, c["env"])' "$file")"

# Invalid input changes nothing.
cp "$file" "$t/before"
while IFS='|' read -r wanted arguments; do
  eval "run config set $arguments"
  expect 2 $status "config set $arguments"
  grep -qF -e "$wanted" "$t/err" || fail "config set $arguments: $(<"$t/err")"
  cmp "$t/before" "$file" || fail "config set $arguments changed the file"
done <<'END2'
did you mean jobs?|jbos 3
must be a whole number|jobs many
must be a size|memory lots
must be one of|variant gpu
must be a platform tag|platform manylinux_2_99
unknown|gpu toaster
must be NAME=VALUE|env X
command line only|no-config true
takes one value|jobs 1 2
is required|jobs
END2

# A link to a dotfile stays a link, and concurrent calls lose nothing.
mkdir dotfiles
mv "$file" dotfiles/config.toml
ln -s "$t/dotfiles/config.toml" "$file"
for i in 1 2 3 4 5 6 7 8; do "$wheelsmith" config set env "V$i=$i" >/dev/null & done
wait
[[ -L $file ]] || fail "the link is gone"
expect 8 "$(grep -c '^V[1-8] = ' dotfiles/config.toml)"
