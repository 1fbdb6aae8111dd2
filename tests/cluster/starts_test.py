"""How jobs on several hosts start, or do not: hosts under several names, hosts that cannot be reached or lack something."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

import cluster
from cluster import CLUSTER, LIMIT, tool

setUpModule = cluster.skip_without_hosts

NAMES = "127.0.0.1 localhost\n10.77.0.1 h0 h0.cluster.test\n10.77.0.2 h1 h1.cluster.test\n10.77.0.3 h2 h2.cluster.test\n10.77.0.4 h3\n"


class Libraries(cluster.Case):
    def test_nothing_is_done_for_adapters_that_are_not_there(self):
        """Debian's libfabric has libraries that take 0.1 s each when they are loaded, and reads 5 MB of the kernel's names twice."""
        if any(pathlib.Path("/sys/class/infiniband").glob("*")):
            self.skipTest("there are adapters")
        job = self.run_job("--host", "h0:1,h1:1", "-n", 2, tool.BIN / "cluster_loaded")
        self.assertEqual((job.returncode, job.stderr), (0, ""), job)
        bytes_read = [int(line.split()[1]) for line in job.stdout.splitlines() if line.startswith("rchar: ")]
        self.assertEqual(len(bytes_read), 2)
        self.assertLess(max(bytes_read), 2_000_000)
        self.assertEqual([line for line in job.stdout.splitlines() if line.startswith("/") and "/clump/absent/" not in line], [])


class Names(cluster.Case):
    def assert_runs(self, hosts: str, *where: str) -> None:
        """One rank after the other is there, and they talk to each other."""
        with self.subTest(hosts=hosts):
            job = self.run_job("--host", hosts, "-n", len(where), "--tag-output", "hostname")
            self.assertEqual((job.returncode, job.stderr), (0, ""), job)
            self.assertEqual(sorted(job.stdout.splitlines()), [f"[{rank}] {host}" for rank, host in enumerate(where)])
            job = self.run_job("--host", hosts, "-n", len(where), tool.BIN / "mpi_collectives_reductions")
            self.assertEqual((job.returncode, job.stderr), (0, ""), job)

    def test_this_host_is_called_localhost(self):
        self.assert_runs("localhost:1,h1:1", "h0", "h1")
        self.assert_runs("h2:1,127.0.0.1:2,h1:1", "h2", "h0", "h0", "h1")
        self.assert_runs("h1:1,localhost:1,h0:1", "h1", "h0", "h0")

    def test_a_host_under_two_names(self):
        self.assert_runs("h1:1,10.77.0.2:1", "h1", "h1")
        self.assert_runs("h1:1,h2:1,10.77.0.2:1", "h1", "h2", "h1")
        self.assert_runs("10.77.0.1:1,10.77.0.2:1", "h0", "h1")

    def test_long_and_short_names(self):
        self.give("hosts.h0", NAMES)
        self.give("hosts.h1", NAMES)
        self.give("hosts.h2", NAMES)
        self.assert_runs("h1.cluster.test:1,h2:1,h1:1", "h1", "h2", "h1")
        self.assert_runs("h0.cluster.test:1,h1.cluster.test:1", "h0", "h1")
        self.assert_runs("h1.cluster.test:1,h2.cluster.test:1,h0:1,h0.cluster.test:1", "h1", "h2", "h0", "h0")

    def test_hosts_that_call_themselves_by_long_names(self):
        for host in "h0", "h1", "h2":
            self.give(f"hosts.{host}", NAMES)
            self.give(f"name.{host}", f"{host}.cluster.test")
        self.assert_runs("h0:1,h1:1,h2:1", "h0.cluster.test", "h1.cluster.test", "h2.cluster.test")
        self.assert_runs("localhost:1,h1.cluster.test:1", "h0.cluster.test", "h1.cluster.test")

    def test_hosts_whose_own_names_lead_to_themselves(self):
        """Debian's installer writes such a line."""
        for host in "h0", "h1", "h2":
            self.give(f"hosts.{host}", f"127.0.1.1 {host}.cluster.test {host}\n{NAMES}")
        self.assert_runs("h0:1,h1:1,h2:1", "h0", "h1", "h2")
        self.assert_runs("h0.cluster.test:1,h1:1", "h0", "h1")

    def test_names_that_other_hosts_do_not_know(self):
        for host in "h1", "h2":
            self.give(f"hosts.{host}", "127.0.0.1 localhost\n")
        self.assert_runs("h0:1,h1:1,h2:1", "h0", "h1", "h2")
        self.assert_runs("h1:1,h2:1", "h1", "h2")

    def test_ipv6(self):
        prefix = pathlib.Path(CLUSTER, "prefix").read_text().strip()
        addresses = pathlib.Path(CLUSTER, "addresses")
        before = addresses.read_text()
        self.addCleanup(addresses.write_text, before)
        for k in range(3):
            change = lambda what, k=k: ["ip", "-n", f"{prefix}-h{k}", "addr", what, f"fd77::{k + 1}/64", "dev", "eth0", "nodad"]
            subprocess.run(change("add"), check=True)
            self.addCleanup(subprocess.run, change("del"), check=True)
        addresses.write_text(before + "".join(f"fd77::{k + 1} h{k}\n" for k in range(3)))
        self.assert_runs("[fd77::1]:1,[fd77::2]:2", "h0", "h1", "h1")
        self.assert_runs("fd77::2,fd77::3", "h1", "h2")
        file = self.folder() / "hosts"
        file.write_bytes(b"\xef\xbb\xbf[fd77::1] slots = 1\r\nfd77::2 slots=2 user=me\r\nh3 slots=0\r\n")
        job = self.run_job("--hostfile", file, "-n", 3, "--tag-output", "hostname")
        self.assertEqual((job.returncode, sorted(job.stdout.splitlines())), (0, ["[0] h0", "[1] h1", "[2] h1"]), job)
        self.assertRegex(job.stderr, r"^mpiexec: option user= of --hostfile \S+/hosts is ignored: .*\n$")


