"""What tests of jobs on several hosts share: the hosts are network namespaces (hosts.sh)."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "launcher"))
import hosts  # noqa: E402
import tool  # noqa: E402

CLUSTER = os.environ["CLUMP_CLUSTER"]
on = hosts.Hosts(CLUSTER).on
# Seconds from a fault to the end of everything. On a quiet machine it takes 1 to 8; a job of launcher_busy ends by itself after 150.
LIMIT = 100.0


def mpiexec(*words: object) -> list:
    return on("h0", tool.BIN / "mpiexec", *words)


def processes(host: str) -> list:
    """Those in the host's network namespace, as `ip netns pids` lists them, which takes longer."""
    prefix = pathlib.Path(CLUSTER, "prefix").read_text().strip()
    network = os.stat(f"/run/netns/{prefix}-{host}")
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):  # it has ended
                if os.path.samestat(os.stat(f"/proc/{name}/ns/net"), network):
                    found.append(int(name))
    return found


def files() -> list:
    """What jobs may have left in folders of their hosts, and in shared memory."""
    return sorted([*(str(path) for path in pathlib.Path(CLUSTER).glob("tmp.*/*")), *(f"/dev/shm/{name}" for name in os.listdir("/dev/shm"))])


def name_of(pid: int) -> str:
    try:
        return pathlib.Path("/proc", str(pid), "comm").read_text().strip()
    except OSError:
        return ""


def words_of(pid: int) -> list:
    """Its command line."""
    try:
        return pathlib.Path("/proc", str(pid), "cmdline").read_text(errors="replace").split("\0")[:-1]
    except OSError:
        return []


def program_of(pid: int) -> str:
    """What ps calls it may name its ranks."""
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def ip(host: str, *words: str) -> None:
    """Of a host, or of the "switch" between them."""
    prefix = pathlib.Path(CLUSTER, "prefix").read_text().strip()
    subprocess.run(["ip", "-n", f"{prefix}-{host}", *words], check=True)


# An agent in ssh's place whose stream crosses the network (wire.py).
WIRE = {"CLUSTER_AGENT": f"{sys.executable} {pathlib.Path(__file__).resolve().with_name('wire.py')} {CLUSTER}"}


def set_link(host: str, state: str) -> None:
    ip("switch", "link", "set", host.replace("h", "p"), state)


@contextlib.contextmanager
def lost_packets(one: str, other: str):
    """What one of these hosts sends to the other gets lost, as where a firewall drops it: no machine has that address."""
    ways = [(a, f"10.77.0.{int(b[1:]) + 1}") for a, b in ((one, other), (other, one))]
    for host, address in ways:
        ip(host, "neigh", "replace", address, "lladdr", "02:00:00:00:00:99", "dev", "eth0", "nud", "permanent")
    try:
        yield
    finally:
        for host, address in ways:
            ip(host, "neigh", "del", address, "dev", "eth0")


def skip_without_hosts() -> None:
    if not pathlib.Path(CLUSTER, "agent").exists():
        sys.exit(77)


def send(pids, number: signal.Signals) -> None:
    """To those that are still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class Case(tool.Case):
    def give(self, name: str, text: str) -> None:
        """A file by which a host differs from the others (hosts.sh), for this test."""
        path = pathlib.Path(CLUSTER, name)
        path.write_text(text)
        self.addCleanup(path.unlink, missing_ok=True)

    def folder(self) -> pathlib.Path:
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        return pathlib.Path(made.name)

    def hide(self, host: str, *folders: object) -> None:
        """They are empty on this host."""
        empty = self.folder()
        self.give(f"mounts.{host}", "".join(f"{empty} {folder}\n" for folder in folders))

    def agent(self, script: str) -> dict:
        """An environment with an agent in ssh's place that does what the script says for $1, the host, and else what all do."""
        path = self.folder() / "agent"
        path.write_text(f'#!/bin/sh\nwhile [ "${{1#-}}" != "$1" ]; do shift; done\n{script}\nexec {CLUSTER}/agent "$@"\n')
        path.chmod(0o755)
        return {**os.environ, "CLUSTER_AGENT": str(path)}

    def run_job(self, *words: object, command=mpiexec, **options) -> subprocess.CompletedProcess:
        try:
            return subprocess.run(command(*words), capture_output=True, text=True, timeout=tool.HANGS, **options)
        except subprocess.TimeoutExpired as hung:
            raise tool.hangs(words, tool.HANGS, hung.stdout, hung.stderr) from None

    def start(self, *words: object, **options) -> subprocess.Popen:
        """A job that goes on for minutes, and has begun."""
        job = subprocess.Popen(mpiexec(*words, tool.program("busy")), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(job.kill)
        if job.stdout.readline() != "busy\n":
            self.fail(f"{job.communicate()}, code {job.returncode}")
        time.sleep(0.5)
        return job

    def wait_for(self, what, seconds: float = LIMIT):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = what()
            if found:
                return found
            time.sleep(0.02)
        return what()

    def reaches(self, one: str, other: str) -> bool:
        ask = f"import errno, socket; s = socket.socket(); s.settimeout(1); exit(s.connect_ex(('{other}', 9)) != errno.ECONNREFUSED)"
        return subprocess.run(on(one, sys.executable, "-c", ask), check=False).returncode == 0

    def assert_nothing_left(self, seconds: float = LIMIT) -> None:
        everywhere = lambda: [f"{host}: {pid} {name_of(pid)}" for host in ("h0", "h1", "h2", "h3") for pid in processes(host)]
        self.wait_for(lambda: not everywhere(), seconds)
        self.assertEqual(everywhere(), [])

    def tearDown(self) -> None:
        self.assert_nothing_left()
