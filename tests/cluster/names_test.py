"""Two jobs over the same hosts publish the same names at the same time."""

import subprocess
import time
import unittest

import cluster
from cluster import on, tool

setUpModule = cluster.skip_without_hosts


class Names(cluster.Case):
    def test_one_of_two_jobs_gets_a_name(self):
        when = str(int(time.time()) + 4)
        words = ("-n", 2, tool.BIN / "cluster_names", when, 60)
        jobs = [subprocess.Popen(on(host, tool.BIN / "mpiexec", "--name-server", "--host", hosts, *words), stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for host, hosts in (("h0", "h0,h1"), ("h1", "h1,h0"))]
        for job in jobs:
            self.addCleanup(job.kill)
        got = [job.stdout.readline().strip() for job in jobs]
        ends = [job.communicate(timeout=cluster.LIMIT) for job in jobs]
        self.assertEqual(([job.returncode for job in jobs], ends), ([0, 0], [("", "")] * 2))
        self.assertEqual(["".join(both) for both in zip(*got) if set(both) != {"0", "1"}], [], got)
        self.assertEqual(len(got[0]), 60, got)


if __name__ == "__main__":
    unittest.main()