class Starts(cluster.Case):
    def refused(self, *words: object, code: int, says: str, hosts: str = "h0:1,h1:1,h2:1", ranks: int = 3, **options) -> None:
        """Such a job ends, and one line says why."""
        job = self.run_job("--host", hosts, "-n", ranks, *words, **options)
        self.assertRegex(job.stderr, f"^mpiexec: {says}\n$")
        self.assertEqual(job.returncode, code, job)
        self.assertNotIn("--------", job.stdout)
        self.assertNotIn("h1", job.stdout)

    def test_ssh_is_refused(self):
        env = self.agent('[ "$1" != h1 ] || { echo "ssh: connect to host h1 port 22: Connection refused" >&2; exit 255; }')
        self.refused("hostname", code=126, env=env,
                     says=r"h1: agent \(PRTE_MCA_plm_ssh_agent\) does not reach it \(exit code 255\): ssh: connect to host h1 port 22: Connection refused")

    def test_ssh_says_nothing(self):
        self.refused("hostname", code=126, env=self.agent('[ "$1" != h1 ] || exit 255'),
                     says=r"h1: agent \(PRTE_MCA_plm_ssh_agent\) does not reach it \(exit code 255\): it says nothing")

    def test_what_ssh_says_on_the_way_is_shown(self):
        job = self.run_job("--host", "h0:1,h1:1", "-n", 2, "hostname", env=self.agent("echo Authorized users only >&2"))
        self.assertEqual((job.returncode, job.stderr, sorted(job.stdout.split())), (0, "Authorized users only\n", ["h0", "h1"]))

    def test_no_agent(self):
        self.refused("hostname", code=126, env={**cluster.os.environ, "CLUSTER_AGENT": "/no/ssh"},
                     says=r"other hosts are reached by '/no/ssh' \(PRTE_MCA_plm_ssh_agent\), and there is no such program.*")

    def test_clump_is_missing(self):
        self.hide("h1", tool.TOOLS.resolve())
        self.refused("hostname", code=126, says=r"h1: Clump cannot be run there \(.*mpiexec: not found, and no mpiexec of Clump is in PATH\): install it .*")

    def test_clump_is_elsewhere(self):
        """In PATH of that host, behind the mpiexec of another library."""
        self.hide("h1", tool.TOOLS.resolve())
        other, moved = self.folder(), self.folder()
        shutil.copytree(tool.TOOLS.resolve().parent / "lib", moved / "lib", symlinks=True, ignore=lambda folder, names: [
            name for name in names if not name.startswith(("libmpi_abi.so", "libclump")) and name != "clump"])
        (moved / "bin").mkdir()
        shutil.copy2(tool.TOOLS / "mpiexec", moved / "bin")
        env = self.agent(f'[ "$1" != h1 ] || export PATH="{moved}/bin:$PATH"')
        job = self.run_job("--host", "h0:1,h1:1", "-n", 2, "hostname", env=env)
        self.assertEqual((job.returncode, job.stderr, sorted(job.stdout.split())), (0, "", ["h0", "h1"]), job)
        (other / "mpiexec").write_text("#!/bin/sh\necho HYDRA build details\n")
        (other / "mpiexec").chmod(0o755)
        env = self.agent(f'[ "$1" != h1 ] || export PATH="{other}:{moved}/bin:$PATH"')
        self.refused("hostname", code=126, env=env, says=r"h1: Clump cannot be run there \(.*: not found, and no mpiexec of Clump is in PATH\): .*")

    def test_another_version_is_there(self):
        folder = self.folder()
        (folder / "mpiexec").write_text("#!/bin/sh\nprintf 'a word of a start file\\nclump-proxy 0.0.1 /old/mpiexec\\n'; exec cat >/dev/null\n")
        (folder / "mpiexec").chmod(0o755)
        env = self.agent(f'[ "$1" != h1 ] || set -- h1 {folder}/mpiexec')
        self.refused("hostname", code=126, env=env, says=r"h1: Clump \S+ here, 0\.0\.1 there \(/old/mpiexec\): install the same version on every host")

    def test_what_comes_is_no_message(self):
        folder = self.folder()
        (folder / "mpiexec").write_text("#!/bin/sh\nprintf '\\nclump-proxy %s /old/mpiexec\\nno message at all' $VERSION; exec cat >/dev/null\n")
        (folder / "mpiexec").chmod(0o755)
        version = subprocess.run([tool.TOOLS / "mpiexec", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
        env = self.agent(f'[ "$1" != h1 ] || set -- h1 VERSION={version} {folder}/mpiexec')
        self.refused("hostname", code=1, env=env, says=r"lost h1: what has come from it is no message of its proxy")

    def test_the_program_is_missing(self):
        here, there = self.folder(), self.folder()
        program = here / "program"
        program.write_text("#!/bin/sh\nhostname\n")
        program.chmod(0o755)
        self.give("mounts.h1", f"{there} {here}\n")
        self.refused(program, code=127, says=rf"h1: program '{program}': No such file or directory")
        self.give("mounts.h2", f"{there} {here}\n")
        self.refused(program, code=127, says=rf"(h1, h2|h2, h1|h1|h2): program '{program}': No such file or directory")

    def test_a_program_that_is_missing_where_it_does_not_run(self):
        here = self.folder()
        program = here / "program"
        program.write_text("#!/bin/sh\nhostname\n")
        program.chmod(0o755)
        self.hide("h1", here)
        job = self.run_job("--host", "h1:1,h0:1", "-n", 1, "hostname", ":", "-n", 1, program)
        self.assertEqual((job.returncode, job.stderr, sorted(job.stdout.split())), (0, "", ["h0", "h1"]), job)

    def test_a_program_that_cannot_be_executed(self):
        here, there = self.folder(), self.folder()
        for folder, mode in (here, 0o755), (there, 0o644):
            (folder / "program").write_text("#!/bin/sh\nhostname\n")
            (folder / "program").chmod(mode)
        self.give("mounts.h1", f"{there} {here}\n")
        self.refused(here / "program", code=126, says=rf"h1: program '{here}/program' cannot be executed: Permission denied")

    def test_the_start_directory_is_missing(self):
        here = self.folder()
        (here / "work").mkdir()
        self.hide("h1", here)
        self.refused("pwd", code=126, cwd=here / "work", says=rf"h1: working directory '{here}/work': No such file or directory")
        job = self.run_job("--wdir", "/usr", "--host", "h0:1,h1:1", "-n", 2, "pwd", cwd=here / "work")
        self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "/usr\n/usr\n", ""))

    def test_the_start_directory_was_removed(self):
        for words, code, out, errors in ((), 126, "", r"mpiexec: working directory '{}' was removed"), (("--wdir", "/usr"), 0, "/usr\n/usr\n", "^"):
            removed = tempfile.mkdtemp()
            remove = ["sh", "-c", f'cd {removed} && rmdir {removed} && exec "$@"', "sh"]
            command = lambda *options: cluster.on("h0", *remove, tool.BIN / "mpiexec", *options)
            job = self.run_job(*words, "--host", "h0:1,h1:1", "-n", 2, "pwd", command=command)
            self.assertEqual((job.returncode, job.stdout), (code, out), job)
            self.assertRegex(job.stderr, errors.format(removed))  # the agent's shell has its own word

    def test_the_working_directory_is_missing(self):
        here, there = self.folder(), self.folder()
        (here / "work").mkdir()
        (there / "work").write_text("")
        self.hide("h1", here)
        self.refused("--wdir", here / "work", "pwd", code=126, says=rf"h1: working directory '{here}/work': No such file or directory")
        self.give("mounts.h1", f"{there} {here}\n")
        self.refused("--wdir", here / "work", "pwd", code=126, says=rf"h1: working directory '{here}/work': it is no directory")

    def test_no_folder_for_temporary_files_can_be_written(self):
        full = "mount -t tmpfs -o ro none /dev/shm && mount -t tmpfs -o ro none /var/tmp && export TMPDIR=/nowhere && "
        no_tmp = "mount -t tmpfs -o ro none /tmp && " + full
        env = self.agent(f'[ $# = 1 ] || exec {CLUSTER}/agent "$1" "{no_tmp}$2"')
        for mode in (), ("--scheduler", "threads"), ("--ranks", "processes"), ("--per-process", 2):
            for host, before, hosts in (("h1", no_tmp, ()), ("h0", full, ("--host", "h0:2,h1:2,h2:2"))):
                with self.subTest(mode=mode, hosts=hosts):
                    command = lambda *words: cluster.on(host, "sh", "-c", before + 'exec "$@"', "sh", tool.BIN / "mpiexec", *words)
                    job = self.run_job(*mode, *hosts, "-n", 6, tool.BIN / "mpi_collectives_reductions", command=command, env=env, cwd="/")
                    self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "", ""), job)

    def test_ranks_run_where_the_user_is(self):
        here = self.folder()
        job = self.run_job("--host", "h0:1,h1:1", "-n", 2, "pwd", cwd=here)
        self.assertEqual((job.returncode, job.stdout, job.stderr), (0, f"{here}\n{here}\n", ""))

    def test_much_output_and_few_readers(self):
        job = self.run_job("--host", "h0:1,h1:1", "-n", 2, "sh", "-c", "seq 300000")
        self.assertEqual((job.returncode, job.stderr, len(job.stdout)), (0, "", 2 * len("".join(f"{n}\n" for n in range(1, 300001)))))
        pipe = subprocess.Popen(cluster.mpiexec("--host", "h0:1,h1:1", "-n", 2, "sh", "-c", "yes | head -c 4000000; sleep 1000"),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(pipe.stdout.read(4), b"y\ny\n")
        pipe.stdout.close()
        self.addCleanup(pipe.kill)
        _, errors = tool.end_of(pipe, limit=LIMIT)
        self.assertEqual(pipe.returncode, 141, errors)
        self.assertIn(b"mpiexec: cannot write its output: Broken pipe", errors)


if __name__ == "__main__":
    unittest.main()
