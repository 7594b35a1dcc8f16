#!/bin/bash
# A module that needs a library of the machine, like torchvision's image.so and libpng16: the recipe may expect the
# library, but no tag may promise that the wheel works without it. auditwheel and readelf confirm it.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need unzip readelf ldconfig
small_package "$t"

# A library that no manylinux policy allows, linked by its file name: no headers needed.
library=
for each in libpng16.so.16 libjpeg.so.62 libffi.so.8 libsqlite3.so.0 libreadline.so.8; do
  if ldconfig -p | grep -q "^[[:space:]]$each .*x86-64"; then library=$each; break; fi
done
[[ -n $library ]] || skip "none of the libraries here"
sed -i "s|\"small/module.c\"\]|&, extra_link_args=[\"-Wl,--no-as-needed\", \"-l:$library\"]|" "$t/recipes/small/setup.py"
sed -i "s|^members = .*|&\nprovided = [\"${library%%.so*}.so*\"]|" "$t/recipes/small.toml"

run build small
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
cat "$t/out" "$t/err" >"$t/told"
wheel=$(find "$WHEELSMITH_OUT" -name '*.whl')
unzip -oq "$wheel" -d "$t/unpacked"
readelf -d "$t"/unpacked/small/*.so | grep -q "NEEDED.*$library" || fail "the module does not need $library"
[[ ${wheel##*/} == small-1.0-*-linux_x86_64.whl ]] || fail "needs $library, and is published as ${wheel##*/}"
tag=$("$TESTS_PYTHON" -m auditwheel show "$wheel" 2>/dev/null | tr '\n' ' ' | sed -n 's/.*consistent with the following platform tag: "\([^"]*\)".*/\1/p')
expect linux_x86_64 "$tag" "what auditwheel gives it"
grep -q "no manylinux tag: small/.* needs $library" "$t/told" || { cat "$t/told" >&2; fail "no reason is given"; }
grep -q "check.provided = ${library%%.so*}.so" "$t/told" || { cat "$t/told" >&2; fail "the recipe's part is not told"; }
run_json check "$wheel"
expect good "$(json 'items[0].verdict')"

# A requested tag is rejected, whatever the recipe accepts.
for accept in '' 'accept.platform-external-library = "everybody has it"'; do
  [[ -z $accept ]] || sed -i "s|^provided = .*|&\n$accept|" "$t/recipes/small.toml"
  run_json build small --platform manylinux_2_36
  expect 1 "$status" "an untrue tag requested"
  grep -q "does not qualify for the tag manylinux_2_36: small/.* needs $library" "$t/out" || { cat "$t/out" >&2; fail "refused for another reason"; }
done
expect 1 "$(find "$WHEELSMITH_OUT" -name '*.whl' | wc -l)" "wheels in the wheelhouse"
