"""Readers of a job's output on several hosts that stand still: mpiexec hears signals and --timeout meanwhile."""

import os
import select
import signal
import subprocess
import unittest

import cluster
from cluster import LIMIT, mpiexec, name_of, processes, tool

setUpModule = cluster.skip_without_hosts


class Readers(cluster.Case):
    def begin(self, *words):
        job = subprocess.Popen(mpiexec(*words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.clean, job)
        return job

    def clean(self, job):
        job.kill()
        job.communicate()

    def test_a_signal_while_the_last_output_is_written(self):
        """All ranks have ended, and the reader takes nothing."""
        for options, number, code in ([], signal.SIGTERM, 143), ([], signal.SIGINT, 130), (["--timeout", 10], None, 124):
            with self.subTest(options=options, number=number):
                job = self.begin(*options, "--host", "h1,h2", "-n", 2, "sh", "-c", "yes | head -c 400000")
                self.assertTrue(select.select([job.stdout], [], [], LIMIT)[0])  # ranks have begun
                self.assertTrue(self.wait_for(lambda: not any(name_of(pid) == "clump-supervise" for pid in processes("h0"))))
                if number:
                    job.send_signal(number)
                self.assertEqual(job.wait(timeout=LIMIT), code)
                self.assertRegex(job.stderr.read(), rb"^mpiexec: \d+ bytes of output are lost: what reads it has stopped reading\n$")
                self.assertGreater(len(os.read(job.stdout.fileno(), 1 << 20)), 0)


if __name__ == "__main__":
    unittest.main()
