"""Which launcher starts the proxies of other hosts, how its command is made, and what it runs there: by options, and by variables of Clump, Hydra and
Open MPI. Where a launcher's own system is not here, a script stands for it that takes the same words; slurm_test and sge_test have real ones."""

import os
import pathlib
import shutil
import subprocess
import unittest

import cluster
from cluster import CLUSTER, ip, mpiexec, on, tool
from listen_test import listening

setUpModule = cluster.skip_without_hosts

TWO = ("--host", "h0:1,h1:1", "-n", 2)
# Tells its name and its words, and goes where hosts.sh leads.
SCRIPT = '#!/bin/sh\n{{ echo "${{0##*/}}"; for word; do echo "$word"; done; }} >>{log}\n{rest}\n'
SHELL = f'while [ "${{1#-}}" != "$1" ]; do shift; done\nexec {CLUSTER}/agent "$@"'
STEP = f'for word; do shift; case $word in --nodelist=*) host=${{word#*=}} ;; -*) ;; *) break ;; esac; done\nexec {cluster.hosts.SCRIPT} run {CLUSTER} "$host" "$word" "$@"'


class Launchers(cluster.Case):
    def setUp(self) -> None:
        self.bin = self.folder()
        self.log = self.bin / "log"
        for name in ("rsh", "qrsh", "blaunch", "one", "two", "three"):
            self.give_program(name, SHELL)
        self.give_program("srun", STEP)

    def give_program(self, name: str, rest: str) -> pathlib.Path:
        path = self.bin / name
        path.write_text(SCRIPT.format(log=self.log, rest=rest))
        path.chmod(0o755)
        return path

    def run_by(self, *words: object, agent: str = "", **variables: str) -> tuple:
        """The first words by which another host was reached, in a job of hosts h0 and h1, without stand-in for ssh unless it is named."""
        self.log.write_text("")
        path = f"PATH={self.bin}:{os.environ['PATH']}"
        given = [path, *(f"{name}={value}" for name, value in variables.items())]
        given += [f"PRTE_MCA_plm_ssh_agent={agent}"] if agent else []
        command = lambda *all_words: on("h0", "env", "-u", "PRTE_MCA_plm_ssh_agent", *given, tool.BIN / "mpiexec", *all_words)
        job = self.run_job(*words, *TWO, "--tag-output", "hostname", command=command)
        self.assertEqual((job.returncode, job.stderr, sorted(job.stdout.splitlines())), (0, "", ["[0] h0", "[1] h1"]), job)
        return self.log.read_text().splitlines()

    def refused(self, *words: object, code: int, says: str, **variables: str) -> None:
        job = self.run_job(*words, *TWO, "hostname", env={**os.environ, **variables})
        self.assertEqual((job.returncode, job.stdout), (code, ""), job)
        self.assertRegex(job.stderr, f"^mpiexec: {says}\n$")

    def test_commands(self):
        script = r"exec /bin/sh -c '.*' sh '' \S+/mpiexec --proxy 1"
        for name, program, before in (("rsh", "rsh", ["h1"]), ("sge", "qrsh", ["-inherit", "-V", "h1"]), ("lsf", "blaunch", ["h1"])):
            with self.subTest(name):
                said = self.run_by("--launcher", name)
                self.assertEqual(said[:-1], [program, *before])
                self.assertRegex(said[-1], script)
        said = self.run_by("-bootstrap=slurm")
        self.assertEqual(said[:4], ["srun", "--nodes=1", "--ntasks=1", "--nodelist=h1"])
        self.assertEqual(said[-2:], ["--proxy", "1"])

    def test_the_strongest_word_counts(self):
        one, two, three = (str(self.bin / name) for name in ("one", "two", "three"))
        said = lambda *words, **variables: self.run_by(*words, **variables)[0]
        self.assertEqual(said(agent=one), "one")
        self.assertEqual(said(agent=f"/no/such : {one} -x"), "one")
        self.assertEqual(said(OMPI_MCA_plm_rsh_agent="one"), "one")
        self.assertEqual(said(OMPI_MCA_plm_rsh_agent=two, agent=one), "one")
        self.assertEqual(said(HYDRA_LAUNCHER_EXEC=two, agent=one), "two")
        self.assertEqual(said(HYDRA_BOOTSTRAP_EXEC=three, HYDRA_LAUNCHER_EXEC=two), "two")
        self.assertEqual(said(CLUMP_LAUNCHER_EXEC=three, HYDRA_LAUNCHER_EXEC=two, agent=one), "three")
        self.assertEqual(said("-launcher-exec", one, CLUMP_LAUNCHER_EXEC=three, HYDRA_LAUNCHER_EXEC=two), "one")
        self.assertEqual(said("--mca", "plm_rsh_agent", one, CLUMP_LAUNCHER_EXEC=three), "one")
        self.assertEqual(said(HYDRA_BOOTSTRAP="rsh"), "rsh")
        self.assertEqual(said(HYDRA_LAUNCHER="lsf", HYDRA_BOOTSTRAP="rsh"), "blaunch")
        self.assertEqual(said(CLUMP_LAUNCHER="sge", HYDRA_LAUNCHER="lsf"), "qrsh")
        self.assertEqual(said("-launcher", "rsh", CLUMP_LAUNCHER="sge"), "rsh")
        # An agent is in ssh's place, and not in that of other launchers.
        self.assertEqual(said(agent=one, HYDRA_LAUNCHER="ssh"), "one")
        self.assertEqual(said(agent=one, HYDRA_LAUNCHER="slurm"), "srun")
        self.assertEqual(said("-launcher-exec", shutil.copy(self.bin / "srun", self.bin / "step"), HYDRA_LAUNCHER="slurm"), "step")

    def test_launchers_that_cannot(self):
        names = "ssh, rsh, fork, slurm, sge, lsf, pbs, manual"
        self.refused("--launcher", "sh", code=2, says=f"--launcher sh: there is no such launcher; there are {names}")
        self.refused(code=126, HYDRA_LAUNCHER="ll", says=f"HYDRA_LAUNCHER=ll: there is no such launcher; there are {names}")
        self.refused(code=126, CLUMP_LAUNCHER="fork", says="CLUMP_LAUNCHER=fork: starts processes on this host only, and the job has others")
        self.refused("-launcher-exec", "/no/ssh", code=126, says=r"other hosts are reached by '/no/ssh' \(-launcher-exec\), and there is no such program.*")
        self.refused("-launcher", "lsf", code=126, says=r"other hosts are reached by 'blaunch' \(--launcher lsf\), and there is no such program.*")

    def test_a_variable_that_has_caused_an_error_is_named(self):
        false = self.give_program("false", 'echo "no such job" >&2; exit 1')
        said = r"h1: {} does not reach it \(exit code 1\): no such job"
        self.refused(code=126, HYDRA_LAUNCHER="lsf", says=r"other hosts are reached by 'blaunch' \(HYDRA_LAUNCHER=lsf\), and there is no such program.*")
        self.refused(code=126, HYDRA_LAUNCHER_EXEC="/no/ssh", says=r"other hosts are reached by '/no/ssh' \(HYDRA_LAUNCHER_EXEC\), and there is no such.*")
        self.refused(code=126, HYDRA_LAUNCHER_EXEC=str(false), says=said.format(r"false \(HYDRA_LAUNCHER_EXEC\)"))
        self.refused(code=126, CLUSTER_AGENT=str(false), says=said.format(r"false \(PRTE_MCA_plm_ssh_agent\)"))
        self.refused("-launcher-exec", false, code=126, HYDRA_LAUNCHER="slurm", says=said.format("false"))
        self.refused(code=126, HYDRA_IFACE="ib0", says=r"h[01]: HYDRA_IFACE=ib0: no address that other hosts reach is there; there are (?s:.*)")

    def test_a_launcher_that_says_nothing_is_told(self):
        env = self.agent('[ "$1" = h0 ] || exec sleep 1000')
        job = self.run_job("--timeout", 20, "--host", "h0,h1,h2", "-n", 3, "hostname", env=env)
        self.assertEqual((job.returncode, job.stdout), (124, ""), job)
        self.assertRegex(job.stderr, rf"(?m)\Ampiexec: h1, h2: {env['CLUSTER_AGENT']} h1 has said nothing for 15 s: .*Try it: {env['CLUSTER_AGENT']} h1 true.*$")

    def test_proxies_use_it_too(self):
        self.run_by("--launcher", "lsf", CLUMP_TREE_WIDTH="1")
        job = self.run_job("--launcher", "slurm", "--launcher-exec", self.bin / "srun", "--host", "h0:1,h1:1,h2:1", "-n", 3, "hostname",
                           env={**os.environ, "CLUMP_TREE_WIDTH": "1"})
        self.assertEqual((job.returncode, job.stderr, sorted(job.stdout.split())), (0, "", ["h0", "h1", "h2"]), job)
        self.assertIn("--nodelist=h2", self.log.read_text().splitlines())

    def test_what_a_launcher_says(self):
        self.give_program("qrsh", 'echo "error: no such job" >&2; exit 1')
        self.refused("-launcher", "sge", "-launcher-exec", self.bin / "qrsh", code=126, says=r"h1: qrsh does not reach it \(exit code 1\): error: no such job")

    def test_a_terminal_has_no_signals_for_it(self):
        """srun would cancel its step, and ssh has to read passwords there."""
        for name, own in ("slurm", True), ("rsh", False):
            with self.subTest(name):
                program = {"slurm": "srun", "rsh": "rsh"}[name]
                self.give_program(program, f"ps -o pgid= -p $$ >{self.bin}/group\n" + (STEP if own else SHELL))
                job = self.start("--launcher", name, "--launcher-exec", self.bin / program, *TWO)
                group = int((self.bin / "group").read_text())
                self.assertEqual(group != os.getpgid(job.pid), own)
                job.terminate()
                tool.end_of(job)

    def test_prefix(self):
        """Clump is elsewhere on the other host."""
        self.hide("h1", tool.TOOLS.resolve())
        moved = self.folder()
        shutil.copytree(tool.TOOLS.resolve().parent / "lib", moved / "lib", symlinks=True, ignore=lambda folder, names: [
            name for name in names if not name.startswith(("libmpi_abi.so", "libclump")) and name != "clump"])
        (moved / "bin").mkdir()
        shutil.copy2(tool.TOOLS / "mpiexec", moved / "bin")
        job = self.run_job("--prefix", moved, *TWO, "hostname")
        self.assertEqual((job.returncode, job.stderr, sorted(job.stdout.split())), (0, "", ["h0", "h1"]), job)
        self.refused("--prefix", "/no/clump", code=126, says=r"h1: Clump cannot be run there \(/no/clump/bin/mpiexec, \S+/mpiexec: not found, and no mpiexec of Clump is "
                     r"in PATH\): install it at the same path .* by --prefix")


