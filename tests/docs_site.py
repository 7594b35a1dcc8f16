"""docs_site.py SITE COMMANDS: every link and anchor of the site leads somewhere, nothing is loaded from elsewhere, tags are
closed, each command of COMMANDS (`wheelsmith help --json`) has a page, and the search knows all pages."""
import json
import os
import pathlib
import sys
from html.parser import HTMLParser

site = pathlib.Path(sys.argv[1])
problems = []


class Links(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.path, self.links, self.ids, self.open = path, [], [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.links += [attributes[name] for name in ("href", "src") if name in attributes]
        self.ids += [attributes["id"]] if "id" in attributes else []
        if tag not in ("meta", "link", "img", "input", "br", "hr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            problems.append(f"{self.path}: {tag} is closed where it is not open, after {self.ids[-1:]}")


pages = {}
for path in sorted(site.rglob("*.html")):
    pages[path] = Links(path)
    if path.name == "example-report.html":  # has tests of its own
        continue
    pages[path].feed(path.read_text())
    if len(pages[path].ids) != len(set(pages[path].ids)):
        problems.append(f"{path}: an id occurs twice")
assert len(pages) > 50, len(pages)
for path, page in pages.items():
    for link in page.links:
        target, _, anchor = link.partition("#")
        if ":" in target:
            if not target.startswith("https://"):
                problems.append(f"{path}: {link}")
            continue
        file = pathlib.Path(os.path.normpath(path.parent / target)) if target else path
        if not file.exists():
            problems.append(f"{path}: {link} leads nowhere")
        elif anchor and anchor not in pages[file].ids:
            problems.append(f"{path}: {link}: no such anchor")
# Nothing is loaded from elsewhere.
for path in list(pages) + list(site.glob("site/*")):
    if path.suffix in (".html", ".css", ".js") and path.name not in ("index.js", "example-report.html"):
        for loaded in ("<script src=\"http", "<link rel=\"stylesheet\" href=\"http", "<img src=\"http", "@import", "url(http"):
            if loaded in path.read_text():
                problems.append(f"{path}: loads {loaded}")
# Each command has a page, and the search knows it.
index = json.loads((site / "site/index.js").read_text().removeprefix("window.wheelsmithIndex = ").removesuffix(";\n"))
addresses = {entry[2].partition("#")[0] for entry in index}
for command in json.loads(pathlib.Path(sys.argv[2]).read_text())["commands"]:
    words = command["path"].split()
    if len(words) == 2 and f"commands/{words[1]}.html" not in addresses:
        problems.append(f"{command['path']} has no page")
for path in pages:
    if path.name != "example-report.html" and str(path.relative_to(site)) not in addresses:
        problems.append(f"{path}: not in the index of the search")
print("\n".join(problems) or f"{len(pages)} pages, {len(index)} entries")
sys.exit(1 if problems else 0)
