#!/usr/bin/env python3
"""Rules of the documentation that need nothing but its text (docs/README.md is the table of contents).

1. Every page is in the table of contents, once, and begins with a heading.
2. Every link leads to a file, and to a heading of it where it names one. So does every docs/NAME.md in sources and scripts.
3. Lines have at most 100 columns. Rows of tables cannot be wrapped.
4. README.md has 80 to 100 lines.
5. With --commands FILE (`wheelsmith help --json`): commands and options that pages show or name exist.

usage: source_docs.py ROOT [--commands FILE]
"""
import json
import os
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
from docs import Slugs  # noqa: E402

root = Path(sys.argv[1])
# Pages that branches in progress bring. Remove a name once its page is there.
EXPECTED = set()
# Commands that the program starts itself: help does not list them, explanations name them.
INTERNAL = {"step", "confine", "node"}
# Options of other tools that pages name by themselves (docs/guides/coming-from.md and docs/rocm-sdk.md are full of them).
FOREIGN = {"--array", "--clusters", "--dependency", "--gpus", "--gres", "--output", "--wrap", "--preview-features", "--coverage", "--nv", "--runtime", "--exclude-newer", "--local-user", "--locked", "--rocm-path", "--security-opt",
           "--wheel-dir"}  # repair accepts it for users of auditwheel; help lists only --out
OF_OTHERS = {"docs/guides/coming-from.md", "docs/rocm-sdk.md", "CHANGELOG.md"}
top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
pages = {str(path.relative_to(root)): path.read_text() for path in sorted((root / "docs").rglob("*.md"))}
pages |= {name: (root / name).read_text() for name in top}
problems = []


def prose(text):
    """(line number, line) outside of code blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def code(text):
    """(line number, line) of code blocks; a line that ends in a backslash is joined with the next."""
    fenced, held, start = False, "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            start = start or number
            held += line.removesuffix("\\") if line.endswith("\\") else line
            if not line.endswith("\\"):
                yield start, held
                held, start = "", 0


def anchors(text):
    slugs = Slugs()
    return {slugs.next(re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", match.group(1)))
            for _, line in prose(text) if (match := re.match(r"#{1,4} (.*)", line))}


anchors_of = {name: anchors(text) for name, text in pages.items()}

listed = re.findall(r"^- \[[^\]]+\]\(([^)#]+)\)", pages["docs/README.md"], re.M)
listed = [os.path.normpath(os.path.join("docs", name)) for name in listed]
for name in sorted(set(pages) - set(listed) - {"docs/README.md"}):
    problems.append(f"{name} is not in docs/README.md, the table of contents")
for name in sorted({name for name in listed if listed.count(name) > 1}):
    problems.append(f"docs/README.md lists {name} twice")

for name, text in pages.items():
    if not text.startswith("# "):
        problems.append(f"{name}: does not begin with a heading")
    for number, line in prose(text):
        for link in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if target in EXPECTED and target not in pages:
                continue
            if not (root / target).exists():
                problems.append(f"{name}:{number}: {link}: there is no {target}")
            elif anchor and anchor not in anchors_of.get(target, set()):
                problems.append(f"{name}:{number}: {link}: {target} has no heading #{anchor}")
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > 100 and not line.startswith("|"):
            problems.append(f"{name}:{number}: {len(line)} columns; 100 are allowed")

lines = len(pages["README.md"].splitlines())
if not 80 <= lines <= 100:
    problems.append(f"README.md has {lines} lines; it has 80 to 100")

for folder in ("src", "tests", "scripts", "bench", "examples", "cmake"):
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in {".cc", ".h", ".toml", ".md", ".py", ".sh", ".js", ".inc", ".cmake"} or path.name == Path(__file__).name:
            continue
        for match in re.finditer(r"(?<![\w/.-])docs/[\w/-]+\.md", path.read_text(errors="replace")):
            if match.group() not in pages and match.group() not in EXPECTED:
                problems.append(f"{path.relative_to(root)}: names {match.group()}, which does not exist")


def check_commands(document):
    commands = {one["path"]: one for one in document["commands"]}
    every = {option["name"] for one in commands.values() for option in one["options"]} | {"--colour"}
    checked = set()

    def check(where, line):
        # Of a pipe or a list of commands, each part that begins with wheelsmith.
        line = re.sub(r"\s#\s.*", "", line)
        for part in re.split(r"[|;&]{1,2}(?=\s)|\$\(|`", line):
            words = part.strip().removeprefix("$ ").split()
            while words and ("=" in words[0] and not words[0].startswith("-") or words[0].endswith("$")):
                words.pop(0)  # VARIABLE=value, or the prompt of a named machine
            if not words or words[0] != "wheelsmith" or len(words) < 2:
                continue
            path, rest = "wheelsmith", words[1:]
            while rest and f"{path} {rest[0]}" in commands:
                path, rest = f"{path} {rest[0]}", rest[1:]
            if rest and path == "wheelsmith" and rest[0] in INTERNAL:
                continue
            checked.add(part.strip())
            if path == "wheelsmith" and rest and re.fullmatch(r"[a-z]+", rest[0]):
                problems.append(f"{where}: there is no command wheelsmith {rest[0]}")
                continue
            known = {name for option in commands[path]["options"] for name in (option["name"], option["short"]) if name}
            known |= {"--help", "-h", "--version", "-V", "--colour"}
            for word in rest:
                if word == "--":
                    break
                option = re.match(r"\[?(--?[A-Za-z][\w-]*)", word)
                if option and option.group(1) not in known:
                    problems.append(f"{where}: {path} has no option {option.group(1)}")

    for name, text in pages.items():
        if name == "CHANGELOG.md":
            continue  # tells of what was
        for number, line in code(text):
            check(f"{name}:{number}", line)
        for number, line in prose(text):
            for span in re.findall(r"`([^`]+)`", line):
                check(f"{name}:{number}", span)
                option = re.match(r"--[a-z][\w-]*", span)
                if option and option.group() not in every | FOREIGN and name not in OF_OTHERS:
                    problems.append(f"{name}:{number}: no command has an option {option.group()}")
    shown = set(re.findall(r"^\| `(wheelsmith [a-z]+)`", pages["docs/commands.md"], re.M))
    for path in commands:
        if path.count(" ") == 1 and path not in shown:
            problems.append(f"docs/commands.md does not list {path}")
    if len(checked) < 150:
        problems.append(f"only {len(checked)} commands were found in the pages; are they still read?")
    print(f"{len(checked)} commands were compared with the program")


if "--commands" in sys.argv:
    check_commands(json.loads(Path(sys.argv[sys.argv.index("--commands") + 1]).read_text()))

print("\n".join(problems) or f"{len(pages)} pages are in order")
sys.exit(1 if problems else 0)
