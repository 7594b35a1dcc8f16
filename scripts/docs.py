#!/usr/bin/env python3
"""Makes the documentation's site: static pages that can be read from a disk, without a server and without network.

usage: scripts/docs.py OUT [--program WHEELSMITH [--picture]]

docs/README.md is the table of contents: its headings and lists become the navigation, in that order. Each page is Markdown as
code hosts show it (cmark-gfm, a Debian package, turns it into HTML). This script adds what a site needs: anchors, navigation,
links between pages, an index for the search. The pages of the commands are made from what the program says of itself
(`wheelsmith help --json`), the same description that help, completion and manual pages come from.
"""
import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Pages whose place in the site does not follow from their name: those of the repository's root, the table of contents, which is
# the site's first page, and the one that would have that name.
PLACES = {"README.md": "about.html", "ARCHITECTURE.md": "architecture.html", "CONTRIBUTING.md": "contributing.html",
          "CHANGELOG.md": "changelog.html", "docs/README.md": "index.html", "docs/index.md": "package-index.html"}


def slug(heading):
    """The anchor that code hosts give to a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.lower())
    return kept.replace(" ", "-")


class Slugs:
    """Anchors of one page: a heading that occurs again is counted."""

    def __init__(self):
        self.seen = {}

    def next(self, heading):
        name = slug(heading)
        count = self.seen.get(name, 0)
        self.seen[name] = count + 1
        return name if count == 0 else f"{name}-{count}"


def plain(markup):
    return html.unescape(re.sub(r"<[^>]+>", "", markup)).strip()


class Page:
    def __init__(self, source, place):
        self.source = source  # relative to the repository; None for a generated page
        self.place = place    # relative to the site, ends in .html
        self.title = ""
        self.body = ""
        self.headings = []    # (level, anchor, text)

    def root(self):
        return "../" * self.place.count("/")

    def link_to(self, other):
        return os.path.relpath(other, Path(self.place).parent or ".")


def to_html(text):
    return subprocess.run(["cmark-gfm", "-e", "table", "-e", "autolink", "--width", "0"], input=text, text=True, check=True,
                          capture_output=True).stdout


def site_place(source):
    """docs/guides/gpu.md -> guides/gpu.html"""
    return PLACES.get(source) or source.removeprefix("docs/").removesuffix(".md") + ".html"


def contents():
    """[(section, [source])] and {source: label} as docs/README.md lists them. Pages that it does not list come last, so that
    none is lost."""
    sections, listed = [], {}
    for line in (ROOT / "docs/README.md").read_text().splitlines():
        if line.startswith("## "):
            sections.append((line[3:].strip(), []))
        elif match := re.match(r"\s*- \[([^\]]+)\]\(([^)#]+\.md)\)", line):
            source = os.path.normpath(os.path.join("docs", match.group(2)))
            if sections and source not in listed and (ROOT / source).exists():
                sections[-1][1].append(source)
                listed[source] = match.group(1)
    rest = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
    rest = [source for source in rest if source not in listed and source != "docs/README.md"]
    if rest:
        sections.append(("More", rest))
    return [section for section in sections if section[1]], listed


def add_anchors(page, body):
    slugs = Slugs()

    def anchor(match):
        level, text = int(match.group(1)), match.group(2)
        name = slugs.next(plain(text))
        page.headings.append((level, name, plain(text)))
        here = f' <a class="here" href="#{name}" aria-label="Link to this section">#</a>' if level > 1 else ""
        return f'<h{level} id="{name}">{text}{here}</h{level}>'

    return re.sub(r"<h([1-4])>(.*?)</h\1>", anchor, body, flags=re.S)


def rewrite_links(page, body, commands, findings=()):
    folder = Path(page.source).parent

    def link(match):
        address = html.unescape(match.group(1))
        if re.match(r"[a-z]+:|#|example-report\.html$", address):
            return match.group(0)
        path, _, fragment = address.partition("#")
        source = os.path.normpath(folder / path)
        if source.endswith(".md") and (source.startswith("docs/") or source in PLACES) and (ROOT / source).exists():
            target = page.link_to(site_place(source))
            return f'<a href="{html.escape(target + ("#" + fragment if fragment else ""))}"'
        return '<a class="file"'  # a file of the repository, which the site does not hold

    body = re.sub(r'<a href="([^"]*)"', link, body)
    body = re.sub(r'<a class="file">(.*?)</a>', r"\1", body, flags=re.S)

    def image(match):
        source = os.path.normpath(folder / html.unescape(match.group(1)))
        return f'<img src="{page.link_to(source.removeprefix("docs/"))}"'

    body = re.sub(r'<img src="([^"]*)"', image, body)

    # `wheelsmith build` in a sentence or a table leads to the command's page.
    def command(match):
        words = html.unescape(match.group(1)).split()
        place = commands.get(" ".join(words))
        return f'<a href="{page.link_to(place)}">{match.group(0)}</a>' if place else match.group(0)

    def finding(match):
        return f'<a href="{page.link_to("findings.html")}#{match.group(1)}">{match.group(0)}</a>' \
            if match.group(1) in findings and page.place != "findings.html" else match.group(0)

    parts = re.split(r"(<pre>.*?</pre>|<a .*?</a>|<h[1-4].*?</h[1-4]>)", body, flags=re.S)
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"<code>(wheelsmith [a-z ]+)</code>", command, parts[index])
        parts[index] = re.sub(r"<code>([a-z0-9-]+)</code>", finding, parts[index])
    return "".join(parts)


def dress(body):
    """Tables scroll by themselves; a short word of code, like --out, is not broken at its hyphens."""
    body = re.sub(r"(?<!<pre>)<code>([^<\s]{1,28})</code>", r'<code class="word">\1</code>', body)
    return body.replace("<table>", '<div class="table"><table>').replace("</table>", "</table></div>")


def read_commands(program):
    text = subprocess.run([program, "help", "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(text)["commands"]


def code(text):
    """Text of a command's description: what stands between backquotes is code, and a page that it names is a link."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
    return re.sub(r"docs/[\w/-]+\.md", lambda match: f'<a href="../{site_place(match.group())}">{match.group()}</a>', text)


