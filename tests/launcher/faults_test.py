"""kill -9 of anything, at any moment: the job ends, says why, and leaves nothing behind.

A few rounds, or as many as the environment variable CLUMP_FAULT_ROUNDS says; CLUMP_TEST_SEED repeats the choices of another run (seed.py).
"""

import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time
import unittest
import uuid
from typing import Dict, List, NamedTuple, Optional

import tool
from seed import seed

ROUNDS = int(os.environ.get("CLUMP_FAULT_ROUNDS", "25"))
RANKS = 4
# Seconds from the kill to the end of everything. launcher_busy ends by itself after 150, which would look like an end by the fault.
LIMIT = 100.0
LONGEST_WAIT = 0.4  # seconds from the start to the kill
MARK = "CLUMP_FAULT_JOB"

BUSY = tool.program("busy")
WAYS = {
    "fibers": ["--ranks", "fibers", "-n", RANKS, BUSY],
    "threads": ["--ranks", "threads", "-n", RANKS, BUSY],
    "2 x 2": ["--per-process", 2, "-n", RANKS, BUSY],
    "processes": ["--ranks", "processes", "-n", RANKS, BUSY],
    "script": ["-n", RANKS, "sh", "-c", f"{tool.in_shell('busy')}; exit $?"],
}
if os.environ.get("CLUMP_SANITIZE"):
    del WAYS["fibers"]
VICTIMS = ["rank", "mpiexec", "supervisor", "mpiexec and supervisor", "all"]


class Process(NamedTuple):
    pid: int
    name: str
    program: str
    environment: Dict[str, str]


def look_at(pid: int) -> Optional[Process]:
    folder = pathlib.Path("/proc", str(pid))
    try:
        entries = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
        environment = dict(entry.split("=", 1) for entry in entries if "=" in entry)
        return Process(pid, (folder / "comm").read_text().strip(), os.readlink(folder / "exe"), environment)
    except OSError:
        return None  # it has ended, or is somebody else's


class Job:
    """A job that this test has started; its processes are those with its mark in their environment, whoever their parent is."""

    def __init__(self, way: str, folder: str):
        self.mark = uuid.uuid4().hex
        environment = {**os.environ, MARK: self.mark, "TMPDIR": folder}
        self.mpiexec = subprocess.Popen([str(tool.TOOLS / "mpiexec"), *map(str, WAYS[way])], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=environment, text=True)

    def processes(self) -> List[Process]:
        own = os.getuid()
        found = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if folder.stat().st_uid != own:
                    continue
            except OSError:
                continue
            process = look_at(int(folder.name))
            if process is not None and process.environment.get(MARK) == self.mark:
                found.append(process)
        return found

    def victims(self, what: str) -> List[Process]:
        everything = self.processes()
        if what == "all":
            return everything
        if what == "mpiexec":
            return [one for one in everything if one.pid == self.mpiexec.pid]
        supervisor = [one for one in everything if one.name == "clump-supervise"]
        if what == "supervisor":
            return supervisor
        if what == "mpiexec and supervisor":
            return supervisor and supervisor + [one for one in everything if one.pid == self.mpiexec.pid]
        launcher = str(tool.TOOLS / "mpiexec")
        return [one for one in everything if one.program != launcher]


def kill(process: Process) -> None:
    try:
        os.kill(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Faults(tool.Case):
    def test_rounds(self):
        print(f"{ROUNDS} rounds", flush=True)
        drawn = seed(20261128)
        choose = random.Random(drawn)
        longest: Dict[str, float] = {}
        done: Dict[str, int] = {}
        for number in range(ROUNDS):
            way = list(WAYS)[number % len(WAYS)]
            what = VICTIMS[number // len(WAYS) % len(VICTIMS)]
            moment = choose.uniform(0, LONGEST_WAIT)
            with self.subTest(round=number, way=way, killed=what, after=moment, seed=drawn):
                took = self.one_round(choose, way, what, moment)
                longest[what] = max(longest.get(what, 0), took)
                done[what] = done.get(what, 0) + 1
        for what, count in done.items():
            print(f"killed {what}: {count} times as it should be, everything gone after at most {longest[what]:.2f} s", flush=True)

    def one_round(self, choose: random.Random, way: str, what: str, moment: float) -> float:
        shared_memory = set(os.listdir("/dev/shm"))
        with tempfile.TemporaryDirectory() as folder:
            job = Job(way, folder)
            try:
                time.sleep(moment)
                chosen = self.choose_victims(choose, job, what)
                begin = time.monotonic()
                for victim in chosen:
                    kill(victim)
                self.check_end(job, way, what, chosen[0])
                self.wait_for_all(job, begin)
                took = time.monotonic() - begin
            finally:
                self.clean_up(job)
            self.assertEqual(os.listdir(folder), [], "left in the temporary directory")
        self.check_shared_memory(shared_memory)
        return took

    def check_shared_memory(self, before: set) -> None:
        """Other jobs on this machine may have files there, which go away."""
        end = time.monotonic() + LIMIT
        while (left := set(os.listdir("/dev/shm")) - before) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(left, set(), "left in /dev/shm")

    def choose_victims(self, choose: random.Random, job: Job, what: str) -> List[Process]:
        """One, or all of them in any order. Waits for them to be there."""
        deadline = time.monotonic() + LIMIT
        while not (found := job.victims(what)):
            self.assertLess(time.monotonic(), deadline, "the job has not started")
            self.assertIsNone(job.mpiexec.poll(), "the job has ended by itself")
        choose.shuffle(found)
        return found[:1] if what == "rank" else found

    def check_end(self, job: Job, way: str, what: str, victim: Process) -> None:
        out, err = tool.end_of(job.mpiexec, limit=LIMIT)
        code = job.mpiexec.returncode
        self.assertIn(out, ("", "busy\n"))
        if what not in ("rank", "supervisor"):
            self.assertIn(code, (-signal.SIGKILL, 128 + signal.SIGKILL), err)  # it may see the supervisor go before it goes itself
            return
        self.assertEqual(code, 128 + signal.SIGKILL, err)
        self.assertEqual(err.count("mpiexec:"), 1, err)
        self.assertIn(self.cause(way, what, victim), err)

    def cause(self, way: str, what: str, victim: Process) -> str:
        if what == "supervisor":
            return "mpiexec: the process that keeps the job together was killed"
        number = int(victim.environment.get("CLUMP_PROCESS", 0))
        if way in ("fibers", "threads"):
            return "mpiexec: the job's process was ended by SIGKILL"
        if way == "2 x 2":
            return f"mpiexec: the process of ranks {2 * number}-{2 * number + 1} was ended by SIGKILL"
        if victim.program == BUSY and way == "script":  # the shell tells it by its exit code
            return f"mpiexec: rank {number} of {RANKS} ended with exit code 137"
        return f"mpiexec: rank {number} of {RANKS} was ended by SIGKILL"

    def wait_for_all(self, job: Job, begin: float) -> None:
        while left := job.processes():
            self.assertLess(time.monotonic(), begin + LIMIT, f"still running: {[one[:3] for one in left]}")
            time.sleep(0.01)

    def clean_up(self, job: Job) -> None:
        for process in job.processes():
            kill(process)
        job.mpiexec.communicate()


if __name__ == "__main__":
    unittest.main()
