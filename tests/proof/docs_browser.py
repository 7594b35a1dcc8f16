"""docs_browser.py FOLDER SITE: uses the documentation's site as readers do, and takes pictures into FOLDER."""
import pathlib
import sys
import tempfile

from browser import Browser

folder, site = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
RESULTS = "[...document.querySelectorAll('.results a')].map((link) => link.getAttribute('href'))"


def search(browser, words):
    browser.value("document.querySelector('.search input').value = ''")
    browser.value("document.activeElement.blur()")
    browser.key("/")
    assert browser.value("document.activeElement.tagName") == "INPUT", "/ does not focus the search"
    browser.call("Input.insertText", text=words)
    for _ in range(100):
        browser.value("new Promise((done) => setTimeout(done, 20))")
        if browser.value("!document.querySelector('.results').hidden"):
            return browser.value(RESULTS)
    raise SystemExit(f"no answer for {words}")


with tempfile.TemporaryDirectory() as profile:
    browser = Browser(profile, folder)
    browser.open((site / "index.html").as_uri())
    browser.picture("first.png", whole=False)
    asked = {"wheelsmith build": "commands/build.html", "max_jobs": "building.html#how-many-compilers", "manylinux policy": "policies.html",
             "air-gapped offline": "guides/air-gapped.html", "fromager": "guides/coming-from.html", "--keep-going": "building.html"}
    for words, wanted in asked.items():
        found = search(browser, words)
        assert any(wanted in link for link in found[:5]), (words, found[:5])
    found = search(browser, "diagnose")
    assert found[0] in ("diagnose.html", "commands/diagnose.html"), found
    browser.picture("search.png", whole=False)
    browser.key("ArrowDown")
    assert browser.value("document.querySelectorAll('.results a')[1].classList.contains('chosen')")
    assert search(browser, "nosuchwordanywhere") == []
    assert browser.value("document.querySelector('.results').textContent") == "Nothing found."
    complaints = browser.complaints()
    assert not complaints, complaints

    # Results of a page in a subfolder lead there, too.
    browser.open((site / "guides/gpu.html").as_uri())
    link = search(browser, "glossary")[0]
    assert link.startswith("../"), link
    assert browser.value("document.querySelector('.menu').open")

    # Narrow: nothing is wider than the page, and the list of pages is folded.
    for page in sorted(site.rglob("*.html")):
        if page.name == "example-report.html":
            continue
        browser.open(page.as_uri(), width=390, height=800)
        width = browser.value("document.documentElement.scrollWidth")
        assert width <= 390, (page, width)
    browser.open((site / "building.html").as_uri(), width=390, height=800)
    assert not browser.value("document.querySelector('.menu').open")
    browser.picture("narrow.png", whole=False)

    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    browser.open((site / "commands/build.html").as_uri(), width=1280, height=900)
    browser.picture("dark.png", whole=False)
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "light"}])
    browser.open((site / "building.html").as_uri(), width=800, height=1100)
    assert browser.value("getComputedStyle(document.querySelector('.menu')).display") == "none"
    browser.picture("print.png", whole=False)

    browser.call("Emulation.setEmulatedMedia", media="", features=[])
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.events = []
    browser.call("Page.navigate", url=(site / "governor.html").as_uri())
    browser.wait_for("Page.loadEventFired")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.value("document.querySelector('.search').hidden && document.querySelector('.menu').open")
    browser.end()
print(f"{len(asked)} of {len(asked)} searches find their page; pictures in {folder}")