class Hosts(cluster.Case):
    def assert_places(self, *hosts: str, words=(), says: str = "", **variables: str) -> None:
        job = self.run_job(*words, "-n", len(hosts), "--tag-output", "hostname", env={**os.environ, **variables})
        self.assertRegex(job.stderr, f"^{says}$")
        self.assertEqual((job.returncode, sorted(job.stdout.splitlines())), (0, [f"[{rank}] {host}" for rank, host in enumerate(hosts)]), job)

    def file(self, name: str, text: str) -> str:
        path = self.folder() / name
        path.write_text(text)
        return str(path)

    def test_batch_systems(self):
        slurm = {"SLURM_JOB_NODELIST": "h[0-1,3]", "SLURM_TASKS_PER_NODE": "1(x2),2"}
        by = lambda name: ("-rmk", name, "-launcher", "ssh")
        self.assert_places("h0", "h1", "h3", "h3", words=by("slurm"), **slurm)
        self.assert_places("h0", "h1", "h3", "h3", HYDRA_RMK="slurm", HYDRA_LAUNCHER="ssh", **slurm)
        self.assert_places("h1", "h2", "h2", words=by("pbs"), PBS_NODEFILE=self.file("nodes", "h1\nh2\nh2\n"))
        self.assert_places("h1", "h2", "h2", words=by("lsf"), LSB_DJOB_HOSTFILE=self.file("nodes", "h1\nh2\nh2\n"))
        self.assert_places("h1", "h1", "h2", words=by("sge"), PE_HOSTFILE=self.file("nodes", "h1 2 all.q@h1 UNDEFINED\nh2 1 all.q@h2 UNDEFINED\n"))
        # A launcher comes with it, and a list of hosts counts more.
        srun = self.folder() / "srun"
        srun.write_text(f"#!/bin/sh\n{STEP}\n")
        srun.chmod(0o755)
        self.assert_places("h0", "h1", words=("-rmk", "slurm", "-launcher-exec", srun), **slurm)
        self.assert_places("h2", words=("--host", "h2"), HYDRA_RMK="slurm", HYDRA_LAUNCHER="ssh", **slurm)

    def test_blanks_between_hosts(self):
        self.assert_places("h0", "h1", "h2", words=("--host", "h0:1, h1:1 ,h2:1"))
        job = self.run_job("--host", "h0 h1", "-n", 2, "hostname")
        self.assertEqual((job.returncode, job.stdout, job.stderr), (2, "", "mpiexec: --host: 'h0 h1' is no host; write NAME or NAME:N, with commas between hosts\n"))

    def test_hosts_of_a_variable_are_named(self):
        hosts = self.file("hosts", "h0\nh7\n")
        for variables, says in (({"HYDRA_HOST_FILE": hosts}, f"HYDRA_HOST_FILE={hosts}"),
                                ({"HYDRA_RMK": "pbs", "PBS_NODEFILE": hosts}, "PBS_NODEFILE; --host localhost or -rmk none: this host only")):
            job = self.run_job("-n", 2, "hostname", env={**os.environ, **variables})
            self.assertEqual((job.returncode, job.stdout), (126, ""), job)
            self.assertRegex(job.stderr, rf"^mpiexec: h7: .*\nmpiexec: the hosts are those of {says}\n$")

    def test_each_of_several_programs_gets_all_slots(self):
        """As with MPICH; Open MPI wants a number of ranks for each."""
        job = self.run_job("--host", "h0:2,h1:1", "echo", "a", ":", "-n", 1, "echo", "b", ":", "echo", "c")
        self.assertEqual((job.returncode, sorted(job.stdout.split()), job.stderr), (0, ["a"] * 3 + ["b"] + ["c"] * 3, ""))

    def test_as_many_ranks_as_slots(self):
        self.assert_places("h0", "h1", "h1", words=("--nooversubscribe", "--host", "h0:1,h1:2"))
        for words, ranks, says in ((("--host", "h0:1,h1:2"), 4, "2 ranks on h0 are more than its slots, 1"),
                                   (("--host", "localhost:2"), 3, "3 ranks on h0 are more than its slots, 2"),
                                   (("--ppn", 2, "--host", "h0:1,h1:2"), 3, "2 ranks on h0 are more than its slots, 1"),
                                   (("--hostfile", self.file("hosts", "h0 slots=2\nh1\n")), 4, "3 ranks on h0 are more than its slots, 2")):
            job = self.run_job("--nooversubscribe", *words, "-n", ranks, "hostname")
            self.assertEqual((job.returncode, job.stdout, job.stderr), (2, "", f"mpiexec: --nooversubscribe: {says}\n"))
        # Where no number is said, a host has as many slots as cores; those of hosts.sh have one.
        self.assert_places("h0", "h1", words=("--nooversubscribe", "--host", "h0,h1"))
        job = self.run_job("--nooversubscribe", "--host", "h0,h1", "-n", 3, "hostname")
        self.assertEqual(job.returncode, 126, job)
        self.assertRegex(job.stderr, r"^mpiexec: h0: --nooversubscribe: 2 ranks are more than there are cores here, 1\n$")

    def test_the_own_allocation(self):
        """As MPICH's and Open MPI's launchers: nothing has to be said in a job of a batch system."""
        ssh = ("-launcher", "ssh")
        slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "h[0-1,3]", "SLURM_TASKS_PER_NODE": "1(x2),2"}
        self.assert_places("h0", "h1", "h3", "h3", words=ssh, **slurm)
        self.assert_places("h1", "h2", "h1", PBS_JOBID="7", PBS_NODEFILE=self.file("nodes", "h1\nh2\nh1\n"))
        self.assert_places("h1", "h2", "h2", words=ssh, LSB_JOBID="7", LSB_DJOB_HOSTFILE=self.file("nodes", "h1\nh2\nh2\n"))
        self.assert_places("h1", "h1", "h2", words=ssh, JOB_ID="7", PE_HOSTFILE=self.file("nodes", "h1 2 all.q@h1 UNDEFINED\nh2 1 all.q@h2 UNDEFINED\n"))
        # Slurm's launcher comes with it. It is not started for hosts without ranks.
        srun = self.folder() / "srun"
        srun.write_text(f"#!/bin/sh\n{STEP}\n")
        srun.chmod(0o755)
        self.assert_places("h0", "h1", words=("-launcher-exec", srun), **slurm)
        self.assert_places("h0", words=("-launcher-exec", "/no/srun"), **slurm)
        # As many ranks as slots.
        job = self.run_job(*ssh, "--tag-output", "hostname", env={**os.environ, **slurm})
        self.assertEqual((job.returncode, job.stderr, sorted(job.stdout.splitlines())), (0, "", ["[0] h0", "[1] h1", "[2] h3", "[3] h3"]), job)
        job = self.run_job(*ssh, "--nooversubscribe", "-n", 5, "hostname", env={**os.environ, **slurm})
        self.assertEqual((job.returncode, job.stdout, job.stderr), (2, "", "mpiexec: --nooversubscribe: 2 ranks on h0 are more than its slots, 1\n"))
        # This host only.
        for words in ("-rmk", "none"), ("-rmk", "user"), ("--host", "localhost"), ("-launcher", "fork"):
            self.assert_places("h0", "h0", words=words, **slurm)
        self.assert_places("h0", "h0", CLUMP_RMK="none", **slurm)
        self.assert_places("h2", words=(*ssh, "--host", "h2"), **slurm)
        job = self.run_job("-launcher-exec", "/bin/false", "-n", 2, "hostname", env={**os.environ, **slurm})
        self.assertEqual((job.returncode, job.stdout), (126, ""), job)
        self.assertRegex(job.stderr, r"h1: .*\nmpiexec: the hosts are those of SLURM_JOB_NODELIST; --host localhost or -rmk none: this host only\n$")

    def test_hosts_in_the_order_given(self):
        self.assert_places("h1", "h2", "h1", "h2", words=("--host", "h1,h2,h1,h2"))
        self.assert_places("h1", "h1", "h0", "h1", words=("--hostfile", self.file("hosts", "h1:2\nh0\n10.77.0.2\n")))

    def test_host_file(self):
        file = self.file("hosts", "h1:1\nh2:1\n")
        self.assert_places("h1", "h2", HYDRA_HOST_FILE=file)
        self.assert_places("h1", "h2", CLUMP_HOST_FILE=file, HYDRA_HOST_FILE="/no/such")
        self.assert_places("h3", "h3", words=("-hosts", "h3"), HYDRA_HOST_FILE=file)
        self.assert_places("h0", HYDRA_HOST_FILE="/no/such", says="mpiexec: HYDRA_HOST_FILE is ignored: HYDRA_HOST_FILE /no/such: No such file or directory\n")

    def test_of_no_job(self):
        self.assert_places("h0", HYDRA_RMK="slurm", SLURM_JOB_NODELIST="")
        self.assert_places("h0", words=("-rmk", "sge"), PE_HOSTFILE="", says="mpiexec: option -rmk sge is ignored: PE_HOSTFILE names no hosts\n")


