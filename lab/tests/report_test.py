"""The writers of charts and reports, and what the runner makes of programs that fail."""

import json
import os
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree

from clump_lab import libraries, overview, printing, report, runner, svg
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
            (folder / "figures").mkdir()
            (folder / "figures/of-an-earlier-report.svg").write_text("")
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
        self.assertNotIn("NOT QUIET", report.page(results_of(busy=[0.0, 0.5, 0.0])))  # one round of three does not move a median

    def test_a_row_for_each_figure_and_table(self):
        results = results_of(0.25)
        rows = {(paper, what): rest for paper, what, *rest in overview.rows(report.all_findings(report.parts(results)))}
        self.assertEqual(len(rows), 39)
        papers = {paper: {kind: sorted(int(what.split()[1]) for number, what in rows if number == paper and what.startswith(kind)) for kind in ("Figure", "Table")} for paper, _ in rows}
        self.assertEqual(papers, {"000": {"Figure": list(range(1, 12)), "Table": [1]}, "001": {"Figure": [1, 2], "Table": []}, "002": {"Figure": [1], "Table": [1, 2]},
                                  "003": {"Figure": list(range(1, 10)), "Table": [1, 2, 3]}, "004": {"Figure": list(range(1, 11)), "Table": []}})
        self.assertEqual(rows["000", "Figure 6"][2:], ["mpich: 4 of 4 for nine tenths of it, 4 to beat pure MPI", "confirmed"])
        self.assertEqual(rows["000", "Figure 9"][2:], ["mpich: all get 300 % more than one", "refuted here"])
        self.assertEqual(rows["000", "Figure 7"][2:], ["mpich: 3.20, 1.60, 1.07, 0.80 times as long with 1 to 4", "confirmed"])
        self.assertEqual(rows["003", "Figure 1"][2:], ["not in this report: clump lab run nas with --host", ""])
        self.assertEqual(rows["004", "Figure 1"][2:], ["nothing to measure", ""])
        self.assertIn("| 000 | Figure 11 |", report.markdown(results))
        self.assertIn("Figure 11", report.page(results).partition('id="overview"')[2])

    def test_verdicts_that_differ_name_whom(self):
        found = [{"verdict": word, "who": who} for who, word in (("a", "confirmed"), ("b", "refuted"), ("c", "confirmed"))]
        self.assertEqual((overview.verdict_of(found), overview.verdict_of(found[:1])), ("a, c: confirmed; b: refuted", "confirmed"))

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


