"""Signals to mpiexec: which of them ask for the end of the job, and how often."""

import contextlib
import ctypes
import os
import pathlib
import pty
import shlex
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

import tool


def fork_as(number):
    """A process with this number that waits for signals; -1 if the system does not let us choose."""
    libc = ctypes.CDLL(None, use_errno=True)
    chosen = ctypes.c_int(number)
    # struct clone_args: flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size
    words = struct.pack("10Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(chosen), 1)
    clone3 = 435
    child = libc.syscall(clone3, ctypes.create_string_buffer(words), ctypes.c_size_t(len(words)))
    if child == 0:
        libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        while True:
            libc.pause()
    return child


class Signals(tool.Case):
    def start(self, *options):
        """A job of two ranks that are ready, in a process group of its own."""
        command = [str(tool.BIN / "mpiexec"), *options, "-n", "2", tool.program("saver")]
        self.job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(self.clean)
        self.read_both("ready\n")

    def clean(self):
        if self.job.poll() is None:
            self.job.kill()
        self.job.communicate()

    def read_both(self, line):
        self.assertEqual([self.job.stdout.readline() for _ in range(2)], [line, line])

    def end(self):
        out, err = tool.end_of(self.job)
        return tool.Result(self.job.returncode, out, err, 0)

    def test_twice_at_once(self):
        """As timeout(1) sends it: to mpiexec and then to its group. The ranks come to their own end."""
        for options in ([], ["--ranks", "processes"]):
            with self.subTest(options=options):
                self.start(*options)
                self.job.terminate()
                self.read_both("ending\n")
                os.killpg(self.job.pid, signal.SIGTERM)
                result = self.end()
                self.assertEqual((result.code, result.out), (0, "saved\nsaved\n"), result)

    def test_a_number_that_is_used_again(self):
        """A rank has ended, and mpiexec has not heard of it: a signal does not go to the process that has its number now."""
        command = [str(tool.BIN / "mpiexec"), "--ranks", "processes", "-n", "1", "cat", ":", "-n", "1", "sh", "-c", "echo up; exec sleep 100"]
        self.job = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.clean)
        self.assertEqual(self.job.stdout.readline(), "up\n")
        children = lambda process: [int(word) for word in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]
        rank = children(children(self.job.pid)[0])[0]
        self.job.send_signal(signal.SIGSTOP)
        self.job.stdin.close()
        self.job.stdin = None
        limit = time.monotonic() + tool.HANGS
        while os.path.exists(f"/proc/{rank}"):
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.005)
        other = fork_as(rank)
        self.job.send_signal(signal.SIGUSR1)
        self.job.send_signal(signal.SIGCONT)
        self.assertEqual(self.job.wait(timeout=tool.HANGS), 128 + signal.SIGUSR1)  # of the other rank
        if other != rank:
            self.skipTest("no process can be made with a chosen number")
        self.assertEqual(os.waitpid(other, os.WNOHANG), (0, 0))
        os.kill(other, signal.SIGKILL)
        os.waitpid(other, 0)

    def test_ignored_before(self):
        """What mpiexec finds ignored the ranks ignore, but for SIGCHLD: the exit codes are there, and system() has one in a rank."""
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.signal(signal.SIGUSR2, signal.SIG_IGN)
        self.assertEqual(tool.run("-n", "2", "sh", "-c", "exit 3", before=ignore).code, 3)
        result = tool.run("-n", "2", "grep", "SigIgn", "/proc/self/status", before=ignore)  # a shell handles SIGCHLD itself
        self.assertEqual(result.code, 0, result)
        for line in result.out.splitlines():
            ignored = int(line.split()[1], 16)
            self.assertEqual((ignored >> signal.SIGUSR2 - 1 & 1, ignored >> signal.SIGCHLD - 1 & 1), (1, 0), result)
        self.assertEqual(len(result.out.splitlines()), 2, result)

    def test_asked_again(self):
        """Another signal is another wish: the job is killed."""
        self.start()
        self.job.terminate()
        self.job.send_signal(signal.SIGINT)
        result = self.end()
        self.assertIn(result.code, (130, 143), result)
        self.assertNotIn("saved", result.out)

    def test_timeout_after_a_handled_hangup(self):
        """The program goes on after SIGHUP; --timeout ends it as if that had not been."""
        self.start("--timeout", "3")
        self.job.send_signal(signal.SIGHUP)
        self.read_both("again\n")
        self.assert_says(self.end(), 124, "the job has not ended within 3 s (--timeout)")

    def test_a_hangup_long_ago(self):
        """It is no first request of which SIGTERM would be the second."""
        self.start()
        self.job.send_signal(signal.SIGHUP)
        self.read_both("again\n")
        time.sleep(5.5)  # longer than mpiexec gives ranks to end
        self.job.terminate()
        result = self.end()
        self.assertEqual((result.code, result.out), (0, "ending\nending\nsaved\nsaved\n"), result)


