"""Hosts that have IPv6 addresses alone: jobs and clump doctor, by names, by addresses in brackets, and without them."""

import pathlib
import re
import subprocess
import unittest

import cluster
from cluster import CLUSTER, LIMIT, ip, mpiexec, on, tool
from listen_test import listening

setUpModule = cluster.skip_without_hosts

REDUCTIONS = tool.BIN / "mpi_collectives_reductions"


def address(host: str) -> str:
    return f"fd77::{int(host[1:]) + 1}"


class Ipv6(cluster.Case):
    def setUp(self) -> None:
        if not pathlib.Path("/proc/sys/net/ipv6").exists():
            self.skipTest("this kernel has no IPv6")
        shared = pathlib.Path(CLUSTER)
        for name in "hosts", "addresses":
            before = (shared / name).read_text()
            self.addCleanup((shared / name).write_text, before)
            # In place: it is mounted. The agent knows hosts by their addresses.
            (shared / name).write_text(re.sub(r"10\.77\.0\.(\d)", r"fd77::\1", before))
        for host in "h0", "h1", "h2", "h3":
            ip(host, "addr", "flush", "dev", "eth0")
            ip(host, "addr", "add", f"{address(host)}/64", "dev", "eth0", "nodad")
            self.addCleanup(ip, host, "addr", "add", f"10.77.0.{int(host[1:]) + 1}/24", "dev", "eth0")
            self.addCleanup(ip, host, "addr", "flush", "dev", "eth0")

    def test_names(self):
        for mode in (), ("--ranks", "processes"), ("--per-process", 1):
            job = self.run_job(*mode, "--host", "h0:2,h1:2,h2:2", "-n", 6, REDUCTIONS)
            self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "", ""), job)

    def test_addresses(self):
        for hosts in ("[fd77::2]:2,[fd77::3]:1", "fd77::2:2,fd77::3", "[fd77::2]:2, [fd77::3]", "h1:2,[fd77::3]", "[fd77:0:0::2]:2,h2"):
            with self.subTest(hosts):
                job = self.run_job("--host", hosts, "-n", 3, "--tag-output", "hostname")
                if hosts == "fd77::2:2,fd77::3":  # without brackets ":2" is a part of the address
                    self.assertNotEqual(job.returncode, 0, job)
                    self.assertRegex(job.stderr, "^mpiexec: fd77::2:2: ")
                    continue
                self.assertEqual((job.returncode, job.stderr, sorted(job.stdout.splitlines())), (0, "", ["[0] h1", "[1] h1", "[2] h2"]), job)
                job = self.run_job("--host", hosts, "-n", 3, REDUCTIONS)
                self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "", ""), job)
        job = self.run_job("--host", "[::1]:1,h1:1,[fd77::1]:1", "-n", 3, "--tag-output", "hostname")
        self.assertEqual((job.returncode, job.stderr, sorted(job.stdout.splitlines())), (0, "", ["[0] h0", "[1] h1", "[2] h0"]), job)

    def test_ranks_listen_at_it(self):
        for words in ("--host", "h0,h1"), ("--host", "[fd77::1],[fd77::2]"), ("--iface", "eth0", "--host", "h0,h1"):
            with self.subTest(words):
                job = subprocess.Popen(mpiexec(*words, "-n", 2, tool.BIN / "cluster_ring", 250), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.addCleanup(job.kill)
                self.assertEqual(job.stdout.readline(), "begun\n")
                self.assertEqual({found[2] for host in ("h0", "h1") for found in listening(host)}, {"fd77::1", "fd77::2"})
                job.terminate()
                _, errors = tool.end_of(job, limit=LIMIT)
                self.assertEqual(job.returncode, 143, errors)

    def test_doctor(self):
        for hosts in "h0,h1,h2", "[fd77::2],[fd77::3]":
            seen = self.run_job(hosts, command=lambda hosts: on("h0", tool.TOOLS / "clump", "doctor", "--host", hosts))
            self.assertEqual((seen.returncode, seen.stderr), (0, ""), seen)
            self.assertNotIn("PROBLEM", seen.stdout)

    def test_a_launcher_without_a_stream(self):
        """Proxies connect to mpiexec."""
        nodes = pathlib.Path(self.folder(), "nodes")
        nodes.write_text("h0\nh1\nh2\n")
        dsh = nodes.with_name("pbsdsh")
        dsh.write_text(f'#!/bin/sh\nhost=h$2\nshift 3\nexec {cluster.hosts.SCRIPT} run {CLUSTER} $host "$@" </dev/null\n')
        dsh.chmod(0o755)
        job = self.run_job("--launcher", "pbs", "--launcher-exec", dsh, "--host", "h0:1,h1:1,h2:1", "-n", 3, REDUCTIONS,
                           env={**cluster.os.environ, "PBS_NODEFILE": str(nodes)})
        self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "", ""), job)

    def test_a_host_is_lost(self):
        job = self.start("--host", "[fd77::1]:2,[fd77::2]:2", "-n", 4)
        cluster.send([pid for pid in cluster.processes("h1") if cluster.program_of(pid) == "launcher_busy"], cluster.signal.SIGKILL)
        _, errors = tool.end_of(job, limit=LIMIT)
        self.assertEqual(job.returncode, 137, errors)
        self.assertIn("the process of ranks 2-3 on fd77::2 was ended by SIGKILL", errors)


if __name__ == "__main__":
    unittest.main()
