#!/bin/bash
# The program is one static file: it runs in a root that contains only itself and a wheel.
. "$(dirname "$0")/common.inc"
[[ -x ${TESTS_STATIC:-} ]] || skip "no static program; make builds one"

# ldd fails for a static program, with one of two messages.
if ldd "$TESTS_STATIC" >"$t/ldd" 2>&1; then grep -q 'statically linked' "$t/ldd"; else grep -q 'not a dynamic' "$t/ldd"; fi
readelf -lW "$TESTS_STATIC" >"$t/segments"
! grep -q INTERP "$t/segments" || fail "it asks for a loader"

mkdir "$t/jail"
cp "$TESTS_STATIC" "$t/jail/wheelsmith"
make_extension "$t/_demo.so"
demo_wheel "$t/jail/demo-1.0-cp311-cp311-linux_x86_64.whl" "$t/_demo.so"

enter=(chroot)
[[ $EUID -eq 0 ]] || enter=(unshare -r chroot)
"${enter[@]}" "$t/jail" /wheelsmith --version >"$t/version" 2>"$t/why" || skip "no chroot here: $(<"$t/why")"
expect "$("$wheelsmith" --version)" "$(<"$t/version")"

"${enter[@]}" "$t/jail" /wheelsmith inspect /demo-1.0-cp311-cp311-linux_x86_64.whl --json >"$t/out"
expect demo "$(json 'items[0].name')"
"${enter[@]}" "$t/jail" /wheelsmith check /demo-1.0-cp311-cp311-linux_x86_64.whl --json >"$t/out"
expect good "$(json 'items[0].verdict')"
