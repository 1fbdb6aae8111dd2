"""Programs and systems that cannot run a job: a clear line before anything starts."""

import os
import resource
import shlex
import subprocess
import tempfile
import unittest

import tool


class BadPrograms(tool.Case):
    def test_missing(self):
        self.assert_says(tool.run("-n", "2", "no-such-program"), 127, "'no-such-program' was not found in PATH")
        self.assert_says(tool.run("-n", "2", "./no-such-program"), 127, "'./no-such-program' was not found")

    def test_a_directory_that_was_removed(self):
        removed = tempfile.mkdtemp()

        def run(*words, name="mpiexec"):
            os.makedirs(removed, exist_ok=True)
            return tool.run("-c", f'cd {removed} && rmdir {removed} && exec "$@"', "sh", tool.TOOLS / name, *words, tool="/bin/sh")

        for words in ("pwd",), ("./hello",), ("--ranks", "processes", tool.program("show")), ("-wdir", "x", "pwd"), ("-wdir", "/", "pwd", ":", "pwd"):
            with self.subTest(words):
                self.assert_says(run(*words), 126, f"mpiexec: working directory '{removed}' was removed", "--wdir")
        self.assertEqual(run("-n", 1, "-wdir", "/usr", "pwd")[:3], (0, "/usr\n", ""))
        self.assert_says(run("explain", "./hello", name="clump"), 127, "'./hello' was not found: the current directory is gone")

    def test_not_a_program(self):
        self.assert_says(tool.run("/"), 126, "'/' is not a program")
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("text")
            file.flush()
            self.assert_says(tool.run(file.name), 126, "is not executable (chmod +x")
            os.chmod(file.name, 0o755)
            self.assert_says(tool.run(file.name), 126, "neither an ELF program nor a script")

    def test_other_mpi(self):
        self.assert_says(tool.run("-n", "2", tool.program("foreign")), 126, "made for Open MPI", "libmpi.so.1", "MPI standard ABI", "mpicc")

    @unittest.skipUnless(os.path.exists(tool.program("static")), "built without it")
    def test_static(self):
        self.assert_says(tool.run("-n", "2", tool.program("static")), 126, "cannot run under Clump", "statically linked", "-static")

    def test_mpi_beside_no_mpi(self):
        for env in ({}, {"CLUMP_RANKS": "processes"}):
            for first, second in ((tool.program("show"), "true"), ("true", tool.program("show"))):
                result = tool.run(first, ":", second, env=env)
                self.assert_says(result, 1, f"mpiexec: rank {int(second == 'true')} of 2 ", "without calling MPI_Init", "other ranks have called it")

    def alone(self, **variables):
        """A program that no mpiexec of ours has started, with what another launcher leaves in the environment."""
        return subprocess.run([tool.program("show")], capture_output=True, text=True, timeout=120, env={**os.environ, **variables})

    def test_other_launchers(self):
        mpich = {"PMI_RANK": "1", "PMI_FD": "7"}
        slurm = {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "3"}
        open_mpi = {"OMPI_COMM_WORLD_RANK": "1"}
        for variables, who, seen in (({"OMPI_COMM_WORLD_SIZE": "4", **open_mpi, **slurm}, "Open MPI's launcher", "OMPI_COMM_WORLD_SIZE is 4"),
                                     ({"PMI_SIZE": "2", **mpich}, "a PMI launcher (mpiexec of MPICH or Intel MPI, srun --mpi=pmi2, flux)", "PMI_SIZE is 2"),
                                     ({"PMI_SIZE": "3", **mpich, **slurm}, "a PMI launcher", "PMI_SIZE is 3"),
                                     (slurm, "srun", "SLURM_STEP_NUM_TASKS is 3"),
                                     ({"PMI_ID": "0", "PMI_PORT": "host:1"}, "a PMI launcher", "PMI_ID is 0")):
            with self.subTest(seen=seen):
                done = self.alone(**variables)
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stdout, "")
                self.assertIn(f"Clump's MPI library (in {tool.BUILD / 'lib'}), but {who}", done.stderr)
                self.assertIn(f"({seen})", done.stderr)
                self.assertIn("use Clump's mpiexec, prterun or srun --mpi=pmix", done.stderr)

    def test_one_rank_of_another_launcher(self):
        for variables in ({"OMPI_COMM_WORLD_SIZE": "1"}, {"PMI_SIZE": "1", "PMI_RANK": "0", "PMI_ID": "0"},
                          {"SLURM_STEP_NUM_TASKS": "1"}):
            done = self.alone(**variables)
            self.assertEqual((done.returncode, done.stderr), (0, ""), variables)

    def test_a_job_that_a_rank_starts(self):
        """Our mpiexec in a program of a job, and in a shell that is a rank, or a task of another launcher: each is a job of its own."""
        inner = shlex.quote(str(tool.TOOLS / "mpiexec")) + " -n 2 sh -c 'echo inside'"
        for way in ([], ["--ranks", "threads"], ["--ranks", "processes"], ["--per-process", "2"]):
            with self.subTest(way=way):
                result = tool.run("-n", "3", *way, tool.program("nested"), inner)
                self.assertEqual((result.code, result.out, result.err), (0, "inside\n" * 2, ""))
                self.assertEqual(tool.run("-n", "3", *way, tool.program("nested"), inner + "'; exit 5'").code, 5)
        result = tool.run("-n", "2", "sh", "-c", shlex.quote(str(tool.TOOLS / "mpiexec")) + " -n 3 " + tool.in_shell("show"))
        self.assertEqual((result.code, result.err), (0, ""))
        task = {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_JOB_ID": "7"}
        result = tool.run("-n", "2", "echo", "x", env=task)
        self.assertEqual((result.code, result.out, result.err), (0, "x\nx\n", ""))

    def test_our_launcher_below_another_one(self):
        result = tool.run("-n", "2", tool.program("show"), env={"PMI_SIZE": "2", "SLURM_STEP_NUM_TASKS": "3", "OMPI_COMM_WORLD_SIZE": "4"})
        self.assertEqual(result.code, 0, result)


class Limits(tool.Case):
    def test_too_many_ranks_for_the_system(self):
        with open("/proc/sys/vm/max_map_count") as file:
            if int(file.read()) > 1_000_000:
                self.skipTest("this system has no such limit")
        result = tool.run("-n", "1000000", tool.program("show"))
        self.assert_says(result, 126, "1000000 ranks", "vm.max_map_count is", "sysctl -w vm.max_map_count=")
        self.assertEqual(result.out, "")

    def test_open_files(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
        self.assert_says(tool.run("-n", "100", "true", before=few), 126, "RLIMIT_NOFILE", "60", "ulimit -n")

    def test_soft_limit_of_open_files_is_raised(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (60, 1000))
        self.assertEqual(tool.run("-n", "100", "true", before=few).code, 0)

    def test_memory(self):
        def little():
            resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
        result = tool.run("-n", "64", tool.program("show"), before=little)
        self.assert_says(result, 126, "64 ranks", "RLIMIT_AS", "307200", "ulimit -v")


if __name__ == "__main__":
    unittest.main()
