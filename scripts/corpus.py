"""The stored corpora of the fuzz targets: fuzz/corpus/X.hex, one input per line, as hex; '#' starts a comment.

    corpus.py unpack X.hex FOLDER            writes each input as a file
    corpus.py unpack-written X.hex FOLDER    only hand-written ones
    corpus.py pack X.hex FOLDER              rewrites X.hex with the folder's additions

Hand-written inputs (all above the mark) stay unchanged, including comments; below the mark are inputs found by `make fuzz`, small
ones first, up to a size limit for git.
"""
import hashlib
import os
import sys

MARK = "# Found by `make fuzz`, minimised; written by scripts/corpus.py."
MOST_PER_INPUT = 4096
MOST_FOUND = 96 << 10  # characters of hex


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        return file.read().splitlines()


def input_of(line):
    """The bytes of a line, or nothing for a comment. An empty line is the empty input."""
    return None if line.startswith("#") else bytes.fromhex(line)


def unpack(path, folder, lines=lines_of):
    os.makedirs(folder, exist_ok=True)
    for line in lines(path):
        data = input_of(line)
        if data is not None:
            with open(os.path.join(folder, hashlib.sha1(data).hexdigest()), "wb") as file:
                file.write(data)


def written(path):
    lines = lines_of(path)
    return lines[: lines.index(MARK)] if MARK in lines else lines


def pack(path, folder):
    kept = written(path)
    known = {input_of(line) for line in kept}
    found = []
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        if data not in known and 0 < len(data) <= MOST_PER_INPUT:
            found.append(data)
    lines, size = [], 0
    for data in sorted(found, key=lambda data: (len(data), data)):
        size += 2 * len(data) + 1
        if size > MOST_FOUND:
            break
        lines.append(data.hex())
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(kept + ([MARK] + lines if lines else [])) + "\n")
    print(f"{os.path.basename(path)}: {len(lines)} of {len(found)} found inputs kept")


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "unpack":
        unpack(*arguments)
    elif command == "unpack-written":
        unpack(*arguments, lines=written)
    else:
        pack(*arguments)
