#!/usr/bin/env python3
"""Finds names in anonymous namespaces that two sources of a folder share.

A folder is compiled as one unit (cmake/unity.cmake). Two functions with the same parameters do not compile then; two that
differ do, and a call may silently reach the other one. So a name is there once in a folder, overloads included; tests
are a unit of their own. Reads text in the layout of `make format`, which is all it takes; the compiler has the last word.

usage: source_names.py [--skip MODULE]... [ROOT OF THE SOURCES]
"""
import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path

# Comments and literals, whose braces and semicolons must be ignored.
noise = re.compile(r"""R"([^()\\ ]*)\(.*?\)\1" | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+' | //[^\n]* | /\*.*?\*/""",
                   re.X | re.S)


def declarations(text):
    """Declarations in anonymous namespaces, each up to its first brace or semicolon."""
    text = noise.sub(" ", text)
    for start in re.finditer(r"^namespace \{", text, re.M):
        depth, at, begin = 1, start.end(), start.end()
        while depth > 0 and at < len(text):
            if depth == 1 and text[at] in "{;":
                yield " ".join(text[begin:at].split())
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
            if depth == 1 and text[at - 1] in "};":
                begin = at


def names_in(declaration):
    """The names that a declaration introduces, as far as they can collide."""
    text = re.sub(r"\[\[.*?\]\] ", "", declaration)
    while (shorter := re.sub(r"<[^<>]*>", "", text)) != text:  # template parameters and arguments
        text = shorter
    text = text.removeprefix("template ")
    if re.match(r"(namespace|extern|static_assert|TEST|using namespace|using [\w:]+$)", text):
        return []
    match = re.match(r"using (\w+) =|(?:struct|class|enum class|enum) (\w+)", text)
    if match:
        return [match[1] or match[2]]
    match = re.match(r"[^=]*?[\w&*] [&*]*(\w+|operator\S+)\(", text)
    if match:
        return [match[1]]
    # Variables: "constexpr int k_a = 1, k_b[2] = …".
    return [match[1] for match in (re.search(r"(\w+)(?:\[\w*\])*(?: =.*)?$", part) for part in text.split(", ")) if match]


def collisions(root, skipped):
    places = defaultdict(lambda: defaultdict(set))
    for file in sorted((root / "src").rglob("*.cc")):
        path = file.relative_to(root)
        if path.parts[1] in skipped:
            continue
        unit = (str(path.parent), "tests" if file.stem.endswith("_test") else "sources")
        for declaration in declarations(file.read_text()):
            # The same alias twice is one alias.
            same = declaration if declaration.startswith("using ") else path.name
            for name in names_in(declaration):
                places[unit, name][same].add(path.name)
    for (unit, name), found in sorted(places.items()):
        if len(found) > 1:
            files = sorted(set().union(*found.values()))
            yield f"{unit[0]}: {name} is in an anonymous namespace of {', '.join(files)} ({unit[1]})"


parser = argparse.ArgumentParser()
parser.add_argument("--skip", action="append", default=[], metavar="MODULE")
parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parent.parent)
arguments = parser.parse_args()
found = list(collisions(arguments.root, arguments.skip))
print("\n".join(found) or "names in anonymous namespaces are unique in their folders")
sys.exit(1 if found else 0)
