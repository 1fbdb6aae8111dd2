"""The windows of a host's stream: input that no rank reads, and output that nothing takes, hold up neither signals nor the end of the job, and memory
holds little of them."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

import cluster
from cluster import LIMIT, mpiexec, name_of, processes, program_of, tool

setUpModule = cluster.skip_without_hosts

MOST = 64 << 10  # KiB; what mpiexec and a proxy take at most
SOON = 20.0  # seconds; ranks are gone in a few hundredths, and mpiexec itself waits 2 s for a reader that stands still


class Windows(cluster.Case):
    def begin(self, *words: object, **options) -> subprocess.Popen:
        job = subprocess.Popen(mpiexec(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(job.stderr.close)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        return job

    def wait_for_ranks(self, program: str, number: int) -> None:
        ranks = lambda: [pid for host in ("h1", "h2") for pid in processes(host) if program_of(pid) == program]
        self.assertTrue(self.wait_for(lambda: len(ranks()) == number), ranks())

    def peaks(self) -> dict:
        found = {}
        for host in "h0", "h1", "h2":
            for pid in processes(host):
                if name_of(pid) == "mpiexec":
                    status = pathlib.Path(f"/proc/{pid}/status").read_text()
                    found[host, pid] = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
        return found

    def end_in_time(self, job: subprocess.Popen, program: str) -> bytes:
        """By SIGTERM, while its streams are stuck: its ranks at once, and mpiexec."""
        peaks = self.peaks()
        self.assertEqual({host for host, _ in peaks}, {"h0", "h1", "h2"})
        self.assertLess(max(peaks.values()), MOST, peaks)
        began = time.monotonic()
        job.send_signal(signal.SIGTERM)
        self.wait_for(lambda: not any(program_of(pid) == program for host in ("h1", "h2") for pid in processes(host)))
        ranks_ended = time.monotonic() - began
        self.assertEqual(job.wait(LIMIT), 128 + signal.SIGTERM)
        print(f"ranks ended after {ranks_ended:.2f} s, the job after {time.monotonic() - began:.2f} s", flush=True)
        self.assertLess(time.monotonic() - began, SOON)
        self.assert_nothing_left()
        return job.stderr.read()

    def test_a_slow_reader_gets_all(self):
        """Also when the proxies have ended, and mpiexec holds the rest of what they have sent."""
        for hosts in "h1:1", "h0:1,h1:1", "h1:1,h2:1":
            for width in "1", "32":
                with self.subTest(hosts=hosts, width=width):
                    ranks = hosts.count(":")
                    job = self.begin("--host", hosts, "-n", ranks, "sh", "-c", "yes | head -c 1250000",
                                     env={**os.environ, "CLUMP_TREE_WIDTH": width})
                    time.sleep(0.5)
                    self.assertIsNone(job.poll())
                    output, errors = job.communicate(timeout=LIMIT)
                    self.assertEqual((job.returncode, len(output), errors), (0, ranks * 1250000, b""))

    def test_input_that_no_rank_reads(self):
        feeder = subprocess.Popen(["head", "-c", "1000000000", "/dev/zero"], stdout=subprocess.PIPE)
        self.addCleanup(feeder.wait)
        self.addCleanup(feeder.kill)
        job = self.begin("--stdin", "all", "--host", "h1,h2", "-n", 4, "sleep", 1000, stdin=feeder.stdout)
        feeder.stdout.close()
        self.wait_for_ranks("sleep", 4)
        time.sleep(1)  # in which all windows fill
        self.end_in_time(job, "sleep")
        self.assertIsNotNone(feeder.wait(LIMIT))

    def test_output_that_nothing_takes(self):
        job = self.begin("--host", "h1,h2", "-n", 4, "yes", "a line", stdin=subprocess.DEVNULL)
        self.wait_for_ranks("yes", 4)
        time.sleep(1)
        self.assertRegex(self.end_in_time(job, "yes"), rb"mpiexec: \d+ bytes of output are lost: what reads it has stopped reading\n$")

    def test_much_output_of_many_ranks(self):
        """A gigabyte of each, were it not ended."""
        job = self.begin("--host", "h1,h2", "-n", 16, "--tag-output", "sh", "-c", "exec yes $PMI_RANK | head -c 1000000000", stdin=subprocess.DEVNULL)
        ranks, taken = set(), 0
        while taken < 100_000_000:
            block = os.read(job.stdout.fileno(), 1 << 20)
            self.assertTrue(block, job.poll())
            taken += len(block)
            for line in block[block.find(b"\n") + 1:block.rfind(b"\n")].splitlines()[::500]:
                self.assertRegex(line, rb"^\[(\d+)\] \1$")
                if taken > 50_000_000:  # all have their turn, long after the buffers were empty
                    ranks.add(line)
        self.assertEqual(len(ranks), 16)
        drain = subprocess.Popen(["cat"], stdin=job.stdout, stdout=subprocess.DEVNULL)
        self.addCleanup(drain.wait)
        job.stdout.close()
        self.end_in_time(job, "yes")

    def test_a_signal_passes_input_that_is_stuck(self):
        feeder = subprocess.Popen(["yes"], stdout=subprocess.PIPE)
        self.addCleanup(feeder.wait)
        self.addCleanup(feeder.kill)
        script = 'trap "echo heard; exit 0" USR1; echo ready; while :; do sleep 0.1; done'
        job = self.begin("--host", "h1,h2", "-n", 2, "sh", "-c", script, stdin=feeder.stdout, text=True)
        feeder.stdout.close()
        self.assertEqual([job.stdout.readline() for _ in range(2)], ["ready\n"] * 2)
        time.sleep(1)
        job.send_signal(signal.SIGUSR1)
        out, errors = tool.end_of(job, limit=LIMIT)
        self.assertEqual((out, errors, job.returncode), ("heard\n" * 2, "", 0))


if __name__ == "__main__":
    unittest.main()
