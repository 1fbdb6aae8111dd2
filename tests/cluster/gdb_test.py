"""mpiexec --gdb on several hosts. What gdb shows of ranks is tests/launcher/gdb_test.py's."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time
import unittest

import cluster
from cluster import tool

HOSTS = ("--host", "h1,h2", "-n", 4)
PROGRAM = (tool.program("debug"), "hang")


def setUpModule():
    cluster.skip_without_hosts()
    for program in "gdb", "gdbserver":
        if not shutil.which(program):
            raise unittest.SkipTest(f"there is no {program}")


class Gdb(cluster.Case):
    def run_gdb(self, *words, commands, **options):
        with tempfile.NamedTemporaryFile("w", suffix=".gdb") as file:
            file.write("\n".join(commands) + "\n")
            file.flush()
            return subprocess.run(cluster.mpiexec("--gdb-command", file.name, *words), capture_output=True, text=True, timeout=400, check=False,
                                  **options)

    def assert_on_hosts(self, processes, job):
        """gdb reaches all of them through their hosts: here it could attach to some without."""
        self.assertEqual(len(re.findall(r"(?m)^[* ] \d +process \d+ +\d \(extended-remote ", job.stdout)), processes, job)

    def test_a_breakpoint_in_all_ranks(self):
        commands = ["clump ranks", "break waits_here", "continue", "print 1000 * local + global", "info inferiors"]
        for mode, processes in ((), 2), (("--ranks", "processes"), 4):
            with self.subTest(mode=mode):
                job = self.run_gdb(*mode, *HOSTS, *PROGRAM, commands=commands)
                self.assertEqual(job.returncode, 0, job)
                self.assertIn("ranks 0-3 wait for the debugger to let it begin\n", job.stdout)
                self.assertIn("(4 locations)\n", job.stdout)
                stopped = int(re.search(r"This is rank (\d)\.", job.stdout)[1])
                self.assertIn(f"$1 = {1000 * (stopped + 1) + 100 + stopped}\n", job.stdout)
                self.assert_on_hosts(processes, job)

    def test_a_deadlock_stops_in_gdb(self):
        # The shell ($SHELL) through which gdb starts what it talks to may know descriptors of one digit only, as dash does.
        many = [os.open(os.devnull, os.O_RDONLY) for _ in range(16)]
        self.addCleanup(os.closerange, many[0], many[-1] + 1)
        job = self.run_gdb(*HOSTS, *PROGRAM, commands=["continue", "clump ranks", "clump rank 3", "print local", "info inferiors"], pass_fds=many,
                           env={**os.environ, "SHELL": "/bin/sh"})
        self.assertEqual(job.returncode, 1, job)
        self.assertIn("SIGTRAP", job.stdout)
        self.assert_on_hosts(2, job)
        self.assertRegex(job.stdout, r"(?m)^ranks 0-3 wait in MPI_Recv.* at debug.c:\d+$")
        self.assertIn("$1 = 4\n", job.stdout)
        self.assertIn("mpiexec: deadlock: ", job.stderr)

    def test_a_user_interrupts_and_quits(self):
        user, terminal = pty.openpty()
        job = subprocess.Popen(["setsid", "--ctty", *cluster.mpiexec("--gdb", *HOSTS, tool.program("busy"))], stdin=terminal, stdout=terminal,
                               stderr=terminal)
        self.addCleanup(job.kill)
        os.close(terminal)
        with os.fdopen(user, "r+b", 0) as keys:
            self.read_until(keys, r"\(gdb\) $")
            keys.write(b"continue\n")
            self.read_until(keys, r"busy\r\n")
            keys.write(b"\x03")
            self.read_until(keys, r"SIGINT(?s:.*)\(gdb\) $")
            keys.write(b"clump ranks\n")
            self.read_until(keys, r"ranks? [0-3](?s:.*)\(gdb\) $")
            keys.write(b"quit\n")
            self.read_until(keys, r"\(y or n\) $")
            keys.write(b"y\n")
            self.assertEqual(job.wait(tool.HANGS), 0)

    def read_until(self, terminal, pattern):
        said, end = "", time.monotonic() + tool.HANGS
        while not re.search(pattern, said):
            if time.monotonic() > end or not select.select([terminal], [], [], tool.HANGS)[0]:
                self.fail(f"no {pattern} after: {said}")
            said += re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", terminal.read(65536).decode(errors="replace"))

    def test_a_host_without_gdbserver(self):
        with tempfile.TemporaryDirectory() as folder:
            for folders in os.environ["PATH"].split(":"):
                for program in pathlib.Path(folders).glob("*"):
                    here = pathlib.Path(folder, program.name)
                    if program.name != "gdbserver" and not here.is_symlink():
                        here.symlink_to(program)
            job = self.run_gdb(*HOSTS, *PROGRAM, commands=[], env={**os.environ, "PATH": folder})
        self.assertEqual(job.returncode, 126, job)
        self.assertRegex(job.stderr, r"mpiexec: h[12].*: --gdb: there is no gdbserver in PATH: install it")
