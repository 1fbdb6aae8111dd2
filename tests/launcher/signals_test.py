"""Signals to mpiexec: which of them ask for the end of the job, and how often."""

import os
import signal
import subprocess
import time
import unittest

import tool


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
