"""On which addresses the processes of a job on several hosts listen, and what strangers do who connect there."""

import contextlib
import os
import pathlib
import socket
import struct
import subprocess
import sys
import unittest

import cluster
from cluster import CLUSTER, ip, mpiexec, name_of, on, processes, tool

setUpModule = cluster.skip_without_hosts
LISTENS = "0A"  # a state, in /proc/net/tcp
OTHER = "10.78.0.1"  # one more address of h0, of which the job has no use
# Makes connections to a port of another host, sends so many bytes by each of them in turn, and tells how many were closed within a time.
STRANGER = """
import socket, sys, time
address, port, count, sizes, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split(","), float(sys.argv[5])
made = []
for i in range(count):
    one = socket.create_connection((address, port), 60)
    one.settimeout(5)
    size = int(sizes[i % len(sizes)])
    try:
        one.sendall((b"clump? " * (size // 7 + 1))[:size])
    except OSError:
        pass  # it is closed already, or not read
    made.append(one)
print("there", flush=True)
closed, end = 0, time.monotonic() + seconds
for one in made:
    try:
        one.settimeout(max(end - time.monotonic(), 0.01))
        closed += one.recv(1) == b""
    except TimeoutError:
        pass
    except OSError:
        closed += 1
print(closed, flush=True)
"""


def sockets_of(pid: int) -> set:
    found = set()
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found.add(os.readlink(entry.path))
    return {int(link[len("socket:["):-1]) for link in found if link.startswith("socket:[")}


def address_of(text: str) -> tuple:
    """As /proc/net/tcp writes it: words of the machine's byte order."""
    number, port = text.split(":")
    words = [struct.pack("=I", int(number[i:i + 8], 16)) for i in range(0, len(number), 8)]
    return socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, b"".join(words)), int(port, 16)


def listening(host: str) -> list:
    """(process id, name, address, port) of what the processes of a host have."""
    found = []
    for pid in processes(host):
        own = sockets_of(pid)
        for table in ("tcp", "tcp6"):
            with contextlib.suppress(OSError):
                for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                    words = line.split()
                    if words[3] == LISTENS and int(words[9]) in own:
                        found.append((pid, name_of(pid), *address_of(words[1])))
    return found


class Listen(cluster.Case):
    def setUp(self) -> None:
        ip("h0", "link", "add", "other", "type", "bridge")
        self.addCleanup(ip, "h0", "link", "del", "other")
        ip("h0", "addr", "add", f"{OTHER}/24", "dev", "other")
        ip("h0", "link", "set", "other", "up")

    def stranger(self, address: str, port: int, count: int, sizes: str, seconds: float) -> subprocess.Popen:
        """On a host that has no part in the job."""
        began = subprocess.Popen(on("h2", sys.executable, "-c", STRANGER, address, port, count, sizes, seconds), stdout=subprocess.PIPE, text=True)
        self.addCleanup(began.stdout.close)
        self.addCleanup(began.wait)
        self.addCleanup(began.kill)
        self.assertEqual(began.stdout.readline(), "there\n")
        return began

    def closed(self, stranger: subprocess.Popen) -> int:
        return int(stranger.stdout.readline())

    def job(self) -> subprocess.Popen:
        job = subprocess.Popen(mpiexec(f"--profile={self.folder()}/profile", "--host", "h0,h1", "-n", 4, tool.BIN / "cluster_ring", 250),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "begun\n")
        return job

    def port_of_mpiexec(self) -> int:
        return next(port for _, name, address, port in listening("h0") if name == "mpiexec" and address != "127.0.0.1")

    def end(self, job: subprocess.Popen) -> None:
        self.assertIsNone(job.poll())
        job.terminate()
        _, errors = tool.end_of(job)
        self.assertEqual(job.returncode, 128 + 15, errors)
        self.assertNotIn("no records came from", errors)

    def test_only_on_the_addresses_of_the_job(self):
        job = self.job()
        for host, own in (("h0", "10.77.0.1"), ("h1", "10.77.0.2")):
            there = listening(host)
            with self.subTest(host, there=there):
                for pid, name, address, port in there:
                    # PRRTE's daemons bind to any address, whatever their parameters say. PMIx's server is theirs, too.
                    expected = ("0.0.0.0", "::", "127.0.0.1") if name in ("prterun", "prted") else (own,)
                    self.assertIn(address, expected, (pid, name, port))
                names = [name for _, name, _, _ in there]
                self.assertEqual(names.count("mpiexec"), 1 if host == "h0" else 0)
                self.assertNotIn("clump-supervise", names)
                self.assertIn("prterun" if host == "h0" else "prted", names)
                self.assertTrue(any(name.startswith("rank") for name in names), names)
        asked = f"import socket; exit(socket.socket().connect_ex(('{OTHER}', {self.port_of_mpiexec()})))"
        self.assertNotEqual(subprocess.run(on("h0", sys.executable, "-c", asked), check=False).returncode, 0)
        self.end(job)

    def test_strangers_are_turned_away(self):
        job = self.job()
        # Nothing, half of a beginning, a beginning with a wrong secret, much more than that.
        all_of_them = [self.stranger("10.77.0.1", self.port_of_mpiexec(), 20, size, 120.0) for size in ("0", "20", "40", "1000000")]
        for stranger in all_of_them:
            self.assertEqual(self.closed(stranger), 20)
        self.end(job)

    def test_strangers_that_say_nothing_take_no_place_from_the_job(self):
        # They are there before the proxies are, which come later than they would.
        env = self.agent("sleep 4")
        job = subprocess.Popen(mpiexec("--host", "h0,h1", "-n", 4, "hostname"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        self.addCleanup(job.kill)
        pid, port = self.wait_for(lambda: [(pid, port) for pid, name, _, port in listening("h0") if name == "mpiexec"])[0]
        stranger = self.stranger("10.77.0.1", port, 500, "0", 120.0)
        self.assertIsNone(job.poll())
        self.assertLess(len(os.listdir(f"/proc/{pid}/fd")), 120)
        out, errors = tool.end_of(job)
        self.assertEqual((job.returncode, sorted(out.split()), errors), (0, ["h0", "h0", "h1", "h1"], ""))
        self.assertEqual(self.closed(stranger), 500)

    def test_strangers_at_every_port_do_not_end_the_job(self):
        job = self.job()
        every = [("h0", "10.77.0.1"), ("h1", "10.77.0.2")]
        ports = [(name, address, port) for host, address in every for _, name, bound, port in listening(host) if bound != "127.0.0.1"]
        self.assertGreaterEqual(len(ports), 5, ports)  # mpiexec, prterun, prted, and a process with ranks on each host
        for name, address, port in ports:
            with self.subTest(name, port=port):
                self.closed(self.stranger(address, port, 6, "0,20,1000000", 0.5))
                self.assertIsNone(job.poll())
        self.end(job)


if __name__ == "__main__":
    unittest.main()
