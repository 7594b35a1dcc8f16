"""A headless Chromium for proofs. Uses the DevTools protocol over a pipe, so that it needs only Python."""
import base64
import json
import os
import pathlib
import select
import subprocess


class Browser:
    def __init__(self, profile, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
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
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

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
        for url in ("about:blank", address):  # changing only the fragment would load nothing
            self.events = []
            self.call("Page.navigate", url=url)
            self.wait_for("Page.loadEventFired")
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def picture(self, name, whole=True):
        clip = {}
        if whole:
            width, height = self.value("[innerWidth, document.documentElement.scrollHeight]")
            clip = {"captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": width, "height": min(height, 6000), "scale": 1}}
        shot = self.call("Page.captureScreenshot", **clip)
        (self.folder / name).write_bytes(base64.b64decode(shot["data"]))

    def key(self, key, shift=False):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, modifiers=8 if shift else 0, **({"text": key} if len(key) == 1 and kind == "keyDown" else {}))

    def complaints(self, allowed="file:"):
        """Errors, messages, and requests to any other address."""
        self.value("1")
        return [event for event in self.events if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled",
                "Network.requestWillBeSent") and not event["params"].get("request", {}).get("url", "").startswith(allowed)]

    def end(self):
        self.process.kill()
        self.process.wait()
