"""Hosts that do not reach each other, from the start or from some moment on: the job ends, and says which ones, by which addresses."""

import os
import subprocess
import unittest

import cluster
from cluster import ip, lost_packets, mpiexec, tool

setUpModule = cluster.skip_without_hosts
PATIENCE = 2  # seconds


class Reach(cluster.Case):
    environment = {**os.environ, "CLUMP_CONNECT_TIMEOUT": str(PATIENCE)}

    def job(self, *words: object) -> subprocess.CompletedProcess:
        return self.run_job("--host", "h0,h1,h2", "-n", 3, *words, tool.BIN / "cluster_ring", 0.1, env=self.environment)

    def assert_told(self, text: str) -> None:
        self.assertRegex(text, r"h(1 cannot reach rank 2 on h2|2 cannot reach rank 1 on h1): ")
        self.assertRegex(text, r"(10\.77\.0\.2 port \d+ to 10\.77\.0\.3 port \d+|10\.77\.0\.3 port \d+ to 10\.77\.0\.2 port \d+)")
        self.assertIn("CLUMP_CONNECT_TIMEOUT", text)

    def test_packets_between_two_of_three_hosts_are_dropped(self):
        with lost_packets("h1", "h2"):
            job = self.job()
        self.assertNotEqual(job.returncode, 0)
        self.assert_told(job.stderr)
        self.assertIn("no answer within 2 s", job.stderr)

    def test_there_is_no_route(self):
        ip("h1", "route", "add", "unreachable", "10.77.0.3/32")
        self.addCleanup(ip, "h1", "route", "del", "unreachable", "10.77.0.3/32")
        job = self.job()
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(job.stderr, r"h1 cannot reach rank 2 on h2: .*No route to host")

    def test_two_hosts_lose_each_other(self):
        job = subprocess.Popen(mpiexec("--host", "h0,h1,h2", "-n", 3, tool.BIN / "cluster_ring", 30), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "begun\n")
        with lost_packets("h1", "h2"):
            _, errors = tool.end_of(job)
        self.assertNotEqual(job.returncode, 0)
        self.assert_told(errors)

    def test_a_route_is_lost(self):
        """What a host's own kernel does not let out was never sent, so nothing is unacknowledged."""
        job = subprocess.Popen(mpiexec("--host", "h0,h1,h2", "-n", 3, tool.BIN / "cluster_after_a_pause", 2), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "pause\n")
        for host, other in ("h1", "10.77.0.3/32"), ("h2", "10.77.0.2/32"):
            ip(host, "route", "add", "blackhole", other)
            self.addCleanup(ip, host, "route", "del", "blackhole", other)
        _, errors = tool.end_of(job)
        self.assertNotEqual(job.returncode, 0)
        self.assert_told(errors)

    def test_a_connection_that_rests_is_not_given_up(self):
        job = self.run_job("--host", "h0,h1,h2", "-n", 3, tool.BIN / "cluster_after_a_pause", 3 * PATIENCE, env=self.environment)
        self.assertEqual((job.returncode, job.stderr, job.stdout), (0, "", "pause\n"))

    def test_a_rank_that_is_late_keeps_up_no_other(self):
        job = self.run_job("--host", "h0,h1,h2", "-n", 3, tool.BIN / "cluster_latecomer", 4)
        self.assertEqual((job.returncode, job.stderr), (0, ""))

    def test_ranks_that_compute_are_not_given_up(self):
        # What is for them waits, and their kernel answers.
        job = self.run_job("--host", "h0,h1", "-n", 2, tool.BIN / "cluster_late", 3 * PATIENCE, env=self.environment)
        self.assertEqual((job.returncode, job.stderr), (0, ""))

    def test_a_provider_of_libfabric_that_is_not_there(self):
        environment = {**os.environ, "CLUMP_OFI_PROVIDER": "nosuch"}
        words = ("--host", "h0,h1", "-n", 2, tool.BIN / "cluster_late", 0)
        job = self.run_job(*words, env=environment)
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("libfabric has no network with the provider nosuch", job.stderr)
        job = self.run_job("--net", "tcp", *words, env=environment)
        self.assertEqual((job.returncode, job.stderr), (0, ""))

    def test_a_number_of_seconds_is_needed(self):
        job = self.run_job("--host", "h0,h1", "-n", 2, tool.BIN / "cluster_ring", 0, env={**os.environ, "CLUMP_CONNECT_TIMEOUT": "soon"})
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("CLUMP_CONNECT_TIMEOUT=soon: a number of seconds is needed", job.stderr)


if __name__ == "__main__":
    unittest.main()
