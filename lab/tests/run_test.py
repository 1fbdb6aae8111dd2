"""`clump lab` as a user starts it, with the smallest sizes under Clump; and how its report looks in a browser."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import browser
from clump_lab import overview, report

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs/lab"
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
            self.every_figure(results)
            look(self, pathlib.Path(folder) / "report.html", results)

    def every_figure(self, results):
        """Only what needs hosts, or four ranks of a node (the smallest sizes have two), and drawings of which nothing can be measured, has no measurement.
        What is beside MPICH sees the same runs as its."""
        part = results["experiments"]["matmul"]
        part["runs"] += [dict(run, library="mpich") for run in part["runs"]]
        found = {(paper, what): here for paper, what, _, _, here, _ in overview.rows(report.all_findings(report.parts(results)))}
        without = {name for name, here in found.items() if here.startswith(("not in this report", "nothing to measure"))}
        if not results["experiments"]["nas"]["runs"]:
            without = {name for name in without if name[0] != "003"} | {("003", f"Figure {number}") for number in (1, 3, 5)}
        self.assertEqual(without, {("000", "Figure 1"), ("003", "Figure 1"), ("003", "Figure 3"), ("003", "Figure 5"), ("004", "Figure 1"), ("004", "Figure 2")})


class Committed(unittest.TestCase):
    """docs/lab in a browser."""

    def test_all_reports(self):
        if browser.path() is None:
            self.skipTest("there is no browser")
        reports = sorted(DOCS.glob("*/report.html"))
        self.assertGreaterEqual(len(reports), 3)
        for page in reports:
            with self.subTest(page.parent.name):
                look(self, page, json.loads((page.parent / "results.json").read_text()))


def look(test, page, results):
    """Each experiment has its part, each figure lines of some height and words that are words, and nothing is wider than a small window."""
    if browser.path() is None:
        return  # what the page says is tested in report_test.py
    with browser.Browser(width=700) as shown:
        shown.open(str(page))
        test.assertEqual(shown.problems, [])
        test.assertEqual(shown.evaluate("document.querySelectorAll('section').length"), len(results["experiments"]) + 1)
        empty = "[...document.querySelectorAll('figure')].filter(f => f.querySelectorAll('polyline').length == 0 || f.getBoundingClientRect().height < 100).length"
        test.assertEqual(shown.evaluate(empty), 0)
        files = len(list((page.parent / "figures").glob("*.svg")))
        test.assertEqual(shown.evaluate("document.querySelectorAll('figure').length"), files)
        test.assertGreater(files, 0)
        test.assertEqual(shown.evaluate("document.documentElement.scrollWidth > window.innerWidth"), False)
        wrong = "[...document.querySelectorAll('svg text')].filter(t => /NaN|undefined/.test(t.textContent)).length"
        test.assertEqual(shown.evaluate(wrong), 0)
        test.assertEqual(shown.evaluate("document.querySelectorAll('#overview tr').length"), 40)


if __name__ == "__main__":
    unittest.main()
