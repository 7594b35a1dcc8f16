#!/usr/bin/env python3
"""Finds phrases that do not belong into technical English: in string literals, comments, test names, data files and docs.

Each rule is a regular expression and what to write instead. Text that wraps over several lines is joined first, so a
phrase is found across line breaks. A hit that is right in its place gets an entry in ALLOWED, with the reason.

usage: source_voice.py [--count] [ROOT OF THE SOURCES] [FILE OR FOLDER]...
  --count  print only the number of hits per folder
"""
import argparse
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

CHECKED = ["src", "docs", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]

# (phrase, what to write instead)
RULES = [
    (r"mend(s|ed|ing)?", "fix"),
    (r"known to work", "verified"),
    (r"made-up recipes?", "inferred recipe"),
    (r"set back", "preempted: killed and requeued"),
    (r"goes on (where|from there)|go(es)? on with the next", "resumes, continues"),
    (r"unkept|never kept", "not cached, uncacheable"),
    (r"brings?|brought|bringing", "downloads, fetches, installs, copies, contains"),
    (r"(?<!container )(?<!windows )(?<!crates )registr(y|ies)", "the package index"),
    (r"somebody|anybody|nobody|everybody|whoever", "users, another user, callers, the process that, no one"),
    (r"people", "users"),
    (r"(?<!there )(is|are) no (name|version|list|file|folder|checkout|number|address|wheel|document|variable|part|release"
     r"|word|architecture|comparison|text|path|program|digest|header|table|line|tag|URL|JSON|UTF-8|ELF|zip)s?",
     "is not a valid …, is not a …"),
    (r"deserves?", "qualifies for"),
    (r"look(s|ed|ing)? (at|into)", "read, examine, check"),
    (r"in silence|without a word", "silently"),
    (r"what is to be [a-z ]+\?", "no … given"),
    (r"the words of", "the arguments of, the message of"),
    (r"(settings|options) that hold", "effective settings"),
    (r"(stand|stands|stood) (in(?! for)|behind|beside|there|before|below)", "is in, comes after, is beside"),
    (r"(lie|lies|lay) (beside|there|around|flat)", "is beside, is there, is in"),
    (r"(?<!are )all the same(?! (size|length|type|kind))|nevertheless", "anyway"),
    (r"to be had", "available"),
    (r"of ours", "wheelsmith's, built-in, internal"),
    (r"says more(?! than)", "see …"),
    (r"no [a-z]+ (is|are) here", "this machine has no …"),
    (r"(nothing|null|empty|\"\"|'') where", "… if"),
    (r"where there (is|are) (none|no|one)", "if there is …"),
    (r"ends well", "succeeds"),
    (r"hand(s|ed|ing)? on", "pass on, forward"),
    (r"needed files?", "NEEDED libraries"),
    (r"as far as (it|that|they) (is|are|can be) (known|told|seen)", "if known"),
    (r"vouch(es|ed)?", "trust"),
    (r"known are:|it is one of [a-z{]", "known …:, must be one of"),
    (r"(has|have) the last word", "takes precedence"),
    (r"what is there and since when|what goes with|what becomes of", "name the thing"),
    (r"the thing asked about|what was asked about", "name it: the build, the wheel"),
    (r"all is well|something is wrong(?! with)", "no problems found; name the problem"),
    (r"(lead|leads|leading) nowhere", "points to an unused address, does not exist"),
    (r"(is|are|was) at it", "name what the process does"),
    (r"lays? over|laid over(?! by)", "overlay"),
    (r"rivals?", "the tool it is compared with"),
    (r"as (it|they|others) (tell|tells|told)|(artifacts|files) tell", "name the source of the fact"),
    (r"for what is none|that is none|(?<!there )is no (name|label|library|page|version|program)", "if it is invalid, is not a …"),
]
# Only in text that the program prints.
MESSAGE_RULES = [
    (r"(?<!wheel)\b(we|us|our|ours|ourselves)", "name the subject: wheelsmith, the build"),
]

# (file pattern, text around the hit, reason)
ALLOWED = [
    (r".*", r"(clock|time)s? ([a-z]+ )*set back|inode: cannot be set back", "clocks are set back"),
    (r".*", r"nobody:|user nobody|\"nobody\"|/home/somebody", "the Unix user"),
    (r"src/sys/tree_test.cc", r"As Nobody", "the Unix user"),
    (r"src/diagnose/data/packages.tsv", r"registry\.h", "a header"),
    (r"src/diagnose/data/.*", r"images are removed from the registry", "a registry of container images"),
    (r"src/diagnose/line_test.cc", r"'warning: y' is no name", "a message of a compiler"),
    (r"src/source/git/git_failure.cc", r"not our ref", "a message of git"),
    (r"src/zip/check_end.cc", r"where there is no ZIP64", "a place, not a condition"),
    (r"docs/json.md", r"[`\"]registry[`\"]", "a value in the JSON contract"),
    (r"src/report/plan/plan_json.cc", r"^registry$", "a value in the JSON contract"),
]

