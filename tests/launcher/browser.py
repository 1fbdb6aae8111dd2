"""A headless browser, driven over a pair of pipes (the DevTools protocol), for pages that our tools write."""

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from typing import Any, List, Optional

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def path() -> Optional[str]:
    return os.environ.get("CLUMP_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page at a time. `problems` has what its scripts complain of."""

    def __init__(self, width: int = 1280, height: int = 1000, dark: bool = False) -> None:
        self._folder = tempfile.mkdtemp(prefix="clump-browser-")
        (their_in, self._out), (self._in, their_out) = os.pipe(), os.pipe()

        def give() -> None:  # it reads from 3 and writes to 4
            first, second = os.dup(their_in), os.dup(their_out)
            os.dup2(first, 3)
            os.dup2(second, 4)

        words = [path(), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={self._folder}",
                 f"--window-size={width},{height}", "--hide-scrollbars", "--disable-dev-shm-usage", "about:blank"]
        self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                         preexec_fn=give, close_fds=False, start_new_session=True)
        os.close(their_in)
        os.close(their_out)
        self._read, self._last, self._session = b"", 0, None
        self.problems: List[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        self.resize(width, height)
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: Any) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)  # its helpers as well: they would still write to the folder
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        end = time.monotonic() + 60
        while os.path.exists(self._folder) and time.monotonic() < end:
            shutil.rmtree(self._folder, ignore_errors=True)  # while the last ones are on their way out
        assert not os.path.exists(self._folder), f"{self._folder} is left behind"

    def _message(self) -> dict:
        while b"\0" not in self._read:
            piece = os.read(self._in, 1 << 16)
            if not piece:
                raise RuntimeError(f"{path()} has ended")
            self._read += piece
        one, _, self._read = self._read.partition(b"\0")
        return json.loads(one)

    def _note(self, message: dict) -> None:
        method, given = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = given["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning"):
            self.problems.append(str(given["args"]))
        elif method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.problems.append(given["entry"]["text"])

    def _call(self, method: str, **parameters: Any) -> dict:
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def resize(self, width: int, height: int = 1000) -> None:
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, file: str) -> None:
        self._call("Page.navigate", url=f"file://{file}")
        end = time.monotonic() + 120
        while self.evaluate("document.readyState") != "complete" or self.evaluate("location.protocol") != "file:":
            if time.monotonic() > end:
                raise RuntimeError(f"{file} does not load")
            time.sleep(0.02)

    def evaluate(self, expression: str) -> Any:
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def move_to(self, x: float, y: float) -> None:
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def picture(self, file: str) -> None:
        """The whole page, as PNG."""
        size = self._call("Page.getLayoutMetrics")["cssContentSize"]
        taken = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                           clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
        with open(file, "wb") as out:
            out.write(base64.b64decode(taken["data"]))
