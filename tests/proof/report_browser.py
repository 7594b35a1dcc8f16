"""report_browser.py FOLDER PAGE.html…: opens reports in a headless Chromium, uses them like a user, and takes screenshots into
FOLDER."""
import pathlib
import sys
import tempfile

from browser import Browser

folder, pages = sys.argv[1], sys.argv[2:]


def open_report(browser, address, **size):
    browser.open(address, **size)
    assert browser.value("document.documentElement.dataset.drawn") == "true", "the page did not come to its end"


def look_at_colours(browser):
    # A record says "c++"; such compiles have the colour of C++, which the legend names.
    plus = "data.compiles.filter((c) => c.name.endsWith('.cpp'))"
    assert browser.value(f"{plus}.length > 0 && {plus}.every((c) => timeline.colourOf(c) === timeline.colour('cxx'))"), "C++ is grey"
    assert browser.value("document.getElementById('legend').textContent.includes('C++')"), "the legend does not name C++"


def use(browser, compiles):
    """Zooms, moves and selects as the help below the timeline describes."""
    assert browser.value("data.compiles.length") == compiles
    assert browser.value("document.querySelectorAll('#all tbody tr').length") == min(25, compiles)
    browser.value("timeline.canvas.focus()")
    span = "timeline.to - timeline.from"
    whole = browser.value(span)
    browser.key("ArrowRight")
    assert browser.value("timeline.chosen === data.compiles[0]"), "the first compile is not chosen"
    assert browser.value("document.getElementById('live').textContent.includes(data.compiles[0].name)"), "nobody is told"
    browser.key("ArrowRight")
    assert browser.value("timeline.chosen.lane === data.compiles[0].lane && timeline.chosen !== data.compiles[0]")
    browser.key("ArrowDown")
    assert browser.value("timeline.chosen.lane === data.compiles[0].lane + 1")
    browser.key("+")
    assert browser.value(span) < whole * 0.7
    before = browser.value("timeline.from")
    browser.key("ArrowRight", shift=True)
    assert browser.value("timeline.from") > before
    browser.key("0")
    assert abs(browser.value(span) - whole) < 1e-6
    browser.key("Escape")
    # The mouse: over a bar there is a tip with its name; dragged, the picture moves.
    browser.value("document.getElementById('timeline').scrollIntoView()")
    place = browser.value("""(() => { const c = data.compiles.reduce((a, b) => a.seconds > b.seconds ? a : b), box = timeline.canvas.getBoundingClientRect();
        return [box.left + timeline.x(c.start + c.seconds / 2), box.top + timeline.lanes[c.lane].y + timeline.row / 2, c.name || "?"]; })()""")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=place[0], y=place[1])
    assert browser.value("!document.getElementById('tip').hidden && document.querySelector('#tip b').textContent") == place[2], "no tip"
    browser.picture(f"tip-{compiles}.png", whole=False)
    browser.value(f"timeline.canvas.dispatchEvent(new WheelEvent('wheel', {{ctrlKey: true, deltaY: -400, clientX: {place[0]}, clientY: {place[1]}, cancelable: true}}))")
    assert browser.value(span) < whole, "the wheel does not zoom"
    # A table is sorted by its header.
    browser.value("document.querySelectorAll('#all th button')[4].click()")
    assert browser.value("document.querySelectorAll('#all th')[4].getAttribute('aria-sort')") == "descending"
    assert browser.value("document.querySelector('#all tbody td:nth-child(5)').textContent === seconds(Math.max(...data.compiles.map((c) => c.seconds)))")
    browser.value("document.getElementById('fit').click()")
    return browser.value("(() => { const from = performance.now(); for (let i = 0; i < 10; i++) timeline.drawNow(); return (performance.now() - from) / 10; })()")


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    browser = Browser(profile, folder)
    try:
        for page in pages:
            path = pathlib.Path(page).resolve()
            open_report(browser, path.as_uri())
            compiles = browser.value("data.compiles.length")
            load = browser.value("performance.getEntriesByType('navigation')[0].loadEventEnd")
            browser.picture(path.stem + ".png")
            if path.stem.isdigit():
                look_at_colours(browser)
            drawing = use(browser, compiles) if compiles >= 20 else 0
            assert browser.value("window.broken === undefined"), "something broke out"
            assert not browser.complaints(), browser.complaints()
            open_report(browser, path.as_uri() + "#dark", width=1000)
            assert browser.value("document.documentElement.dataset.theme") == "dark"
            browser.picture(path.stem + "-dark.png")
            assert not browser.complaints(), browser.complaints()
            print(f"{path.name}: {compiles} compiles, loaded in {load:.0f} ms, drawn in {drawing:.1f} ms")
    finally:
        browser.end()
