"""What the tests of the launcher share. The environment variable CLUMP_BUILD names the build tree; CLUMP_TOOLS the folder of the tools, if it is
not that of the programs."""

import os
import pathlib
import subprocess
import time
import unittest
from typing import NamedTuple, Optional

BUILD = pathlib.Path(os.environ["CLUMP_BUILD"])
BIN = BUILD / "bin"
TOOLS = pathlib.Path(os.environ.get("CLUMP_TOOLS", BIN))
# Seconds. What ends at once has ended by then, also on a machine that is slow and has other work; what hangs has not.
SOON = 25.0


class Result(NamedTuple):
    code: int
    out: str
    err: str
    seconds: float


def program(name: str) -> str:
    """A program of this folder's CMakeLists.txt."""
    return str(BIN / f"launcher_{name}")


def example(name: str) -> str:
    """A program of examples/."""
    return str(BIN.parent / "examples" / name)


def run(*words: object, tool: str = "mpiexec", stdin: str = "", env: Optional[dict] = None, cwd: Optional[str] = None,
        before=None, limit: float = 240) -> Result:
    environment = {**os.environ, **(env or {})}
    begin = time.monotonic()
    folder = BIN if tool.startswith("launcher_") else TOOLS
    done = subprocess.run([str(folder / tool), *map(str, words)], input=stdin, capture_output=True, text=True, timeout=limit, env=environment,
                          cwd=cwd, preexec_fn=before, errors="replace")
    return Result(done.returncode, done.stdout, done.stderr, time.monotonic() - begin)


class Case(unittest.TestCase):
    maxDiff = None

    def assert_says(self, result: Result, code: int, *texts: str) -> None:
        """The exit code, and texts that stderr has in this order."""
        self.assertEqual(result.code, code, result)
        at = 0
        for text in texts:
            found = result.err.find(text, at)
            self.assertGreaterEqual(found, 0, f"'{text}' is not (in this place) in: {result.err}")
            at = found + len(text)
