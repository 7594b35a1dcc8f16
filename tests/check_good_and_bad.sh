#!/bin/bash
# A good wheel passes; broken in one way at a time (mutate_wheel.py) it fails, and the finding names the defect.
. "$(dirname "$0")/common.inc"
need readelf unzip
good=$t/demo-1.0-cp311-cp311-linux_x86_64.whl
make_extension "$t/_demo.so"
demo_wheel "$good" "$t/_demo.so"

run_json check "$good"
expect good "$(json 'items[0].verdict')" "$(<"$t/out")"
expect 0 $status
expect 0 "$(json 'len([f for f in items[0].findings if f.severity == "error"])')"

# mutation, verdict, and a word that an error finding (id, subject or what) or the item's error must contain
table='
wrong_hash bad hash
weak_hash bad hash
wrong_size bad size
unlisted_file bad demo/extra.py
missing_file bad demo/__init__.py
missing_record bad RECORD
duplicate_name bad demo/__init__.py
case_collision bad __INIT__
parent_path bad outside.py
absolute_path bad /etc/demo.conf
symlink bad link
local_header_lies bad local
wrong_crc bad demo/__init__.py
broken_stream bad _demo
overlapping_members bad __twin__
wheel_tag_differs bad tag
version_differs bad 2.0
name_differs bad other
other_dist_info bad dist-info
missing_metadata bad METADATA
missing_wheel bad WHEEL
no_metadata_name bad Name
bad_file_name bad name
elf_under_purelib good .
elf_in_purelib_folder bad purelib
other_machine bad aarch64
truncated_elf bad _demo
lost_section_headers bad elf-truncated
executable_stack bad elf-executable-stack
text_relocations bad elf-text-relocations
appended_bytes bad zip-trailing-data
relative_run_path good .
run_path_outside_strings good .
bomb bad zeros.bin
truncated bad end record
one_byte_short bad end record
random_bytes bad end record
empty bad end record
folder_entry good .
stored_comment good .
'
expect "$(python3 "$tests/mutate_wheel.py" list | sort)" "$(awk 'NF { print $1 }' <<<"$table" | sort)" "the table and the mutations"

wrong=0
wheels=()
while read -r name verdict word; do
  [[ -n $name ]] || continue
  mkdir "$t/$name"
  wheel=$(python3 -W ignore "$tests/mutate_wheel.py" "$name" "$good" "$t/$name")
  wheels+=("$wheel")
  run_json check "$wheel"
  got=$(json 'items[0].get("verdict", "bad")')
  said=$(json '[items[0].error] if "error" in items[0] else
    [f"{f.id} {f.subject} {f.what}" for f in items[0].findings if f.severity == "error"]')
  wanted_status=1
  [[ $verdict == bad ]] || wanted_status=0
  if [[ $got != "$verdict" || $status != "$wanted_status" ]] || { [[ $verdict == bad ]] && ! grep -qiF -- "$word" <<<"$said"; }; then
    echo "$name: wanted $verdict with \"$word\", got $got, exit $status: $said" >&2
    wrong=$((wrong + 1))
  fi
done <<<"$table"
expect 0 $wrong "mutations judged wrong"

# Warnings are reported, and another tool confirms them.
warned() {
  run_json check "$t/$1"/*.whl
  json "[f.what for f in items[0].findings if f.id == '$2' and f.severity == 'warning']" | grep -qE "$3" || fail "$1: $(<"$t/out")"
}
warned relative_run_path runpath-absolute 'RUNPATH names .*relative'
warned run_path_outside_strings elf-malformed 'DT_RPATH'
extension=demo/_demo.cpython-311-x86_64-linux-gnu.so
for name in executable_stack text_relocations run_path_outside_strings; do unzip -qo "$t/$name"/*.whl "$extension" -d "$t/$name"; done
readelf -lW "$t/executable_stack/$extension" | grep -E 'GNU_STACK.* RWE '
readelf -dW "$t/text_relocations/$extension" | grep TEXTREL
(cd "$t/run_path_outside_strings/demo" && python3 -c "import ctypes; ctypes.CDLL('./${extension##*/}')")

# All in one call: one item each, in the order given; one bad wheel makes the exit status 1.
run_json check "${wheels[@]}" "$good"
expect 1 $status
expect "$((${#wheels[@]} + 1))" "$(json 'len(items)')"
expect good "$(json 'items[-1].verdict')"

# Every finding has all documented keys, and --explain knows its id.
expect 0 "$(json 'len([1 for i in items for f in i.get("findings", []) for key in ("id", "severity", "subject", "what", "why", "fix")
  if key not in f])')"
json 'set(f.id for i in items for f in i.get("findings", []))' >"$t/ids"
[[ -s $t/ids ]]
unexplained=()
while read -r id; do
  run check --explain "$id"
  [[ $status -eq 0 ]] && grep -qF "$id" "$t/out" || unexplained+=("$id")
done <"$t/ids"
expect "" "${unexplained[*]}" "findings that --explain does not know"
