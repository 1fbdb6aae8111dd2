"""PID namespaces, as containers have them: a process's number is another process's, or none, in another namespace."""

import os
import subprocess
import unittest

import tool

SPACES = tool.program("spaces")
OWN = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
RIGHT = ["rank 0: 0 bytes wrong", "rank 1: 0 bytes wrong"]


@unittest.skipUnless(os.path.exists(SPACES), "built without it")
class Spaces(tool.Case):
    def setUp(self):
        try:
            tried = subprocess.run([*OWN, "true"], capture_output=True, text=True, timeout=tool.HANGS, check=False)
        except FileNotFoundError:
            self.skipTest("there is no unshare")
        if tried.returncode != 0:
            self.skipTest(f"no PID namespace can be made: {tried.stderr.strip()}")

    def each(self, what):
        """Each rank in a namespace of its own, where it has number 1."""
        return tool.run("--ranks", "processes", "-n", "2", *OWN, SPACES, what)

    def below(self, what):
        """All in one namespace, where /proc shows the numbers of the one above."""
        command = ["unshare", "--pid", "--fork", "--kill-child", tool.TOOLS / "mpiexec", "--ranks", "processes", "-n", "2", SPACES, what]
        try:
            return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=tool.HANGS, check=False)
        except subprocess.TimeoutExpired as hung:
            raise tool.hangs(command, tool.HANGS, hung.stdout, hung.stderr) from None

    def assert_right(self, done):
        self.assertEqual(sorted((done[1] if isinstance(done, tool.Result) else done.stdout).splitlines()), RIGHT, done)

    def test_long_messages(self):
        self.assert_right(self.each("messages"))

    def test_windows(self):
        self.assert_right(self.each("window"))

    def test_memory_of_windows_cannot_be_shared(self):
        done = self.each("shared")
        for rank in (0, 1):
            self.assertRegex(done.out, rf"(?m)^rank {rank}: MPI_Win_allocate\(.*\bPID namespace\b", done)

    def test_memory_of_windows_without_our_proc(self):
        done = self.below("shared")
        if "not permitted" in done.stdout:
            self.skipTest("this system lets no process open a file of another one")
        self.assert_right(done)

    def test_ranks_are_ended_without_our_proc(self):
        done = self.below("leave")
        self.assertEqual(done.returncode, 3, done)
        self.assertIn("rank 0 of 2 ended with exit code 3", done.stderr)


if __name__ == "__main__":
    unittest.main()