def option_rows(options):
    rows = []
    for option in options:
        name = ", ".join(part for part in (option["short"], option["name"]) if part)
        if option["argument"]:
            name += " " + option["argument"]
        text = code(option["text"])
        if option["choices"] and ", ".join(option["choices"]) not in option["text"]:
            text += ": " + ", ".join(f"<code>{html.escape(choice)}</code>" for choice in option["choices"])
        if option["repeatable"] and option["argument"]:
            text += "; repeatable"
        if option["default"]:
            text += f' [default: <code>{html.escape(option["default"])}</code>]'
        rows.append(f"<tr><td><code>{html.escape(name)}</code></td><td>{text}</td></tr>")
    return "<table>" + "".join(rows) + "</table>"


def details_html(text):
    """Paragraphs; lines that are indented are shown as they stand."""
    result, paragraph, literal = [], [], []

    def flush():
        if paragraph:
            result.append("<p>" + code(" ".join(paragraph)) + "</p>")
        if literal:
            shift = min(len(line) - len(line.lstrip()) for line in literal if line)
            result.append("<pre><code>" + html.escape("\n".join(line[shift:] for line in literal).rstrip(), quote=False)
                          + "</code></pre>")
        paragraph.clear(), literal.clear()

    for line in text.splitlines():
        if line.startswith(" "):
            if paragraph:
                flush()
            literal.append(line)
        elif not line:
            flush()
        else:
            if literal:
                flush()
            paragraph.append(line)
    flush()
    return "".join(result)


def command_body(command, level):
    heading = f"<h{level}>{html.escape(command['path'])}</h{level}>"
    usage = command["path"] + (" [OPTIONS]" if command["options"] else "")
    for argument in command["arguments"]:
        name = argument["name"] + ("..." if argument["repeatable"] else "")
        usage += f" {name}" if argument["required"] else f" [{name}]"
    parts = [heading, "<p>" + code(command["summary"]) + ("" if command["summary"].endswith(".") else ".") + "</p>",
             "<pre><code>" + html.escape(usage, quote=False) + "</code></pre>", details_html(command["details"])]
    if command["arguments"]:
        parts += [f"<h{level + 1}>Arguments</h{level + 1}>", option_rows(command["arguments"])]
    groups = list(dict.fromkeys(option["group"] for option in command["options"]))
    for group in groups:
        title = "Options" if len(groups) == 1 else group
        parts += [f"<h{level + 1}>{html.escape(title)}</h{level + 1}>",
                  option_rows([option for option in command["options"] if option["group"] == group])]
    return "".join(parts)


