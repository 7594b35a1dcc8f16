"""report_browser.py FOLDER PAGE.html…: opens reports in a headless Chromium, uses them as people do, and takes pictures into
FOLDER. Speaks the browser's own protocol over a pipe, so that it needs nothing but Python."""
import base64
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile

folder, pages = pathlib.Path(sys.argv[1]), sys.argv[2:]
folder.mkdir(parents=True, exist_ok=True)


class Browser:
    def __init__(self, profile):
        to_us, from_browser = os.pipe()
        to_browser, from_us = os.pipe()
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                   "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]

        def give_pipes():  # the browser reads from 3 and writes to 4
            os.dup2(to_browser, 103), os.dup2(from_browser, 104)
            os.dup2(103, 3), os.dup2(104, 4)

        self.process = subprocess.Popen(command, preexec_fn=give_pipes, close_fds=False, stderr=subprocess.DEVNULL)
        os.close(to_browser), os.close(from_browser)
        self.reader, self.writer, self.number, self.events, self.session = os.fdopen(to_us, "rb"), from_us, 0, [], None
        self.left = b""

    def message(self):
        while b"\0" not in self.left:
            if not select.select([self.reader], [], [], 60)[0]:
                raise SystemExit("the browser says nothing for a minute")
            piece = os.read(self.reader.fileno(), 1 << 20)
            if not piece:
                raise SystemExit("the browser went away")
            self.left += piece
        one, self.left = self.left.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        wanted = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            wanted["sessionId"] = self.session
        text = json.dumps(wanted).encode() + b"\0"
        while text:
            text = text[os.write(self.writer, text):]
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.message())

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def open(self, address, width=1400, height=1000):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        for url in ("about:blank", address):  # another fragment alone would load nothing
            self.events = []
            self.call("Page.navigate", url=url)
            self.wait_for("Page.loadEventFired")
        assert self.value("document.documentElement.dataset.drawn") == "true", "the page did not come to its end"
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def picture(self, name, whole=True):
        clip = {}
        if whole:
            width, height = self.value("[innerWidth, document.documentElement.scrollHeight]")
            clip = {"captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": width, "height": min(height, 6000), "scale": 1}}
        shot = self.call("Page.captureScreenshot", **clip)
        (folder / name).write_bytes(base64.b64decode(shot["data"]))

    def key(self, key, shift=False):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, modifiers=8 if shift else 0, **({"text": key} if len(key) == 1 and kind == "keyDown" else {}))

    def complaints(self):
        self.value("1")
        return [event for event in self.events if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled",
                "Network.requestWillBeSent") and not event["params"].get("request", {}).get("url", "").startswith("file:")]


def use(browser, compiles):
    """Zooms, moves and chooses as the help below the timeline says."""
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
    browser = Browser(profile)
    try:
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            browser.call(domain + ".enable")
        for page in pages:
            path = pathlib.Path(page).resolve()
            browser.open(path.as_uri())
            compiles = browser.value("data.compiles.length")
            load = browser.value("performance.getEntriesByType('navigation')[0].loadEventEnd")
            browser.picture(path.stem + ".png")
            drawing = use(browser, compiles) if compiles >= 20 else 0
            assert browser.value("window.broken === undefined"), "something broke out"
            assert not browser.complaints(), browser.complaints()
            browser.open(path.as_uri() + "#dark", width=1000)
            assert browser.value("document.documentElement.dataset.theme") == "dark"
            browser.picture(path.stem + "-dark.png")
            assert not browser.complaints(), browser.complaints()
            print(f"{path.name}: {compiles} compiles, loaded in {load:.0f} ms, drawn in {drawing:.1f} ms")
    finally:
        browser.process.kill()
        browser.process.wait()
