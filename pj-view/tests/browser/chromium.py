"""Drives a headless Chromium by its DevTools protocol through a pipe."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions",
    "--hide-scrollbars", "--remote-debugging-pipe", "--disable-dev-shm-usage",
]


def find():
    """Returns the path of Chromium, or None if it is not installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Chromium:
    """A browser with one page. `console` has the page's messages, `requests` the requested addresses.
    """

    def __init__(self, width=1280, height=720, ratio=1):
        self.profile = tempfile.mkdtemp(prefix="pj-view-chromium-")
        (to_read, self.to_write), (self.to_listen, to_answer) = os.pipe(), os.pipe()

        def wire():
            os.dup2(os.dup(to_read), 3)
            os.dup2(os.dup(to_answer), 4)

        # The pipes may have the descriptors 3 and 4, so they are moved first.
        to_read, to_answer = [self._above(fd) for fd in (to_read, to_answer)]
        command = [find(), *FLAGS, f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen(
            command, preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_read)
        os.close(to_answer)
        self.buffer, self.number, self.session = b"", 0, None
        self.console, self.requests = [], []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height, ratio)

    @staticmethod
    def _above(fd):
        moved = fcntl.fcntl(fd, fcntl.F_DUPFD, 20)
        os.close(fd)
        return moved

    def resize(self, width, height, ratio=1):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=False
        )

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        number = self.number
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self, patience=60):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.to_listen], [], [], patience)
            if not ready:
                raise TimeoutError("Chromium does not answer")
            piece = os.read(self.to_listen, 1 << 20)
            if not piece:
                raise EOFError("Chromium has ended")
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(message)
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.console.append(str([it.get("value") or it.get("description") for it in params["args"]]))
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.console.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded":
            self.console.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        return message

    def evaluate(self, text):
        """Evaluates an expression in the page. Awaits promises."""
        answer = self.call("Runtime.evaluate", expression=text, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{text}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, text, patience=30):
        """Waits until an expression is true."""
        until = time.monotonic() + patience
        while not self.evaluate(text):
            if time.monotonic() > until:
                raise TimeoutError(f"{text} is still false; console: {self.console}")
            time.sleep(0.05)

    def open(self, url):
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait("Boolean(window.pajeView)", 120)
        self.settle()

    def state(self):
        """Returns the state of the page."""
        return self.evaluate("window.pajeView.state()")

    def text(self, element):
        return self.evaluate(f"document.getElementById('{element}').textContent")

    def press(self, selector, at=0):
        """Presses a button, wherever it is."""
        self.evaluate(f"document.querySelectorAll({selector!r})[{at}].click()")
        self.settle()

    def choose(self, element, value):
        """Gives a list or a field a value."""
        self.evaluate(f"Object.assign(document.getElementById('{element}'), {{ value: {value!r} }}).dispatchEvent(new Event('change'))")
        self.settle()

    def type(self, field, text):
        """Replaces the text of a field, as a person does."""
        self.evaluate(f"Object.assign(document.getElementById('{field}'), {{ value: '' }}).focus()")
        self.call("Input.insertText", text=text)
        self.evaluate(f"document.getElementById('{field}').dispatchEvent(new Event('change'))")
        self.settle()

    def settle(self):
        """Waits until all requests are answered."""
        self.evaluate("new Promise((done) => setTimeout(done, 350))")
        self.wait("window.pajeView.state().idle")
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def point(self, x, y):
        """Moves the pointer and clicks."""
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def click(self, x, y):
        self.point(x, y)
        self.settle()

    def drag(self, x0, y0, x1, y1, shift=False):
        keys = {"modifiers": 8 if shift else 0}
        self.mouse("mouseMoved", x0, y0)
        self.mouse("mousePressed", x0, y0, button="left", clickCount=1, **keys)
        for step in range(1, 5):
            self.mouse("mouseMoved", x0 + (x1 - x0) * step / 4, y0 + (y1 - y0) * step / 4, button="left", buttons=1, **keys)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1, **keys)
        self.settle()

    def key(self, key, shift=False):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, modifiers=8 if shift else 0)
        self.settle()

    def screenshot(self, **more):
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", **more)["data"])

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to_write)
        os.close(self.to_listen)
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
