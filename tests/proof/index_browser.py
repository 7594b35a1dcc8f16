"""index_browser.py FOLDER ADDRESS: opens pages of an index in a headless Chromium, uses them like a user, and takes screenshots into
FOLDER."""
import sys
import tempfile

from browser import Browser

folder, address = sys.argv[1:]


def good(browser, what):
    assert browser.value("window.broken === undefined"), "something broke out"
    complaints = browser.complaints(address)
    assert not complaints, complaints
    # Nothing is wider than the window, except tables that scroll in their own box.
    assert browser.value("document.documentElement.scrollWidth <= innerWidth"), f"{what} is wider than the window"


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    browser = Browser(profile, folder)
    try:
        pages = 0
        for name, place in [("index", ""), ("torch", "torch/"), ("hostile", "hostile/"), ("variant", "by-variant/cu130/"), ("empty", "gone/")]:
            for theme, width in [("light", 1200), ("dark", 1200), ("light", 420)]:
                browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
                browser.open(address + place, width=width, height=900)
                good(browser, place)
                browser.picture(f"{name}-{theme}-{width}.png")
                pages += 1
            if name == "index":
                assert browser.value("document.getElementById('pip').textContent") == f"pip install --index-url {address} PROJECT"
                rows = "[...document.querySelectorAll('#projects tr')].filter((row) => !row.hidden).map((row) => row.cells[0].textContent).join()"
                assert "hostile" in browser.value(rows)
                browser.value("(() => { const box = document.getElementById('filter'); box.value = ' TOR '; box.dispatchEvent(new Event('input')); })()")
                assert browser.value(rows) == "torch", browser.value(rows)
                browser.value("[...document.querySelectorAll('.places button')].find((b) => b.textContent === 'by-variant/cu130').click()")
            elif place:
                up = address + ("by-variant/cu130/" if name == "variant" else "")
                line = browser.value("(document.getElementById('pip') || {}).textContent")
                if name == "torch":
                    assert line == f"pip install --index-url {up} torch", line
                    browser.value("document.getElementById('copy').click()")
                    assert browser.value("new Promise((done) => setTimeout(() => done(document.getElementById('copy').textContent), 300))") in ("Copied", "Press Ctrl+C")
                    links = browser.value("[...document.querySelectorAll('a')].map((a) => a.href)")
                    assert all(link.startswith(address) and "#sha256=" in link for link in links) and len(links) > 5, links
                    # The way back is a button.
                    browser.events = []
                    browser.value("document.querySelector('header button').click()")
                    browser.wait_for("Page.loadEventFired")
                    assert browser.value("location.pathname") == "/", browser.value("location.href")
        print(f"{pages} of {pages} pages without a complaint")
    finally:
        browser.end()
