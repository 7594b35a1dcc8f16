#!/bin/bash
# Two C++ runtimes in one process. A library throws, another calls it through a C++ function and catches; the second has
# libstdc++ linked in statically. A real program shows the effect; `check` must report it beforehand, but not for
# harmless libraries: the same code with the shared libstdc++, and a static libstdc++ behind a C interface.
. "$(dirname "$0")/common.inc"
need g++ readelf nm
cat >"$t/thrower.cc" <<'END'
#include <stdexcept>
#include <string>
#define SHOWN __attribute__((visibility("default")))
SHOWN int work(int n) { if (n > 1) throw std::runtime_error("failed with " + std::to_string(n)); return n; }
SHOWN void handle() { try { throw; } catch (const std::exception&) { } }
extern "C" SHOWN int c_work(int n) { try { return work(n); } catch (const std::exception&) { return -1; } }
END
cat >"$t/catcher.cc" <<'END'
#include <stdexcept>
int work(int n);
void handle();  // of the thrower: what to do with the exception in flight
extern "C" void* PyInit_demo() { return nullptr; }
extern "C" int use(int n) { try { return work(n); } catch (...) { handle(); return -1; } }
END
cat >"$t/c_user.cc" <<'END'
#include <stdexcept>
#include <string>
extern "C" int c_work(int n);
extern "C" void* PyInit_demo() { return nullptr; }
extern "C" int use(int n) {
  try { if (c_work(n) < 0) throw std::runtime_error(std::to_string(n)); return n; } catch (const std::exception&) { return -1; }
}
END
cat >"$t/program.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {  /* as Python does: first the one library (torch), then the extension */
  if (argc < 3 || !dlopen(argv[1], RTLD_NOW)) return 2;
  void* handle = dlopen(argv[2], RTLD_NOW);
  if (!handle) return puts(dlerror()), 2;
  int (*use)(int) = (int (*)(int))dlsym(handle, "use");
  return use(2) == -1 ? 0 : 1;
}
END
gcc "$t/program.c" -o "$t/program"
lib() { g++ -O1 -fPIC -shared "$@"; }
lib "$t/thrower.cc" -o "$t/libthrower.so" -Wl,-soname,libthrower.so
link=(-L"$t" -lthrower '-Wl,-rpath,$ORIGIN')
lib "$t/catcher.cc" -o "$t/shared.so" "${link[@]}"
lib "$t/catcher.cc" -o "$t/static.so" "${link[@]}" -static-libstdc++
lib "$t/catcher.cc" -o "$t/hidden.so" "${link[@]}" -static-libstdc++ -Wl,--exclude-libs,ALL
lib "$t/catcher.cc" -o "$t/stripped.so" "${link[@]}" -static-libstdc++ -static-libgcc -s
lib "$t/c_user.cc" -o "$t/c_interface.so" "${link[@]}" -static-libstdc++
readelf -dW "$t/static.so" | grep -q 'NEEDED.*libstdc++' && skip "no libstdc++.a here"
nm -D "$t/static.so" | grep -q ' T __cxa_throw' || fail "the copy is not visible"

# lives NAME: whether the program succeeds with it
lives() { "$t/program" "$t/libthrower.so" "$t/$1.so" >"$t/said" 2>&1; }
# check_with NAME: `check` of a wheel with the extension and the library; leaves the finding's severity in $severity
check_with() {
  local wheel=$t/$1/demo-1.0-cp311-cp311-linux_x86_64.whl
  mkdir "$t/$1"
  demo_wheel "$wheel" "$t/$1.so" "demo/libthrower.so=$t/libthrower.so"
  run_json check "$wheel"
  severity=$(json '[f.severity for f in items[0].findings if f.id == "symbol-second-libstdcxx"]')
}

for name in shared c_interface; do
  lives "$name" || fail "$name should work: $(<"$t/said")"
  check_with "$name"
  expect "" "$severity" "$name"
  expect good "$(json 'items[0].verdict')" "$name: $(<"$t/out")"
done
for name in static stripped; do
  ! lives "$name" || fail "$name does not crash here"
  check_with "$name"
  expect error "$severity" "$name"
  expect bad "$(json 'items[0].verdict')" "$name"
  json '[f.what + " " + f.why for f in items[0].findings if f.id == "symbol-second-libstdcxx"]' |
    grep -E 'libthrower\.so.*work\(int\).*(terminate|SIGSEGV)'
done
! lives hidden || fail "hidden does not crash here"
check_with hidden
expect warning "$severity"

# The library given from outside, as torch would be.
mkdir "$t/outside"
wheel=$t/outside/demo-1.0-cp311-cp311-linux_x86_64.whl
demo_wheel "$wheel" "$t/static.so"
run_json check "$wheel" --against "$t/libthrower.so"
expect error "$(json '[f.severity for f in items[0].findings if f.id == "symbol-second-libstdcxx"]')"

# torch itself is not needed, its names suffice.
cat >"$t/torch.cc" <<'END'
#include <stdexcept>
namespace c10 { int work(int n); }
extern "C" void* PyInit_demo() { return nullptr; }
extern "C" int use(int n) { try { return c10::work(n); } catch (const std::exception&) { return -1; } }
END
lib "$t/torch.cc" -o "$t/torch.so" -static-libstdc++ -Wl,--exclude-libs,ALL
mkdir "$t/torch"
demo_wheel "$t/torch/demo-1.0-cp311-cp311-linux_x86_64.whl" "$t/torch.so"
run_json check "$t"/torch/*.whl
expect error "$(json '[f.severity for f in items[0].findings if f.id == "symbol-second-libstdcxx"]')" "$(<"$t/out")"
