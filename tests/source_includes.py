#!/usr/bin/env python3
"""Compares what each module includes with what it may include.

The USES of a module in CMakeLists.txt are what its sources and tests may include ("module/header.h"); the linker finds
some of what goes further, but neither a header that needs no code nor a use that is no longer one. ARCHITECTURE.md gives
each module a layer, which lies above the layers of all modules that it uses.

usage: source_includes.py [ROOT OF THE SOURCES]
"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
# Builders of test inputs are open to every test; modules.cmake links them.
for_tests = "testing"
keywords = ("USES", "LIBRARIES", "DATA")


def declared_uses():
    """{module: set of modules} from CMakeLists.txt."""
    text = re.sub(r"#.*", "", (root / "CMakeLists.txt").read_text())
    modules = {}
    for name, arguments in re.findall(r"wheelsmith_module\((\w+)([^)]*)\)", text):
        keyword = ""
        modules[name] = set()
        for word in arguments.split():
            if word in keywords:
                keyword = word
            elif keyword == "USES":
                modules[name].add(word)
    return modules


def included(module):
    """[(file, line number, included module, whether the file is for tests only)]."""
    found = []
    for file in sorted((root / "src" / module).rglob("*")):
        if file.suffix not in (".cc", ".h", ".c"):
            continue
        is_test = file.stem.endswith("_test") or file.name.startswith("test_")
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*"(\w+)/', line)
            if match and match[1] != module:
                found.append((file.relative_to(root), number, match[1], is_test))
    return found


def layers():
    """{module: layer} from ARCHITECTURE.md; None for modules without a layer."""
    rows = re.findall(r"^\| (\d+|–) \| (\w+) \|", (root / "ARCHITECTURE.md").read_text(), re.M)
    return {module: None if layer == "–" else int(layer) for layer, module in rows}


def problems():
    uses = declared_uses()
    for module in sorted(path.name for path in (root / "src").iterdir() if path.is_dir()):
        if module not in uses:
            yield f"CMakeLists.txt: there is src/{module}, but no wheelsmith_module({module})"
    for module, declared in uses.items():
        used = set()
        for file, line, other, is_test in included(module):
            if not is_test:
                used.add(other)
            if other not in declared and not (is_test and other == for_tests):
                yield f"{file}:{line}: includes {other}, which is not in the USES of {module} in CMakeLists.txt"
        for other in sorted(declared - used):
            yield f"CMakeLists.txt: {module} USES {other}, but no source of it includes a header of {other}"

    layer = layers()
    for module in sorted(uses.keys() - layer.keys()):
        yield f"ARCHITECTURE.md: the table has no row for {module}"
    for module in sorted(layer.keys() - uses.keys()):
        yield f"ARCHITECTURE.md: the table has a row for {module}, which is not a module"
    for module, declared in uses.items():
        for other in sorted(declared):
            above, below = layer.get(module), layer.get(other)
            if above is not None and below is not None and above <= below:
                yield f"ARCHITECTURE.md: {module} is in layer {above} and uses {other} of layer {below}; layers point down"


found = list(problems())
print("\n".join(found) or f"{len(declared_uses())} modules include what they may")
sys.exit(1 if found else 0)
