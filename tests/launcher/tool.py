"""What the tests of the launcher share. The environment variable CLUMP_BUILD names the build tree; CLUMP_TOOLS the folder of the tools, if it is
not that of the programs."""

import ctypes
import os
import pathlib
import shlex
import subprocess
import time
import unittest
from typing import NamedTuple, Optional

BUILD = pathlib.Path(os.environ["CLUMP_BUILD"])
BIN = BUILD / "bin"
TOOLS = pathlib.Path(os.environ.get("CLUMP_TOOLS", BIN))
# Seconds after which a command that has not ended hangs. The number costs no time: a test goes on as soon as its command has ended. It is below
# each TIMEOUT of these tests in ctest, so that the test itself says what hangs.
HANGS = 240.0


class Result(NamedTuple):
    code: int
    out: str
    err: str
    seconds: float


def program(name: str) -> str:
    """A program of this folder's CMakeLists.txt."""
    return str(BIN / f"launcher_{name}")


def in_shell(name: str) -> str:
    """The same as a word of a shell's command: the build tree may lie in a folder with a space in its name."""
    return shlex.quote(program(name))


def example(name: str) -> str:
    """A program of examples/."""
    return str(BIN.parent / "examples" / name)


def run(*words: object, tool: str = "mpiexec", stdin: str = "", env: Optional[dict] = None, cwd: Optional[str] = None,
        before=None, limit: float = HANGS) -> Result:
    environment = {**os.environ, **(env or {})}
    begin = time.monotonic()
    folder = BIN if tool.startswith("launcher_") else TOOLS
    command = [str(folder / tool), *map(str, words)]
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=limit, env=environment, cwd=cwd, preexec_fn=before,
                              errors="replace")
    except subprocess.TimeoutExpired as hung:
        raise hangs(command, limit, hung.stdout, hung.stderr) from None
    return Result(done.returncode, done.stdout, done.stderr, time.monotonic() - begin)


def lose_power_over_files() -> None:
    """For `before` of run(): the permissions of files and folders count for root, too. The process becomes the owner of the build tree, who reaches
    it also where it lies in a folder that is closed to all others."""
    if os.geteuid() != 0:
        return
    owner = os.stat(TOOLS)
    os.setgroups([])
    os.setgid(owner.st_gid)
    os.setuid(owner.st_uid)
    if owner.st_uid != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        if libc.prctl(24, capability, 0, 0, 0) != 0:  # PR_CAPBSET_DROP: what is executed does not have it
            raise OSError(ctypes.get_errno(), "prctl(PR_CAPBSET_DROP)")


def hangs(command, limit: float, *said) -> AssertionError:
    """The failure of a command that has not ended in time. It is printed at once: if more of the same test hangs, ctest ends the test before
    unittest prints its failures."""
    texts = [text.decode(errors="replace") if isinstance(text, bytes) else text or "" for text in said]
    words = command if isinstance(command, str) else " ".join(map(str, command))
    told = "\n".join([f"not ended after {limit:g} s: {words}", *filter(None, texts)])
    print(told, flush=True)
    return AssertionError(told)


def end_of(job: subprocess.Popen, given=None, limit: float = HANGS) -> tuple:
    """What a job has written to its pipes (stdout, stderr) when it has ended; `given` is its input. One that hangs is killed, and is a failure."""
    try:
        return job.communicate(given, timeout=limit)
    except subprocess.TimeoutExpired as hung:
        job.kill()
        raise hangs(job.args, limit, hung.stdout, hung.stderr) from None


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
