#!/bin/bash
# Every recipe, variant and target on described machines (tests/recipes/machines): the plan, doctor's result, and the
# keys, compared with reviewed text (tests/recipes/expected). A recipe change shows as a diff here; `tests/recipes.sh
# --update` accepts it. No network, no torch, no CUDA, no ROCm, and no program in PATH.
source "$(dirname "$0")/common.inc"
update=no
[[ ${1:-} != --update ]] || update=yes
mkdir -p "$t/home" "$t/machines" "$t/got" "$t/elsewhere"
python=$(command -v python3)
for file in "$tests"/recipes/machines/*.toml; do
  cat "$file" "$tests/recipes/sources.toml" >"$t/machines/${file##*/}"
done

# ask OUT ARGUMENT…: isolated from this machine.
ask() {
  local out=$1 code=0
  shift
  (cd "$t/elsewhere" && env -i HOME="$t/home" PATH="$t/nowhere" "$wheelsmith" "$@") >"$out" 2>"$t/err" ||
    code=$?
  case $code in
    0 | 1 | 2) ;;
    *) cat "$t/err" >&2; fail "wheelsmith $* ended with $code" ;;
  esac
  if grep -qE 'Sanitizer|runtime error:' "$t/err"; then cat "$t/err" >&2; fail "wheelsmith $*: sanitizer report"; fi
}

# report RECIPE VARIANT TARGET MACHINE [OPTION…]
report() {
  local recipe=$1 variant=$2 target=$3 machine=$4
  local words=("$recipe" --variant "$variant" --machine "$t/machines/$machine.toml" --store "$t/store" "${@:5}")
  [[ -z $target ]] || words+=(--target "$target")
  ask "$t/plan.json" plan "${words[@]}" --json
  ask "$t/script" plan "${words[@]}" --script
  ask "$t/doctor.json" doctor "${words[@]}" --json
  echo "== $machine ${*:5}"
  "$python" "$tests/recipes/compact.py" "$recipe" "$t/plan.json" "$t/script" "$t/doctor.json"
}

ask "$t/recipes.json" recipes --json
expect "" "$(json 'broken' "$t/recipes.json")" "recipes that cannot be read"
# One line each: recipe, variant, target (- for none).
json '[f"{r.name} {v} {x}" for r in recipes for v in r.variants for x in (r.targets[v] or ["-"])]' "$t/recipes.json" >"$t/cases"
while read -r recipe variant target; do
  name=$recipe-$variant wanted="$recipe $variant $target"
  [[ $target == - ]] && target= || name+=-$target
  case $variant in
    cpu) report "$recipe" cpu "$target" cpu ;;
    cuda) report "$recipe" cuda "$target" cuda ;;
    rocm)
      report "$recipe" rocm "$target" rocm
      report "$recipe" rocm "$target" no-rocm --arch gfx942
      ;;
  esac >"$t/got/$name.txt"
  while read -r more_recipe more_variant more_target machine options; do
    [[ "$more_recipe $more_variant $more_target" == "$wanted" ]] || continue
    # shellcheck disable=SC2086 # options are words
    report "$recipe" "$variant" "$target" "$machine" $options >>"$t/got/$name.txt"
    echo "$wanted" >>"$t/more_done"
  done <"$tests/recipes/more"
  # It must not contain names of a store, a folder or this machine.
  ! grep -nF -e "$t" -e "$HOME/" "$t/got/$name.txt" || fail "$name: a path of this machine"
done <"$t/cases"

expect "$(grep -c '^[a-z]' "$tests/recipes/more")" "$(wc -l <"$t/more_done")" "cases of recipes/more that name a recipe, variant and target"

if [[ $update == yes ]]; then
  mkdir -p "$tests/recipes/expected"
  rm -f "$tests"/recipes/expected/*.txt
  cp "$t"/got/*.txt "$tests/recipes/expected/"
  echo "$(wc -l <"$t/cases") cases written; read the diff before you commit it"
  exit 0
fi
diff -ruN "$tests/recipes/expected" "$t/got" >"$t/diff" || {
  head -n 200 "$t/diff"
  fail "recipes do something else than what was reviewed ($t/diff); if that is meant: tests/recipes.sh --update"
}
echo "$(wc -l <"$t/cases") cases"
