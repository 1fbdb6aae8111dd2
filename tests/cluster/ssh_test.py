"""mpiexec and clump doctor with OpenSSH itself: an sshd on each of three hosts (hosts.sh). Skipped where there is no sshd."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import cluster
from cluster import CLUSTER, name_of, on, processes, send, tool

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/bin")
NODES = ("h1", "h2", "h3")
SERVER = """\
HostKey {keys}/host
AuthorizedKeysFile {keys}/authorized
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
"""
# Nothing of the user's: neither keys, nor known hosts, nor an agent.
CLIENT = """\
IdentityFile {keys}/{identity}
IdentitiesOnly yes
IdentityAgent none
UserKnownHostsFile {keys}/{known}
GlobalKnownHostsFile none
StrictHostKeyChecking yes
PasswordAuthentication no
KbdInteractiveAuthentication no
"""


def setUpModule() -> None:
    cluster.skip_without_hosts()
    if SSHD is None or shutil.which("ssh-keygen") is None:
        print("skipped: sshd is not installed (Debian: openssh-server)")
        raise SystemExit(77)
    if pathlib.Path("/etc/shadow").read_text().startswith("root:!"):
        print("skipped: the account of root is locked, so sshd refuses it")
        raise SystemExit(77)


class Ssh(cluster.Case):
    @classmethod
    def setUpClass(cls) -> None:
        cls.keys = pathlib.Path(tempfile.mkdtemp(prefix="clump-ssh-"))
        cls.addClassCleanup(shutil.rmtree, cls.keys)
        for name in ("host", "user", "stranger"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", cls.keys / name], check=True)
        shutil.copy(cls.keys / "user.pub", cls.keys / "authorized")
        key = (cls.keys / "host.pub").read_text()
        (cls.keys / "known").write_text("".join(f"{node} {key}" for node in NODES))
        (cls.keys / "sshd").write_text(SERVER.format(keys=cls.keys))
        os.makedirs("/run/sshd", exist_ok=True)
        cls.servers = []
        cls.addClassCleanup(cls.end_servers)
        for node in NODES:
            cls.servers.append(subprocess.Popen(on(node, SSHD, "-D", "-e", "-f", cls.keys / "sshd"), stderr=subprocess.DEVNULL))

    @classmethod
    def end_servers(cls) -> None:
        for server in cls.servers:
            server.terminate()
            server.wait()

    def ssh(self, identity: str = "user", known: str = "known") -> list:
        path = self.keys / f"client-{identity}-{known}"
        path.write_text(CLIENT.format(keys=self.keys, identity=identity, known=known))
        return ["--launcher-exec", f"ssh -F {path}"]

    def setUp(self) -> None:
        for node in NODES:  # it listens
            reached = self.wait_for(lambda node=node: subprocess.run(on("h0", *self.ssh()[1].split(), node, "true"), stderr=subprocess.DEVNULL, check=False).returncode == 0, 20)
            self.assertTrue(reached, node)

    def tearDown(self) -> None:
        """Nothing but the servers is left."""
        others = lambda: [f"{host}: {pid} {name_of(pid)}" for host in ("h0", *NODES) for pid in processes(host) if name_of(pid) != "sshd"]
        self.wait_for(lambda: not others(), 30)
        self.assertEqual(others(), [])

    def test_the_lines_of_the_guide(self):
        hello = tool.example("hello")
        hosts = self.keys / "hosts"
        hosts.write_text("h1\nh2:2\nh3 slots=2\n")
        for words, ranks in (("--host", "h1:16,h2:16", "-n", 32), 32), (("--hostfile", hosts, "--ppn", 16, "-n", 48), 48), (("--hostfile", hosts), 5):
            job = self.run_job(*self.ssh(), *words, hello)
            self.assertEqual((job.returncode, job.stderr), (0, ""), job)
            self.assertEqual(sorted(int(line.split()[3]) for line in job.stdout.splitlines()), list(range(ranks)))

    def test_environment_and_input(self):
        """They go through ssh's connection, of any size."""
        job = self.run_job(*self.ssh(), "--host", "h1,h2", "-n", 2, "--stdin", "all", "sh", "-c", 'cat | wc -c; printf %s "$CLUMP_TEST_LONG" | wc -c', input="x" * 1_000_000,
                           env={**os.environ, "CLUMP_TEST_LONG": "y" * 100_000})
        self.assertEqual((job.returncode, job.stderr), (0, ""), job)
        self.assertEqual(sorted(job.stdout.split()), ["100000", "100000", "1000000", "1000000"])

    def test_hosts_that_are_well(self):
        job = self.run_job(*self.ssh(), "--host", "h1,h2,h3", command=lambda *words: on("h0", tool.TOOLS / "clump", "doctor", *words))
        self.assertEqual((job.returncode, job.stderr), (0, ""), job)
        self.assertEqual([line.split() for line in job.stdout.splitlines()[1:]], [[node] + ["ok"] * 6 for node in NODES])

    def test_what_helps(self):
        """A host that is not known, and a key that is not."""
        for ssh, said, advice in (self.ssh(known="none"), "Host key verification failed.", "'ssh HOST' by hand"), (self.ssh("stranger"), "Permission denied", "'ssh HOST true' may not ask"):
            job = self.run_job(*ssh, "--host", "h1,h2", "-n", 2, "true")
            doctor = self.run_job(*ssh, "--host", "h1,h2", command=lambda *words: on("h0", tool.TOOLS / "clump", "doctor", *words))
            self.assertEqual((job.returncode, doctor.returncode), (126, 1), (job, doctor))
            for text in job.stderr, doctor.stdout:
                self.assertRegex(text, f"(?m)^(mpiexec:|PROBLEM) +h1(, h2)?: ssh does not reach it \\(exit code 255\\): .*{said}.*; {advice}")
                self.assertNotRegex(text, r"\r|\\x0d")

    def test_the_end_of_a_connection(self):
        """The sshd of a connection is killed; and so is its ssh."""
        for host, program in ("h2", "sshd"), ("h0", "ssh"):
            job = self.start(*self.ssh(), "--host", "h1,h2", "-n", 2)
            listening = {server.pid for server in self.servers}
            victims = [pid for pid in processes(host) if name_of(pid) == program and pid not in listening]
            self.assertTrue(victims)
            send(victims, signal.SIGKILL)
            _, errors = job.communicate(timeout=60)
            self.assertEqual(job.returncode, 1, errors)
            self.assertRegex(errors, r"(?m)^mpiexec: lost h[12]: its proxy, or the connection to it, is gone \(ssh ")


if __name__ == "__main__":
    unittest.main()
