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
from cluster import mpiexec, name_of, on, processes, tool

setUpModule = cluster.skip_without_hosts
LISTENS = "0A"  # a state, in /proc/net/tcp
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

    def end(self, job: subprocess.Popen) -> None:
        self.assertIsNone(job.poll())
        job.terminate()
        _, errors = tool.end_of(job)
        self.assertEqual(job.returncode, 128 + 15, errors)
        self.assertNotIn("no records came from", errors)

    def test_only_ranks_on_the_addresses_of_the_job(self):
        """mpiexec and its proxies talk through ssh, and listen nowhere."""
        job = self.job()
        for host, own in (("h0", "10.77.0.1"), ("h1", "10.77.0.2")):
            there = listening(host)
            with self.subTest(host, there=there):
                self.assertEqual({address for _, _, address, _ in there}, {own})
                self.assertTrue(all(name.startswith("rank") for _, name, _, _ in there), there)
        self.end(job)

    def test_no_word_of_a_command_line_is_secret(self):
        """All users of a host can read them: they name Clump's place and the host's number, and nothing else of the job."""
        environment = {**os.environ, "LISTEN_SECRET": "a-secret-of-the-user"}
        job = subprocess.Popen(mpiexec("--host", "h0,h1", "-n", 2, tool.BIN / "cluster_ring", 250), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env=environment)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "begun\n")
        proxies = [words for host in ("h0", "h1") for pid in processes(host) if (words := cluster.words_of(pid))[1:2] == ["--proxy"]]
        self.assertEqual({tuple(words[2:]) for words in proxies}, {("0",), ("1",)})
        everything = " ".join(word for host in ("h0", "h1") for pid in processes(host) for word in cluster.words_of(pid))
        self.assertNotIn("a-secret", everything)
        job.terminate()
        tool.end_of(job)

    def test_strangers_at_every_port_do_not_end_the_job(self):
        job = self.job()
        every = [("h0", "10.77.0.1"), ("h1", "10.77.0.2")]
        ports = [(name, address, port) for host, address in every for _, name, bound, port in listening(host) if bound != "127.0.0.1"]
        self.assertGreaterEqual(len(ports), 2, ports)  # a process with ranks on each host
        for name, address, port in ports:
            with self.subTest(name, port=port):
                self.closed(self.stranger(address, port, 6, "0,20,1000000", 0.5))
                self.assertIsNone(job.poll())
        self.end(job)


if __name__ == "__main__":
    unittest.main()
