"""Faults at random moments of jobs on four hosts: what takes part is killed (ranks, proxies, supervisors, both ends of ssh), a link is cut, a
firewall drops or refuses what two hosts send each other, a disk is full, or the job is ended from outside. It happens while the job starts,
while ranks communicate, and while they are in MPI_Finalize. Each time the job ends within 10 s of being able to know of it, with the right exit
code, the host and the rank at fault are named, and nothing is left on any host: no process (so no socket), no file, no shared memory.
CLUMP_FAULTS says how many; CLUMP_TEST_SEED, with CLUMP_FAULTS=1, repeats what has failed. A line tells of each fault, and a table of all."""

import collections
import contextlib
import os
import pathlib
import random
import re
import signal
import subprocess
import time
import unittest

import cluster
from cluster import files, mpiexec, name_of, processes, program_of, tool, words_of
from seed import seed

setUpModule = cluster.skip_without_hosts

COUNT = int(os.environ.get("CLUMP_FAULTS", "20"))
END = 10.0  # seconds
HEARD = 6.0  # seconds after which a host that is silent is lost (LauncherLine::kPatience)
ENVIRONMENT = {**os.environ, "CLUMP_CONNECT_TIMEOUT": "2", **cluster.WIRE}  # seconds without an answer; a launcher whose stream crosses the network
MODES = ((), (), ("--scheduler", "threads"), ("--ranks", "processes"), ("--per-process", 1))
HOSTS = ("h0,h1,h2,h3", "h0,h1,h2,h3", "h1,h2,h3", "h0,h1")
PER_HOST = 2
# The moment: the program, what it says then, and whether all have begun.
MOMENTS = {
    "start": ((tool.program("busy"),), None),
    "run": ((tool.program("busy"),), "busy\n"),
    "ring": ((tool.BIN / "cluster_ring", 100), "begun\n"),
    "finalize": ((tool.BIN / "cluster_finalize", 100), "they wait\n"),
    "unheard": ((tool.BIN / "cluster_finalize", 3), "they wait\n"),  # what two hosts do not say is not missed before
}


def is_supervisor_below(word: str):
    return lambda pid: name_of(pid) == "clump-supervise" and word in words_of(pid)


# What is killed of a host: how it is known, and what mpiexec says, of ranks and hosts. Ends of ssh are wire.py's.
VICTIMS = {
    "rank": (lambda pid: program_of(pid).startswith(("launcher_", "cluster_")), "{ranks} on {host} was ended by SIGKILL"),
    "proxy": (lambda pid: name_of(pid) == "mpiexec" and words_of(pid)[1:2] == ["--proxy"], "(lost )?{host}: "),
    "supervisor": (is_supervisor_below("--proxy"), "(lost )?{host}: |on {host} was killed"),
    "sshd": (lambda pid: name_of(pid) == "sshd", "(lost )?{host}: "),
    "ssh": (lambda pid: name_of(pid) == "ssh", "(lost )?{host}: "),
    "mpiexec": (lambda pid: name_of(pid) == "mpiexec" and "--host" in words_of(pid), None),
    "supervisor of mpiexec": (is_supervisor_below("--host"), "the process that keeps the job together was killed"),
}
FAULTS = ("rank", "rank", "rank", "proxy", "proxy", "ssh", "ssh", "sshd", "sshd", "supervisor", "mpiexec", "supervisor of mpiexec", "TERM", "INT",
          "timeout", "link", "link", "drop", "drop", "refuse", "refuse", "disk")


