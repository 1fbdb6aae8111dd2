"""The driver makes the plan of a seed that fails smaller, and prints how to run it again."""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

DRIVE = pathlib.Path(__file__).resolve().parent / "drive.py"


def drive(*words):
    environment = {**os.environ, "CLUMP_TEST_SEED": "7"}
    done = subprocess.run([sys.executable, "-B", str(DRIVE), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240, env=environment)
    return done.returncode, done.stdout


class Drive(unittest.TestCase):
    def test_passes(self):
        code, out = drive("large", "--ways", "fibers+one worker", "--rounds", "2")
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"(?m)^[1-9]\d* seeds, \d+ steps, 0 failed batches")

    def test_smaller_plan(self):
        code, out = drive("large", "--ways", "fibers", "--rounds", "9", "--words", "fails=1")
        self.assertEqual(code, 1, out)
        self.assertIn("the smallest plan that fails:\n  step 1: ", out)
        self.assertIn("FAIL part=large", out)
        again = out.splitlines()[-2].strip()  # before the sum
        self.assertRegex(again, r"-n 1 \S*fuzz_large \d+ 1 fails=1 steps=1 bytes=1 threads=1 plan=1")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(shlex.split(again), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder, timeout=120)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertTrue(re.search(r"step=1 rank=0: asked for by fails=1", done.stdout), done.stdout)


if __name__ == "__main__":
    unittest.main()
