"""Programs and systems that cannot run a job: a clear line before anything starts."""

import os
import resource
import subprocess
import tempfile
import unittest

import tool


class BadPrograms(tool.Case):
    def test_missing(self):
        self.assert_says(tool.run("-n", "2", "no-such-program"), 127, "'no-such-program' was not found in PATH")
        self.assert_says(tool.run("-n", "2", "./no-such-program"), 127, "'./no-such-program' was not found")

    def test_not_a_program(self):
        self.assert_says(tool.run("/"), 126, "'/' is not a program")
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("text")
            file.flush()
            self.assert_says(tool.run(file.name), 126, "is not executable (chmod +x")
            os.chmod(file.name, 0o755)
            self.assert_says(tool.run(file.name), 126, "neither an ELF program nor a script")

    def test_other_mpi(self):
        self.assert_says(tool.run("-n", "2", tool.program("foreign")), 126, "libmpi.so.40", "not the standard MPI ABI", "mpicc")

    @unittest.skipUnless(os.path.exists(tool.program("static")), "built without it")
    def test_static(self):
        self.assert_says(tool.run("-n", "2", tool.program("static")), 126, "cannot run under Clump", "statically linked", "-static")

    def test_mpi_beside_no_mpi(self):
        for env in ({}, {"CLUMP_RANKS": "processes"}):
            for first, second in ((tool.program("show"), "true"), ("true", tool.program("show"))):
                result = tool.run(first, ":", second, env=env)
                self.assert_says(result, 1, f"mpiexec: rank {int(second == 'true')} of 2 ", "without calling MPI_Init", "other ranks have called it")
                self.assertLess(result.seconds, 2)

    def test_other_launcher(self):
        done = subprocess.run([tool.program("show")], capture_output=True, text=True, timeout=20,
                              env={**os.environ, "OMPI_COMM_WORLD_SIZE": "4"})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Open MPI's launcher", done.stderr)


class Limits(tool.Case):
    def test_too_many_ranks_for_the_system(self):
        with open("/proc/sys/vm/max_map_count") as file:
            if int(file.read()) > 1_000_000:
                self.skipTest("this system has no such limit")
        result = tool.run("-n", "1000000", tool.program("show"))
        self.assert_says(result, 126, "1000000 ranks", "vm.max_map_count is", "sysctl -w vm.max_map_count=")
        self.assertLess(result.seconds, 5)

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
        self.assert_says(result, 1, "could not start", "ulimit -v")


if __name__ == "__main__":
    unittest.main()