class Strangers(unittest.TestCase):
    """What others have said or put there: names of libraries, versions, errors of compilers, links."""

    HOSTILE = "../x\x1b]0;t\x07<script>alert(1)</script>[a](javascript:b) `c` **d** | <img src=e onerror=f>"

    def hostile_results(self):
        results = json.loads(json.dumps(results_of()).replace('"mpich"', json.dumps(self.HOSTILE)))
        results["libraries"][self.HOSTILE]["version"] = self.HOSTILE
        results["hosts"] = [self.HOSTILE]
        results["experiments"]["ring"]["gaps"] = [{"library": self.HOSTILE, "label": self.HOSTILE, "reason": f"{self.HOSTILE}\n\n# {self.HOSTILE}"}]
        return results

    def test_words_are_no_markup(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "report"
            report.write(self.hostile_results(), folder)
            for page in [folder / "report.html", *(folder / "figures").iterdir()]:
                tags = set(re.findall(r"<(\w+)", page.read_text()))
                self.assertFalse(tags & {"script", "img"}, page)
            text = (folder / "report.md").read_text()
            for line in text.splitlines():
                if "script" in line:
                    self.assertNotRegex(line, r"<(script|img)|(?<!\\)(`|\*\*d|\]\((?!figures/))|\x1b|\x07|^#", line)
                    self.assertIn("\\\\x1b", line)
            self.assertEqual({path.name for path in pathlib.Path(name).iterdir()}, {"report"})
            self.assertEqual({path.name for path in folder.iterdir()}, {"report.html", "report.md", "figures"})
            figures = {path.name for path in (folder / "figures").iterdir()}
            self.assertTrue(all(re.fullmatch(r"[\w+-][\w.+-]*\.svg", figure) for figure in figures), figures)
            self.assertEqual({found.removeprefix("figures/") for found in re.findall(r"(?<=\()figures/[^)]*", text)}, figures)

    def test_names_of_files(self):
        for text, name in (("ring-mpich-2", "ring-mpich-2"), ("../a", "_._a"), (".hidden", "_hidden"), ("a/b c\x1b", "a_b_c_"), ("", "_")):
            self.assertEqual(printing.file_name(text), name)

    def test_links_are_replaced(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "precious").write_text("kept")
            names = ["report.html", "report.md", "results.json", "results.new"]
            for link in names:
                (folder / link).symlink_to("precious")
            report.write(results_of(), folder)
            class Options:
                out, rounds, timeout = folder, 1, 1.0
            runner.Laboratory([], [], Context(cores=1), Options).save()
            self.assertEqual((folder / "precious").read_text(), "kept")
            self.assertEqual([link for link in names if (folder / link).is_symlink()], ["results.new"])  # which is no name of ours

    def test_folders_of_others(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "a" / "b"
            printing.own_folder(folder)
            printing.own_folder(folder)
            folder.chmod(0o777)
            with self.assertRaisesRegex(printing.NotOurs, "all users may write"):
                printing.own_folder(folder)
            if os.geteuid() != 0:
                self.skipTest("only root makes folders of other users")
            folder.chmod(0o755)
            os.chown(folder, 65534, 65534)
            with self.assertRaisesRegex(printing.NotOurs, "another user .uid 65534."):
                printing.own_folder(folder)

    def test_terminals_are_told_no_more_than_words(self):
        self.assertEqual(printing.printable("a\x1b[2J\r\x9b\x7f\tb\n\u00fc"), "a\\x1b[2J\\x0d\\x9b\\x7f\tb\n\u00fc")


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


def nas_results(hosts, times):
    """times: {(nodes, ways): (seconds, communication)} of CG."""
    labels = {shape: nas.label_of("cg", "W", *shape, hosts) for shape in times}
    runs = [{"library": "clump", "label": labels[shape], "rows": [{"seconds": seconds, "mops": 1.0, "communication": talk, "computation": 1.0}]} for shape, (seconds, talk) in times.items()]
    return {"hosts": list(hosts), "experiments": {"nas": {"runs": runs, "gaps": []}}}


class NasFindings(unittest.TestCase):
    def verdicts(self, hosts, times):
        found = {}
        for row in nas.findings(nas_results(hosts, times)):
            for shown in row["shows"]:
                found.setdefault(shown, []).append((row["here"].partition(": ")[2], row["verdict"]))
        return found

    def test_ways_of_one_node(self):
        found = self.verdicts((), {(1, 1): (8.0, 0.0), (1, 2): (5.0, 1.0), (1, 4): (4.0, 1.5)})
        self.assertEqual(found["003 Figure 2"], [("CG W, two ranks have an efficiency of 0.80", "confirmed")])
        self.assertEqual(found["003 Figure 3"], [("CG W, 0.62 of that with two ranks", "confirmed")])
        self.assertEqual(found["003 Figure 5"], [("CG W, 1.50 times as much with four ranks as with two", "confirmed")])
        self.assertEqual(found["003 Table 3"], [(f"6 of 6 entries of {kernel} follow from its pattern", "confirmed") for kernel in ("MG", "CG", "LU")])
        self.assertNotIn("003 Figure 1", found)

    def test_nodes_that_are_hosts(self):
        found = self.verdicts(("a", "b"), {(1, 1): (8.0, 0.0), (2, 1): (5.0, 1.0), (2, 2): (4.0, 3.0), (2, 4): (3.0, 6.0)})
        self.assertEqual(found["003 Figure 1"], [("CG W, efficiency 1.00, 0.80 with 1, 2 nodes", "confirmed")])
        self.assertEqual(found["003 Table 2"][0], ("CG W, 2 nodes, 3.00 and then 2.00 times", "confirmed"))
        slower = self.verdicts(("a", "b"), {(1, 1): (4.0, 0.0), (2, 1): (5.0, 1.0)})
        self.assertEqual(slower["003 Figure 1"][0][1], "refuted here")


class Styles(unittest.TestCase):
    def test_processes_of_a_node(self):
        def shapes(**where):
            return {(run.label, run.ranks, run.threads) for run in all_experiments()["styles"].plan(Context(size="smoke", **where)) if run.label.startswith("masteronly") and "overlap" not in run.label}
        self.assertEqual(shapes(cores=2), {("masteronly", 1, 2), ("masteronly, two processes", 2, 2)})
        self.assertEqual(shapes(cores=8), {("masteronly", 1, 8), ("masteronly, two processes", 2, 4), ("masteronly, 2 processes a node", 4, 2)})
        self.assertEqual(shapes(cores=4, hosts=("a", "b", "c")), {("masteronly", 3, 4), ("masteronly, 2 processes a node", 6, 2)})


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
        killed = self.library("killed", 'test "$1" = --version || kill -SEGV $$')
        silent = self.library("silent", "true")
        wrong = self.library("wrong", "true", "echo 'ring.c:1: error: no such thing' >&2; exit 1")
        results = self.run_ring(good, crashes, hangs, killed, silent, wrong, timeout=0.5)["experiments"]["ring"]
        self.assertEqual([run["library"] for run in results["runs"]], ["good", "good"])
        reasons = {gap["library"]: gap["reason"] for gap in results["gaps"]}
        self.assertEqual(reasons["crashes"], "exit code 139: cannot do that")
        self.assertIn("did not end within", reasons["hangs"])
        self.assertEqual(reasons["killed"], "ended by SIGSEGV")
        self.assertEqual(reasons["silent"], "printed no measurement")
        self.assertIn("no such thing", reasons["wrong"])
        self.assertEqual(len(results["gaps"]), 5)  # each once, though there were two rounds
        saved = json.loads((self.folder / "out/results.json").read_text())
        self.assertEqual(saved["experiments"]["ring"], results)

    def test_another_experiment_is_added(self):
        old = {"runs": [{"library": "x", "label": "l", "round": 0, "rows": []}], "gaps": []}
        good = self.library("good", f"echo '{json.dumps(ring_rows(1.0)[0])}'")
        results = self.run_ring(good)
        results["experiments"]["matmul"] = old
        path = self.folder / "out/results.json"
        path.write_text(json.dumps(results))
        self.assertEqual(self.run_ring(good)["experiments"]["matmul"], old)
        path.write_text(json.dumps(dict(results, size="full")))
        self.assertNotIn("matmul", self.run_ring(self.library("best", f"echo '{json.dumps(ring_rows(1.0)[0])}'"))["experiments"])

    def test_another_library_is_added(self):
        """Its runs replace what the folder has of it, and of no other; the report says what is of another run."""
        line = json.dumps(ring_rows(1.0)[0])
        first = self.run_ring(self.library("good", f"echo '{line}'"), self.library("crashes", "exit 3"))
        path = self.folder / "out/results.json"
        first["date"] = "2026-01-02T03:04:05"
        del first["experiments"]["ring"]["dates"]  # as of a report from before they were kept
        path.write_text(json.dumps(first))
        better = self.library("better", f"echo '{line}'")
        both = self.run_ring(better)
        ring = both["experiments"]["ring"]
        self.assertEqual(sorted(run["library"] for run in ring["runs"]), ["better", "better", "good", "good"])
        self.assertEqual([gap["library"] for gap in ring["gaps"]], ["crashes"])
        self.assertEqual(ring["dates"], {"better": both["date"], "good": "2026-01-02T03:04:05"})
        again = self.run_ring(better)["experiments"]["ring"]
        self.assertEqual(sorted(run["library"] for run in again["runs"]), ["better", "better", "good", "good"])
        self.assertEqual(report.dates(ring, both["date"])["rows"], [["good", "2026-01-02 03:04:05"]])
        self.assertIsNone(report.dates({"dates": {"better": both["date"]}}, both["date"]))

    def test_no_openmp(self):
        """What needs no threads is measured, and what needs them has a gap with the compiler's word."""
        line = json.dumps(ring_rows(1.0)[0])
        compiler = ('for word; do test "$word" != -fopenmp || { echo "cc: error: unrecognized option -fopenmp" >&2; exit 1; }; done; '
                    'while test "$1" != -o; do shift; done; touch "$2"')
        found = self.library("serial", f"echo '{line}'", compiler)
        class Options:
            out, rounds, timeout = self.folder / "out", 1, 5.0
        for again in (False, True):  # compiled now, and found compiled
            lab = runner.Laboratory([all_experiments()["styles"]], [found], Context(cores=2, size="smoke"), Options)
            styles = lab.run()["experiments"]["styles"]
            self.assertEqual({run["label"] for run in styles["runs"]}, {"pure", "one core"}, again)
            self.assertIn("masteronly", {gap["label"] for gap in styles["gaps"]})
            self.assertEqual({gap["reason"] for gap in styles["gaps"]}, {"needs threads, and its compiler has no OpenMP: cc: error: unrecognized option -fopenmp"})

    def test_two_installations_of_a_family(self):
        paths = []
        for name in ("one", "two"):
            library = self.library(name, "echo 'HYDRA build details: Version 4.0'")
            paths.append(str(library.mpiexec))
        self.assertEqual([library.name for library in libraries.find_all([*paths, paths[0]], self.folder)], ["mpich", "mpich-2"])

    def test_libraries_that_are_not_there(self):
        for name, words in (("lam", "there is no library 'lam'"), ("/no/mpiexec", "there is no program"), ("/bin/true", "does not say")):
            with self.assertRaisesRegex(libraries.NotFound, words):
                libraries.find(name, self.folder)


if __name__ == "__main__":
    unittest.main()
