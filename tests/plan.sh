#!/bin/bash
# What would be built and why; recipes and settings with their origins; the plan as a script that gives the same wheel.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
export HOME=$t/home XDG_CONFIG_HOME=$t/config
mkdir -p "$HOME" "$XDG_CONFIG_HOME/wheelsmith" "$t/project/below"
cd "$t/project/below"

# --- recipes
run_json recipes
expect 0 $status
expect true "$(json '"texture" in [r.name for r in recipes]')"
expect "built in" "$(json '[r.origin for r in recipes if r.name == "texture"][0]')"
expect true "$(json '["cuda" in r.variants for r in recipes if r.name == "texture"][0]')"
run recipes
grep -q texture "$t/out"

# The output can be read again with the same meaning.
mkdir -p "$t/recipes"
for name in texture texture-torch flash-attn; do
  run recipe show "$name"
  expect 0 $status
  cp "$t/out" "$t/recipes/$name.toml"
  "$wheelsmith" recipe show "$name" --json >"$t/ours.json"
  "$wheelsmith" recipe show "$name" --json --recipes "$t/recipes" >"$t/theirs.json"
  expect "$t/recipes/$name.toml" "$(json origin "$t/theirs.json")"
  # TOML requires plain values before tables, so only the order may differ.
  sorted() { json '__import__("json").dumps(recipe, sort_keys=True)' "$1"; }
  expect "$(sorted "$t/ours.json")" "$(sorted "$t/theirs.json")" "recipe show $name, read again"
done
run recipe show textur
expect 2 $status
grep -q texture "$t/err"
echo 'nmae = "x"' >"$t/recipes/wrong.toml"
run_json recipes --recipes "$t/recipes"
expect 1 $status
[[ $(json 'broken[0].error') == *wrong.toml:1* ]] || fail "broken: $(json broken)"
run recipe show wrong --recipes "$t/recipes"
expect 2 $status
grep -q 'wrong.toml:1' "$t/err"

# --- settings: each layer overrides the one below
origin() { json "settings['$1'].origin"; }
value() { json "settings['$1'].value"; }
run_json config show
expect "release default" "$(value build-type) $(origin build-type)"
printf 'build-type = "debug"\njobs = "1"\ntorch = "2.10.0"\n' >"$XDG_CONFIG_HOME/wheelsmith/config.toml"
run_json config show
expect debug "$(value build-type)"
[[ $(origin build-type) == *config.toml:1 ]] || fail "origin $(origin build-type)"
printf 'packages = ["a", "b"]\njobs = "2"\nout = "wheels"\n' >"$t/project/wheelsmith.toml"
trust "$t/project"
run_json config show
expect 2 "$(value jobs)"
[[ $(origin jobs) == *wheelsmith.toml:2 ]] || fail "origin $(origin jobs)"
expect "$t/project/wheels" "$(value out)" "folders count from the file"
expect $'a\nb' "$(value packages)"
WHEELSMITH_JOBS=3 run_json config show
expect "3 WHEELSMITH_JOBS" "$(value jobs) $(origin jobs)"
WHEELSMITH_JOBS=3 run_json config show --jobs 4
expect "4 --jobs" "$(value jobs) $(origin jobs)"
run_json config show --mirrors "https://me:secret@example.org/=https://me:secret@example.com/"
if grep -q secret "$t/out"; then fail "a password is shown"; fi
run config show
grep -q 'wheelsmith.toml:2' "$t/out"

WHEELSMITH_PLATFROM=x run config show
expect 2 $status
grep -q 'WHEELSMITH_PLATFROM.*platform' "$t/err"
printf '\nplatfrom = "x"\n' >"$t/project/wheelsmith.toml"
run config show
expect 2 $status
grep -q 'wheelsmith.toml:2: .*platform' "$t/err"
printf 'jobs = \n' >"$t/project/wheelsmith.toml"
run_json plan texture
expect 2 $status
[[ $(json error) == *wheelsmith.toml:1* ]] || fail "error: $(json error)"
rm "$t/project/wheelsmith.toml" "$XDG_CONFIG_HOME/wheelsmith/config.toml"

