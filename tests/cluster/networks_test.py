"""By which networks of its hosts a job is reached. Two hosts have a bridge for containers with one address, and on one of them another user
listens there, at all ports that processes of the first host may have."""

import subprocess
import sys
import unittest

import cluster
from cluster import ip, on, tool

setUpModule = cluster.skip_without_hosts

SHARED = "172.17.0.1"
FIRST, LAST = 61000, 61199  # the ports of h0: no other host takes them by itself
# Tells of each connection the port and the first bytes.
ROGUE = """
import selectors, socket, sys
waiting = selectors.DefaultSelector()
for port in range(int(sys.argv[2]), int(sys.argv[3]) + 1):
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind((sys.argv[1], port))
    one.listen()
    waiting.register(one, selectors.EVENT_READ)
print("listens", flush=True)
while True:
    for key, _ in waiting.select():
        made, _ = key.fileobj.accept()
        made.settimeout(2)
        try:
            said = made.recv(100)
        except OSError:
            said = b"nothing"
        print(key.fileobj.getsockname()[1], said, flush=True)
        made.close()
"""


class Networks(cluster.Case):
    def setUp(self) -> None:
        for host in "h0", "h1":
            ip(host, "link", "add", "docker0", "type", "bridge")
            self.addCleanup(ip, host, "link", "del", "docker0")
            ip(host, "addr", "add", f"{SHARED}/16", "dev", "docker0")
            ip(host, "link", "set", "docker0", "up")
        ports = "/proc/sys/net/ipv4/ip_local_port_range"
        before = subprocess.run(on("h0", "cat", ports), capture_output=True, text=True, check=True).stdout.strip()
        self.addCleanup(subprocess.run, on("h0", "sh", "-c", f"echo {before} >{ports}"), check=True)
        subprocess.run(on("h0", "sh", "-c", f"echo {FIRST} {LAST} >{ports}"), check=True)
        self.rogue = subprocess.Popen(on("h1", sys.executable, "-c", ROGUE, SHARED, FIRST, LAST), stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_rogue)
        self.assertEqual(self.rogue.stdout.readline(), "listens\n")

    def end_rogue(self) -> None:
        if self.rogue.poll() is None:
            self.rogue.kill()
            self.rogue.communicate()

    def tearDown(self) -> None:
        self.end_rogue()
        super().tearDown()

    def assert_nobody_called(self) -> None:
        """But this test, at last: so the other user's process does listen, and has told of all before."""
        end = f"import socket; socket.create_connection(('{SHARED}', {FIRST})).sendall(b'end')"
        subprocess.run(on("h1", sys.executable, "-c", end), check=True)
        lines = iter(self.rogue.stdout.readline, f"{FIRST} b'end'\n")
        self.assertEqual(list(lines), [])

    def assert_runs(self, host: str, **options) -> None:
        job = self.run_job("--timeout", 60, "--host", f"h0:1,{host}:1", "-n", 2, "hostname", **options)
        self.assertEqual((job.returncode, job.stderr, sorted(job.stdout.split())), (0, "", ["h0", "h1"]))
        job = self.run_job("--timeout", 60, "--host", f"h0:1,{host}:1", "-n", 2, tool.BIN / "mpi_collectives_reductions", **options)
        self.assert_nobody_called()
        self.assertEqual((job.returncode, job.stderr), (0, ""))

    def test_a_host_that_ssh_alone_knows(self):
        env = self.agent('[ "$1" != far ] || { shift; set -- h1 "$@"; }')
        self.assert_runs("far", env=env)

    def test_a_host_with_the_shared_address_in_its_name(self):
        self.give("hosts.h0", f"127.0.0.1 localhost\n10.77.0.1 h0\n{SHARED} h1\n10.77.0.2 h1\n")
        env = self.agent('[ "$1" != h1 ] || { shift; set -- 10.77.0.2 "$@"; }')
        self.assert_runs("h1", env=env)

    def test_doctor(self):
        env = self.agent('[ "$1" != far ] || { shift; set -- h1 "$@"; }')
        seen = subprocess.run(on("h0", tool.BIN / "clump", "doctor", "--host", "h0,far"), capture_output=True, text=True, env=env, timeout=240)
        self.assert_nobody_called()
        self.assertRegex(seen.stdout, r"(?m)^far +ok +ok +ok +ok +ok")

    def test_hosts_that_a_router_joins(self):
        """They have no network in common but that of their bridges, to which each leads itself."""
        for host, own, other in ("h0", "10.77.0.1", "10.77.0.2"), ("h1", "10.77.0.2", "10.77.0.1"):
            for what, length in ("del", 24), ("add", 31):
                ip(host, "addr", what, f"{own}/{length}", "dev", "eth0")
            for what, length in ("add", 24), ("del", 31):
                self.addCleanup(ip, host, "addr", what, f"{own}/{length}", "dev", "eth0")
            ip(host, "route", "add", other, "dev", "eth0")
        self.assert_runs("h1")

    def test_hosts_that_are_this_machine(self):
        """A name that leads back to this host, which ssh alone knows."""
        env = self.agent('[ "$1" != far ] || { shift; set -- 127.0.0.1 "$@"; }')
        job = self.run_job("--host", "far:1", "-n", 1, "hostname", env=env)
        self.assertEqual((job.returncode, job.stderr, job.stdout), (0, "", "h0\n"))


if __name__ == "__main__":
    unittest.main()
