"""report_judge.py PAGE.html: reads a report as a browser would, fails on any markup that is not ours, and prints the
document that it contains."""
import base64
import hashlib
import html.parser
import json
import re
import sys


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.scripts, self.styles, self.open, self.tags, self.policy = [], [], None, {}, ""

    def handle_starttag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        attributes = dict(attributes)
        for name, value in attributes.items():
            assert not name.startswith("on"), f"a handler in the markup: {tag} {name}"
            assert name not in ("src", "srcset", "action", "background"), f"{tag} loads {value}"
            if name == "href":
                assert value.startswith("#"), f"{tag} leads to {value}"
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        if tag in ("script", "style"):
            self.open = [tag, attributes, ""]

    def handle_data(self, text):
        if self.open:
            self.open[2] += text

    def handle_endtag(self, tag):
        if self.open and self.open[0] == tag:
            (self.scripts if tag == "script" else self.styles).append(self.open)
            self.open = None


with open(sys.argv[1], encoding="utf-8", newline="") as file:
    text = file.read()
page = Page()
page.feed(text)
page.close()
assert page.open is None, "something is not closed"
assert len(page.scripts) == 2 and len(page.styles) == 1, page.tags
assert not {"img", "iframe", "link", "object", "embed", "form", "base"} & set(page.tags), page.tags
assert not re.search(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", page.scripts[1][2] + page.styles[0][2]), "an address of another place"
assert "innerHTML" not in re.sub(r"//.*", "", page.scripts[1][2]), "markup made of text"


def source_hash(part):
    return "'sha256-" + base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() + "'"


assert page.policy.startswith("default-src 'none'"), page.policy
assert "script-src " + source_hash(page.scripts[1][2]) in page.policy, "the script is not the one of the policy"
assert "style-src " + source_hash(page.styles[0][2]) in page.policy, "the style is not the one of the policy"
assert "unsafe" not in page.policy
kind, attributes, data = page.scripts[0]
assert attributes == {"type": "application/json", "id": "data"}, attributes
assert not re.search("[<>&]", data), "the data have characters of markup"
json.dump(json.loads(data), sys.stdout)
