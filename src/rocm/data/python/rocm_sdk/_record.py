"""Installed packages and their RECORD, the list of files that an installer removes when it uninstalls a package.

Files that rocm-sdk creates in site-packages (the expanded devel package, links of device packages) are added to the RECORD
of their package before they are created. So `pip uninstall` removes them even after a process was killed. Rows for files
that do not exist are harmless.
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
        """The files of the package, relative to site-packages; empty if it has no RECORD."""
        try:
            return {row[0] for row in self.rows()}
        except OSError:
            return set()

    def change(self, scratch: Path, add=(), remove=()) -> None:
        """Adds and removes rows; each path is listed once. The new RECORD is written to `scratch` and renamed: a
        truncated RECORD would leave files behind after an uninstallation, and one that is a hard link into an
        installer's cache must not be modified."""
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
    """Packages whose names begin with `pattern`, sorted by name."""
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
