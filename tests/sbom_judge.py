"""Judges the bill of materials of wheels: sbom_judge.py WHEEL… prints one line for each.

The schema and the strict validator are those of cyclonedx-python-lib, package URLs are read by packageurl-python, and
RECORD is read by the standard library's csv module.
"""

import base64
import csv
import hashlib
import io
import json
import sys
import zipfile


def fail(what):
    sys.exit(f"FAILED: {what}")


def judge(path):
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator
    from packageurl import PackageURL

    wheel = zipfile.ZipFile(path)
    folder = next(n for n in wheel.namelist() if n.endswith(".dist-info/RECORD")).removesuffix("RECORD")
    name = folder + "sboms/wheelsmith.cdx.json"
    text = wheel.read(name)
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text.decode())
    if error:
        fail(f"{path}: {error}")
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(wheel.read(folder + "RECORD").decode()))}
    digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
    if rows.get(name) != [f"sha256={digest}", str(len(text))]:
        fail(f"{path}: RECORD says {rows.get(name)}")

    bom = json.loads(text)
    main = bom["metadata"]["component"]
    used = bom["formulation"][0]["components"]
    for component in [main, *bom["components"], *used]:
        if "purl" in component:
            url = PackageURL.from_string(component["purl"])
            if (url.version or "") != component.get("version", ""):
                fail(f"{path}: {component['purl']} is not version {component.get('version')}")
    for component in bom["components"]:
        inside = next(p["value"] for p in component["properties"] if p["name"] == "wheelsmith:path")
        if hashlib.sha256(wheel.read(inside)).hexdigest() != component["hashes"][0]["content"]:
            fail(f"{path}: the hash of {inside}")
    identity = PackageURL.from_string(main["purl"])
    file_name = path.rsplit("/", 1)[-1].split("-")
    if (identity.type, identity.name.replace("-", "_"), identity.version) != ("pypi", file_name[0], file_name[1]):
        fail(f"{path}: the purl is {main['purl']}")
    print(main["name"], main["version"], "with", *sorted(c["name"] for c in used),
          "bundles", *sorted(c["name"] for c in bom["components"]))


for argument in sys.argv[1:]:
    judge(argument)
