"""compact.py PACKAGE PLAN.json SCRIPT DOCTOR.json: a plan and a doctor's report as lines that a reviewer can read.

Of the steps that others of PACKAGE need only the id and the key are shown: they have files of their own."""
import hashlib
import json
import sys

package, plan_file, script_file, doctor_file = sys.argv[1:]


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def one_line(value):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text.replace("\n", "\\n")


def show(name, value):
    if value in (None, "", [], {}):
        return
    if isinstance(value, dict):
        for key, item in value.items():
            show(f"{name} {key}", item) if isinstance(item, list) else print(f"  {name} {key} = {one_line(item)}")
    elif isinstance(value, list):
        for item in value:
            print(f"  {name} {one_line(item)}")
    else:
        print(f"  {name} {one_line(value)}")


def show_step(step):
    print(f"step {step['id']}")
    show("key", step["key"])
    show("skipped", step.get("skipped"))
    for name in ("needs", "companions", "optional"):
        show(name, step.get(name, []))
    if step["package"] != package:
        return
    if step["skipped"]:
        return
    show("version", step["version"])
    source = step["source"]
    submodules = source.pop("submodules", None)
    show("source", source)
    show("submodules", ["(none)"] if submodules == [] else submodules)
    for name in ("torch", "cuda", "rocm", "platform", "build_type", "compiler"):
        show(name, step.get(name))
    show("network", "on" if step["network"] else None)
    show("requires", step["requirements"])
    show("locked", [f"{one['name']} {one['version']}" for one in step["locked"]])
    for name in ("patches", "fetches", "files", "prepare", "programs", "environment", "volatile_environment", "config", "options",
                 "checks", "tests", "checklist", "runtime", "assumptions", "forecast"):
        show(name, step.get(name))


plan = load(plan_file)
if "error" in plan:
    print(f"plan is refused: {one_line(plan['error'])}")
for note in plan.get("notes", []):
    print(f"note {one_line(note)}")
for step in plan["steps"]:
    show_step(step)
with open(script_file, "rb") as file:
    script = file.read()
# The head is the same for all, and has its own tests.
start = script.find(b"\nstep_1()")
if start >= 0:
    print(f"script {hashlib.sha256(script[start:]).hexdigest()}")
elif "error" not in plan and any(not step["skipped"] for step in plan["steps"]):
    sys.exit(f"{package}: there is a plan, but no script of it")
doctor = load(doctor_file)
if "error" in doctor:
    print(f"doctor is refused: {one_line(doctor['error'])}")
for check in doctor["checks"]:
    parts = [one_line(check[key]) for key in ("found", "wanted") if check[key]]
    parts += [f"{key}: {one_line(check[key])}" for key in ("why", "fix") if check[key]]
    print(f"{check['state']} {check['step'] or check['package']} {check['id']}: {' | '.join(parts)}")
