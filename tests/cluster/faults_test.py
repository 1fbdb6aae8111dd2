"""Faults at random moments of jobs on two or three hosts: any process is killed, a host's link is cut, hosts lose each other's packets, or the job
is ended by a signal or by --timeout. Each time all is over soon, with the right exit code, and nothing is left on any host. CLUMP_FAULTS says how many; CLUMP_FAULTS_SEED repeats what has failed."""

import contextlib
import os
import random
import signal
import subprocess
import time
import unittest

import cluster
from cluster import files, mpiexec, name_of, processes, program_of, tool

setUpModule = cluster.skip_without_hosts

COUNT = int(os.environ.get("CLUMP_FAULTS", "20"))
SEED = int(os.environ.get("CLUMP_FAULTS_SEED", str(time.time_ns() % 1_000_000)))
MOST = float(os.environ.get("CLUMP_FAULTS_MOST", "60"))  # seconds from the fault to the end of everything; at night, on a machine without other work, 10
ENVIRONMENT = {**os.environ, "CLUMP_CONNECT_TIMEOUT": "2"}  # seconds without an answer
MODES = ((), (), ("--scheduler", "threads"), ("--ranks", "processes"), ("--per-process", 1))
HOSTS = ("h0,h1", "h1,h2", "h0,h1,h2")
# Programs of a job. Others are hosts.sh's or the agent's, and may have done their work already.
OWN = ("mpiexec", "clump-supervise", "prterun", "prted", "rank")
FAULTS = ("TERM", "INT", "timeout", "link", "link", "drop", "kill", "kill", "kill", "kill", "kill")


class Faults(cluster.Case):
    def victim(self, draw: random.Random, hosts: str) -> tuple:
        """Some process of a host, by what it is."""
        host = draw.choice(sorted({"h0", *hosts.split(",")}))
        there = [(name_of(pid), pid) for pid in processes(host)]
        if not there:
            return None, None, None
        name, pid = draw.choice(sorted(there))
        return host, "rank" if program_of(pid).startswith("launcher_") else name, pid

    def one(self, number: int) -> None:
        draw = random.Random(SEED + number)
        before = files()
        hosts, mode, fault = draw.choice(HOSTS), draw.choice(MODES), draw.choice(FAULTS)
        program = "cluster_ring" if fault == "drop" else draw.choice(("busy", "busy", "busy", "show"))  # the last ends at once, by itself
        delay = draw.uniform(0.0, 1.6 if program == "busy" else 0.9)
        options = ("--timeout", 1) if fault == "timeout" else ()
        began = time.monotonic()
        path = (tool.BIN / program, 30) if program == "cluster_ring" else (tool.program(program),)
        job = subprocess.Popen(mpiexec(*options, *mode, "--host", hosts, "-n", 6, *path), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.addCleanup(job.kill)
        time.sleep(1.0 if fault == "timeout" else delay)
        host = what = pid = None
        is_trial = False
        mend = contextlib.ExitStack()
        self.addCleanup(mend.close)
        if fault == "link":
            host = draw.choice([name for name in hosts.split(",") if name != "h0"])
            mend.callback(self.wait_for, lambda: self.reaches(host, "h0"))
            mend.callback(cluster.set_link, host, "up")
            cluster.set_link(host, "down")
        elif fault == "drop":
            host, what = draw.sample(sorted({"h0", *hosts.split(",")}), 2)
            mend.enter_context(cluster.lost_packets(host, what))
        elif fault == "kill":
            host, what, pid = self.victim(draw, hosts)
            if pid is not None:
                is_trial = "--try-host" in cluster.words_of(pid)
                cluster.send([pid], signal.SIGKILL)
            else:
                fault = "TERM"  # nothing is there yet
        if fault in ("TERM", "INT"):
            job.send_signal(getattr(signal, f"SIG{fault}"))
        begin = time.monotonic()
        try:
            out, errors = job.communicate(timeout=MOST + 1)
        except subprocess.TimeoutExpired:
            job.send_signal(signal.SIGTERM)
            out, errors = job.communicate(timeout=MOST)
            if fault == "kill" and (what not in OWN or is_trial) and "busy" in out:
                print(f"CLUMP_FAULTS_SEED={SEED + number}: {what} on {host} was done, or not needed, after {delay:.3f} s", flush=True)
                return self.assert_nothing_left()
        seconds = time.monotonic() - begin
        mend.close()
        story = f"CLUMP_FAULTS_SEED={SEED + number} CLUMP_FAULTS=1: {fault} of {what} on {host} after {delay:.3f} s of {program} {mode} on {hosts}: " \
                f"{job.returncode} after {seconds:.1f} s (began {begin - began:.1f} s before)\n{errors}"
        print(story.splitlines()[0], flush=True)
        self.assertLess(seconds, MOST, story)
        if program != "show" or job.returncode != 0:  # the other one may have ended before
            self.judge(job.returncode, fault, what, story)
        if fault == "link" and job.returncode != 0 or what in ("prted", "mpiexec") and host != "h0" and "busy" in out:
            self.assertIn(host, errors, story)
        self.assert_nothing_left()  # a host that hears nothing notices late
        # As in kills_test.py: what would remove prted's folder may have been ended with the job, as the hosts share a kernel.
        may_stay = "/clump." if what == "clump-supervise" else None
        left = lambda: {path for path in files() if not (may_stay and may_stay in path)} - {*before}
        self.wait_for(lambda: not left())
        self.assertEqual(left(), set(), story)

    def judge(self, code: int, fault: str, what: str, story: str) -> None:
        if fault == "timeout":
            return self.assertEqual(code, 124, story)
        if fault in ("TERM", "INT"):
            number = getattr(signal, f"SIG{fault}")
            return self.assertIn(code, (128 + number, -number), story)  # the second: mpiexec was no more than begun
        if what == "rank":
            return self.assertEqual(code, 128 + signal.SIGKILL, story)
        return self.assertNotEqual(code, 0, story)

    def test_faults(self):
        for number in range(COUNT):
            with self.subTest(seed=SEED + number):
                self.one(number)


if __name__ == "__main__":
    unittest.main()
