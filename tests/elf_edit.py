"""The property test of the ELF editor: elf_edit.py WHEELSMITH FOLDER SEED CASES

Links libraries and programs with random linkers and layouts, edits each several times with random run paths and names,
and asks others: the loader (does it run, and give the same number), readelf and llvm-readelf (no warning that the
original did not have), and wheelsmith's own proof against the file as it was linked."""
import os
import random
import shutil
import struct
import subprocess
import sys

wheelsmith, folder, seed, cases = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
tests = os.path.dirname(os.path.abspath(__file__))
rng = random.Random(seed)
lld, llvm_strip, llvm_readelf = (shutil.which(f"{name}-19") for name in ("ld.lld", "llvm-strip", "llvm-readelf"))
gold = shutil.which("ld.gold")
story = []


def die(message):
    print(f"FAILED (seed {seed}): {message}\n  " + "\n  ".join(story), file=sys.stderr)
    sys.exit(1)


def call(*argv, env=None, ok=True):
    done = subprocess.run(argv, capture_output=True, text=True, env=env, timeout=60)
    if ok and done.returncode != 0:
        die(f"{' '.join(argv)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done


def compile_all():
    os.makedirs("deps/sub", exist_ok=True)
    os.makedirs("bin", exist_ok=True)
    with open("depend.c", "w") as out:
        out.write("int depend(int x) { return x * 3 + 1; }\n")
    with open("extra.c", "w") as out:
        out.write("int extra(void) { return 1; }\n")
    with open("loader.c", "w") as out:
        out.write('#include <dlfcn.h>\n#include <stdio.h>\nint main(int n, char **v) {\n  void *h = dlopen(v[1], RTLD_NOW);\n'
                  '  if (!h) return fprintf(stderr, "%s\\n", dlerror()), 1;\n'
                  '  int (*f)(int) = (int (*)(int))dlsym(h, "compute");\n  return printf("%d\\n", f(5)) < 0;\n}\n')
    with open("versions.map", "w") as out:
        out.write("LIB_1 { global: compute; local: *; };\n")
    with open("depend.map", "w") as out:
        out.write("DEP_1 { global: depend; };\n")
    call("gcc", "loader.c", "-o", "loader", "-ldl")
    call("gcc", "-shared", "-fPIC", "depend.c", "-o", "deps/libdepend.so.1", "-Wl,-soname,libdepend.so.1",
         "-Wl,--version-script=depend.map")
    call("gcc", "-shared", "-fPIC", "extra.c", "-o", "deps/libextra.so", "-Wl,-soname,libextra.so")
    # The editor also renames the library, so that its users' version requirements refer to the new name.
    call(wheelsmith, "elf", "edit", "deps/libdepend.so.1", "--soname", "libdepend-2f7c1a90.so.1", "--out",
         "deps/libdepend-2f7c1a90.so.1")
    call(wheelsmith, "elf", "prove", "deps/libdepend.so.1", "deps/libdepend-2f7c1a90.so.1")
    source = os.path.join(tests, "elf_edit.c")
    for zeros in (1000, 3000000):
        for name, flags in {"shared": ["-fPIC"], "pie": ["-fPIE", "-DPROGRAM"],
                            "exec": ["-fno-pie", "-DPROGRAM"]}.items():
            call("gcc", "-O1", "-g1", "-c", source, f"-DZEROS={zeros}", "-o", f"{name}{zeros}.o", *flags)
    if lld:
        os.makedirs("linkers", exist_ok=True)
        if not os.path.exists("linkers/ld.lld"):
            os.symlink(lld, "linkers/ld.lld")
    make_script()


def make_script():
    """GNU ld's own script with the constants directly after the program headers."""
    text = call("gcc", "-shared", "-Wl,--verbose", "-Wl,-z,noseparate-code", "shared1000.o", "-o", "unused.so").stdout
    lines = text.split("==================================================\n")[1].split("\n")
    constants = [line for line in lines if line.strip().startswith(".rodata ")]
    headers = [i for i, line in enumerate(lines) if "SIZEOF_HEADERS" in line]
    if not constants or not headers:
        die("no such lines in the linker's script")
    lines = [line for line in lines if line not in constants]
    with open("constants_first.ld", "w") as out:
        out.write("\n".join(lines[: headers[0] + 1] + constants + lines[headers[0] + 1:]))


def link(kind, path):
    choices = ["bfd", "bfd", "constants-first"] if kind == "shared" else ["bfd", "bfd"]
    choices += ["gold"] * bool(gold) + ["lld", "lld"] * bool(lld)
    linker = rng.choice(choices)
    flags = ["-g"] if rng.random() < 0.3 else []
    ld = [f"-z,{rng.choice(['relro', 'norelro'])}", f"-z,{rng.choice(['now', 'lazy'])}",
          f"--hash-style={rng.choice(['gnu', 'sysv', 'both'])}", f"--build-id={rng.choice(['sha1', 'none'])}"]
    if linker in ("bfd", "lld"):
        ld.append(f"-z,{rng.choice(['separate-code', 'noseparate-code'])}")
        if rng.random() < 0.3:
            ld.append("-z,pack-relative-relocs")
    if linker == "lld":
        ld += rng.choice([[], ["-z,separate-loadable-segments"], ["--no-rosegment"]])
    if linker in ("bfd", "constants-first") and rng.random() < 0.3:
        ld.append("--spare-dynamic-tags=0")
    if linker == "constants-first":
        ld.append("-T,constants_first.ld")
    if rng.random() < 0.2 and linker != "constants-first":
        ld.append(f"-z,max-page-size={rng.choice([0x1000, 0x10000, 0x200000])}")
    if rng.random() < 0.6:
        ld += [f"-rpath,{rng.choice(['/nowhere', '/build/' + 'x' * rng.randrange(80)])}",
               rng.choice(["--enable-new-dtags", "--disable-new-dtags"])]
    if kind == "shared":
        flags += ["-shared"]
        ld += [f"-soname,{rng.choice(['libcase.so', 'libcase-with-a-long-name.so.1'])}"] * (rng.random() < 0.7)
        ld += ["--version-script=versions.map"] * (rng.random() < 0.5)
    else:
        flags += ["-pie" if kind == "pie" else "-no-pie"]
    use = [f"-fuse-ld={'bfd' if linker == 'constants-first' else linker}"]
    if linker == "lld":
        use += ["-B", os.path.abspath("linkers")]
    story.append(f"{kind} by {linker}: {' '.join(ld)}")
    call("gcc", *flags, *use, f"{kind}{rng.choice([1000, 1000, 3000000])}.o", "-o", path, "-Wl," + ",".join(ld),
         "-Wl,--no-as-needed", "-Ldeps", "-l:libdepend.so.1")
    return linker


def headers_of(data):
    """e_phoff, and the program headers as lists: type, flags, offset, address, physical, file size, memory size, align."""
    offset, = struct.unpack_from("<Q", data, 32)
    count, = struct.unpack_from("<H", data, 56)
    return offset, [list(struct.unpack_from("<IIQQQQQQ", data, offset + 56 * i)) for i in range(count)]


def move_headers(path):
    """A file as written by ROCm's library splitter: the program headers in a separate page, with room for more."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    _, headers = headers_of(data)
    loads = [h for h in headers if h[0] == 1]
    bias = loads[0][3] - loads[0][2]
    end = max(h[3] + h[6] for h in loads)
    offset = max(len(data), end - bias) + 0xfff & ~0xfff
    size = -(-(len(headers) + 1) // 16) * 16 * 56
    headers.insert(1 + max(i for i, h in enumerate(headers) if h[0] == 1),
                   [1, 4, offset, offset + bias, offset + bias, size, size, 0x1000])
    for h in headers:
        if h[0] == 6:
            h[2:7] = [offset, offset + bias, offset + bias, size, size]
    data += bytes(offset - len(data)) + b"".join(struct.pack("<IIQQQQQQ", *h) for h in headers)
    data += bytes(offset + size - len(data))
    struct.pack_into("<Q", data, 32, offset)
    struct.pack_into("<H", data, 56, len(headers))
    with open(path, "wb") as file:
        file.write(data)


def memory_size(path):
    """A program's memory size: its moved headers must come after that in the file too."""
    with open(path, "rb") as file:
        loads = [h for h in headers_of(file.read())[1] if h[0] == 1]
    return max(h[3] + h[6] for h in loads) - loads[0][3]


def cut_sections(path):
    with open(path, "r+b") as file:
        file.seek(40)
        file.write(bytes(8))
        file.seek(60)
        file.write(bytes(4))


def treat(path):
    what = rng.choice(["nothing", "nothing", "strip", "llvm-strip", "no sections", "cut", "headers moved", "patched"])
    story.append(f"then: {what}")
    if what == "strip":
        call("strip", path)
    elif what == "llvm-strip" and llvm_strip:
        call(llvm_strip, path)
    elif what == "no sections" and llvm_strip:
        call(llvm_strip, "--strip-sections", path)
    elif what == "cut":
        cut_sections(path)
    elif what == "headers moved":
        move_headers(path)
    elif what == "patched":
        call(wheelsmith, "elf", "edit", path, "--run-path", "/first/" + "y" * rng.randrange(2000))


def run(kind, path, **env):
    environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"} | env
    return call(*(["./loader"] if kind == "shared" else []), os.path.abspath(path), env=environment).stdout


def warnings(path):
    said = call("readelf", "-lhdSsrW", "--dyn-syms", "-V", path, ok=False).stderr
    said += call(llvm_readelf, "-lhdSsrW", "--dyn-syms", "-V", path, ok=False).stderr if llvm_readelf else ""
    return {line.split(": ", 2)[-1] for line in said.replace(path, "FILE").splitlines()}


def random_edit(kind, needed):
    """The command's arguments, and the RPATH that readelf must show."""
    path = "$ORIGIN/../deps"
    for _ in range(rng.choice([0, 0, 1, 3, 40])):
        path = rng.choice(["/nowhere/", "$ORIGIN/../"]) + "".join(rng.choices("abc/.", k=rng.randrange(1, 60))) + ":" + path
    kind_of_path = rng.choice(["rpath", "runpath"])
    words = ["--run-path", path, "--kind", kind_of_path]
    if rng.random() < 0.3:
        old = "libdepend.so.1" if "libdepend.so.1" in needed else "libdepend-2f7c1a90.so.1"
        new = ({"libdepend.so.1", "libdepend-2f7c1a90.so.1"} - {old}).pop()
        words += ["--rename-needed", f"{old}={new}"]
        needed[needed.index(old)] = new
    if rng.random() < 0.3:
        words += ["--add-needed", "libextra.so"]
        if "libextra.so" not in needed:
            needed.append("libextra.so")
    elif rng.random() < 0.3 and "libextra.so" in needed:
        words += ["--remove-needed", "libextra.so"]
        needed.remove("libextra.so")
    if kind == "shared" and rng.random() < 0.2:
        words += ["--soname", rng.choice(["libx.so", "libnew-" + "n" * rng.randrange(50) + ".so.3"])]
    return words, f"Library {kind_of_path}: [{path}]"


def one_case(number):
    kind = rng.choice(["shared", "shared", "shared", "pie", "exec"])
    original, edited = f"bin/case{number}.orig", f"bin/case{number}"
    link(kind, original)
    treat(original)
    wanted = run(kind, original, LD_LIBRARY_PATH=os.path.abspath("deps"))
    before = warnings(original)
    shutil.copy(original, edited)
    lines = call("readelf", "-dW", original).stdout.splitlines()
    needed = [line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line]
    longest = 0
    for _ in range(3):
        words, shown = random_edit(kind, needed)
        longest = max(longest, sum(map(len, words)))
        story.append(" ".join(words))
        call(wheelsmith, "elf", "edit", edited, *words)
        call(wheelsmith, "elf", "prove", original, edited)
        lines = call("readelf", "-dW", edited).stdout.splitlines()
        if sum(shown.lower() in line.lower() for line in lines) != 1 or sum("PATH)" in line for line in lines) != 1:
            die(f"readelf does not show {shown}: {lines}")
        now = [line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line]
        if now != needed:
            die(f"it needs {now}, not {needed}")
        if warnings(edited) - before:
            die(f"readelf warns: {warnings(edited) - before}")
        got = run(kind, edited)
        if got != wanted:
            die(f"it gives {got} instead of {wanted}")
    grown = os.path.getsize(edited) - os.path.getsize(original)
    limit = 30000 + 4 * longest + (memory_size(original) if kind != "shared" else 0)
    if grown > limit:
        die(f"three edits made it {grown} bytes larger")
    os.remove(original)
    os.remove(edited)


os.makedirs(folder, exist_ok=True)
os.chdir(folder)
compile_all()
for number in range(cases):
    story = []
    one_case(number)
print(f"{cases} files of seed {seed} edited three times each; lld: {bool(lld)}, gold: {bool(gold)}")