class Fault:
    """What is drawn of one, and what happened."""

    def __init__(self, drawn: int):
        draw = random.Random(drawn)
        self.draw = draw
        self.hosts, self.mode, self.kind = draw.choice(HOSTS).split(","), draw.choice(MODES), draw.choice(FAULTS)
        self.moment = draw.choice(("start", "run", "finalize"))
        if self.kind in ("link", "drop", "refuse") and self.moment == "run":
            self.moment = "ring"  # small messages, to one host
        if self.kind in ("drop", "refuse") and self.moment == "finalize":
            self.moment = "unheard"
        if self.kind == "disk":
            self.moment = "start"
        self.delay = draw.uniform(0.0, 0.4)
        others = [host for host in self.hosts if host != "h0"]
        self.host = "h0" if self.kind in ("mpiexec", "supervisor of mpiexec") else draw.choice(others)
        self.other = draw.choice(self.talks_to()) if self.kind in ("drop", "refuse") else None
        self.victim = None

    def talks_to(self) -> list:
        """The hosts whose silence this one notices: mpiexec's, and its neighbours in the ring."""
        at = self.hosts.index(self.host)
        neighbours = {self.hosts[at - 1], self.hosts[(at + 1) % len(self.hosts)]}
        return sorted({"h0", *neighbours} - {self.host})

    @property
    def is_silent(self) -> bool:
        return self.kind in ("link", "drop", "refuse")

    def __str__(self) -> str:
        where = f"{self.host}" + (f" and {self.other}" if self.other else "")
        return f"{self.kind} of {where} at {self.moment} + {self.delay:.2f} s, {' '.join(map(str, self.mode)) or 'fibers'}, on {','.join(self.hosts)}"


