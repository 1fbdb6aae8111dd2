"""kill -9 of each process that takes part in a job on three hosts, as soon as it is there and while ranks exchange messages: the job ends and says
which host it was, and nothing is left on any host. A process that is killed while the job starts is what random moments (faults) rarely meet."""

import signal
import subprocess
import time
import unittest

import cluster
from cluster import LIMIT, files, mpiexec, name_of, processes, program_of, send, tool, words_of

setUpModule = cluster.skip_without_hosts


def is_supervisor_below(word: str):
    """It has the command line of what it was forked from."""
    return lambda pid: name_of(pid) == "clump-supervise" and word in words_of(pid)


# By what they are: the host, and how the process is known.
VICTIMS = {
    "mpiexec": ("h0", lambda pid: name_of(pid) == "mpiexec" and "--host" in words_of(pid)),
    "its supervisor": ("h0", is_supervisor_below("--host")),
    "the agent": ("h0", lambda pid: f"{cluster.CLUSTER}/agent" in words_of(pid)[:2] and "h2" in words_of(pid)),
    "the proxy of this host": ("h0", lambda pid: name_of(pid) == "mpiexec" and words_of(pid)[1:2] == ["--proxy"]),
    "the proxy": ("h2", lambda pid: name_of(pid) == "mpiexec" and words_of(pid)[1:2] == ["--proxy"]),
    "the supervisor of ranks": ("h2", is_supervisor_below("--proxy")),
    "ranks": ("h2", lambda pid: program_of(pid) == "launcher_busy"),
}
# What is killed of these is told with the host's name.
TELLS_HOST = {"the agent": "h2", "the proxy of this host": "h0", "the proxy": "h2", "the supervisor of ranks": "h2"}


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
        if what in TELLS_HOST:
            self.assertRegex(errors, rf"(?m)^mpiexec: (lost )?{TELLS_HOST[what]}: |on {TELLS_HOST[what]}", told)
        if what == "ranks":
            self.assertIn("SIGKILL", errors, told)
        self.assert_nothing_left()
        left = lambda: {*files()} - {*before}
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

    def test_what_is_known_of_a_rank_that_was_killed_comes_first(self):
        """Its host refuses connections to it, and on a loaded machine news take seconds: after eight or so other ranks give it up."""
        for seconds in 5, 11:
            with self.subTest(seconds=seconds):
                self.kill_with_late_news(seconds)

    def kill_with_late_news(self, seconds: float) -> None:
        job = subprocess.Popen(mpiexec("--per-process", 1, "--host", "h0:2,h1:2,h2:2,h3:2", "-n", 8, tool.program("busy")), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "busy\n")
        supervisor = [pid for pid in processes("h1") if is_supervisor_below("--proxy")(pid)]
        send(supervisor, signal.SIGSTOP)
        self.addCleanup(send, supervisor, signal.SIGCONT)
        send([min(pid for pid in processes("h1") if program_of(pid) == "launcher_busy")], signal.SIGKILL)
        time.sleep(seconds)
        send(supervisor, signal.SIGCONT)
        _, errors = tool.end_of(job, limit=LIMIT)
        self.assertRegex(errors, r"\Ampiexec: rank 2 of 8 on h1 was ended by SIGKILL")
        self.assertEqual(job.returncode, 128 + signal.SIGKILL, errors)


if __name__ == "__main__":
    unittest.main()
