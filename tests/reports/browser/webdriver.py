"""Just enough of a WebDriver client: a headless Chromium that opens files."""

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request


def missing_program():
    """The name of a program that is needed and not there; None when all are."""
    for name in ("chromedriver", "chromium"):
        if shutil.which(name) is None:
            return name
    return None


class Browser:
    """One browser window. Use it in a `with`."""

    def __init__(self, width=1280, height=1000, dark=False):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={self.port}", "--log-level=OFF"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = None
        self._wait_for_driver()
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     "--disable-dev-shm-usage", f"--window-size={width},{height}"]
        options = {"args": arguments}
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "goog:chromeOptions": options}}})
        self.session = answer["sessionId"]
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        try:
            if self.session:
                self._call("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait()

    def _wait_for_driver(self):
        for _ in range(600):
            try:
                return self._call("GET", "/status")
            except (urllib.error.URLError, ConnectionError):
                if self.driver.poll() is not None:
                    raise RuntimeError("chromedriver ended at once") from None
                time.sleep(0.05)
        raise RuntimeError("chromedriver does not answer")

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=data,
                                         method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def _in_session(self, path, body):
        return self._call("POST", f"/session/{self.session}{path}", body)

    def cdp(self, command, **parameters):
        return self._in_session("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, url):
        self._in_session("/url", {"url": url})

    def js(self, script, *arguments):
        """Runs `script` as the body of a function; it may return a value."""
        return self._in_session("/execute/sync", {"script": script, "args": list(arguments)})

    def before_scripts(self, script):
        """Runs `script` in every page that is opened from now on, before its own."""
        self.cdp("Page.addScriptToEvaluateOnNewDocument", source=script)

    def frame(self):
        """Waits until the scenarios that are looked at are decompressed and drawn."""
        self._in_session("/execute/async", {"script": (
            "const done = arguments[0], next = action => requestAnimationFrame(() => requestAnimationFrame(action));"
            "const opened = () => Promise.all(typeof views === 'undefined' ? [] : views.values());"
            "next(() => opened().then(() => next(() => done())));"), "args": []})

    def press(self, selector, *keys):
        """Puts the focus on an element and types."""
        self.js("document.querySelector(arguments[0]).focus({preventScroll: true})", selector)
        actions = []
        for key in keys:
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._in_session("/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})
        self.frame()

    def point_at(self, selector, x, y):
        """Moves the pointer to a place inside an element, from its upper left corner."""
        self._pointer(selector, self._to(x, y))

    def click_at(self, selector, x, y):
        """Moves there and clicks."""
        self.drag(selector, x, y, x, y)

    def drag(self, selector, x, y, to_x, to_y):
        """Presses at one place inside an element and releases at another."""
        self._pointer(selector, self._to(x, y), [{"type": "pointerDown", "button": 0}],
                      self._to(to_x, to_y), [{"type": "pointerUp", "button": 0}])

    @staticmethod
    def _to(x, y):
        return [{"type": "pointerMove", "x": x, "y": y, "duration": 0}]

    def _pointer(self, selector, *moves):
        left, top = self.js(
            "const node = document.querySelector(arguments[0]);"
            "node.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const box = node.getBoundingClientRect(); return [box.left, box.top];", selector)
        self._in_session("/actions", {"actions": [{
            "type": "pointer", "id": "p", "parameters": {"pointerType": "mouse"},
            "actions": [move | {"x": round(left + move["x"]), "y": round(top + move["y"])}
                        if move["type"] == "pointerMove" else move for part in moves for move in part]}]})
        self.frame()

    def click(self, selector):
        self.js("document.querySelector(arguments[0]).click()", selector)
        self.frame()

    def log(self, kind="browser"):
        """What was logged since the last call."""
        return self._in_session("/se/log", {"type": kind})

    def requests(self):
        """Addresses that were asked for since the last call, but the file's own and data."""
        urls = []
        for entry in self.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
        return [url for url in urls if not url.startswith(("file:", "data:"))]

    def screenshot(self, path, selector=None, whole=False):
        """Of what is seen, from `selector` on when one is given; or of the whole page."""
        if selector:
            self.js("document.querySelector(arguments[0])"
                    ".scrollIntoView({block: 'start', behavior: 'instant'});"
                    "scrollBy({top: -80, behavior: 'instant'})", selector)
        self.frame()
        picture = self.cdp("Page.captureScreenshot", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))