class Faults(cluster.Case):
    def setUp(self) -> None:
        self.table = collections.defaultdict(list)

    def tearDown(self) -> None:
        print(f"{'fault':<24}{'moment':<10}{'tries':>6}{'failed':>8}{'slowest':>9}")
        for (kind, moment), all_took in sorted(self.table.items()):
            good = [took for took in all_took if took is not None]
            print(f"{kind:<24}{moment:<10}{len(all_took):>6}{len(all_took) - len(good):>8}{max(good, default=0):>8.1f}s", flush=True)
        super().tearDown()

    def find(self, fault: Fault, job: subprocess.Popen) -> int:
        """A process of its kind, as soon as there is one; 0: the job has ended before."""
        is_it = VICTIMS[fault.kind][0]
        where = "h0" if fault.kind == "ssh" else fault.host
        of_host = lambda pid: fault.kind != "ssh" or fault.host in words_of(pid)
        found = self.wait_for(lambda: [pid for pid in processes(where) if is_it(pid) and of_host(pid)] or job.poll() is not None, END * 3)
        self.assertTrue(found, f"{fault}: it is not there")
        return fault.draw.choice(sorted(found)) if found is not True else 0

    def ranks_of(self, fault: Fault) -> str:
        """How they are called, if the process that is to be killed is theirs."""
        first = PER_HOST * fault.hosts.index(fault.host)
        if not fault.mode or fault.mode[0] == "--scheduler":
            return f"the process of ranks {first}-{first + 1}"
        variables = dict(word.partition("=")[::2] for word in pathlib.Path(f"/proc/{fault.victim}/environ").read_text().split("\0"))
        return f"rank {variables['CLUMP_PROCESS']} of {PER_HOST * len(fault.hosts)}"

    @contextlib.contextmanager
    def firewall(self, fault: Fault):
        """What these two hosts send each other is dropped, or refused."""
        if fault.kind == "drop":
            with cluster.lost_packets(fault.host, fault.other):
                yield
            return
        ways = [(a, f"10.77.0.{int(b[1:]) + 1}/32") for a, b in ((fault.host, fault.other), (fault.other, fault.host))]
        for host, address in ways:
            cluster.ip(host, "route", "add", "prohibit", address)
        try:
            yield
        finally:
            for host, address in ways:
                cluster.ip(host, "route", "del", "prohibit", address)

    def happen(self, fault: Fault, job: subprocess.Popen, mend: contextlib.ExitStack) -> None:
        if fault.kind in VICTIMS:
            fault.victim = self.find(fault, job)
            fault.ranks = self.ranks_of(fault) if fault.victim and fault.kind == "rank" else ""
            cluster.send([fault.victim] if fault.victim else [], signal.SIGKILL)
        elif fault.kind == "link":
            mend.callback(self.wait_for, lambda: self.reaches(fault.host, "h0"))
            mend.callback(cluster.set_link, fault.host, "up")
            cluster.set_link(fault.host, "down")
        elif fault.kind in ("drop", "refuse"):
            mend.enter_context(self.firewall(fault))
        elif fault.kind in ("TERM", "INT"):
            job.send_signal(getattr(signal, f"SIG{fault.kind}"))

    def start_job(self, fault: Fault, mend: contextlib.ExitStack) -> subprocess.Popen:
        program, options = MOMENTS[fault.moment][0], list(fault.mode)
        if fault.kind == "timeout":
            options += ["--timeout", 2]
        if fault.kind == "disk":
            folder, rank = self.folder(), PER_HOST * fault.hosts.index(fault.host)
            (folder / f"rank.{rank}.out").touch()
            self.give(f"mounts.{fault.host}", f"/dev/full {folder}/rank.{rank}.out\n")
            fault.ranks = f"rank {rank} of {PER_HOST * len(fault.hosts)}"
            program, options = (tool.program("show"),), options + ["--output-dir", folder]
        if fault.moment == "start" and fault.draw.random() < 0.5 and fault.kind in ("drop", "refuse"):
            fault.delay = 0.0
            self.happen(fault, None, mend)  # before the job
        words = (*options, "--host", ",".join(f"{host}:{PER_HOST}" for host in fault.hosts), "-n", PER_HOST * len(fault.hosts), *program)
        job = subprocess.Popen(mpiexec(*words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.addCleanup(job.kill)
        return job

    def one(self, fault: Fault) -> float:
        before = files()
        with contextlib.ExitStack() as mend:
            job = self.start_job(fault, mend)
            if MOMENTS[fault.moment][1] is not None and fault.kind not in ("timeout", "disk"):
                self.assertEqual(job.stdout.readline(), MOMENTS[fault.moment][1], fault)
            time.sleep(fault.delay)
            if fault.delay > 0:
                self.happen(fault, job, mend)
            since = time.monotonic()
            _, errors = tool.end_of(job, limit=cluster.LIMIT)
            took = time.monotonic() - since
        story = f"{fault}: code {job.returncode} after {took:.1f} s\n{errors}"
        if fault.moment != "unheard" or job.returncode != 0:  # the ends of these hosts may have needed no word from each other
            self.judge(fault, job.returncode, errors, story)
        self.assert_nothing_left(END + HEARD)
        left = lambda: {*files()} - {*before}
        self.wait_for(lambda: not left(), END)
        self.assertEqual(left(), set(), story)
        # A host that is silent is noticed later, and ranks that connect, or wait for a proxy that does not come, have their own time.
        knows = HEARD + 4 if fault.is_silent or fault.kind == "timeout" else 0
        self.assertLess(took, knows + END, story)
        return took

    def judge(self, fault: Fault, code: int, errors: str, story: str) -> None:
        if fault.kind == "timeout":
            return self.assertEqual(code, 124, story)
        if fault.kind in ("TERM", "INT"):
            number = getattr(signal, f"SIG{fault.kind}")
            return self.assertIn(code, (128 + number, -number), story)  # the second: mpiexec was no more than begun
        if fault.kind == "disk":
            self.assertEqual(code, 1, story)
            return self.assertRegex(errors, rf"(?m)^mpiexec: {fault.ranks} on {fault.host} cannot write its output: .*(No space left on device|disk full)", story)
        if fault.kind in VICTIMS:
            self.assertEqual(code, {"rank": 128 + 9, "mpiexec": -9}.get(fault.kind, code), story)
            says = VICTIMS[fault.kind][1]
            if says is not None:
                self.assertRegex(errors, "(?m)^mpiexec: (.* )?(" + says.format(host=fault.host, ranks=getattr(fault, "ranks", "")) + ")", story)
        if fault.is_silent:
            self.assertTrue(re.search(rf"\b({fault.host}|{fault.other})\b", errors), story)
        self.assertNotIn(code, (0, 98), story)  # 98: nothing has ended it

    def test_faults(self):
        first = seed(20261128)
        for at, drawn in enumerate(range(first, first + COUNT)):
            fault, verdict = Fault(drawn), "no verdict"
            with self.subTest(seed=drawn):
                try:
                    took = self.one(fault)
                    verdict = f"{took:.1f} s"
                    self.table[fault.kind, fault.moment].append(took)
                except AssertionError as failure:
                    verdict = f"FAILED: {failure}"
                    self.table[fault.kind, fault.moment].append(None)
                    raise
                finally:
                    print(f"{at + 1}/{COUNT} CLUMP_TEST_SEED={drawn} {fault}: {verdict}", flush=True)
                    self.doCleanups()  # what a fault has left is not the next one's


if __name__ == "__main__":
    unittest.main()
