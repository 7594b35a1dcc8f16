"""Benchmark of `index` and `serve`, against dumb-pypi in the same run.

    bench/index.py [--wheels 20000] [--keep DIR]

Creates a folder of small wheels (ten per project), then measures:
  first      all wheels hashed, all pages and sidecars written
  unchanged  the same again: goal under 10 s and at least 10 times faster than dumb-pypi with its own list unchanged
  changed    one wheel replaced: goal under 0.5 s
  serve      pages and a file over loopback, by wrk or ab if installed
dumb-pypi (from the package index) reads a prepared list of names with hashes, so its time does not include hashing. It is skipped
when the package index is not reachable.
"""
import argparse
import base64
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WHEELSMITH = os.environ.get("WHEELSMITH") or os.path.join(ROOT, "build", "wheelsmith")


def wheel_bytes(name, version, salt=b""):
    """A valid, uncompressed wheel of a few kilobytes: only the number of wheels matters here."""
    info = f"{name}-{version}.dist-info"
    members = {
        f"{name}/__init__.py": b"value = 1\n" * 200 + salt,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: >=3.9\nSummary: one of many\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}\n" for path, data in members.items()
    )
    members[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, data in members.items():
            archive.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), data)
    return out.getvalue()


def make_wheels(folder, count):
    os.makedirs(folder, exist_ok=True)
    listed = []
    for number in range(count):
        name, version = f"project_{number // 10:05}", f"1.{number % 10}.0"
        data = wheel_bytes(name, version)
        file = f"{name}-{version}-py3-none-any.whl"
        with open(os.path.join(folder, file), "wb") as out:
            out.write(data)
        listed.append({"filename": file, "hash": "sha256=" + hashlib.sha256(data).hexdigest(), "requires_python": ">=3.9", "core_metadata": "true"})
    return listed


def timed(command, **options):
    start = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, **options)
    return time.monotonic() - start, done.stdout


def ours(folder, *words):
    seconds, output = timed([WHEELSMITH, "index", folder, "--json", *words])
    return seconds, json.loads(output)


def dumb_pypi(work, listed):
    """Seconds of its second run on the same list, or nothing when it cannot be installed."""
    venv = os.path.join(work, "venv")
    try:
        subprocess.run([sys.executable, "-m", "venv", venv], check=True, capture_output=True)
        subprocess.run([f"{venv}/bin/pip", "install", "--quiet", "dumb-pypi"], check=True, capture_output=True, timeout=300)
    except (subprocess.SubprocessError, OSError):
        return None
    with open(os.path.join(work, "list.jsonl"), "w") as out:
        out.writelines(json.dumps(item) + "\n" for item in listed)
    command = [f"{venv}/bin/dumb-pypi", "--package-list-json", f"{work}/list.jsonl", "--packages-url", "../../", "--output-dir", f"{work}/dumb"]
    subprocess.run(command, check=True, capture_output=True)
    return min(timed(command)[0] for _ in range(2))


def load(folder):
    """Requests per second for a project's page and for a file, by wrk (or ab); nothing without either."""
    server = subprocess.Popen([WHEELSMITH, "serve", folder, "--listen", "127.0.0.1:0", "--json", "--quiet"], stdout=subprocess.PIPE, text=True)
    text = ""
    for line in server.stdout:
        text += line
        if line == "}\n":
            break
    url = json.loads(text)["url"]
    big = os.path.join(folder, "large-1.0.tar.gz")
    with open(big, "wb") as out:
        out.write(os.urandom(1 << 20) * 200)
    results = {}
    try:
        for what, path in [("project page (HTML)", "project-00007/"), ("wheel of 3 kB", "project_00007-1.0.0-py3-none-any.whl")]:
            if shutil.which("wrk"):
                output = subprocess.run(["wrk", "-t2", "-c64", "-d5s", url + path], check=True, capture_output=True, text=True).stdout
                results[what] = float(output.split("Requests/sec:")[1].split()[0])
                assert "Non-2xx" not in output, output
            elif shutil.which("ab"):
                output = subprocess.run(["ab", "-q", "-k", "-n", "50000", "-c", "64", url + path], check=True, capture_output=True, text=True).stdout
                results[what] = float(output.split("Requests per second:")[1].split()[0])
                assert "Failed requests:        0" in output, output
        start = time.monotonic()
        subprocess.run(["curl", "-sf", "-o", os.devnull, url + "large-1.0.tar.gz"], check=True)
        results["one file of 210 MB, GB/s"] = 0.2097152 / (time.monotonic() - start)
    finally:
        os.remove(big)
        server.send_signal(signal.SIGTERM)
        if server.wait(timeout=30) != 0:
            raise SystemExit("serve failed")
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheels", type=int, default=20_000)
    parser.add_argument("--keep", help="create the folder there, and keep it")
    options = parser.parse_args()
    work = options.keep or tempfile.mkdtemp(prefix="bench-index-")
    folder = os.path.join(work, "wheels")
    misses = 0
    try:
        listed = make_wheels(folder, options.wheels)
        time.sleep(0.1)
        first, result = ours(folder)
        assert result["hashed"] == result["files"] == options.wheels, result
        ours(folder)  # files that were new when hashed are read once more
        runs = [ours(folder) for _ in range(5)]
        unchanged = min(seconds for seconds, _ in runs)
        assert runs[-1][1]["hashed"] == runs[-1][1]["written"] == 0, runs[-1][1]
        changed = float("inf")
        for turn in range(3):
            with open(os.path.join(folder, "project_00007-1.3.0-py3-none-any.whl"), "wb") as out:
                out.write(wheel_bytes("project_00007", "1.3.0", b"changed = %d\n" % turn))
            time.sleep(0.1)
            seconds, result = ours(folder)
            changed = min(changed, seconds)
            assert result["hashed"] == 1 and result["written"] > 0, result
        dumb = dumb_pypi(work, listed)
        print(f"  first run, {options.wheels} wheels                {first:8.3f} s")
        lines = [("none changed", unchanged, "< 10 s", unchanged < 10), ("one changed", changed, "< 0.5 s", changed < 0.5)]
        for what, seconds, goal, holds in lines:
            misses += not holds
            print(f"  {'ok    ' if holds else 'MISSED'} {what:<30} {seconds:8.3f} s  (goal {goal})")
        if dumb is None:
            print("  dumb-pypi: skipped, the package index is not reachable")
        else:
            misses += dumb / unchanged < 10
            print(f"  {'ok    ' if dumb / unchanged >= 10 else 'MISSED'} dumb-pypi, none changed        {dumb:8.3f} s, {dumb / unchanged:.0f} times ours  (goal >= 10)")
        for what, value in load(folder).items():
            print(f"         serve: {what:<30} {value:10.1f}{'' if 'GB/s' in what else ' requests/s'}")
    finally:
        if not options.keep:
            shutil.rmtree(work, ignore_errors=True)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
