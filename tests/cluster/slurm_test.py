"""Jobs in a Slurm of three hosts (hosts.sh) with daemons of its own: those that `srun --mpi=pmix` starts, and those that mpiexec starts by `srun`.
Skipped where there is no Slurm."""

import os
import pathlib
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "launcher"))
import tool  # noqa: E402
from cluster import name_of, processes, send, words_of  # noqa: E402

HOSTS = pathlib.Path(__file__).resolve().parent / "hosts.sh"
CLUSTER = os.environ["CLUMP_CLUSTER"]
NODES = ("h0", "h1", "h2")
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
TaskPlugin=task/affinity
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
NodeName=h0,h1,h2 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=h0,h1,h2 Default=YES State=UP MaxTime=INFINITE
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
    def command(cls, *words: object, **options) -> subprocess.CompletedProcess:
        return subprocess.run(cls.on("h0", *words), capture_output=True, text=True, timeout=tool.HANGS, **options)

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

    def test_a_rank_that_fails_is_named_with_its_host(self):
        for way, says in (("exit", "ended with exit code 5 before it called MPI_Finalize: "),
                          ("exit-zero", "ended with exit code 0 before it called MPI_Finalize: "), ("abort", "was ended by SIGABRT")):
            with self.subTest(way=way):
                job = self.srun(4, tool.program("fail"), way, 3)
                self.assertNotEqual(job.returncode, 0)
                self.assertRegex(job.stderr, rf"clump: rank 3 of 4 on h\d {re.escape(says)}")

    TWO = ("-N2", "-wh0,h1")  # of which no earlier job's end may keep it off

    def salloc(self, *words: object, host: str = "h0") -> subprocess.CompletedProcess:
        """Options of salloc, and a command of the shell, in which $mpiexec, $sums, $where and $dynamic are programs."""
        programs = {"mpiexec": tool.BIN / "mpiexec", "sums": tool.BIN / "mpi_collectives_reductions", "where": "hostname",
                    "dynamic": tool.BIN / "cluster_dynamic"}
        setting = "".join(f"{name}={program}; " for name, program in programs.items())
        return subprocess.run(self.on(host, "salloc", "--quiet", *words[:-1], "bash", "-c", setting + words[-1]), capture_output=True, text=True,
                              timeout=tool.HANGS, check=False)

    def assert_hosts(self, job: subprocess.CompletedProcess, expected: str) -> None:
        """The lines of hostname, in any order."""
        self.assertEqual((job.returncode, " ".join(sorted(job.stdout.split()))), (0, expected), job)

    def test_steps_on_parts_of_an_allocation(self):
        begin = time.monotonic()
        job = self.salloc("-N3", "-n6", "srun --mpi=pmix -N2 -n4 $sums && srun --mpi=pmix -w h1,h2 -N2 -n2 $sums && srun --mpi=pmix -N1 -n2 $sums")
        self.assertEqual(job.returncode, 0, job)
        self.assertLess(time.monotonic() - begin, 55, "Slurm's server answers direct questions between hosts after a minute")

    def test_steps_side_by_side(self):
        one = "srun --mpi=pmix --exact -N3 -n3 $sums & pids=\"$pids $!\"; "
        job = self.salloc("-N3", "-n6", f"{one} {one} for pid in $pids; do wait $pid || exit 3; done")
        self.assertEqual(job.returncode, 0, job)
        one = "$mpiexec -n 6 $sums & pids=\"$pids $!\"; "
        job = self.salloc("-N3", "-n6", f"{one} {one} for pid in $pids; do wait $pid || exit 3; done")
        self.assertEqual(job.returncode, 0, job)

    def test_distributions(self):
        order = self.folder / "order"
        order.write_text("h2\nh0\nh2\nh1\n")
        arbitrary = "--distribution=arbitrary"
        for options in (("-N3", "-n6", "--distribution=plane=2"), ("-N3", "-n4", arbitrary), ("-N2", "--ntasks-per-node=2")):
            with self.subTest(options):
                job = self.command("srun", "--quiet", "--mpi=pmix", *options, tool.BIN / "mpi_collectives_reductions",
                                   env={**os.environ, **({"SLURM_HOSTFILE": str(order)} if arbitrary in options else {})})
                self.assertEqual((job.returncode, job.stderr), (0, ""), job)

    def test_slots_of_the_allocation(self):
        self.assert_hosts(self.salloc(*self.TWO, "--ntasks-per-node=2", "$mpiexec $where"), "h0 h0 h1 h1")
        self.assert_hosts(self.salloc("-N3", "-n4", "$mpiexec $where"), "h0 h0 h1 h2")
        self.assert_hosts(self.salloc("-N3", "-n4", "$mpiexec -n 3 $where"), "h0 h0 h1")
        self.assert_hosts(self.salloc("-N3", "-n4", "$mpiexec -rmk none -n 3 $where"), "h0 h0 h0")

    def test_mpiexec_on_a_host_that_is_not_of_the_allocation(self):
        self.assert_hosts(self.salloc(*self.TWO, "-n3", "$mpiexec $where", host="h3"), "h0 h0 h1")
        self.assertEqual(self.salloc("-N2", "-n3", "$mpiexec $sums", host="h3").returncode, 0)

    def test_mpiexec_in_a_step_on_fewer_hosts(self):
        self.assert_hosts(self.salloc("-N3", "-n4", "srun -N1 -n1 --overlap bash -c \"$mpiexec $where\""), "h0 h0 h1 h2")

    def test_options_of_other_steps(self):
        """What users set for their own srun does not change mpiexec's."""
        for setting in ("SLURM_LABELIO=1", "SLURM_STDOUTMODE=/dev/null", "SLURM_STDINMODE=none", "SLURM_RESV_PORTS=1", "SRUN_CPUS_PER_TASK=99"):
            with self.subTest(setting):
                self.assert_hosts(self.salloc(*self.TWO, "-n2", f"{setting} $mpiexec $where"), "h0 h1")

    def test_spawn_in_an_allocation(self):
        """No host reaches another one by ssh."""
        for what, expected in (("$mpiexec -n 2 --map-by node $dynamic spawn 2 meet", "h0,h1,h1,h0"),
                               ("$mpiexec -n 1 $dynamic spawn 2 meet host h1,h2", "h0,h1,h2")):
            with self.subTest(what):
                job = self.salloc("-N3", "-n3", what)
                self.assertEqual((job.returncode, job.stdout), (0, expected + "\n"), job)

    def test_heterogeneous_jobs(self):
        parts = ("-N1", "-wh0", "-n1", ":", "-N2", "-wh1,h2", "-n3")
        self.assert_hosts(self.salloc(*parts, "$mpiexec $where"), "h0 h1 h1 h2")
        self.assert_hosts(self.salloc(*parts, "CLUMP_TREE_WIDTH=1 $mpiexec $where"), "h0 h1 h1 h2")
        for command in ("$mpiexec $sums", "$mpiexec -n 1 $sums : -n 3 $sums", "srun --mpi=pmix --het-group=0,1 $sums"):
            with self.subTest(command):
                job = self.salloc(*parts, command)
                self.assertEqual(job.returncode, 0, job)

    def batch(self, command: str, *options: str) -> tuple:
        """Begins a batch job with ranks that go on for minutes; returns its number and the file of what it writes."""
        out = self.folder / "batch.out"
        out.unlink(missing_ok=True)
        options = ("--parsable", "-N2", "--ntasks-per-node=2", "--open-mode=append", f"--output={out}", *options)
        number = self.command("sbatch", *options, f"--wrap={command} {tool.program('busy')}").stdout.strip()
        self.addCleanup(self.command, "scancel", number)
        self.wait_for(lambda: self.begins(out) == 1, out)
        return number, out

    def begins(self, out: pathlib.Path) -> int:
        return out.read_text().splitlines().count("busy") if out.exists() else 0

    def wait_for(self, what, told: pathlib.Path) -> None:
        end = time.monotonic() + tool.HANGS
        while not what():
            if time.monotonic() > end:
                self.fail(f"{told.read_text() if told.exists() else told}")
            time.sleep(0.1)

    def test_jobs_that_are_cancelled_or_begin_again(self):
        for command, says in ((f"{tool.BIN / 'mpiexec'}", "mpiexec: the job was ended by SIGTERM"), ("srun --mpi=pmix", "Terminated")):
            with self.subTest(command):
                number, out = self.batch(command, "--requeue")
                self.command("scontrol", "requeue", number)
                self.wait_for(lambda: says in out.read_text(), out)
                self.assert_nothing_left()
                # It would begin again after two minutes.
                self.wait_for(lambda: self.command("scontrol", "update", f"JobId={number}", "StartTime=now").returncode == 0, out)
                self.wait_for(lambda: self.begins(out) == 2, out)
                before = out.read_text().count(says)
                self.command("scancel", number)
                self.wait_for(lambda: out.read_text().count(says) > before, out)
                self.assert_nothing_left()

    # mpiexec on h0, which starts a step on each other host:
    def words(self, hosts: int, *words: object) -> list:
        return ["salloc", "--quiet", f"--nodelist={','.join(NODES[:hosts])}", "--ntasks-per-node=1", tool.BIN / "mpiexec", "-rmk", "slurm", *words]

    def mpiexec(self, *words: object, hosts: int = 2, **options) -> subprocess.CompletedProcess:
        return self.command(*self.words(hosts, *words), **options)

    def start_job(self, *words: object) -> subprocess.Popen:
        job = subprocess.Popen(self.on("h0", *self.words(2, *words, tool.program("busy"))), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "busy\n")
        return job

    def of_jobs(self, host: str) -> list:
        """Processes of mpiexec, of proxies, and of what they have started."""
        return [pid for pid in processes(host) if name_of(pid) in ("mpiexec", "clump-supervise", "srun") or "launcher_busy" in " ".join(words_of(pid))]

    def assert_nothing_left(self) -> None:
        end = time.monotonic() + tool.HANGS
        while any(self.of_jobs(host) for host in NODES) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual([words_of(pid) for host in NODES for pid in self.of_jobs(host)], [])

    def test_hosts(self):
        job = self.mpiexec("-n", 2, "--tag-output", "hostname")
        self.assertEqual((job.returncode, job.stderr, sorted(job.stdout.splitlines())), (0, "", ["[0] h0", "[1] h1"]), job)
        job = self.mpiexec("-n", 3, "--tag-output", "hostname", hosts=3, env={**os.environ, "CLUMP_TREE_WIDTH": "1"})
        self.assertEqual((job.returncode, job.stderr, sorted(job.stdout.splitlines())), (0, "", ["[0] h0", "[1] h1", "[2] h2"]), job)

    def test_messages(self):
        job = self.mpiexec("-n", 4, tool.BIN / "mpi_collectives_reductions")
        self.assertEqual((job.returncode, job.stderr), (0, ""), job)

    def test_bytes_both_ways(self):
        data = "".join(f"{number}\n" for number in range(300_000)) + "no end of a line \x00\x01\x7f"
        job = self.mpiexec("-n", 2, "--stdin", 1, "sh", "-c", '[ "$PMI_RANK" = 0 ] || { cat; echo end >&2; }', input=data)
        self.assertEqual((job.returncode, job.stderr, job.stdout), (0, "end\n", data))

    def test_nothing_is_kept_back(self):
        """A line comes when it is written, and not when a buffer is full."""
        words = self.words(2, "-n", 2, "--stdin", 1, "sh", "-c", '[ "$PMI_RANK" = 0 ] || while read word; do echo "$word"; done')
        job = subprocess.Popen(self.on("h0", *words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        for word in "one", "two":
            job.stdin.write(f"{word}\n")
            job.stdin.flush()
            self.assertEqual(job.stdout.readline(), f"{word}\n")
        job.stdin.close()
        self.assertEqual((job.wait(tool.HANGS), job.stdout.read()), (0, ""))

    def test_codes(self):
        job = self.mpiexec("-n", 2, "sh", "-c", 'exit $((PMI_RANK * 7))')
        self.assertEqual(job.returncode, 7, job)
        self.assertNotIn("srun", job.stderr)
        job = self.mpiexec("-n", 2, "/no/program")
        self.assertEqual((job.returncode, job.stdout), (127, ""), job)
        self.assertNotIn("srun", job.stderr)
        job = self.mpiexec("--host", "h0,h1,h2", "-n", 3, "hostname")
        self.assertEqual((job.returncode, job.stdout), (126, ""), job)
        self.assertRegex(job.stderr, r"^mpiexec: h2: srun does not reach it \(exit code 1\): srun: error: .*\n$")

    def test_doctor(self):
        doctor = [tool.TOOLS / "clump", "doctor", "--host", "h0,h1,h2"]
        of = lambda hosts: self.command("salloc", "--quiet", f"--nodelist={hosts}", *doctor, env={**os.environ, "CLUMP_LAUNCHER": "slurm"})
        self.assertEqual(of("h0,h1,h2").returncode, 0)
        job = of("h0,h1")
        self.assertEqual(job.returncode, 1, job)
        job_of = lambda *words: self.command("salloc", "--quiet", *self.TWO, "-n3", "--cpus-per-task=1", tool.TOOLS / "clump", "doctor", *words)
        self.assertRegex(job_of().stdout, r"(?m)^note     in a job of Slurm mpiexec runs on its hosts and slots, h0:\d,h1:\d; .*--rmk slurm$")
        self.assertEqual(job_of("--rmk", "slurm").returncode, 0)
        self.assertRegex(job.stdout, r"PROBLEM  h2: srun \(CLUMP_LAUNCHER\) does not reach it \(exit code 1\): srun: error: ")

    def test_a_signal_ends_it(self):
        job = self.start_job("-n", 2)
        send([pid for pid in processes("h0") if name_of(pid) == "mpiexec" and "-rmk" in words_of(pid)], signal.SIGTERM)
        _, errors = tool.end_of(job)
        self.assertIn("the job was ended by SIGTERM", errors)
        self.assert_nothing_left()

    def test_kills(self):
        for host, is_it, says in (("h0", lambda pid: name_of(pid) == "srun", "lost h1: its proxy, or the connection to it, is gone (srun"),
                                  ("h1", lambda pid: words_of(pid)[1:2] == ["--proxy"], "lost h1: its proxy, or the connection to it, is gone"),
                                  ("h0", lambda pid: name_of(pid) == "mpiexec" and "-rmk" in words_of(pid), "")):
            with self.subTest(host=host, says=says):
                job = self.start_job("-n", 2)
                send([pid for pid in processes(host) if is_it(pid)], signal.SIGKILL)
                _, errors = tool.end_of(job)
                self.assertIn(says, errors)
                self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