class Interface(cluster.Case):
    def setUp(self) -> None:
        # A network of its own: on one bridge both interfaces of a host would answer who has its address.
        ip("switch", "link", "add", "br1", "type", "bridge")
        self.addCleanup(ip, "switch", "link", "del", "br1")
        ip("switch", "link", "set", "br1", "up")
        for k in range(2):
            ip("switch", "link", "add", f"q{k}", "type", "veth", "peer", "name", f"other{k}")
            prefix = pathlib.Path(CLUSTER, "prefix").read_text().strip()
            ip("switch", "link", "set", f"other{k}", "netns", f"{prefix}-h{k}", "name", "eth1")
            self.addCleanup(ip, "switch", "link", "del", f"q{k}")
            ip("switch", "link", "set", f"q{k}", "master", "br1", "up")
            ip(f"h{k}", "addr", "add", f"10.78.0.{k + 1}/24", "dev", "eth1")
            ip(f"h{k}", "link", "set", "eth1", "up")

    def test_ranks_listen_there(self):
        for words, variables, network in (((), {}, "10.77.0"), (("-iface", "eth1"), {}, "10.78.0"), ((), {"HYDRA_IFACE": "eth1"}, "10.78.0"),
                                          (("-iface", "eth0"), {"HYDRA_IFACE": "eth1"}, "10.77.0"),
                                          ((), {"CLUMP_IFACE": "eth1", "HYDRA_IFACE": "none"}, "10.78.0")):
            with self.subTest(words=words, variables=variables):
                job = subprocess.Popen(mpiexec(*words, *TWO, tool.BIN / "cluster_ring", 250), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env={**os.environ, **variables})
                self.addCleanup(job.kill)
                self.assertEqual(job.stdout.readline(), "begun\n")
                self.assertEqual({address for host in ("h0", "h1") for _, _, address, _ in listening(host)}, {f"{network}.1", f"{network}.2"})
                job.terminate()
                tool.end_of(job)

    def test_there_is_none(self):
        job = self.run_job("-iface", "ib0", *TWO, "hostname")
        self.assertEqual((job.returncode, job.stdout), (126, ""), job)
        self.assertRegex(job.stderr, r"^mpiexec: h[01]: -iface ib0: no address that other hosts reach is there; there are 10\.77\.0\.\d, 10\.78\.0\.\d\n")


if __name__ == "__main__":
    unittest.main()
