"""The writers of charts and reports, and what the runner makes of programs that fail."""

import json
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree

from clump_lab import libraries, report, runner, svg
from clump_lab.experiments import Context, all_experiments, nas
from clump_lab.measured import Measured, chart


def ring_rows(share):
    """Two nodes of four ranks; one rank gets `share` of what four get."""
    rows = []
    for size in (1024, 4096):
        for active in (1, 2, 3, 4):
            rows.append({"measure": "ring", "pattern": "across", "active": active, "per_node": 4, "nodes": 2, "node_bytes": size,
                         "seconds": size / 1e9 / min(1, active * share)})
        rows.append({"measure": "ring", "pattern": "inside", "active": 4, "per_node": 4, "nodes": 2, "node_bytes": size, "seconds": size / 4e9})
        rows.append({"measure": "ring", "pattern": "both", "active": 4, "per_node": 4, "nodes": 2, "node_bytes": size, "seconds": size / 0.8e9})
    return rows


def results_of(share=0.25, gaps=(), **more):
    return {"clump_lab": 1, "date": "2026-01-02T03:04:05", "machine": {"cores": 4, "processor": "a <fast> one", "system": "Linux 1"}, "size": "quick",
            "hosts": [], "rounds": 2, "busy": [0.01, 0.02], "libraries": {"mpich": {"family": "mpich", "version": "MPICH 4"}},
            "experiments": {"ring": {"gaps": list(gaps), "runs": [{"library": "mpich", "label": "ring", "round": number, "rows": ring_rows(share)}
                                                                 for number in (0, 1)]}}, **more}


class Charts(unittest.TestCase):
    def test_a_chart_is_xml_with_a_line_for_each_series(self):
        drawn = xml.etree.ElementTree.fromstring(svg.draw({"title": "a < b", "x": "bytes", "y": "s", "x_log": True, "x_is_bytes": True, "series": {
            "one": [(1024, 2.0, 1.0, 3.0), (8, 1.0, 1.0, 1.0)], "two": [(8, 4.0, 4.0, 4.0)], "none": []}}))
        lines = drawn.findall(".//{http://www.w3.org/2000/svg}polyline")
        self.assertEqual(len(lines), 2)
        first, second = (tuple(map(float, point.split(","))) for point in lines[0].get("points").split())
        self.assertLess(first[0], second[0])     # sorted
        self.assertGreater(first[1], second[1])  # more is higher
        words = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("a < b", words)
        self.assertIn("1k", words)

    def test_nothing_to_draw(self):
        self.assertIsNone(chart("name", "title", "x", "y", {"empty": []}))
        with self.assertRaises(ValueError):
            svg.draw({"title": "t", "x": "x", "y": "y", "series": {}})

    def test_all_points_are_inside(self):
        for values in ([1e-9, 1e9], [5.0], [0.0, 7.0], [3.0, 3.0]):
            for logarithmic in (False, True):
                axis = svg.Axis(values, 10, 110, logarithmic)
                for value in values:
                    self.assertTrue(10 - 1e-6 <= axis.place(value) <= 110 + 1e-6, (values, logarithmic))
                self.assertTrue(axis.ticks())


class Reports(unittest.TestCase):
    def test_findings_follow_the_measurement(self):
        for share, verdict in ((0.25, "confirmed"), (1.0, "refuted")):
            findings = all_experiments()["ring"].findings(results_of(share))
            self.assertTrue(findings[0]["verdict"].startswith(verdict), findings[0])
            self.assertIn(f"{100 * share:.0f} %", findings[0]["here"])
        self.assertIn("4 become 16.00", all_experiments()["ring"].findings(results_of(0.25))[1]["here"])

    def test_files(self):
        gap = {"library": "intel", "label": "ring", "reason": "did not end within 120 s"}
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "results.json").write_text(json.dumps(results_of(gaps=[gap])))
            report.write(report.load(folder), folder)
            page, text = (folder / "report.html").read_text(), (folder / "report.md").read_text()
            figures = {path.name for path in (folder / "figures").iterdir()}
            shown = {line.partition("figures/")[2].rstrip(")") for line in text.splitlines() if line.startswith("![")}
        self.assertEqual(figures, shown)
        self.assertIn("ring-relative.svg", figures)
        self.assertIn("a &lt;fast&gt; one", page)
        self.assertEqual(page.count("<svg"), len(figures))
        for written in page, text:
            self.assertIn("did not end within 120 s", written)
            self.assertIn("IBM SP Power3+", written)
            self.assertNotIn("NOT QUIET", written)
            self.assertNotIn("cannot be said", written)
        noisy = report.page(results_of(busy=[0.0, 0.5]))
        self.assertIn("NOT QUIET", noisy)
        self.assertIn("cannot be said on a machine that is not quiet (these numbers: confirmed)", noisy)

    def test_no_report(self):
        with tempfile.TemporaryDirectory() as name:
            with self.assertRaisesRegex(SystemExit, "cannot be read"):
                report.load(name)
            (pathlib.Path(name) / "results.json").write_text("{")
            with self.assertRaisesRegex(SystemExit, "no JSON"):
                report.load(name)
            (pathlib.Path(name) / "results.json").write_text("[]")
            with self.assertRaisesRegex(SystemExit, "not what"):
                report.load(name)


