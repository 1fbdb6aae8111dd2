"""Strangers at the ports of a job's ranks: connections that say nothing, and frames that are none. The job goes on, and they cost it nothing that lasts."""

import os
import pathlib
import select
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cluster"))
import cluster  # noqa: E402
from cluster import mpiexec, on, tool  # noqa: E402
import shows  # noqa: E402
from listen_test import listening  # noqa: E402

setUpModule = cluster.skip_without_hosts
STRANGERS = pathlib.Path(__file__).resolve().with_name("strangers.py")
MANY = 1500
USUAL = 1024  # descriptors, where nothing is set; here a process cannot have more
ADDRESSES = {"h0": "10.77.0.1", "h1": "10.77.0.2"}


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


class Wire(cluster.Case):
    def setUp(self) -> None:
        self.there = []
        with_usual = ["sh", "-c", f'ulimit -n {USUAL}; exec "$@"', "sh"]
        self.job = subprocess.Popen(with_usual + mpiexec("--host", "h0,h1", "-n", 4, tool.BIN / "security_exchange"), stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.job.kill)
        self.assertEqual(self.job.stdout.readline(), "begun\n")
        # The ranks of h1 may begin later than rank 0.
        self.ports = self.wait_for(lambda: found if len(found := self.listening()) >= len(ADDRESSES) else None)
        self.assertIsNotNone(self.ports)

    def listening(self) -> list:
        """Process, address and port."""
        return [(pid, ADDRESSES[host], port) for host in ADDRESSES for pid, _, _, port in listening(host)]

    def strangers(self, count: int, kind: str) -> None:
        """From a host that has no part in the job, at every port. They stay."""
        made = [subprocess.Popen(on("h2", sys.executable, STRANGERS, address, port, count, kind), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 text=True) for _, address, port in self.ports]
        self.there += made
        for one in made:
            self.assertEqual(one.stdout.readline(), "there\n")

    def tearDown(self) -> None:
        for one in (self.job, *self.there):
            one.kill()
            one.wait()
            for stream in (one.stdin, one.stdout, one.stderr):
                if stream is not None:
                    stream.close()
        super().tearDown()

    def exchange(self) -> None:
        print("now", file=self.job.stdin, flush=True)
        there, _, _ = select.select([self.job.stdout], [], [], cluster.LIMIT)
        line = self.job.stdout.readline() if there else "nothing"
        if line != "exchanged\n":
            self.job.terminate()
            self.fail(f"{line!r}, {tool.end_of(self.job)}, code {self.job.returncode}")

    def end(self) -> None:
        self.job.stdin.close()
        self.job.stdin = None
        _, errors = tool.end_of(self.job)
        self.assertEqual((self.job.returncode, errors), (0, ""))

    def assert_few_descriptors(self) -> None:
        """Of the processes that listen: strangers have none that lasts."""
        self.assertTrue(self.wait_for(lambda: all(descriptors(pid) < USUAL / 4 for pid, _, _ in self.ports), 60),
                        [descriptors(pid) for pid, _, _ in self.ports])

    def test_silent_connections_before_the_first_message(self):
        self.strangers(MANY, "nothing")
        self.exchange()
        self.assert_few_descriptors()
        self.end()

    def test_silent_connections_later(self):
        self.exchange()
        self.strangers(MANY, "nothing")
        self.exchange()
        self.assert_few_descriptors()
        self.exchange()
        self.end()

    def test_what_libfabric_believes(self):
        self.exchange()
        for kind in ("acknowledgement", "fabric"):
            with self.subTest(kind):
                self.strangers(20, kind)
                self.exchange()
        self.assert_few_descriptors()
        self.end()

    def test_what_is_no_frame(self):
        for kind in ("noise", "web", "fabric"):
            with self.subTest(kind):
                self.strangers(100, kind)
                self.exchange()
        self.assert_few_descriptors()
        self.end()


class Shows(cluster.Case):
    def test_the_table_of_the_guide(self):
        """What listens, and which words `ps` shows, is as docs/guide/security.md says."""
        seen = shows.table()
        guide = (pathlib.Path(__file__).resolve().parents[2] / "docs/guide/security.md").read_text().splitlines()
        self.assertEqual([line for line in guide if line.startswith(("| 1 host", "| 3 hosts"))], seen[2:], "\n".join(seen))


if __name__ == "__main__":
    unittest.main()
