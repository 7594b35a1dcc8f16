#!/bin/bash
# An undefined symbol that nothing provides is an error; a provider given by --against fixes it; --require-symbol
# requires a symbol by its prefix.
. "$(dirname "$0")/common.inc"
wheel=$t/demo-1.0-cp311-cp311-linux_x86_64.whl
provider=$t/prov-1.0-cp311-cp311-linux_x86_64.whl
errors() { json '[f"{f.id} {f.subject} {f.what}" for f in items[0].findings if f.severity == "error"]'; }

cat >"$t/provider.cc" <<'END'
namespace demo { __attribute__((visibility("default"))) int merge(int value, const char* name) { return value + name[0]; } }
END
g++ -shared -fPIC "$t/provider.cc" -o "$t/libprov.so" -Wl,-soname,libprov.so
make_wheel "$provider" "prov/libprov.so=$t/libprov.so"
make_extension "$t/_demo.so" 'extern int _ZN4demo5mergeEiPKc(int, const char*); int use(void) { return _ZN4demo5mergeEiPKc(1, "x"); }'
demo_wheel "$wheel" "$t/_demo.so"

run_json check "$wheel"
expect 1 $status "$(<"$t/out")"
expect bad "$(json 'items[0].verdict')"
errors | grep -F 'demo::merge(int, char const*)'

for against in "$provider" "$t/libprov.so"; do
  run_json check "$wheel" --against "$against"
  expect good "$(json 'items[0].verdict')" "--against $against: $(errors)"
  expect 0 $status
done
mkdir "$t/installed"
unzip -q "$provider" -d "$t/installed"
run_json check "$wheel" --against "$t/installed"
expect good "$(json 'items[0].verdict')" "--against a folder: $(errors)"

# A required symbol exists, or it is an error that names it.
run_json check "$provider" --require-symbol 'demo::merge('
expect 0 $status "$(errors)"
run_json check "$provider" --require-symbol 'demo::split('
expect 1 $status
errors | grep -F 'demo::split('
