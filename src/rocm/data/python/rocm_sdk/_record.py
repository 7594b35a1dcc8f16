"""Installed packages as their installer wrote them down, and RECORD, by which it uninstalls them.

What rocm-sdk makes in site-packages (the expanded devel package, links of device packages) is written into the RECORD of
the package that it came from, before it is made: so `pip uninstall` removes it, also after a process was killed. Rows
for files that are not there harm nobody.
"""

from __future__ import annotations

import csv
import io
import os
import re
from pathlib import Path


def normal_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


class Installed:
    """A .dist-info folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.name, self.version = "", ""
        try:
            with open(folder / "METADATA", encoding="utf-8", errors="replace") as file:
                for line in file:
                    key, _, value = line.partition(":")
                    if key == "Name":
                        self.name = value.strip()
                    elif key == "Version":
                        self.version = value.strip()
                    if not line.strip():
                        break
        except OSError:
            pass

    @property
    def record(self) -> Path:
        return self.folder / "RECORD"

    def rows(self) -> list[list[str]]:
        with open(self.record, encoding="utf-8", newline="") as file:
            return [row for row in csv.reader(file) if row]

    def paths(self) -> set[str]:
        """What it owns, relative to site-packages; nothing where no RECORD tells."""
        try:
            return {row[0] for row in self.rows()}
        except OSError:
            return set()

    def change(self, scratch: Path, add=(), remove=()) -> None:
        """Adds and removes rows, once each. The new RECORD is written as `scratch` first and takes the old one's
        place whole: a RECORD that is cut off would leave files behind for ever, and one that is a hard link into an
        installer's cache must not be written into."""
        gone = set(remove)
        seen = set()
        rows = []
        for row in self.rows():
            if row[0] not in gone and row[0] not in seen:
                seen.add(row[0])
                rows.append(row)
        rows += [[path, "", ""] for path in add if path not in seen and path not in gone]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        with open(scratch, "w", encoding="utf-8", newline="") as file:
            file.write(text.getvalue())
        os.replace(scratch, self.record)


def installed_in(site: Path, pattern: str = "rocm") -> list[Installed]:
    """Packages whose names begin so, by name."""
    found = []
    try:
        names = sorted(os.listdir(site))
    except OSError:
        return []
    for name in names:
        if name.endswith(".dist-info") and normal_name(name).startswith(pattern):
            package = Installed(site / name)
            if normal_name(package.name).startswith(pattern):
                found.append(package)
    return found


def find_installed(site: Path, name: str) -> Installed | None:
    wanted = normal_name(name)
    for package in installed_in(site, wanted):
        if normal_name(package.name) == wanted:
            return package
    return None