class SilentRanks(tool.Case):
    """What is told of processes that cannot answer: that they are stopped, or ending."""

    def start(self, *options):
        command = [str(tool.BIN / "mpiexec"), *options, "-n", "2", tool.program("busy")]
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "busy\n")
        return job

    def ranks(self, job):
        children = lambda process: [int(word) for word in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]
        return [rank for supervisor in children(job.pid) for rank in children(supervisor)]

    def test_a_signal_to_the_whole_group(self):
        for options in ([], ["--ranks", "threads"], ["--ranks", "processes"]):
            for _ in range(3):
                with self.subTest(options=options):
                    job = self.start(*options)
                    os.killpg(job.pid, signal.SIGTERM)
                    _, err = tool.end_of(job)
                    self.assertEqual(job.returncode, 128 + signal.SIGTERM, err)
                    for wrong in ("hosts that have not answered", "not called MPI_Init", "block it"):
                        self.assertNotIn(wrong, err)

    def stop(self, process):
        """All of its threads: one that still ran might answer."""
        os.kill(process, signal.SIGSTOP)
        states = lambda: {task.read_text().rpartition(")")[2].split()[0] for task in pathlib.Path(f"/proc/{process}/task").glob("*/stat")}
        limit = time.monotonic() + tool.HANGS
        while states() != {"T"}:
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.005)

    def told_of(self, job, text):
        """What mpiexec says when it is asked where the ranks are."""
        job.send_signal(signal.SIGQUIT)
        told = ""
        while text not in told:
            line = job.stderr.readline()
            self.assertNotEqual(line, "", told)
            told += line

    def test_a_stopped_one(self):
        job = self.start("--ranks", "processes")
        self.stop(self.ranks(job)[1])
        self.told_of(job, "rank 1 is stopped")
        job.terminate()
        _, err = tool.end_of(job)
        self.assertIn("rank 1 is stopped", err)
        self.assertNotIn("block it", err)

    def test_all_stopped(self):
        """They share a process."""
        job = self.start()
        self.stop(self.ranks(job)[0])
        self.told_of(job, "ranks 0,1 are stopped")


@unittest.skipIf(shutil.which("bash") is None, "not installed: bash")
class ClosedTerminal(tool.Case):
    """The shell of a terminal that closes sends SIGHUP to its jobs, and the kernel sends it once more. Both together are one wish: ranks that handle it
    may finish, and nothing is left."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "file"

    def processes(self, session):
        found = []
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # it has ended
                state, _, _, its_session = stat.read_text().rpartition(")")[2].split()[:4]
                if int(its_session) == session and state not in "ZX":
                    found.append(int(stat.parent.name))
        return found

    def wait_for(self, what, describe):
        limit = time.monotonic() + tool.HANGS
        while not what():
            if time.monotonic() > limit:
                self.fail(describe())
            time.sleep(0.02)

    def close_terminal_of(self, *words):
        """Types the command in a terminal, which closes when two ranks are ready; returns when its session has no process."""
        shell, terminal = pty.fork()
        if shell == 0:
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        made = lambda: sorted(path.name for path in self.file.parent.iterdir())
        try:
            os.write(terminal, (shlex.join(map(str, words)) + "\n").encode())
            self.wait_for(lambda: {"file.ready.0", "file.ready.1"} <= set(made()), lambda: f"made: {made()}; {os.read(terminal, 10000)!r}")
            os.close(terminal)
            self.wait_for(lambda: not self.processes(shell), lambda: f"left: {self.processes(shell)}")
        finally:
            for process in self.processes(shell):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            os.waitpid(shell, 0)
        return made()

    def test_ranks_that_save(self):
        for options in ([], ["--ranks", "processes"]):
            with self.subTest(options=options):
                made = self.close_terminal_of(tool.BIN / "mpiexec", *options, "-n", 2, tool.program("saver"), self.file)
                self.assertEqual(made, ["file.ready.0", "file.ready.1", "file.saved.0", "file.saved.1"])
                for path in self.file.parent.iterdir():
                    path.unlink()

    def test_a_rank_that_saves_and_one_that_does_not(self):
        saves = f'trap "sleep 0.2; touch {self.file}.saved; exit" HUP; touch {self.file}.ready.0; while :; do sleep 0.05; done'
        ends = f"touch {self.file}.ready.1; exec sleep 1000"
        made = self.close_terminal_of(tool.BIN / "mpiexec", "-n", 1, "sh", "-c", saves, ":", "-n", 1, "sh", "-c", ends)
        self.assertEqual(made, ["file.ready.0", "file.ready.1", "file.saved"])


if __name__ == "__main__":
    unittest.main()
