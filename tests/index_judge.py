"""index_judge.py FOLDER [PLACE]: reads an index as the standards describe it, with Python's own HTML and JSON parsers, and prints
{"projects": {name: {file name: facts}}, "sums": n}. Fails when HTML and JSON disagree, a link does not lead to its file, a
hash or size is wrong, an anchor is neither a project nor a file, or a sidecar is not the wheel's METADATA.
"""
import hashlib
import html.parser
import json
import os
import sys
import urllib.parse
import zipfile

from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.meta, self.text = [], {}, None
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "a":
            self.anchors.append([values, ""])
            self.text = True
        if tag == "meta":
            self.meta[values.get("name")] = values.get("content")
        for name in ("src", "onclick", "onerror", "onload"):
            assert name not in values, (tag, values)
        assert tag not in ("base", "iframe", "link", "img"), tag

    def handle_endtag(self, tag):
        if tag == "a":
            self.text = None

    def handle_data(self, data):
        if self.text:
            self.anchors[-1][1] += data


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def metadata_of(path):
    with zipfile.ZipFile(path) as archive:
        return archive.read(next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA")))


def file_of(url, folder, root):
    assert "://" not in url, url
    path = os.path.normpath(os.path.join(folder, urllib.parse.unquote(url)))
    assert path.startswith(root + os.sep), (url, path)
    assert os.path.isfile(path), path
    return path


def judge_project(root, folder, name):
    page = Page(os.path.join(folder, "index.html"))
    with open(os.path.join(folder, "index.v1_json"), encoding="utf-8") as file:
        data = json.load(file)
    assert page.meta["pypi:repository-version"] == data["meta"]["api-version"] == "1.4"
    assert data["name"] == name == canonicalize_name(name)
    assert page.meta.get("pypi:project-status") == data.get("project-status", {}).get("status")
    assert [text for _, text in page.anchors] == [item["filename"] for item in data["files"]], name
    versions, result = [], {}
    for (anchor, text), item in zip(page.anchors, data["files"]):
        url, _, fragment = anchor["href"].partition("#")
        assert url == item["url"] and fragment == "sha256=" + item["hashes"]["sha256"]
        path = file_of(url, folder, root)
        assert os.path.basename(path) == text
        assert digest(path) == item["hashes"]["sha256"] and os.path.getsize(path) == item["size"]
        facts = {"requires": item.get("requires-python"), "yanked": item.get("yanked"), "time": item.get("upload-time")}
        if text.endswith("-variants.json"):
            assert "core-metadata" not in item
            result[text] = facts
            continue
        if text.endswith(".whl") and "-" not in text.rsplit(".", 1)[0].replace("-", "", 4):
            project, version = parse_wheel_filename(text)[:2]
            assert project == name
        elif text.endswith(".whl"):
            version = Version(text.split("-")[1])
        else:
            project, version = parse_sdist_filename(text)
            assert project == name
        versions.append(version)
        assert anchor.get("data-requires-python") == item.get("requires-python")
        assert anchor.get("data-yanked") == (None if item["yanked"] is False else "" if item["yanked"] is True else item["yanked"])
        assert ("data-provenance" in anchor) == (item["provenance"] is not None)
        if text.endswith(".whl") and "core-metadata" in item:
            assert anchor["data-core-metadata"] == anchor["data-dist-info-metadata"] == "sha256=" + item["core-metadata"]["sha256"]
            assert item["core-metadata"] == item["dist-info-metadata"]
            with open(path + ".metadata", "rb") as file:
                sidecar = file.read()
            assert sidecar == metadata_of(path) and hashlib.sha256(sidecar).hexdigest() == item["core-metadata"]["sha256"]
        else:
            assert "data-core-metadata" not in anchor and "core-metadata" not in item
        result[text] = facts
    assert versions == sorted(versions, reverse=True), versions
    told = [Version(version) for version in data["versions"]]
    assert told == sorted(told) and set(told) == set(versions) and len(set(data["versions"])) == len(told)
    return result


def main():
    root = os.path.realpath(sys.argv[1])
    place = os.path.join(root, sys.argv[2]) if len(sys.argv) > 2 else root
    page = Page(os.path.join(place, "index.html"))
    with open(os.path.join(place, "index.v1_json"), encoding="utf-8") as file:
        data = json.load(file)
    names = [item["name"] for item in data["projects"]]
    listed = [(anchor, text) for anchor, text in page.anchors if "#" not in anchor["href"]]
    assert [text for _, text in listed] == names == sorted(names)
    assert [anchor["href"] for anchor, _ in listed] == [name + "/" for name in names]
    projects = {name: judge_project(root, os.path.join(place, name), name) for name in names}
    loose = [text for anchor, text in page.anchors if "#" in anchor["href"]]
    print(json.dumps({"schema": 1, "projects": projects, "files_on_root": loose}))


main()
