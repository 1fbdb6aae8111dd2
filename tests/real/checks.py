"""One check: a program of others, run by our mpiexec, with what its output must be.

A check is run in one way or in several: under each scheduler, or, in the programs that say so, in the way that the check names.
"""

import os
import re
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import leash

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
SCHEDULERS = ("fibers", "threads")


@dataclass(frozen=True)
class Check:
    group: str                               # a part of the program: a folder of tests, a number of ranks
    name: str                                # unique within the group
    command: list                            # starts mpiexec, or a script that does
    folder: Path                             # where it runs
    judge: Callable[[int, str], str]         # exit code and output -> why it failed, "" if it passed
    skip: str = ""                           # why it is not run
    timeout: float = 60
    environment: dict = field(default_factory=dict)
    way: str = ""                            # the one way in which it is run; "": under each scheduler
    lacks: Callable[[str], str] = None       # output -> the function that is not built and that the program stopped at, "" if none
    tests: Callable[[], dict] = None         # {test: (verdict, why)} of those that it consists of; None: it is one test


@dataclass(frozen=True)
class Outcome:
    verdict: str
    reason: str = ""
    seconds: float = 0
    tests: dict = None                       # {test: (verdict, why)}, if it consists of several
    ended: bool = True                       # in time

    def count(self, verdict):
        return sum(each == verdict for each, _ in self.tests.values()) if self.tests is not None else int(self.verdict == verdict)


def run(check, way, log, say):
    """Runs a check; its output is in the log afterwards. `say` is told every 30 seconds that it runs."""
    if check.skip:
        return Outcome(SKIPPED, check.skip)
    environment = {**os.environ, **check.environment}
    if way in SCHEDULERS:
        environment["CLUMP_SCHEDULER"] = way
    begin = time.monotonic()
    log.parent.mkdir(parents=True, exist_ok=True)
    check.folder.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = leash.start(check.command, cwd=check.folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            what = f"{check.group}/{check.name} ({way})"
            code = wait(process, check, lambda seconds: say(f"{what} has run for {seconds:.0f} s of at most {check.timeout:.0f}"))
        finally:
            leash.end(process)
    seconds = time.monotonic() - begin
    tests = check.tests() if check.tests else None
    if code is None:
        return Outcome(FAILED, f"did not end within {check.timeout:.0f} s", seconds, tests, ended=False)
    text = log.read_text(errors="replace")
    reason = check.judge(code, text)
    if not reason:
        return Outcome(PASSED, "", seconds, tests)
    missing = re.search(r"(MPI_\w+): .*MPI_ERR_UNSUPPORTED_OPERATION", text)
    lacks = missing[1] if missing else check.lacks(text) if check.lacks else ""
    if lacks:
        return Outcome(SKIPPED, f"{lacks} is not built", seconds)
    return Outcome(FAILED, reason, seconds, tests)


def wait(process, check, say):
    """The exit code, or None if it has not ended in time."""
    waited = 0
    while waited < check.timeout:
        step = min(30, check.timeout - waited)
        try:
            return process.wait(timeout=step)
        except subprocess.TimeoutExpired:
            waited += step
            say(waited)
    return None


def exit_code_zero(code, text):
    """The judge of programs whose exit code says everything."""
    return "" if code == 0 else f"exit code {code}: {first_words(text)}"


def first_words(text):
    """The first line that says something, for a table."""
    return next((line.strip() for line in text.splitlines() if any(c.isalpha() for c in line)), "no output")[:160]
