"""Standard input of jobs on several hosts: it arrives whole at the ranks that --stdin names, and ends."""

import hashlib
import os
import pathlib
import pty
import random
import signal
import subprocess
import tempfile
import unittest

import cluster
from cluster import LIMIT, mpiexec, tool
from seed import seed

setUpModule = cluster.skip_without_hosts

COUNT = "python3 -c 'import hashlib, sys; data = sys.stdin.buffer.read(); print(len(data), hashlib.sha1(data).hexdigest())'"


def digest(data: bytes) -> str:
    return f"{len(data)} {hashlib.sha1(data).hexdigest()}"


class Input(cluster.Case):
    def read(self, data: bytes, *options: object, script: str = COUNT) -> list:
        """What ranks print, which read all that there is."""
        with tempfile.TemporaryFile() as file:  # not a pipe that a job without an end would have to be fed by
            file.write(data)
            file.seek(0)
            feeder = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
            job = self.run_job("--tag-output", *options, "sh", "-c", script, stdin=feeder.stdout)
            feeder.stdout.close()
            feeder.wait()
        self.assertEqual((job.returncode, job.stderr), (0, ""), job)
        return sorted(job.stdout.splitlines())

    def test_it_ends(self):
        nothing, line = digest(b""), digest(b"x\n")
        for hosts in "h0,h1", "h1,h2", "h1":
            with self.subTest(hosts=hosts):
                where = ("--host", hosts, "-n", 2)
                self.assertEqual(self.read(b"", *where), [f"[0] {nothing}", f"[1] {nothing}"])
                self.assertEqual(self.read(b"x\n", *where), [f"[0] {line}", f"[1] {nothing}"])
                job = self.run_job(*where, "cat", stdin=subprocess.DEVNULL)
                self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "", ""))

    def test_any_size_and_any_rank(self):
        data, nothing = random.Random(seed(1)).randbytes(3_000_000), digest(b"")
        for rank in range(4):
            expected = [f"[{i}] {digest(data) if i == rank else nothing}" for i in range(4)]
            self.assertEqual(self.read(data, "--stdin", rank, "--host", "h0:1,h1:2,h2:1", "-n", 4), expected)
        expected = [f"[{i}] {nothing}" for i in range(4)]
        self.assertEqual(self.read(data, "--stdin", "none", "--host", "h0:1,h1:2,h2:1", "-n", 4), expected)

    def test_all_ranks(self):
        data = random.Random(seed(2)).randbytes(3_000_000)
        for where in ("h0:1,h1:2,h2:1", "h1:4", "h1:2,h2:2"):
            self.assertEqual(self.read(data, "--stdin", "all", "--host", where, "-n", 4), [f"[{i}] {digest(data)}" for i in range(4)])

    def test_a_slow_reader(self):
        """A hundred megabytes of which memory holds little."""
        slow = ("import sys, time, hashlib; read = sys.stdin.buffer.read; sum = hashlib.sha1(); n = 0; time.sleep(1)\n"
                "while True:\n data = read(1 << 20)\n if not data: break\n sum.update(data); n += len(data); time.sleep(0.01)\n"
                "print(n, sum.hexdigest())")
        data = random.Random(seed(3)).randbytes(1_000_000) * 100
        job = subprocess.Popen(mpiexec("--host", "h1,h2", "-n", 2, "python3", "-c", slow), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        self.addCleanup(job.kill)
        job.stdin.write(data[:50_000_000])
        peaks = [int(line.split()[1]) for pid in cluster.processes("h0") if cluster.name_of(pid) == "mpiexec"
                 for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM")]
        out, errors = tool.end_of(job, data[50_000_000:])
        self.assertEqual((sorted(out.decode().splitlines()), errors, job.returncode), (sorted([digest(data), digest(b"")]), b"", 0))
        self.assertNotEqual(peaks, [])
        self.assertLess(max(peaks), 100_000)  # KiB

    def test_a_rank_that_reads_no_more(self):
        feeder = subprocess.Popen(["yes"], stdout=subprocess.PIPE)
        job = self.run_job("--host", "h1,h2", "-n", 2, "head", "-n1", stdin=feeder.stdout)
        feeder.stdout.close()
        self.assertEqual(feeder.wait(timeout=LIMIT), -signal.SIGPIPE)
        self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "y\n", ""))
        # Of two that read all, one has gone: the other one gets the rest.
        data = b"a line\n" * 2_000_000
        script = f'if [ $PMI_RANK = 0 ]; then head -n1 >/dev/null; else {COUNT}; fi'
        self.assertEqual(self.read(data, "--stdin", "all", "--host", "h1,h2", "-n", 2, script=script), [f"[1] {digest(data)}"])

    def test_a_terminal(self):
        mine, its = pty.openpty()
        self.addCleanup(os.close, mine)
        job = subprocess.Popen(mpiexec("--host", "h1,h2", "-n", 2, "cat"), stdin=its, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        os.close(its)
        self.addCleanup(job.kill)
        os.write(mine, b"typed\n")
        self.assertEqual(job.stdout.readline(), "typed\n")
        os.write(mine, b"more\n\x04")
        out, errors = tool.end_of(job)
        self.assertEqual((out, errors, job.returncode), ("more\n", "", 0))


if __name__ == "__main__":
    unittest.main()