# --- the store
run_json store stats --store "$t/store0"
expect 0 "$(json steps)"
run_json store verify --store "$t/store0"
expect "0 good" "$status $(json verdict)"
mkdir -p "$t/store0/blobs"
echo rubbish >"$t/store0/blobs/$(printf '0%.0s' {1..64})"
run_json store verify --store "$t/store0"
expect "1 bad" "$status $(json verdict)"
run store gc --keep much --store "$t/store0"
expect 2 $status
run store gc --dry-run --store "$t/store0"
expect 0 $status
run stor stats
expect 2 $status
grep -q store "$t/err"
run store stat
expect 2 $status
grep -q stats "$t/err"

# --- usage
for words in '--script --dot' '--script --json' '--base-image debian:12' '--compare nonsense'; do
  # shellcheck disable=SC2086
  run plan texture $words
  expect 2 $status "plan $words"
done

[[ -x ${TESTS_PYTHON:-/nonexistent} ]] || { echo "the package index is not reachable: the rest is skipped"; exit 0; }
export WHEELSMITH_STORE=$t/store
mkdir "$t/shipped"
cp -r "$tests/../examples" "$t/shipped/examples"
cd "$t/shipped"
export PIP_DISABLE_PIP_VERSION_CHECK=1

# --- plan
run_json plan texture --variant cpu
[[ $status == 0 ]] || { cat "$t/err" >&2; fail "plan texture"; }
expect "texture false 64" "$(json 'steps[0].package') $(json 'steps[0].cached') $(json 'len(steps[0].key)')"
expect "it has never been built here" "$(json 'steps[0].reason')"
expect recipe "$(json 'steps[0].forecast["from"]')"
key=$(json 'steps[0].key')
run_json plan texture --variant cpu
expect "$key" "$(json 'steps[0].key')" "planned again"
run plan texture --variant cpu
grep -q 'texture-cpu-cp3' "$t/out"
grep -q '1 step: 1 to build, 0 cached' "$t/out"
run plan texture --variant cpu --dot
expect 'digraph plan {' "$(head -1 "$t/out")"
run plan texture --variant cpu --containerfile
grep -q '^FROM ' "$t/out"
if command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]]; then
  run_json plan texture --variant cuda --arch 9.0 --compare '8.0;9.0;10.0'
  expect 0 $status
  expect "9.0 8.0;9.0;10.0" "$(json 'steps[0].archs') $(json 'compare.steps[0].archs')"
  [[ $(json 'compare.steps[0].forecast.seconds > steps[0].forecast.seconds') == true ]] || fail "more architectures take longer"
fi

