"""Nothing that is started on a leash is left, however it ends and whoever is killed."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import leash

# One that stays below its parent, one in a session of its own, and one whose parent has gone; each says its number.
FAMILY = "sleep 300 & echo $!; setsid sh -c 'echo $$; exec sleep 300' & (sh -c 'echo $$; exec sleep 300' &); "


def read_numbers(stream):
    return [int(stream.readline()) for _ in range(3)]


class Leash(unittest.TestCase):
    def assert_gone(self, numbers):
        for _ in range(200):
            left = [number for number in numbers if Path(f"/proc/{number}").exists()]
            if not left:
                return
            time.sleep(0.05)
        self.fail(f"{left} of {numbers} are left after 10 s")

    def start(self, script):
        """The script goes on after the family when all numbers are read."""
        with tempfile.TemporaryDirectory() as folder:
            wait = f"while [ -e {folder} ]; do sleep 0.05; done; "
            process = leash.start(["sh", "-c", FAMILY + wait + script], stdout=subprocess.PIPE, text=True)
            self.addCleanup(process.stdout.close)
            self.addCleanup(leash.end, process)
            return process, read_numbers(process.stdout)

    def test_when_the_program_ends(self):
        process, numbers = self.start("exit 3")
        self.assertEqual(process.wait(timeout=120), 3)
        self.assert_gone(numbers)

    def test_when_the_program_is_killed(self):
        process, numbers = self.start("kill -9 $$")
        self.assertEqual(process.wait(timeout=120), 128 + signal.SIGKILL)
        self.assert_gone(numbers)

    def test_when_it_is_ended(self):
        process, numbers = self.start("wait")
        leash.end(process)
        self.assert_gone(numbers)

    def test_when_it_is_ended_while_stopped(self):
        process, numbers = self.start("wait")
        os.killpg(process.pid, signal.SIGSTOP)
        leash.end(process)
        self.assert_gone(numbers)

    def test_when_the_caller_is_killed(self):
        code = "import leash, sys; leash.start(['sh', '-c', sys.argv[1]]).wait()"
        with subprocess.Popen([sys.executable, "-B", "-c", code, FAMILY + "wait"], stdout=subprocess.PIPE, text=True) as caller:
            numbers = read_numbers(caller.stdout)
            os.kill(caller.pid, signal.SIGKILL)
            self.assert_gone(numbers)

    def test_exit_code(self):
        self.assertEqual(leash.run(["true"]), 0)
        self.assertEqual(leash.run(["false"]), 1)


if __name__ == "__main__":
    unittest.main()
