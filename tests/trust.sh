#!/bin/bash
# A wheelsmith.toml that came with a clone runs nothing, takes no results from elsewhere and hides nothing until the
# user trusts it; nor does any other file in or above the current folder.
source "$(dirname "$0")/common.inc"
export HOME=$t/home
mkdir -p "$HOME" "$t/clone/below"
cd "$t/clone"

# A program that leaves a mark, in place of every program that a settings file can name.
cat >evil <<SH
#!/bin/sh
echo "\$0" >>"$t/marks"
exit 1
SH
chmod +x evil
mkdir -p toolkit/bin sdk/bin env/bin
for place in toolkit/bin/nvcc sdk/bin/hipcc sdk/bin/hipconfig sdk/bin/amdclang++ env/bin/python env/bin/python3; do cp evil $place; done
marks() { sed "s|^$t/clone/||" "$t/marks" 2>/dev/null | sort -u | tr '\n' ' '; }
refused() {
  expect 2 "$status" "$1: $(cat "$t/err")"
  for word in "$t/clone/wheelsmith.toml is not trusted" "$2" "wheelsmith trust $t/clone " "--config $t/clone/wheelsmith.toml" --no-config; do
    [[ $(<"$t/err") == *"$word"* ]] || fail "$1 does not say '$word': $(cat "$t/err")"
  done
}

# --- nothing from an untrusted file runs, wherever a command reads settings
commands=("plan texture --variant cpu" "plan texture --variant cuda" "doctor" "doctor texture" "recipe init small --source . --into -" \
  "build texture" "checkout pytorch" "config show" "recipes" "store stats" "store gc" "patches list pytorch" "run -- true")
try() {
  local option=$1 line=$2
  echo "$line" >wheelsmith.toml
  for command in "${commands[@]}"; do
    # shellcheck disable=SC2086
    run $command
    refused "$option: $command" "need trust: $option"
  done
  (cd below && "$wheelsmith" doctor </dev/null >"$t/out" 2>"$t/err") && fail "$option: run from a folder below"
  [[ ! -e $t/marks ]] || fail "$option: run: $(marks)"
}
try python 'python = ["./evil"]'
try cxx 'cxx = "./evil"'
try cuda 'cuda = "toolkit"'
try store 'store = "cache"'
commands=("plan texture --variant cpu" doctor)
try cc 'cc = "./evil"'
try rocm 'rocm = "sdk"'
try torch 'torch = "env"'
try mirrors $'[mirrors]\n"https://index.example/" = "https://evil.example/"'
try env $'[env]\nLD_PRELOAD = "evil.so"'
for option in recipes patch-dir env-file machine cache-dir cache-remote container source torch-index rocm-index ref sysroot out; do
  try $option "$option = \"x\""
done
try memory 'memory = "1GB"'
try jobs 'jobs = 1'
[[ ! -e cache ]] || fail "the store was made"

# The traps work: with the file given on the command line, its programs run.
printf 'python = ["./evil"]\ncxx = "./evil"\ncuda = "toolkit"\nrocm = "sdk"\n' >wheelsmith.toml
run doctor --config wheelsmith.toml
WHEELSMITH_CONFIG=wheelsmith.toml run plan texture --variant cpu
[[ $(marks) == *evil*toolkit/bin/nvcc* ]] || fail "run: $(marks)"
rm "$t/marks"
run doctor --no-config
[[ $status != 2 && ! -e $t/marks ]] || fail "--no-config: $(cat "$t/err")"
WHEELSMITH_NO_CONFIG=1 run doctor
[[ $status != 2 && ! -e $t/marks ]] || fail "WHEELSMITH_NO_CONFIG: $(cat "$t/err")"
run doctor --no-config --config wheelsmith.toml
expect 2 "$status" "both"
run_json plan texture
[[ $status == 2 && $(json error) == *"need trust: cuda, cxx, python, rocm"* ]] || fail "$(cat "$t/out")"

# --- settings that an untrusted file may set
cat >wheelsmith.toml <<'TOML'
packages = ["texture"]
variant = ["cpu"]
arch = ["9.0"]
python = ["3.11", "cp312"]
torch = "2.9.0"
platform = "manylinux_2_28"
TOML
run_json config show
expect "0 texture manylinux_2_28" "$status $(json 'settings.packages.value[0] + " " + settings.platform.value')" "$(cat "$t/err")"

