"""200 ranks on four hosts: results, and what they take of descriptors and memory."""

import contextlib
import os
import pathlib
import subprocess
import unittest

import cluster
from cluster import mpiexec, processes, program_of, tool

setUpModule = cluster.skip_without_hosts
RANKS = 200


def megabytes(pid: int) -> float:
    lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


class Many(cluster.Case):
    def run_many(self, most_descriptors: int, most_megabytes: float, *options: object) -> None:
        words = mpiexec(*options, "--host", "h0:50,h1:50,h2:50,h3:50", "-n", RANKS, tool.BIN / "cluster_many", "waits")
        job = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        lines = [job.stdout.readline() for _ in range(7)]
        ranks = [pid for host in ("h0", "h1", "h2", "h3") for pid in processes(host) if program_of(pid) == "cluster_many"]
        descriptors, memory = [], 0.0
        for pid in ranks:
            with contextlib.suppress(OSError):
                descriptors.append(len(os.listdir(f"/proc/{pid}/fd")))
                memory += megabytes(pid)
        out, errors = job.communicate("\n", timeout=cluster.LIMIT)
        print("".join(lines), f"{len(ranks)} processes, {max(descriptors, default=0)} descriptors in one, {memory:.0f} MB in all", sep="")
        self.assertEqual((job.returncode, out, errors, lines[-1][:16]), (0, "", "", "window and fence"))
        self.assertLess(max(descriptors), most_descriptors)
        self.assertLess(memory, most_megabytes)

    def test_fibers(self):
        self.run_many(100, 1000)

    def test_processes(self):
        self.run_many(100, 2000, "--ranks", "processes")


if __name__ == "__main__":
    unittest.main()
