"""kill -9 of each process that takes part in a job on three hosts, as soon as it is there and while ranks exchange messages: the job ends and says
which host it was, and nothing is left on any host. A process that is killed while the job starts is what random moments (faults) rarely meet."""

import signal
import subprocess
import unittest

import cluster
from cluster import LIMIT, files, mpiexec, name_of, processes, program_of, send, tool, words_of

setUpModule = cluster.skip_without_hosts


def is_supervisor_below(word: str):
    """It has the command line of what it was forked from."""
    return lambda pid: name_of(pid) == "clump-supervise" and word in words_of(pid)


def parent_of(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf8", errors="replace") as stat:
            return int(stat.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def runs_prted(pid: int) -> bool:
    return program_of(pid) == "prted"


# By what they are: the host, and how the process is known.
VICTIMS = {
    "mpiexec": ("h0", lambda pid: name_of(pid) == "mpiexec" and "--host" in words_of(pid)),
    "its supervisor": ("h0", is_supervisor_below("--host")),
    "prterun": ("h0", lambda pid: program_of(pid) == "prterun"),
    "mpiexec --start-host": ("h0", lambda pid: "--start-host" in words_of(pid)[:2] and "h2" in words_of(pid)),
    "the agent": ("h0", lambda pid: f"{cluster.CLUSTER}/agent" in words_of(pid)[:2] and "h2" in words_of(pid)),
    "mpiexec --run-daemon": ("h2", lambda pid: name_of(pid) == "mpiexec" and "--run-daemon" in words_of(pid)),
    "the supervisor of prted": ("h2", is_supervisor_below("--run-daemon")),
    "prted's shell": ("h2", lambda pid: words_of(pid)[:2] == ["/bin/sh", "-c"] and "--run-daemon" in words_of(parent_of(pid))),
    "prted, which waits": ("h2", lambda pid: runs_prted(pid) and not runs_prted(parent_of(pid))),
    "prted": ("h2", lambda pid: runs_prted(pid) and runs_prted(parent_of(pid))),
    "mpiexec --proxy": ("h2", lambda pid: name_of(pid) == "mpiexec" and "--proxy" in words_of(pid)),
    "the supervisor of ranks": ("h2", is_supervisor_below("--proxy")),
    "ranks": ("h2", lambda pid: program_of(pid) == "launcher_busy"),
}


class Kills(cluster.Case):
    def kill(self, what: str, begun: bool) -> None:
        before = files()
        host, is_it = VICTIMS[what]
        job = subprocess.Popen(mpiexec("--host", "h0,h1,h2", "-n", 6, tool.program("busy")), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        if begun:
            self.assertEqual(job.stdout.readline(), "busy\n")
        found = self.wait_for(lambda: [pid for pid in processes(host) if is_it(pid)] or job.poll() is not None)
        self.assertIsInstance(found, list, f"{what} is not there: {job.poll()}")
        send(found[:1], signal.SIGKILL)
        _, errors = tool.end_of(job, limit=LIMIT)
        told = f"code {job.returncode}: {errors}"
        self.assertNotIn(job.returncode, (0, 98), told)  # 98: nothing has ended it
        if host == "h2":
            self.assertIn("h2" if what != "ranks" else "SIGKILL", errors, told)
        self.assert_nothing_left()
        # Its process above removes prted's folder. Here that one is below mpiexec, as hosts share a kernel, and may be ended with the job before.
        may_stay = "/clump." if what == "the supervisor of prted" else None
        left = lambda: {path for path in files() if not (may_stay and may_stay in path)} - {*before}
        self.wait_for(lambda: not left())
        self.assertEqual(left(), set(), told)

    def test_as_soon_as_it_is_there(self):
        for what in VICTIMS:
            with self.subTest(what):
                self.kill(what, begun=False)

    def test_while_ranks_exchange_messages(self):
        for what in VICTIMS:
            with self.subTest(what):
                self.kill(what, begun=True)


if __name__ == "__main__":
    unittest.main()
