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
for file in sorted(pathlib.Path(data).glob("*.toml")):
    for row in tomllib.loads(file.read_text()).get("pattern", []):
        for fix in row.get("build-fix", []):
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
