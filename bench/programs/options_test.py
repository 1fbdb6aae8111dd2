"""Is bad input told with what to do, before anything is built?"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
FOLDERS = ("--build", "build", "--peers-dir", "peers", "--cache", "cache", "--out", "out")


class Options(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_with(self, *options):
        return subprocess.run([sys.executable, "-B", "-m", "programs", *FOLDERS, "--check-options", *options], cwd=self.folder, capture_output=True,
                              text=True, env={"PYTHONPATH": str(BENCH)}, timeout=60, check=False)

    def test_bad_options(self):
        (self.folder / "broken").write_text("{")
        (self.folder / "other").write_text("{}")
        for options, words in ((("--ranks", "x"), "--ranks: 'x' is no list of numbers of ranks, such as 2,16"), (("--ranks", "2,"), "'2,' is no list"),
                               (("--ranks", "0"), "'0' is no list"), (("--rounds", "0"), "--rounds: '0' is no number of rounds: give 1 or more"),
                               (("--limit", "0"), "--limit: '0' is no number above 0"), (("--patience", "nan"), "--patience: 'nan' is no number above 0"),
                               (("--only", "("), "'(' is no regular expression"), (("--only", "nothing"), "no program matches 'nothing'; there are hpcc-hpl"),
                               (("--ways", "nothing"), "nothing matches 'nothing'; there are clump"), (("--page", "missing"), "missing: No such file"),
                               (("--page", "."), ".: Is a directory"), (("--page", "broken"), "broken is no JSON"),
                               (("--page", "other"), "other was not written by this command")):
            with self.subTest(options=options):
                done = self.run_with(*options)
                self.assertEqual((done.returncode, "Traceback" in done.stderr), (2, False), done.stderr)
                self.assertIn(words, done.stderr)

    def test_good_options(self):
        done = self.run_with("--ranks", "2,16", "--rounds", "1", "--only", "^fftw$", "--ways", "mpich", "--limit", "0.5", "--add")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
