"""Proxies that start proxies: mpiexec on h0 starts that of h1, which starts that of h2, which starts that of h3. All of it works as if mpiexec had
started them, and what breaks is told with the host's name."""

import os
import pathlib
import re
import signal
import subprocess
import unittest

import cluster
from cluster import LIMIT, mpiexec, name_of, processes, program_of, send, tool, words_of

setUpModule = cluster.skip_without_hosts

CHAIN = {**os.environ, "CLUMP_TREE_WIDTH": "1"}
ALL = ("--host", "h0:1,h1:1,h2:1,h3:1", "-n", 4)


def parent_of(pid: int) -> int:
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def proxy(host: str) -> list:
    return [pid for pid in processes(host) if name_of(pid) == "mpiexec" and words_of(pid)[1:2] == ["--proxy"]]


class Tree(cluster.Case):
    def test_each_starts_the_next(self):
        job = self.start(*ALL, env=CHAIN)
        launchers = {host: [words[2] for pid in processes(host) if (words := words_of(pid))[:2] == ["/bin/sh", f"{cluster.CLUSTER}/agent"]]
                     for host in ("h0", "h1", "h2", "h3")}
        self.assertEqual(launchers, {"h0": ["h1"], "h1": ["h2"], "h2": ["h3"], "h3": []})
        job.send_signal(signal.SIGTERM)
        _, errors = tool.end_of(job, limit=LIMIT)
        self.assertEqual(job.returncode, 128 + signal.SIGTERM, errors)
        self.assertRegex(errors, r"where the ranks were:\n.*rank.*MPI_")

    def test_messages_output_and_input(self):
        job = self.run_job(*ALL, tool.BIN / "mpi_collectives_reductions", env=CHAIN)
        self.assertEqual((job.returncode, job.stderr), (0, ""), job)
        data = b"a line\n" * 1_000_000
        job = subprocess.run(mpiexec("--stdin", "all", *ALL, "--tag-output", "sh", "-c", "wc -c; seq 200000; echo end >&2"), input=data,
                             capture_output=True, env=CHAIN, timeout=tool.HANGS)
        self.assertEqual((job.returncode, sorted(job.stderr.splitlines())), (0, [b"[%d] end" % rank for rank in range(4)]))
        for rank in range(4):
            lines = [line.partition(b" ")[2] for line in job.stdout.splitlines() if line.startswith(b"[%d]" % rank)]
            self.assertEqual(lines, [b"%d" % len(data), *(b"%d" % number for number in range(1, 200_001))])

    def test_profile(self):
        folder = self.folder()
        job = self.run_job(f"--profile={folder}/one", *ALL, tool.BIN / "mpi_collectives_reductions", env=CHAIN)
        self.assertEqual(job.returncode, 0, job)
        self.assertNotIn("no records came", (folder / "one.json").read_text())

    def test_a_proxy_is_killed(self):
        """Those that it has started are lost with it."""
        for host, lost in ("h1", ("h1", "h2", "h3")), ("h2", ("h2", "h3")), ("h3", ("h3",)):
            with self.subTest(host):
                job = self.start(*ALL, env=CHAIN)
                send(proxy(host), signal.SIGKILL)
                _, errors = tool.end_of(job, limit=LIMIT)
                self.assertEqual(job.returncode, 1, errors)
                self.assertEqual(tuple(re.findall(r"(?m)^mpiexec: lost (h\d): ", errors)), lost, errors)
                self.assertRegex(errors, rf"lost {host}: its proxy, or the connection to it, is gone")
                self.assert_nothing_left()

    def test_what_ends_the_ranks_of_a_host_is_killed(self):
        """On a host that has started a proxy, which is below another supervisor of the same process."""
        job = self.start(*ALL, env=CHAIN)
        of_ranks = [pid for pid in processes("h1") for rank in processes("h1")
                    if program_of(rank) == "launcher_busy" and parent_of(rank) == pid]
        self.assertEqual(len(of_ranks), 1)
        send(of_ranks, signal.SIGKILL)
        _, errors = tool.end_of(job, limit=LIMIT)
        self.assertNotEqual(job.returncode, 0, errors)
        self.assertIn("h1", errors)
        self.assert_nothing_left()

    def test_mpiexec_is_killed(self):
        job = self.start(*ALL, env=CHAIN)
        job.kill()
        job.communicate()
        self.assert_nothing_left()

    def test_a_rank_fails(self):
        job = self.start("--ranks", "processes", *ALL, env=CHAIN)
        send([pid for pid in processes("h2") if program_of(pid) == "launcher_busy"], signal.SIGKILL)
        _, errors = tool.end_of(job, limit=LIMIT)
        self.assertEqual(job.returncode, 128 + signal.SIGKILL, errors)
        self.assertIn("rank 2 of 4 on h2 was ended by SIGKILL", errors)

    def test_a_host_is_not_reached(self):
        env = {**CHAIN, **self.agent('[ "$1" != h3 ] || { echo "ssh: connect to host h3 port 22: Connection refused" >&2; exit 255; }')}
        job = self.run_job(*ALL, "hostname", env={**env, "CLUMP_TREE_WIDTH": "1"})
        self.assertEqual((job.returncode, job.stdout), (126, ""), job)
        self.assertRegex(job.stderr, r"^mpiexec: h3: agent does not reach it \(exit code 255\): ssh: connect to host h3 port 22: Connection refused; another host has tried it: with CLUMP_TREE_WIDTH=4 mpiexec does so itself\n$")

    def test_the_width_is_a_number(self):
        for width in "0", "x", "3x":
            job = self.run_job(*ALL, "hostname", env={**CHAIN, "CLUMP_TREE_WIDTH": width})
            self.assertEqual(job.returncode, 126, job)
            self.assertEqual(job.stderr, f"mpiexec: CLUMP_TREE_WIDTH={width}: a number of hosts is needed, 1 at least\n")


if __name__ == "__main__":
    unittest.main()
