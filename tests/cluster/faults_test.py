"""Faults at random moments of jobs on two or three hosts: any process is killed, a host's link is cut, hosts lose each other's packets, or the job
is ended by a signal or by --timeout. Each time the job ends, with the right exit code, and nothing is left on any host. CLUMP_FAULTS says how many;
CLUMP_TEST_SEED, with CLUMP_FAULTS=1, repeats what has failed."""

import contextlib
import os
import random
import signal
import subprocess
import time
import unittest

import cluster
from cluster import LIMIT, files, mpiexec, name_of, processes, program_of, tool
from seed import seed

setUpModule = cluster.skip_without_hosts

COUNT = int(os.environ.get("CLUMP_FAULTS", "20"))
# Seconds after which a job is ended that goes on without a process that it may not have needed. No limit: one that ends later ends as well.
MOMENT = 10.0
ENVIRONMENT = {**os.environ, "CLUMP_CONNECT_TIMEOUT": "2", **cluster.WIRE}  # seconds without an answer; a launcher whose stream crosses the network
MODES = ((), (), ("--scheduler", "threads"), ("--ranks", "processes"), ("--per-process", 1))
HOSTS = ("h0,h1", "h1,h2", "h0,h1,h2")
# Programs of a job. Others are hosts.sh's or the agent's, and may have done their work already.
OWN = ("mpiexec", "clump-supervise", "rank")
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

    def one(self, drawn: int) -> None:
        draw = random.Random(drawn)
        before = files()
        hosts, mode, fault = draw.choice(HOSTS), draw.choice(MODES), draw.choice(FAULTS)
        program = "cluster_ring" if fault == "drop" else draw.choice(("busy", "busy", "busy", "show"))  # the last ends at once, by itself
        delay = draw.uniform(0.0, 1.6 if program == "busy" else 0.9)
        options = ("--timeout", 1) if fault == "timeout" else ()
        path = (tool.BIN / program, 30) if program == "cluster_ring" else (tool.program(program),)
        job = subprocess.Popen(mpiexec(*options, *mode, "--host", hosts, "-n", 6, *path), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.addCleanup(job.kill)
        time.sleep(1.0 if fault == "timeout" else delay)
        host = what = pid = None
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
                cluster.send([pid], signal.SIGKILL)
            else:
                fault = "TERM"  # nothing is there yet
        if fault in ("TERM", "INT"):
            job.send_signal(getattr(signal, f"SIG{fault}"))
        story = f"CLUMP_TEST_SEED={drawn} CLUMP_FAULTS=1: {fault} of {what} on {host} after {delay:.3f} s of {program} {mode} on {hosts}"
        print(story, flush=True)
        try:
            needless = fault == "kill" and what not in OWN
            out, errors = job.communicate(timeout=MOMENT if needless else LIMIT)
        except subprocess.TimeoutExpired as going_on:
            if not needless:
                raise tool.hangs(job.args, LIMIT, going_on.output, going_on.stderr) from None
            if b"busy" in (going_on.output or b""):
                job.send_signal(signal.SIGTERM)
                tool.end_of(job, limit=LIMIT)
                print("  it was done, or not needed", flush=True)
                return self.assert_nothing_left()
            out, errors = tool.end_of(job, limit=LIMIT)
        mend.close()
        story += f": {job.returncode}\n{errors}"
        if program != "show" or job.returncode != 0:  # the other one may have ended before
            self.judge(job.returncode, fault, what, story)
        if fault == "link" and job.returncode != 0 or what == "mpiexec" and host != "h0" and "busy" in out:
            self.assertIn(host, errors, story)
        self.assert_nothing_left()  # a host that hears nothing notices late
        left = lambda: {*files()} - {*before}
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
        first = seed(20261128)
        for drawn in range(first, first + COUNT):
            with self.subTest(seed=drawn):
                self.one(drawn)


if __name__ == "__main__":
    unittest.main()
