"""Jobs that Slurm starts: a Slurm of two hosts (hosts.sh) with daemons of its own, and `srun --mpi=pmix`. Skipped where there is no Slurm."""

import os
import pathlib
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "launcher"))
import tool  # noqa: E402

HOSTS = pathlib.Path(__file__).resolve().parent / "hosts.sh"
CLUSTER = os.environ["CLUMP_CLUSTER"]
NODES = ("h0", "h1")
os.environ["PATH"] += ":/usr/sbin"
NEEDED = ("slurmctld", "slurmd", "srun", "munged")

CONFIGURATION = """\
ClusterName=clump
SlurmctldHost=h0
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
TmpFS={folder}/tmp.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SelectType=select/linear
SwitchType=switch/none
NodeName=h0,h1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=h0,h1 Default=YES State=UP MaxTime=INFINITE
"""


def setUpModule() -> None:
    if not pathlib.Path(CLUSTER, "agent").exists():
        sys.exit(77)
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed (Debian: slurmctld slurmd slurm-client munge)")
        sys.exit(77)
    if not os.path.ismount("/sys/fs/cgroup"):
        print("skipped: there is no /sys/fs/cgroup, without which slurmd does not begin")
        sys.exit(77)


class Slurm(tool.Case):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="clump-slurm-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.folder.chmod(0o755)
        for name in ("state", *(f"{kind}.{node}" for kind in ("spool", "tmp") for node in NODES)):
            (cls.folder / name).mkdir()
        key = cls.folder / "key"
        key.write_bytes(secrets.token_bytes(64))
        key.chmod(0o600)
        cls.configuration = cls.folder / "slurm.conf"
        cls.configuration.write_text(CONFIGURATION.format(folder=cls.folder, cpus=os.cpu_count()))
        cls.start("munged", "--force", "--foreground", f"--socket={cls.folder}/munge.socket", f"--key-file={key}",
                  f"--pid-file={cls.folder}/munged.pid", f"--log-file={cls.folder}/munged.log", f"--seed-file={cls.folder}/munged.seed")
        time.sleep(0.5)
        cls.start(*cls.on("h0", "slurmctld", "-D", "-f", cls.configuration))
        for node in NODES:
            cls.start(*cls.on(node, "slurmd", "-D", "-N", node, "-f", cls.configuration))
        end = time.monotonic() + tool.HANGS
        while "idle" not in (state := cls.command("sinfo", "-h", "-o", "%T").stdout) or "unk" in state:
            if time.monotonic() > end:
                raise RuntimeError(f"Slurm does not begin: {state}\n{(cls.folder / 'daemons.log').read_text()[-3000:]}")
            time.sleep(0.2)

    @classmethod
    def start(cls, *words: object) -> None:
        with open(cls.folder / "daemons.log", "a", encoding="utf8") as log:
            daemon = subprocess.Popen([*map(str, words)], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        cls.addClassCleanup(daemon.wait)
        cls.addClassCleanup(daemon.terminate)

    @classmethod
    def on(cls, host: str, *words: object) -> list:
        return [str(HOSTS), "run", CLUSTER, host, "env", f"SLURM_CONF={cls.configuration}", *map(str, words)]

    @classmethod
    def command(cls, *words: object) -> subprocess.CompletedProcess:
        return subprocess.run(cls.on("h0", *words), capture_output=True, text=True, timeout=tool.HANGS)

    def srun(self, ranks: int, *words: object) -> subprocess.CompletedProcess:
        return self.command("srun", "--mpi=pmix", "-N2", f"-n{ranks}", "--overcommit", *words)

    def test_hello(self):
        job = self.srun(4, tool.program("show"), "hello")
        self.assertEqual(job.returncode, 0, job)
        self.assertEqual(sorted(line[:9] for line in job.stdout.splitlines()), [f"{rank} 4 hello" for rank in range(4)])

    def test_one_host(self):
        # More than once: whether a rank asks for what another one has not told yet is a matter of chance.
        for _ in range(20):
            job = self.command("srun", "--mpi=pmix", "-N1", "-n3", "--overcommit", tool.program("show"))
            self.assertEqual(job.returncode, 0, job)
            self.assertEqual(sorted(line[:3] for line in job.stdout.splitlines()), ["0 3", "1 3", "2 3"])

    def test_ring(self):
        job = self.srun(4, tool.BUILD / "examples" / "ring")
        self.assertEqual(job.returncode, 0, job)

    def test_ranks_go_to_hosts_in_turn(self):
        job = self.srun(5, "--distribution=cyclic", tool.BUILD / "examples" / "ring")
        self.assertEqual(job.returncode, 0, job)
        job = self.srun(5, "--distribution=cyclic", tool.BIN / "mpi_collectives_reductions")
        self.assertEqual(job.returncode, 0, job)

    def test_matrix_product(self):
        job = self.srun(4, tool.BUILD / "examples" / "matmul", 256, 16)
        self.assertEqual(job.returncode, 0, job)
        self.assertIn("exact", job.stdout)

    def test_without_pmix_it_says_so(self):
        job = self.command("srun", "-N2", "-n2", tool.program("show"))
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("srun --mpi=pmix", job.stderr)

    def test_a_failure_ends_the_job(self):
        job = self.srun(4, tool.program("fail"), "mpi-abort", 2)
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("rank 2", job.stderr)


if __name__ == "__main__":
    unittest.main()
