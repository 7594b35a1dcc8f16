#!/usr/bin/env python3
"""Compiles each source separately, syntax only, and shows those that fail.

In a unity build with precompiled headers, a source that lacks an include may still compile thanks to its neighbours. Here it has
neither. Reads the commands of a build folder configured for that.

usage: check_sources.py BUILD_FOLDER [FILE OR FOLDER]...
"""
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

build, *wanted = map(Path, sys.argv[1:])
root = Path(__file__).resolve().parent.parent
wanted = [path.resolve() for path in wanted] or [root / name for name in ("src", "fuzz", "bench")]


def check(entry):
    words = shlex.split(entry["command"])
    at = words.index("-o")
    command = words[:at] + words[at + 2:] + ["-fsyntax-only"]
    return entry["file"], subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)


entries = {}
for entry in json.loads((build / "compile_commands.json").read_text()):
    file = Path(entry["file"])
    if file.suffix == ".cc" and any(file.is_relative_to(path) for path in wanted):
        entries[file] = entry  # replay_main.cc is part of every fuzz target; once is enough
failed = 0
with ThreadPoolExecutor(os.cpu_count()) as pool:
    for file, result in pool.map(check, entries.values()):
        if result.returncode != 0:
            failed += 1
            print(f"{Path(file).relative_to(root)} does not compile by itself:\n{result.stderr}")
print(f"{len(entries)} sources compiled separately, {failed} failed")
sys.exit(1 if failed or not entries else 0)