def findings_page():
    """What `check --explain` says, as one page."""
    texts = []
    for path in sorted((ROOT / "src/wheel/data").glob("explanations*.md")):
        text = "\n" + path.read_text()
        texts.append(text[text.index("\n## "):])  # what stands before is for those who edit the file
    page = Page("docs/check.md", "findings.html")
    page.title = "Findings"
    intro = ("# Findings\n\n    wheelsmith check --explain ID\n\nThis page lists the findings of `check`, `build`, `index` and other "
             "commands by their id. [Check a wheel](check.md) explains severities.\n")
    page.body = to_html(intro + "".join(texts))
    return page


def command_pages(commands):
    """One page for each command, its subcommands as sections; and where the page of each path is."""
    pages, places = [], {}
    for command in commands[1:]:
        words = command["path"].split()
        if len(words) == 2:
            page = Page(None, f"commands/{words[1]}.html")
            page.title = command["path"]
            page.body = command_body(command, 1)
            pages.append(page)
            places[command["path"]] = page.place
        else:
            pages[-1].body += command_body(command, 2)
            places[command["path"]] = f"{pages[-1].place}#{slug(command['path'])}"
    for page in pages:
        page.body = dress(add_anchors(page, page.body))
    return pages, places


def example_report(program, out, picture):
    """A report of a synthetic build, made by the program; a picture of it if asked for and a browser is there. The HTML that shows it."""
    record = subprocess.run([sys.executable, ROOT / "tests/report_record.py", "260", "16"], check=True, capture_output=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "compiles.jsonl").write_bytes(record)
        subprocess.run([program, "report", f"{folder}/compiles.jsonl", "-o", out / "example-report.html", "--store", f"{folder}/store"],
                       check=True, capture_output=True)
        shown = '<a href="example-report.html">Open an example report</a> of a synthetic build.'
        browser = shutil.which("chromium") or shutil.which("google-chrome")
        if picture and browser:
            picture = out / "site/report.png"
            subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile",
                            "--window-size=1280,900", f"--screenshot={picture}", (out / "example-report.html").resolve().as_uri()],
                           capture_output=True, timeout=120)
            if picture.exists():
                shown += '</p><p><a href="example-report.html"><img src="site/report.png" alt="An example report"></a>'
    return f"<h2>Example</h2><p>{shown}</p>"


def navigation(page, sections, titles, commands):
    parts = []
    for name, sources in sections:
        items = []
        for source in sources:
            place = site_place(source)
            current = ' aria-current="page"' if place == page.place else ""
            items.append(f'<li><a href="{page.link_to(place)}"{current}>{html.escape(titles[source])}</a></li>')
            if source == "docs/check.md":
                current = ' aria-current="page"' if page.place == "findings.html" else ""
                items.append(f'<li><a href="{page.link_to("findings.html")}"{current}>Findings</a></li>')
            if source == "docs/commands.md" and (page.place == place or page.place.startswith("commands/")):
                for one in commands:
                    current = ' aria-current="page"' if one.place == page.place else ""
                    items.append(f'<li class="sub"><a href="{page.link_to(one.place)}"{current}>'
                                 f"{html.escape(one.title.removeprefix('wheelsmith '))}</a></li>")
        parts.append(f"<h2>{html.escape(name)}</h2><ul>{''.join(items)}</ul>")
    return "\n".join(parts)


def sections_html(page):
    items = [f'<li><a href="#{anchor}">{html.escape(text)}</a></li>' for level, anchor, text in page.headings if level == 2]
    return f'<nav class="sections" aria-label="On this page"><h2>On this page</h2><ul>{"".join(items)}</ul></nav>' \
        if len(items) > 1 else '<div class="sections"></div>'


