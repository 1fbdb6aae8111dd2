"""`clump lab` as a user starts it, with the smallest sizes under Clump; and how its report looks in a browser."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import browser

CLUMP = pathlib.Path(os.environ["CLUMP_BUILD"]) / "bin/clump"


def clump(*words, **more):
    return subprocess.run([CLUMP, "lab", *map(str, words)], capture_output=True, text=True, timeout=400, check=False, **more)


class Commands(unittest.TestCase):
    def test_list(self):
        done = clump("list")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("ring", done.stdout)

    def test_a_reader_that_ends_first(self):
        for words in (["list"], ["advise", "--machine", "list"]):
            with subprocess.Popen([CLUMP, "lab", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as job:
                job.stdout.close()
                self.assertEqual((job.stderr.read(), job.wait(timeout=100)), (b"", 141), words)

    def test_wrong_words(self):
        for words, said in ((["run", "rings"], "there is no experiment 'rings'"), (["run", "ring", "--mpi", "lam"], "there is no library 'lam'"),
                            (["run", "ring", "--rounds", "0"], "--rounds"), (["report", "/nowhere"], "cannot be read"), ([], "required"),
                            (["measure"], "invalid choice")):
            done = clump(*words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(said, done.stderr)

    def test_no_python(self):
        done = clump("list", env={"PATH": "/nowhere"})
        self.assertEqual(done.returncode, 127)
        self.assertIn("needs python3", done.stderr)


class AllExperiments(unittest.TestCase):
    def test_smallest_sizes(self):
        with tempfile.TemporaryDirectory() as folder:
            done = clump("run", "all", "--size", "smoke", "--rounds", 1, "--cores", 2, "--out", folder, "--timeout", 200)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("left] round 1 of 1: ring", done.stderr)
            results = json.loads((pathlib.Path(folder) / "results.json").read_text())
            for name, part in results["experiments"].items():
                if name == "nas" and not shutil.which("gfortran"):
                    continue  # its gap is tested in report_test.py
                self.assertEqual(part["gaps"], [], name)
                self.assertTrue(part["runs"], name)
            self.look(pathlib.Path(folder) / "report.html", results)

    def look(self, page, results):
        if browser.path() is None:
            return  # what the page says is tested in report_test.py
        with browser.Browser(width=700) as shown:
            shown.open(str(page))
            self.assertEqual(shown.problems, [])
            self.assertEqual(shown.evaluate("document.querySelectorAll('section').length"), len(results["experiments"]))
            empty = "[...document.querySelectorAll('figure')].filter(f => f.querySelectorAll('polyline').length == 0 || f.getBoundingClientRect().height < 100).length"
            self.assertEqual(shown.evaluate(empty), 0)
            self.assertGreater(shown.evaluate("document.querySelectorAll('figure').length"), 3)
            self.assertEqual(shown.evaluate("document.documentElement.scrollWidth > window.innerWidth"), False)
            wrong = "[...document.querySelectorAll('svg text')].filter(t => /NaN|undefined/.test(t.textContent)).length"
            self.assertEqual(shown.evaluate(wrong), 0)


if __name__ == "__main__":
    unittest.main()
