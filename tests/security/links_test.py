"""Strangers at the ports at which ranks of other jobs connect: they cost the job nothing that lasts, and the other job gets in."""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cluster"))
import cluster  # noqa: E402
from cluster import mpiexec, on, tool  # noqa: E402
from listen_test import listening  # noqa: E402
from wire_test import STRANGERS, descriptors  # noqa: E402

setUpModule = cluster.skip_without_hosts
PROGRAM = tool.BIN / "cluster_dynamic"
MANY, FEW = 1500, 256


class Links(cluster.Case):
    def begin(self, command) -> subprocess.Popen:
        made = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.there.append(made)
        return made

    def setUp(self) -> None:
        self.there = []

    def tearDown(self) -> None:
        for one in self.there.copy():
            self.close(one)
        super().tearDown()

    def close(self, one: subprocess.Popen) -> None:
        one.kill()
        one.wait()
        for stream in (one.stdin, one.stdout, one.stderr):
            stream.close()
        self.there.remove(one)

    def attack(self, kind: str, count: int) -> None:
        port = str(self.folder() / "port")
        server = self.begin(on("h0", "sh", "-c", 'ulimit -n 1024; exec "$@"', "sh", tool.BIN / "mpiexec", "--iface", "eth0", "-n", 1, PROGRAM,
                               "accept", port))
        self.wait_for(pathlib.Path(port).exists)
        found = [(pid, number) for pid, _, address, number in listening("h0") if address == "10.77.0.1"]
        self.assertEqual(len(found), 1, found)
        pid, number = found[0]
        stranger = self.begin(on("h2", sys.executable, STRANGERS, "10.77.0.1", number, count, kind))
        self.assertEqual(stranger.stdout.readline(), "there\n")
        self.assertTrue(self.wait_for(lambda: descriptors(pid) < FEW, 60), descriptors(pid))
        client = self.begin(on("h1", tool.BIN / "mpiexec", "-n", 1, PROGRAM, "connect", port))
        for job, expected in ((client, ""), (server, "h0,h1\n")):
            out, errors = tool.end_of(job)
            self.assertEqual((job.returncode, out, errors), (0, expected, ""))
        self.close(stranger)

    def test_silent_connections(self):
        self.attack("nothing", MANY)

    def test_noise(self):
        for kind in ("noise", "web"):
            with self.subTest(kind):
                self.attack(kind, 200)


if __name__ == "__main__":
    unittest.main()
