"""Readers of a job's output on several hosts that go away, take all, or stand still: mpiexec hears signals and --timeout meanwhile."""

import os
import signal
import subprocess
import unittest

import cluster
from cluster import LIMIT, mpiexec, name_of, processes, tool

setUpModule = cluster.skip_without_hosts


class Readers(cluster.Case):
    def begin(self, *words, **streams):
        job = subprocess.Popen(mpiexec(*words), stdin=subprocess.DEVNULL, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams})
        self.addCleanup(self.clean, job)
        return job

    def clean(self, job):
        if job.poll() is None:
            job.kill()
        job.wait()
        for stream in (job.stdout, job.stderr):
            if stream:
                stream.close()

    def test_one_that_goes_while_output_comes(self):
        """The ranks are ended at once, and no word is said of a signal, as none was sent."""
        job = self.begin("--host", "h1,h2", "-n", 2, "yes")
        self.assertEqual(job.stdout.readline(), b"y\n")
        job.stdout.close()
        self.assertEqual(job.wait(timeout=LIMIT), 141)
        self.assertEqual(job.stderr.read(), b"mpiexec: cannot write its output: Broken pipe: what could not be written is lost\n")

    def test_a_signal_while_output_comes(self):
        """The reader takes all, and no line ends."""
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as reader:
            job = self.begin("--host", "h1,h2", "-n", 2, "sh", "-c", 'echo begun >&2; head -c 400000000 /dev/zero; sleep 1000', stdout=reader.stdin)
            reader.stdin.close()
            self.assertEqual(job.stderr.readline(), b"begun\n")
            job.send_signal(signal.SIGINT)
            self.assertEqual(job.wait(timeout=LIMIT), 128 + signal.SIGINT)

    def test_a_signal_while_the_last_output_is_written(self):
        """All ranks have ended, and the reader takes nothing."""
        for options, number, code in ([], signal.SIGTERM, 143), ([], signal.SIGINT, 130), (["--timeout", 10], None, 124):
            with self.subTest(options=options, number=number):
                job = self.begin(*options, "--host", "h1,h2", "-n", 2, "sh", "-c", "yes | head -c 400000")
                self.assertTrue(self.wait_for(lambda: any(name_of(pid) == "prterun" for pid in processes("h0"))))
                self.assertTrue(self.wait_for(lambda: not any(name_of(pid) in ("prterun", "clump-supervise") for pid in processes("h0"))))
                if number:
                    job.send_signal(number)
                self.assertEqual(job.wait(timeout=LIMIT), code)
                self.assertRegex(job.stderr.read(), rb"^mpiexec: \d+ bytes of output are lost: what reads it has stopped reading\n$")
                self.assertGreater(len(os.read(job.stdout.fileno(), 1 << 20)), 0)


if __name__ == "__main__":
    unittest.main()
