"""Programs that do not use MPI run as separate processes."""

import os
import shlex
import subprocess
import sys
import tempfile
import unittest

import tool


class Plain(tool.Case):
    def test_mpmd(self):
        result = tool.run("-n", "2", "echo", "a", ":", "-n", "1", "echo", "b")
        self.assertEqual(sorted(result.out.split()), ["a", "a", "b"])

    def test_tag_output(self):
        result = tool.run("-n", "3", "--tag-output", "sh", "-c", "echo one; echo two >&2; printf three")
        self.assertEqual(sorted(result.out.splitlines()), ["[0] one", "[0] three", "[1] one", "[1] three", "[2] one", "[2] three"])
        self.assertEqual(sorted(result.err.splitlines()), ["[0] two", "[1] two", "[2] two"])

    def test_lines_are_whole(self):
        script = "i=0; while [ $i -lt 200 ]; do printf '<%s' $$; printf ' %s' $$ $$ $$; echo '>'; i=$((i+1)); done"
        lines = tool.run("-n", "4", "sh", "-c", script).out.splitlines()
        self.assertEqual(len(lines), 800)
        for line in lines:
            self.assertRegex(line, r"^<(\d+)( \1){3}>$")

    def test_stdin_goes_to_the_first(self):
        result = tool.run("-n", "3", "--tag-output", "cat", stdin="hello\n")
        self.assertEqual(result.out, "[0] hello\n")

    def test_the_library_is_opened_and_closed(self):
        """By a program that runs already, with mpiexec and without."""
        script = f"import _ctypes, ctypes; _ctypes.dlclose(ctypes.CDLL('{tool.BUILD}/lib/libmpi_abi.so.1')._handle); print('closed')"
        alone = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        self.assertEqual((alone.returncode, alone.stdout, alone.stderr), (0, "closed\n", ""))
        result = tool.run("-n", "2", sys.executable, "-c", script)
        self.assertEqual((result.code, result.out, result.err), (0, "closed\n" * 2, ""))

    def test_exit_code_of_the_first_failure(self):
        result = tool.run("-n", "3", "sh", "-c", "exit 4")
        self.assert_says(result, 4, "ended with exit code 4")
        self.assertEqual(result.err.count("mpiexec:"), 1)
        self.assert_says(tool.run("sh", "-c", "kill -9 $$"), 137, "rank 0 of 1 was ended by SIGKILL")

    def test_a_failure_ends_the_others(self):
        result = tool.run("-n", "1", "false", ":", "-n", "2", "sleep", "1000")  # for longer than run() waits
        self.assertEqual(result.code, 1)

    def test_background_children_are_gone_at_the_end(self):
        result = tool.run("sh", "-c", "sleep 300 & echo $!")
        self.assertEqual(result.code, 0)
        self.assertFalse(os.path.exists(f"/proc/{result.out.strip()}"))

    def test_found_in_path(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "launcher-script")
            with open(path, "w") as file:
                file.write("#!/bin/sh\necho found\n")
            os.chmod(path, 0o755)
            environment = {"PATH": folder + ":" + os.environ["PATH"]}
            self.assertEqual(tool.run("launcher-script", env=environment).out, "found\n")
            self.assert_says(tool.run("launcher-script", cwd=folder), 127, "did you mean ./launcher-script?")
            self.assertEqual(tool.run("./launcher-script", cwd=folder).out, "found\n")

    def test_a_reader_that_goes_away(self):
        command = f"{shlex.quote(str(tool.TOOLS / 'mpiexec'))} -n 2 yes | head -1"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.stdout, "y\n")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("cannot write its output: Broken pipe", done.stderr)

    def test_signals_are_passed_on(self):
        script = "trap 'echo got it; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
        job = subprocess.Popen([str(tool.TOOLS / "mpiexec"), "sh", "-c", script], stdout=subprocess.PIPE, text=True)
        self.assertEqual(job.stdout.readline(), "ready\n")
        job.terminate()
        self.assertEqual(job.stdout.read(), "got it\n")
        self.assertEqual(job.wait(timeout=120), 0)  # the program has handled it and ended well
        job.stdout.close()


if __name__ == "__main__":
    unittest.main()
