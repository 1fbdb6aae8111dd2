"""Signals to mpiexec: which of them ask for the end of the job, and how often."""

import ctypes
import os
import pathlib
import signal
import struct
import subprocess
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


if __name__ == "__main__":
    unittest.main()