LITERAL = re.compile(r'R"([^()\\ ]*)\((?P<raw>.*?)\)\1"|"(?P<text>(?:\\.|[^"\\\n])*)"'
                     r"|'(?:\\.|[^'\\\n])+'|(?P<comment>//[^\n]*(?:\n[ \t]*//[^\n]*)*|/\*.*?\*/)", re.S)
TEST = re.compile(r"^TEST(?:_[FP])?\(\w+,\s*(\w+)\)", re.M)
CODE = (".cc", ".h")
DATA = (".toml", ".tsv", ".md", ".js", ".html", ".css", ".sh", ".py", ".txt")


def units_of_code(text):
    """Yields (offset, text, is a message): adjacent literals joined, comment blocks joined, test names as words."""
    parts, start, end = [], 0, 0
    for found in LITERAL.finditer(text):
        piece = found["raw"] if found["raw"] is not None else found["text"]
        if piece is not None:
            if parts and text[end:found.start()].strip() == "":
                parts.append(piece)
            else:
                if parts:
                    yield start, "".join(parts), True
                parts, start = [piece], found.start()
            end = found.end()
        elif found["comment"] is not None:
            yield found.start(), re.sub(r"\n[ \t]*//|^//", " ", found["comment"]), False
    if parts:
        yield start, "".join(parts), True
    for found in TEST.finditer(text):
        yield found.start(), re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", found[1]), False


def units_of_data(text, is_message):
    """Yields paragraphs: consecutive lines that are not blank, without the marks of comments."""
    for found in re.finditer(r"(?:[^\n]*\S[^\n]*\n?)+", text):
        yield found.start(), re.sub(r"\n[ \t]*(?://|#|\*)?", " ", found[0]), is_message


def units_of_patterns(text):
    """Yields what diagnose prints, and comments: the messages of other tools in match and sample are not wheelsmith's."""
    for pattern in tomllib.loads(text).get("pattern", []):
        at = text.find(f'id = "{pattern["id"]}"')
        for printed in [pattern.get("cause", "")] + pattern.get("fix", []) + pattern.get("build-fix", []):
            yield at, printed, True
    for found in re.finditer(r"(?:^#[^\n]*\n)+", text, re.M):
        yield found.start(), found[0].replace("#", " "), False


def units(name, text):
    if name.endswith(CODE):
        return units_of_code(text)
    if name.startswith("src/diagnose/data/") and name.endswith(".toml"):
        return units_of_patterns(text)
    return units_of_data(text, name.startswith("src/"))


def files(root, names):
    for name in names:
        path = root / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and file.suffix in CODE + DATA:
                yield file


def compiled(rules):
    return [(re.compile(rf"(?<![\w-])(?:{phrase})(?![\w-])", re.I), instead) for phrase, instead in rules]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--count", action="store_true")
    arguments.add_argument("root", type=Path, nargs="?", default=Path(__file__).parent.parent)
    arguments.add_argument("names", nargs="*", default=CHECKED)
    given = arguments.parse_args()
    everywhere, in_messages = compiled(RULES), compiled(MESSAGE_RULES)
    allowed = [(re.compile(path), re.compile(around, re.I)) for path, around, _ in ALLOWED]
    hits, counts = 0, Counter()
    for file in files(given.root, given.names):
        name = file.relative_to(given.root).as_posix()
        text = file.read_text(encoding="utf-8", errors="replace")
        for at, unit, is_message in units(name, text):
            unit = " ".join(unit.replace("\\n", "\n").split())
            for rule, instead in everywhere + (in_messages if is_message and not name.endswith("_test.cc") else []):
                for found in rule.finditer(unit):
                    around = unit[max(0, found.start() - 40):found.end() + 40]
                    if any(path.fullmatch(name) and context.search(around) for path, context in allowed):
                        continue
                    hits += 1
                    counts["/".join(name.split("/")[:2])] += 1
                    if not given.count:
                        line = text.count("\n", 0, at) + 1
                        print(f"{name}:{line}: “{found[0]}” (write: {instead}): …{around}…")
    for folder, count in sorted(counts.items()):
        print(f"{count:5} {folder}")
    print(f"{hits} phrases to rewrite")
    sys.exit(1 if hits else 0)


main()