# The documentation lists exactly these.
allowed=$(sed -n 's/^| \(`arch`.*\) | allowed |$/\1/p' "$tests/../docs/settings.md" | tr -d '`,')
[[ $allowed == arch*without ]] || fail "docs/settings.md has no list of what is allowed: $allowed"
"$wheelsmith" build --help | sed -nE 's/^  (    |-[a-z], )--([a-z-]*).*/\2/p' >"$t/options"
(($(wc -l <"$t/options") > 50)) || fail "too few options in the help"
for option in $(<"$t/options"); do
  case $option in
    keep-going | verbose | conda | offline | no-build-isolation | allow-unsupported-compiler) echo "$option = true" ;;
    build-type) echo 'build-type = "debug"' ;;
    arch) echo 'arch = "9.0"' ;;
    gpu) echo 'gpu = "H100"' ;;
    variant) echo 'variant = "cuda"' ;;
    platform) echo 'platform = "manylinux_2_28"' ;;
    rocm-version) echo 'rocm-version = "7.10"' ;;
    jobs | steps | timeout) echo "$option = 1" ;;
    memory) echo 'memory = "1GB"' ;;
    mirrors | env | set) printf '[%s]\nx = "y"\n' "$option" ;;
    *) echo "$option = \"on\"" ;;
  esac >wheelsmith.toml
  run config show
  if [[ $(<"$t/err") == *"need trust: $option"* ]]; then
    [[ " $allowed " != *" $option "* ]] || fail "$option is documented as allowed"
  elif [[ " $allowed " == *" $option "* ]]; then
    expect 0 "$status" "$option: $(cat "$t/err")"
  else  # not a setting, or not of that form
    [[ $status == 2 && $(<"$t/err") == *wheelsmith.toml:* ]] || fail "$option needs no trust"
  fi
done
for option in $allowed; do grep -qx -e "$option" -e packages <(cat "$t/options"; echo packages) || fail "no option $option"; done

# --- trusted, changed, trusted again, and no longer
cat >wheelsmith.toml <<'TOML'
store = "cache"
jobs = "2"
[mirrors]
"https://me:pass-word@a.example/" = "odd\u001b[31m"
TOML
run trust
expect "0 trusted $t/clone/wheelsmith.toml" "$status $(head -n 1 "$t/out")"
for word in 'jobs = "2"' "store = \"$t/clone/cache\"" 'mirrors = '; do
  grep -qF "  $word" "$t/out" || fail "trust does not show $word: $(cat "$t/out")"
done
if grep -q $'\e\|pass-word' "$t/out"; then fail "raw text of the file is shown"; fi
expect "600 $(id -u)" "$(stat -c '%a %u' "$XDG_STATE_HOME/wheelsmith/trusted.json")"
cd below
run_json config show
expect "0 $t/clone/cache" "$status $(json settings.store.value)" "$(cat "$t/err")"
cd ..
run_json trust --list
expect "$t/clone/wheelsmith.toml trusted $(sha256sum <wheelsmith.toml | cut -d' ' -f1)" "$(json 'items[0].file + " " + items[0].state + " " + items[0].sha256')"
echo 'cxx = "./evil"' | cat - wheelsmith.toml >changed && mv changed wheelsmith.toml
run doctor
[[ $status == 2 && $(<"$t/err") == *"changed after you trusted it"* ]] || fail "$(cat "$t/err")"
run_json trust --list
expect changed "$(json 'items[0].state')"
# Elsewhere the same file is untrusted; so is a link to it.
mkdir -p "$t/other" "$t/linked"
run trust .
cp wheelsmith.toml "$t/other/"
ln -s "$t/clone/wheelsmith.toml" "$t/linked/wheelsmith.toml"
for place in other linked; do
  cd "$t/$place"
  run config show
  expect 2 "$status" "the file of $place"
done
cd "$t/clone"
run config show
expect 0 "$status" "$(cat "$t/err")"
run_json trust "$t/clone" --remove
expect "0 removed" "$status $(json 'items[0].state')"
run config show
refused removed "need trust: cxx, jobs, mirrors, store"
run trust --remove
expect 2 "$status" "removed twice"
run trust "$t/home"
expect 2 "$status" "nothing to trust"
[[ ! -e $t/marks ]] || fail "run: $(marks)"

# --- on a terminal: a question, and no is the default
asked() { python3 "$tests/terminal.py" "$@" >"$t/out" 2>&1; }
for answer in "" n no maybe ^D; do
  status=0
  asked "$answer" "$wheelsmith" config show || status=$?
  expect 2 "$status" "answer '$answer': $(cat "$t/out")"
  for word in "$t/clone/wheelsmith.toml is not trusted" 'cxx = "' 'jobs = "2"'; do
    grep -qF "$word" "$t/out" || fail "the question does not show $word: $(cat "$t/out")"
  done
done
status=0
asked ^C "$wheelsmith" config show || status=$?
expect 130 "$status" "interrupted: $(cat "$t/out")"
run_json trust --list
expect 0 "$(json 'len(items)')" "nothing is trusted"
asked y "$wheelsmith" config show || fail "y: $(cat "$t/out")"
if grep -q $'\e\\[31m' "$t/out"; then fail "raw text of the file is shown"; fi
run config show
expect 0 "$status" "remembered: $(cat "$t/err")"
status=0
asked y "$wheelsmith" config show || status=$?
expect 99 "$status" "asked again"

