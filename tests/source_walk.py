#!/usr/bin/env python3
"""Checks the walkthrough of one build in ARCHITECTURE.md against the sources: every file exists and defines the functions that the row
names, and no file is visited twice.

usage: source_walk.py [ROOT OF THE SOURCES]
"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
rows = re.findall(r"^\| `(src/[^`|]+\.cc)` \| ([^|]+) \|", (root / "ARCHITECTURE.md").read_text(), re.M)
problems = []
if len(rows) < 20:
    problems.append(f"ARCHITECTURE.md: the table of the walk has {len(rows)} rows; is it still there?")
seen = set()
for file, functions in rows:
    if file in seen:
        problems.append(f"{file} is visited twice")
    seen.add(file)
    if not (root / file).exists():
        problems.append(f"{file} does not exist")
        continue
    text = (root / file).read_text()
    for function in re.findall(r"`([\w:]+)`", functions):
        # Its definition: a type before the name, parameters after it, and no semicolon before the body.
        if not re.search(rf"^[ \w][\w:<>,&* \[\]]*[ &*>]{re.escape(function)}\([^;{{}}]*\)[\w ]*(?::[^;]*)?{{", text, re.M):
            problems.append(f"{file} does not define {function}")
print("\n".join(problems) or f"the walk visits {len(rows)} files")
sys.exit(1 if problems else 0)