class Nas(unittest.TestCase):
    def test_kernels_output_and_labels(self):
        text = "CG class S\n    0.250000 s,     1607.0 Mop/s\nall ranks together: communication     0.125000 s, computation     0.375000 s\nverification: %s\n"
        self.assertEqual(nas.read(text % "successful"), [{"measure": "nas", "seconds": 0.25, "mops": 1607.0, "communication": 0.125, "computation": 0.375}])
        self.assertEqual(nas.read(text % "failed"), [])
        self.assertEqual((nas.parts_of("CG S, 4"), nas.parts_of("LU A, 2 x 4")), (("CG S", 1, 4), ("LU A", 2, 4)))

    def test_nodes_among_hosts(self):
        shapes = {(run.nodes, run.ranks) for run in nas.plan(Context(cores=2, hosts=("a", "b", "c", "d")))}
        self.assertEqual(shapes, {(nodes, nodes * ways) for nodes in (1, 2, 4) for ways in (1, 2, 4)})
        self.assertEqual({run.nodes for run in nas.plan(Context(cores=2))}, {0})


class Medians(unittest.TestCase):
    def test_medians_and_spread(self):
        measured = Measured([{"library": "a", "label": "l", "rows": [{"x": 1, "seconds": value}]} for value in (3.0, 1.0, 2.0)])
        self.assertEqual((measured.median("a", "l", x=1), measured.spread("a", "l"), measured.median("b")), (2.0, 3.0, None))
        self.assertEqual(measured.series("a", "x", lambda row: row["seconds"]), [(1, 2.0, 1.0, 3.0)])


class Failing(unittest.TestCase):
    """A library whose mpiexec is a script."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def library(self, name, script, compiler="cp /bin/true \"$target\""):
        place = self.folder / name
        place.mkdir()
        for program, text in (("mpiexec", script), ("mpicc", 'for word; do test "$last" = -o && target=$word; last=$word; done\n' + compiler)):
            (place / program).write_text(f"#!/bin/sh\n{text}\n")
            (place / program).chmod(0o755)
        return libraries.Installed(name, "mpich", place / "mpiexec", place / "mpicc")

    def run_ring(self, *found, timeout=5.0):
        class Options:
            out, rounds = self.folder / "out", 2
        Options.timeout = timeout
        lab = runner.Laboratory([all_experiments()["ring"]], list(found), Context(cores=2, size="smoke"), Options)
        return lab.run()

    def test_the_others_go_on(self):
        line = json.dumps(ring_rows(1.0)[0])
        good = self.library("good", f"echo hello; echo '{line}'")
        crashes = self.library("crashes", "echo cannot do that >&2; exit 139")
        hangs = self.library("hangs", 'test "$1" = --version || sleep 60')
        silent = self.library("silent", "true")
        wrong = self.library("wrong", "true", "echo 'ring.c:1: error: no such thing' >&2; exit 1")
        results = self.run_ring(good, crashes, hangs, silent, wrong, timeout=0.5)["experiments"]["ring"]
        self.assertEqual([run["library"] for run in results["runs"]], ["good", "good"])
        reasons = {gap["library"]: gap["reason"] for gap in results["gaps"]}
        self.assertEqual(reasons["crashes"], "exit code 139: cannot do that")
        self.assertIn("did not end within", reasons["hangs"])
        self.assertEqual(reasons["silent"], "printed no measurement")
        self.assertIn("no such thing", reasons["wrong"])
        self.assertEqual(len(results["gaps"]), 4)  # each once, though there were two rounds
        saved = json.loads((self.folder / "out/results.json").read_text())
        self.assertEqual(saved["experiments"]["ring"], results)

    def test_another_experiment_is_added(self):
        old = {"runs": [{"library": "x", "label": "l", "round": 0, "rows": []}], "gaps": []}
        results = self.run_ring(self.library("good", f"echo '{json.dumps(ring_rows(1.0)[0])}'"))
        results["experiments"]["matmul"] = old
        path = self.folder / "out/results.json"
        path.write_text(json.dumps(results))
        again = self.run_ring(self.library("better", f"echo '{json.dumps(ring_rows(1.0)[0])}'"))
        self.assertEqual(again["experiments"]["matmul"], old)
        self.assertEqual({run["library"] for run in again["experiments"]["ring"]["runs"]}, {"better"})
        path.write_text(json.dumps(dict(results, size="full")))
        self.assertNotIn("matmul", self.run_ring(self.library("best", f"echo '{json.dumps(ring_rows(1.0)[0])}'"))["experiments"])

    def test_libraries_that_are_not_there(self):
        for name, words in (("lam", "there is no library 'lam'"), ("/no/mpiexec", "there is no program"), ("/bin/true", "does not say")):
            with self.assertRaisesRegex(libraries.NotFound, words):
                libraries.find(name, self.folder)


if __name__ == "__main__":
    unittest.main()
