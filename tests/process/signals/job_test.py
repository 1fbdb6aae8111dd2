"""Signals to mpiexec: what ranks get of them, and the exit code. Arguments: mpiexec, the program, how ranks run."""
import os
import signal
import subprocess
import sys
import unittest

MPIEXEC, PROGRAM, MODE = sys.argv[1:4]
HOW = {"fibers": {"CLUMP_SCHEDULER": "fibers"}, "threads": {"CLUMP_SCHEDULER": "threads"},
       "processes": {"CLUMP_RANKS": "processes"}, "pairs": {"CLUMP_SCHEDULER": "fibers", "CLUMP_PER_PROCESS": "2"}}


class JobSignals(unittest.TestCase):
    def run_job(self, mode, number):
        job = subprocess.Popen([MPIEXEC, "-n", "4", PROGRAM, mode, str(int(number))], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env={**os.environ, **HOW[MODE]})
        first = job.stdout.readline()
        self.assertEqual(first.strip(), "ready")
        job.send_signal(number)
        out, err = job.communicate(timeout=240)
        return job.returncode, out + err

    def assert_good_end(self, mode, number):
        code, text = self.run_job(mode, number)
        self.assertEqual((code, text.strip()), (0, "ok"))

    def test_every_rank_has_a_handler(self):
        self.assert_good_end("each", signal.SIGUSR1)
        self.assert_good_end("each", signal.SIGUSR2)

    def test_a_thread_of_each_rank_waits(self):
        self.assert_good_end("thread", signal.SIGUSR1)
        self.assert_good_end("thread", signal.SIGTERM)

    def test_one_rank_has_a_handler(self):
        self.assert_good_end("rank0", signal.SIGUSR1)

    def test_ranks_compute(self):
        self.assert_good_end("compute", signal.SIGUSR1)

    def test_ranks_wait(self):
        self.assert_good_end("wait", signal.SIGUSR1)

    def test_end_is_handled(self):
        self.assert_good_end("each", signal.SIGTERM)
        self.assert_good_end("rank0", signal.SIGINT)

    def test_end_is_not_handled(self):
        code, text = self.run_job("default", signal.SIGTERM)
        self.assertEqual(code, 128 + signal.SIGTERM)
        self.assertRegex(text, r"^mpiexec: the job was ended by SIGTERM \(Terminated\); where the ranks were:\n(  ranks? \d.* (MPI|run).*\n)+$")
        code, text = self.run_job("default", signal.SIGINT)
        self.assertEqual((code, text.strip()), (128 + signal.SIGINT, ""))

    def test_not_handled(self):
        code, text = self.run_job("default", signal.SIGUSR1)
        self.assertEqual(code, 128 + signal.SIGUSR1)
        self.assertIn("SIGUSR1", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
