"""On which addresses the processes of a job on several hosts listen, and what strangers do who connect there."""

import contextlib
import os
import pathlib
import socket
import struct
import subprocess
import sys
import time
import unittest

import cluster
from cluster import CLUSTER, mpiexec, name_of, on, processes, tool

setUpModule = cluster.skip_without_hosts
LISTENS = "0A"  # a state, in /proc/net/tcp
OTHER = "10.78.0.1"  # one more address of h0, of which the job has no use
# What a host sends to ports of another one. `then` is what it does when all connections are there, and have sent `first`.
STRANGER = """
import socket, sys, time
address, port, count, first, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
all = []
for i in range(count):
    one = socket.create_connection((address, port), 5)
    one.settimeout(seconds)
    try:
        one.sendall((b"clump? " * (first // 7 + 1))[:first])
    except OSError:
        pass  # it is closed already
    all.append(one)
print("there", flush=True)
closed = 0
end = time.monotonic() + seconds
for one in all:
    try:
        one.settimeout(max(end - time.monotonic(), 0.01))
        closed += one.recv(1) == b""
    except TimeoutError:
        pass
    except OSError:
        closed += 1
print(closed, flush=True)
"""


def ip(host: str, *words: str) -> None:
    prefix = pathlib.Path(CLUSTER, "prefix").read_text().strip()
    subprocess.run(["ip", "-n", f"{prefix}-{host}", *words], check=True)


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
        ip("h0", "link", "add", "other", "type", "dummy")
        self.addCleanup(ip, "h0", "link", "del", "other")
        ip("h0", "addr", "add", f"{OTHER}/24", "dev", "other")
        ip("h0", "link", "set", "other", "up")

    def stranger(self, host: str, address: str, port: int, count: int = 1, first: int = 0, seconds: float = 3.0) -> subprocess.Popen:
        began = subprocess.Popen(on(host, sys.executable, "-c", STRANGER, address, port, count, first, seconds), stdout=subprocess.PIPE, text=True)
        self.addCleanup(began.stdout.close)
        self.addCleanup(began.wait)
        self.addCleanup(began.kill)
        self.assertEqual(began.stdout.readline(), "there\n")
        return began

    def closed(self, stranger: subprocess.Popen) -> int:
        return int(stranger.stdout.readline())

    def job(self, *words: object) -> subprocess.Popen:
        return self.start(*words, "--profile=" + str(self.folder() / "profile"), "--host", "h0,h1", "-n", 4)

    def port_of_mpiexec(self) -> int:
        return next(port for _, name, address, port in listening("h0") if name == "mpiexec" and address != "127.0.0.1")

    def end(self, job: subprocess.Popen) -> None:
        self.assertIsNone(job.poll())
        job.terminate()
        out, errors = job.communicate(timeout=30)
        self.assertEqual(job.returncode, 128 + 15, errors)
        self.assertNotIn("no records came from", errors)

    def test_only_on_the_addresses_of_the_job(self):
        job = self.job()
        for host, own in (("h0", "10.77.0.1"), ("h1", "10.77.0.2")):
            there = listening(host)
            with self.subTest(host, there=there):
                names = {name for _, name, _, _ in there}
                for pid, name, address, port in there:
                    if name in ("prterun", "prted"):
                        # PRRTE binds to any address; it has no parameter for that. PMIx's server is on 127.0.0.1.
                        self.assertIn(address, ("0.0.0.0", "127.0.0.1"))
                    else:
                        self.assertEqual(address, own, (pid, name, port))
                self.assertIn("prterun" if host == "h0" else "prted", names)
        self.assertEqual(len([name for _, name, _, _ in listening("h0") if name == "mpiexec"]), 1)
        self.assertEqual(len([name for _, name, _, _ in listening("h1") if name == "mpiexec"]), 0)
        asked = f"import socket; exit(socket.socket().connect_ex(('{OTHER}', {self.port_of_mpiexec()})))"
        self.assertNotEqual(subprocess.run(on("h0", sys.executable, "-c", asked), check=False).returncode, 0)
        self.end(job)

    def test_strangers_are_turned_away(self):
        job = self.job()
        port = self.port_of_mpiexec()
        for what, first in (("half of a beginning", 20), ("a wrong secret", 40), ("much more than that", 1_000_000)):
            with self.subTest(what):
                begin = time.monotonic()
                stranger = self.stranger("h2", "10.77.0.1", port, 20, first, 15.0)
                self.assertEqual(self.closed(stranger), 20)
                self.assertLess(time.monotonic() - begin, 3.0 if first >= 40 else 14.0)
        self.end(job)

    def test_strangers_that_say_nothing_take_no_place_from_the_job(self):
        # They are there before the proxies are, which come later than they would.
        env = self.agent("sleep 3")
        job = subprocess.Popen(mpiexec("--host", "h0,h1", "-n", 4, "hostname"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        self.addCleanup(job.kill)
        port = self.wait_for(lambda: [port for _, name, _, port in listening("h0") if name == "mpiexec"])[0]
        stranger = self.stranger("h2", "10.77.0.1", port, 500, 0, 15.0)
        pid = next(pid for pid, name, _, _ in listening("h0") if name == "mpiexec")
        self.assertLess(len(os.listdir(f"/proc/{pid}/fd")), 120)
        out, errors = job.communicate(timeout=30)
        self.assertEqual((job.returncode, sorted(out.split()), errors), (0, ["h0", "h0", "h1", "h1"], ""))
        self.assertEqual(self.closed(stranger), 500)

    def test_idle_strangers_are_closed(self):
        job = self.job()
        begin = time.monotonic()
        stranger = self.stranger("h2", "10.77.0.1", self.port_of_mpiexec(), 30, 0, 20.0)
        self.assertEqual(self.closed(stranger), 30)
        self.assertLess(time.monotonic() - begin, 14.0)
        self.end(job)

    def test_strangers_at_every_port_do_not_end_the_job(self):
        job = self.job()
        every = [("h0", "10.77.0.1"), ("h1", "10.77.0.2")]
        ports = [(address, port) for host, address in every for _, _, bound, port in listening(host) if bound != "127.0.0.1"]
        self.assertGreaterEqual(len(ports), 5, ports)  # mpiexec, prterun, prted, and a process with ranks on each host
        for address, port in ports:
            for first in (0, 20, 1_000_000):
                with self.subTest(port=port, first=first):
                    self.closed(self.stranger("h2", address, port, 5, first, 0.3))
                    self.assertIsNone(job.poll(), listening("h0"))
        self.end(job)


if __name__ == "__main__":
    unittest.main()