# --- the script gives the same wheel
small_package "$t"
run plan small --env "ODD=it's \"odd\" \$HOME \`id\`" --script
expect 0 $status
bash -n "$t/out"
cp "$t/out" "$t/build.sh"
run_json build small --env "ODD=it's \"odd\" \$HOME \`id\`"
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build small"; }
ours=$(json 'steps[0].wheel')
mkdir "$t/by-hand"
(cd "$t/by-hand" && bash "$t/build.sh" >"$t/script.log" 2>&1) || { cat "$t/script.log" >&2; fail "the script"; }
python3 - "$ours" "$t"/by-hand/dist/*.whl <<'END'
import pathlib, re, subprocess, sys, tempfile, zipfile

# `build` removes RPATH entries of this machine from libraries, the script does not: their code and data are compared.
def content(name, data):
    if not name.endswith(".so"):
        return data
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder, "library")
        library.write_bytes(data)
        for part in (".text", ".rodata", ".data"):
            command = ["objcopy", "-O", "binary", "--only-section", part, library, pathlib.Path(folder, part)]
            subprocess.run(command, check=True, capture_output=True)
        return [path.read_bytes() for path in sorted(pathlib.Path(folder).glob(".*"))]

def members(path):
    with zipfile.ZipFile(path) as wheel:
        return {name: content(name, wheel.read(name)) for name in wheel.namelist()
                if not name.endswith("/") and not re.search(r"\.dist-info/(wheelsmith/.*|sboms/.*|WHEEL|RECORD)$", name)}

ours, by_hand = map(members, sys.argv[1:])
assert sorted(ours) == sorted(by_hand), sorted(set(ours) ^ set(by_hand))
different = [name for name in ours if ours[name] != by_hand[name]]
assert not different, different
assert any(name.endswith(".so") for name in ours)
END
run_json plan small --env "ODD=it's \"odd\" \$HOME \`id\`"
expect true "$(json 'steps[0].cached')"

# --- a typo would build something else; an unknown name may be another package's
run plan small --source "smalll=$t/recipes/small"
expect 2 $status
grep -q 'did you mean small' "$t/err"
run plan small --set flagg=two
expect 2 $status
grep -q 'did you mean flag' "$t/err"
run_json plan small --source "unrelated=$t/recipes/small"
expect 0 $status
[[ $(json notes) == *'unrelated is not used'* ]] || fail "notes: $(json notes)"

# A package may list a requirement twice, for different Pythons.
mkdir -p "$t/twice"
cp -r "$t/recipes/small/." "$t/twice"
sed -i "s/requires = .*/requires = [\"setuptools<1; python_version < '3'\", \"setuptools==80.9.0; python_version >= '3'\"]/; s/\"small\"/\"twice\"/" \
  "$t/twice/pyproject.toml"
run_json plan twice --source "twice=$t/twice"
[[ $status == 0 ]] || { cat "$t/err" >&2; fail "plan twice"; }
expect 80.9.0 "$(json '[w.version for w in steps[0].locked if w.name == "setuptools"][0]')"

# --- a recipe is written only once
mkdir -p "$t/mine/thing"
cp -r "$t/recipes/small/." "$t/mine/thing"
sed -i 's/"small"/"thing"/' "$t/mine/thing/pyproject.toml"
run recipe init thing --source "$t/mine/thing" --recipes "$t/mine"
[[ $status == 0 ]] || { cat "$t/err" >&2; fail "recipe init"; }
grep -q 'folder = .thing.' "$t/mine/thing.toml"
run recipe init thing --source "$t/mine/thing" --recipes "$t/mine"
expect 2 $status
grep -q 'already exists' "$t/err"
run recipe init thing --source "$t/mine/thing" --recipes "$t/mine" --into -
expect "$(<"$t/mine/thing.toml")" "$(<"$t/out")"
run_json plan thing --recipes "$t/mine"
expect "0 thing" "$status $(json 'steps[0].package')"

# --- recipe chains have a limit, which is reported
mkdir -p "$t/chain"
cp -r "$t/recipes/small" "$t/chain/src"
for ((i = 1; i <= 1000; i++)); do
  printf 'name = "p%d"\nsummary = "x"\n[source]\nfolder = "src"\n[build]\nrequires = ["setuptools==80.9.0"]\n[variant.cpu]\n' $i
  if ((i < 1000)); then printf '[[needs]]\nrecipe = "p%d"\n' $((i + 1)); fi
done | (cd "$t/chain" && awk '/^name = /{split($0, word, "\""); file = word[2] ".toml"} {print > file}')
run plan p1 --recipes "$t/chain" --variant cpu
expect 1 $status
grep -q 'chain of more than 200 packages' "$t/err"
run plan p850 --recipes "$t/chain" --variant cpu
[[ $status == 0 ]] || { cat "$t/err" >&2; fail "a chain of 151"; }

# --- a secret is used but not printed
for words in 'plan small --json' 'plan small --script' 'config show' 'config show --json'; do
  run $words --env API_TOKEN=hush-hush
  expect 0 $status
  grep -q API_TOKEN "$t/out" || fail "$words does not name the variable"
  if grep -q hush-hush "$t/out"; then fail "$words prints a secret"; fi
done
