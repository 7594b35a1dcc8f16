"""Every option and every recipe key in a fix of `diagnose` exists: diagnose_fixes.py WHEELSMITH DATA SCRATCH."""

import pathlib
import re
import subprocess
import sys
import tomllib

wheelsmith, data, scratch = sys.argv[1:]
text = subprocess.run([wheelsmith, "build", "--help"], capture_output=True, text=True, check=True).stdout
options = set(re.findall(r"--[a-z][a-z-]+", text))
# Options after these belong to the compiler, git or another program.
foreign = re.compile(
    r'--env (?:"[^"]*"|\S+)|`[^`]*`|\b(?:git|g\+\+|ldd|python3|cmake|conda|apt-get|nvcc|nvidia-smi) [^#;]*|-Wl,\S+|--container-options=\S+'
)
problems = []
keys = {}


def shape_of(fix):
    """What is wrong with the form of a fix inside `build`, or "": bash parses its options, and each has one value."""
    found = re.search(r"(?:^|: )(--[a-z].*)$", fix)
    if re.search(r"\b(by|with|and|or|the|of|if|to)$", fix) and "# " in fix and not fix.endswith(" with"):
        return "ends in the middle of a sentence"
    if not found:
        return ""
    line = re.split(r"\s+#\s|; | and |, ", re.sub(r"\{[^}]*\}", "VALUE", found[1]))[0]
    parsed = subprocess.run(["bash", "-n", "-c", f"wheelsmith build NAME {line}"], capture_output=True, text=True)
    if parsed.returncode != 0:
        return "bash cannot parse it: " + parsed.stderr.strip()
    given = re.findall(r"(?:^| )(--[a-z][a-z-]*)", line)
    twice = {option for option in given if given.count(option) > 1 and option not in REPEATABLE}
    if twice:
        return f"gives {', '.join(twice)} twice"
    unset = set(re.findall(r"\$([A-Z_]+)", line)) - {"PWD", "HOME", "USER", "CONDA_PREFIX", "LD_LIBRARY_PATH"}
    if unset:
        return f"uses {', '.join(unset)}, which the user's shell need not have"
    if re.search(r"--store (/|/tmp|/var/tmp)(\s|$)", line):
        return "names a folder that all users can write to as the store, which build refuses"
    return ""


REPEATABLE = {"--env", "--container-options", "--mirrors"}
for file in sorted(pathlib.Path(data).glob("*.toml")):
    for row in tomllib.loads(file.read_text()).get("pattern", []):
        for fix in row.get("build-fix", []):
            if shape := shape_of(fix):
                problems.append(f"{row['id']}: {shape}: {fix}")
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", foreign.sub("", fix)):
                if option not in options:
                    problems.append(f"{row['id']}: build has no option {option}: {fix}")
            for table, key in re.findall(r"\[(source|build|test|check)\] ([a-z-]+)", fix):
                keys.setdefault((table, key), row["id"])

# A recipe with each key: the program's own parser says whether it is known.
values = {"requires": '["x"]', "drop-requires": '["x"]', "patches": "[]", "submodules": '["x"]', "config": "{ x = '1' }",
          "provided": '["x"]', "network": "true\nnetwork-why = 'x'"}
folder = pathlib.Path(scratch)
folder.mkdir(parents=True, exist_ok=True)
for (table, key), where in keys.items():
    recipe = 'name = "x"\n[variant.cpu]\n[source]\n' + ('git = "https://example.org/x"\n' if key == "submodules" else 'folder = "."\n')
    line = f"{key} = {values.get(key, chr(34) + 'x' + chr(34))}\n"
    recipe += line if table == "source" else f"[{table}]\n{line}"
    (folder / "x.toml").write_text(recipe)
    run = subprocess.run([wheelsmith, "recipe", "show", "x", "--recipes", folder], capture_output=True, text=True)
    if run.returncode != 0:
        problems.append(f"{where}: [{table}] {key}: {run.stderr.strip()}")
print(*problems, f"{len(keys)} recipe keys, {len(problems)} problems", sep="\n")
sys.exit(bool(problems) or not keys)
