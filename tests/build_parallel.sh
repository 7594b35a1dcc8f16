#!/bin/bash
# setuptools compiles in parallel under wheelsmith: the wheel, the order of the output and the failure that is reported are those
# of a build with one job. A package with a compile step of its own is built one source after the other, and that is said.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need unzip
small_package "$t"
package=$t/recipes/small
cat >"$package/setup.py" <<'END'
from setuptools import Extension, setup
names = ["u%d" % i for i in range(6)]
for name in names:
    open(name + ".c", "w").write("#warning in %s\nint %s(void) { return VALUE; }\n" % (name, name))
# Both extensions compile u0 to u2, to the same objects with other flags.
first = Extension("small._small", ["small/add.c", "small/module.c"] + [n + ".c" for n in names], define_macros=[("VALUE", "1")])
second = Extension("small._other", ["small/add.c", "small/other.c"] + [n + ".c" for n in names[:3]], define_macros=[("VALUE", "2")])
setup(packages=["small"], ext_modules=[first, second])
END
sed 's/PyInit__small/PyInit__other/' "$package/small/module.c" >"$package/small/other.c"
order() { grep -rhoE '#warning in u[0-9]' "$WHEELSMITH_STORE"/logs | uniq; }

run build small -j 1
expect 0 "$status" "$(<"$t/err")"
one=$(sha256sum <"$(find "$WHEELSMITH_OUT" -name '*.whl')")
order >"$t/order1"
[[ -s $t/order1 ]] || fail "no log of the first build"
rm -rf "$WHEELSMITH_STORE" "$WHEELSMITH_OUT"
run build small
expect 0 "$status" "$(<"$t/err")"
expect "$one" "$(sha256sum <"$(find "$WHEELSMITH_OUT" -name '*.whl')")" "another wheel"
order | diff "$t/order1" - || fail "the order of the output differs"

# Of two errors the first in the order of the sources is the one that ends the build.
sed -i 's|^first = |open("u2.c", "w").write("#include <not_there_2.h>\\n")\nopen("u4.c", "w").write("#error four\\n")\n&|' "$package/setup.py"
run build small
expect 1 "$status"
grep -q 'not_there_2\.h' "$t/out" || fail "not the first error: $(<"$t/out")"
! grep -q 'error four' "$t/out" || fail "a later error is shown"

# A compile step that nobody knows.
cat >"$package/setup.py" <<'END'
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
class Own(build_ext):
    def build_extensions(self):
        stock = self.compiler._compile
        def compile_one(obj, *rest):
            stock(obj, *rest)
            open(obj, "rb").close()
        self.compiler._compile = compile_one
        super().build_extensions()
setup(packages=["small"], cmdclass={"build_ext": Own}, ext_modules=[Extension("small._small", ["small/add.c", "small/module.c"])])
END
run build small
expect 0 "$status" "$(<"$t/err")"
grep -rqh 'compiling one source after the other' "$WHEELSMITH_STORE"/logs || fail "does not say that it is serial"
echo "six sources in two extensions: the same wheel and output as with one job"