class TextOfSections(HTMLParser):
    """The text of a page, cut at its headings, for the search."""

    def __init__(self):
        super().__init__()
        self.pieces = [["", "", []]]  # anchor, heading, texts
        self.in_heading = self.in_link = False

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if re.fullmatch("h[1-4]", tag) and "id" in attributes:
            self.pieces.append([attributes["id"], "", []])
            self.in_heading = True
        if tag == "a" and attributes.get("class") == "here":
            self.in_link = True

    def handle_endtag(self, tag):
        if re.fullmatch("h[1-4]", tag):
            self.in_heading = False
        if tag == "a":
            self.in_link = False
        self.pieces[-1][2].append(" ")

    def handle_data(self, data):
        if self.in_link:
            return
        if self.in_heading:
            self.pieces[-1][1] += data
        else:
            self.pieces[-1][2].append(data)


def search_entries(page):
    parser = TextOfSections()
    parser.feed(page.body)
    for anchor, heading, texts in parser.pieces:
        text = " ".join("".join(texts).split())
        if not heading and not text:
            continue
        first = not anchor or (page.headings and anchor == page.headings[0][1])
        yield [page.title, "" if first else " ".join(heading.split()), page.place + ("" if first else "#" + anchor), text]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("out", type=Path)
    parser.add_argument("--program", help="wheelsmith, for the pages of the commands and an example report")
    parser.add_argument("--picture", action="store_true", help="take a picture of the report with Chromium")
    options = parser.parse_args()
    if not shutil.which("cmark-gfm"):
        sys.exit("docs: cmark-gfm is missing; install it with: scripts/setup.sh docs")

    commands, places = command_pages(read_commands(options.program)) if options.program else ([], {})
    sections, labels = contents()
    sources = ["docs/README.md"] + [source for _, listed in sections for source in listed]
    shutil.rmtree(options.out, ignore_errors=True)
    site = options.out / "site"
    site.mkdir(parents=True)
    for name in os.listdir(ROOT / "docs/site"):
        if name != "page.html":
            shutil.copy(ROOT / "docs/site" / name, site / name)
    example = example_report(options.program, options.out, options.picture) if options.program else ""
    findings = findings_page()
    findings.body = dress(rewrite_links(findings, add_anchors(findings, findings.body), places))
    finding_ids = {anchor for level, anchor, _ in findings.headings if level == 2}
    pages, titles = [], {}
    for source in sources:
        page = Page(source, site_place(source))
        body = to_html((ROOT / source).read_text()) + (example if source == "docs/report.md" else "")
        page.body = dress(rewrite_links(page, add_anchors(page, body), places, finding_ids))
        page.title = page.headings[0][2] if page.headings else source
        titles[source] = labels.get(source, page.title)
        pages.append(page)
    at = next((index for index, page in enumerate(pages) if page.source == "docs/commands.md"), len(pages) - 1)
    pages[at + 1:at + 1] = commands
    at = next((index for index, page in enumerate(pages) if page.source == "docs/check.md"), len(pages) - 1)
    pages.insert(at + 1, findings)
    for page in pages:
        if sum(other.place == page.place for other in pages) > 1:
            sys.exit(f"docs: {page.source}: another page is {page.place}, too; give it a place in PLACES")

    version = re.search(r"project\(wheelsmith VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    frame = (ROOT / "docs/site/page.html").read_text()
    for index, page in enumerate(pages):
        before = pages[index - 1] if index > 0 else None
        after = pages[index + 1] if index + 1 < len(pages) else None
        neighbours = "".join(
            f'<a rel="{rel}" href="{page.link_to(other.place)}">{arrow[0]}{html.escape(other.title)}{arrow[1]}</a>' if other
            else "<span></span>" for rel, other, arrow in (("prev", before, ("← ", "")), ("next", after, ("", " →"))))
        filled = {"title": html.escape(page.title if page.title == "Wheelsmith" else f"{page.title} · Wheelsmith"),
                  "root": page.root(), "version": version, "navigation": navigation(page, sections, titles, commands),
                  "content": page.body, "neighbours": neighbours, "sections": sections_html(page)}
        target = options.out / page.place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(re.sub(r"\{\{(\w+)\}\}", lambda match: filled[match.group(1)], frame))
    entries = [entry for page in pages for entry in search_entries(page)]
    (site / "index.js").write_text("window.wheelsmithIndex = "
                                   + json.dumps(entries, ensure_ascii=False, separators=(",", ":")) + ";\n")
    print(f"docs: {len(pages)} pages in {options.out}" + ("" if options.program else "; no pages of commands without --program"))


if __name__ == "__main__":
    main()