# --- where the search ends
mkdir -p "$t/clone/inner/deep" "$t/shared/mine"
git init -q inner 2>/dev/null || mkdir inner/.git
cd inner/deep
run_json config show
expect "0 default" "$status $(json 'settings.out.origin')"
[[ $(json 'list(settings)') != *mirrors* ]] || fail "a repository has the settings of the folder around it"
chmod 1777 "$t/shared"
echo 'packages = ["shared"]' >"$t/shared/wheelsmith.toml"
cd "$t/shared/mine"
run_json config show
[[ $status == 0 && $(json 'list(settings)') != *packages* ]] || fail "the file of a shared folder is read"
cd "$t/shared"
run_json config show
[[ $status == 0 && $(json 'list(settings)') != *packages* ]] || fail "the file of a shared folder is read"
grep -q "shared/wheelsmith.toml is ignored" "$t/err" || fail "no note: $(cat "$t/err")"
run trust
expect 2 "$status" "a file in a shared folder"
run trust "$t/shared"
[[ $status == 2 && $(<"$t/err") == *"other users can write to"* ]] || fail "$(cat "$t/err")"

# --- other users' files cannot be trusted
cd "$t/other"
if [[ $(id -u) == 0 ]]; then
  chown 4711 wheelsmith.toml
  for command in "config show" trust; do
    # shellcheck disable=SC2086
    run $command
    [[ $status == 2 && $(<"$t/err") == *"belongs to user 4711"*"chown 0 $t/other/wheelsmith.toml"*"--config"* ]] || fail "$command: $(cat "$t/err")"
  done
  echo 'packages = ["theirs"]' >wheelsmith.toml
  run config show
  expect 2 "$status" "another user's harmless file"
  run config show --config wheelsmith.toml
  expect 0 "$status" "$(cat "$t/err")"
  chown 0 wheelsmith.toml
  chown 4711 .
  run config show
  [[ $status == 2 && $(<"$t/err") == *"belongs to user 4711"* ]] || fail "another user's folder: $(cat "$t/err")"
  chown 0 .
fi
chmod 666 wheelsmith.toml
run trust
[[ $status == 2 && $(<"$t/err") == *"chmod go-w $t/other/wheelsmith.toml"* ]] || fail "$(cat "$t/err")"

# --- names are hostile, too
odd=$t/$'odd\e[31m name'
mkdir "$odd"
cd "$odd"
echo 'cxx = "./evil"' >wheelsmith.toml
run config show
expect 2 "$status"
if grep -q $'\e' "$t/err"; then fail "an escape sequence reaches the terminal"; fi

# --- other things in and above the current folder: shipped sources, versions, modules, patches
mkdir -p "$t/above/here" "$t/above/examples/texture"
cp -r "$t/clone/evil" "$t/above/examples/texture/"
printf '[project]\nname = "texture"\nversion = "6.6.6"\n' >"$t/above/examples/texture/pyproject.toml"
cd "$t/above/here"
run plan texture --variant cpu --offline
[[ $status != 0 && $(<"$t/err") == *"the source of texture does not exist"* ]] || fail "examples of a parent folder: $(cat "$t/out" "$t/err")"
cd "$t/clone"
mkdir -p 2.9.0/bin release/cpu/bin
cp evil 2.9.0/bin/python && cp evil release/cpu/bin/python
for name in json re os sitecustomize usercustomize encodings pip ensurepip venv sysconfig torch; do
  echo "open(r'$t/marks', 'a').write(r'$name.py' + '\n')" >$name.py
done
mkdir -p source "$t/empty"
printf '[build-system]\nrequires = []\n[project]\nname = "texture-torch"\nversion = "1"\n' >source/pyproject.toml
export WHEELSMITH_NO_CONFIG=1 WHEELSMITH_STORE=$t/store PIP_NO_INDEX=1 PIP_FIND_LINKS=$t/empty
for torch in 2.9.0 release/cpu; do
  run plan texture-torch --torch $torch --variant cpu --source texture-torch=source
  [[ $(<"$t/err") == *torch* ]] || fail "$(cat "$t/err")"
  run doctor texture-torch --torch $torch --variant cpu --source texture-torch=source
done
run doctor
run recipe init something --source ./source --into -
# pip for an interpreter without it is installed without modules of this folder.
if (cd / && python3 -c 'import ensurepip') 2>/dev/null && (cd / && python3 -m venv --without-pip "$t/bare") 2>/dev/null; then
  run plan texture-torch --torch 2.9.0 --variant cpu --python "$t/bare/bin/python" --source texture-torch=source
  [[ $(<"$t/err") == *"cannot resolve"* ]] || fail "$(cat "$t/err")"
fi
[[ ! -e $t/marks ]] || fail "run: $(marks)"
