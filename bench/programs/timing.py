"""One run of a command: how long it takes, and how much processor time it and all that it starts uses."""

import ctypes
import math
import os
import select
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Timed:
    seconds: float           # from its start to its end
    processor: float         # seconds of processors, in the program and in the kernel, mpiexec and its helpers included
    output: str


class Failed(Exception):
    """A run that did not end well, with the reason."""


def adopt_orphans():
    """What a run's processes leave behind when they end becomes a child of this process, so that run() finds it."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def children():
    found = []
    for task in Path("/proc/self/task").iterdir():
        found += map(int, (task / "children").read_text().split())
    return found


def end_all():
    """Ends every child of this process, also those that come while it does so. The processor time of all that it has waited for."""
    used = 0.0
    while left := children():
        for child in left:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for child in left:
            _, _, usage = os.wait4(child, 0)
            used += usage.ru_utime + usage.ru_stime
    return used


def run(command, folder, environment, limit):
    """Timed; Failed if it does not end within `limit` seconds or with exit code 0. The command has a session of its own: the kernel divides
    processor time among sessions first. Call adopt_orphans() once before. This process must have no other children."""
    log = folder / "output.txt"
    with log.open("wb") as output:
        begin = time.perf_counter()
        process = subprocess.Popen(list(map(str, command)), cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        watch = os.pidfd_open(process.pid)
        try:
            in_time = bool(select.select([watch], [], [], limit)[0])
            seconds = time.perf_counter() - begin
            if not in_time:
                raise Failed(f"did not end within {math.floor(limit)} s")
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            os.close(watch)
            used = end_all()
            if process.returncode is None:
                process.returncode = -signal.SIGKILL
    text = log.read_text(errors="replace")
    if process.returncode != 0:
        code = process.returncode
        ended = f"exit code {code}" if code > 0 else f"ended by {signal.Signals(-code).name}"
        said = next((line.strip() for line in text.splitlines() if any(c.isalpha() for c in line)), "")
        raise Failed(f"{ended}: {said[:160]}" if said else ended)
    return Timed(seconds, usage.ru_utime + usage.ru_stime + used, text)
