"""treemap_browser.py FOLDER PAGE.html…: opens the pages of `inspect --html` in a headless Chromium, zooms like a user, and
takes screenshots into FOLDER."""
import pathlib
import sys
import tempfile

from browser import Browser

folder, pages = sys.argv[1], sys.argv[2:]


def use(browser, name):
    """Zooms into the largest box by mouse and by keyboard, and out again."""
    shown = "view.at.name"
    assert browser.value("view.boxes.length > 3"), "nothing is drawn"
    # Boxes of one level do not overlap, and their areas are in proportion to the sizes.
    assert browser.value("""(() => { const top = view.boxes.filter((b) => b.depth === 0), area = top.reduce((s, b) => s + b.w * b.h, 0), all = top.reduce((s, b) => s + b.node.bytes, 0);
        return top.every((b) => Math.abs(b.w * b.h / area - b.node.bytes / all) < 0.002); })()"""), "areas are not in proportion"
    place = browser.value("""(() => { const b = view.boxes.filter((b) => b.depth === 0).reduce((a, b) => a.w * a.h > b.w * b.h ? a : b), box = canvas.getBoundingClientRect();
        return [box.left + b.x + b.w / 2, box.top + b.y + b.h / 2]; })()""")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=place[0], y=place[1])
    assert browser.value("!document.getElementById('tip').hidden && document.querySelector('#tip b').textContent.length > 0"), "no tip"
    browser.picture(name + "-tip.png", whole=False)
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)
    first = browser.value(shown)
    assert browser.value("view.at.parent === root"), "a click does not zoom"
    browser.value("canvas.focus()")
    depth = 1
    while browser.value("(view.at.children || []).some((c) => c.children)"):
        browser.key("ArrowRight")
        browser.value("void (view.chosen = view.at.children.find((c) => c.children))")
        browser.key("Enter")
        depth += 1
        assert browser.value("document.querySelectorAll('#path button').length") == depth + 1
    browser.picture(name + "-deep.png", whole=False)
    for _ in range(depth):
        browser.key("Backspace")
    assert browser.value("view.at === root"), "Backspace does not zoom out"
    assert browser.value("document.querySelectorAll('#list tbody tr').length") == browser.value("Math.min(100, root.children.length)")
    return first, depth


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    browser = Browser(profile, folder)
    try:
        for page in pages:
            path = pathlib.Path(page).resolve()
            browser.open(path.as_uri())
            assert browser.value("document.documentElement.dataset.drawn") == "true", "the page did not come to its end"
            browser.picture(path.stem + ".png")
            first, depth = use(browser, path.stem)
            drawing = browser.value("(() => { const from = performance.now(); for (let i = 0; i < 10; i++) drawMap(); return (performance.now() - from) / 10; })()")
            assert browser.value("window.broken === undefined"), "something broke out"
            assert not browser.complaints(), browser.complaints()
            browser.open(path.as_uri() + "#dark", width=1000)
            browser.picture(path.stem + "-dark.png")
            assert not browser.complaints(), browser.complaints()
            print(f"{path.name}: {browser.value('bytes(root.bytes)')}, largest: {first}, {depth} levels deep, drawn in {drawing:.1f} ms")
    finally:
        browser.end()
