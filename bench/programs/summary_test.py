"""Is the page right about who is faster? On numbers that are made up."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from programs import page, summary  # noqa: E402
from programs.__main__ import Bench  # noqa: E402
from programs.program import Program, Run, grid, numbers, says  # noqa: E402
from programs.summary import Measured  # noqa: E402
from programs.timing import Failed, Timed  # noqa: E402
from programs.ways import Way  # noqa: E402


def measured(numbers, gaps=None):
    """{(program, ranks): {way: [wall, ...]}}; processor times are twice as long."""
    found = Measured(gaps=gaps or {})
    for (program, ranks), by_way in numbers.items():
        for way, values in by_way.items():
            for value in values:
                found.add(program, ranks, way, Timed(value, 2 * value, ""))
    return found


NUMBERS = {
    ("start", 2): {"clump": [0.1], "clump-processes": [0.1], "mpich": [0.5], "openmpi": [1.0]},
    ("a", 2): {"clump": [9.0, 1.0, 2.0], "clump-processes": [2.5], "mpich": [4.5], "openmpi": [4.0]},
    ("b", 2): {"clump": [8.0], "clump-processes": [4.0], "mpich": [1.0]},
    ("c", 2): {"clump": [1.0], "clump-openmpi": [3.0]},
}


class Arithmetic(unittest.TestCase):
    def test_medians(self):
        self.assertEqual(measured(NUMBERS).medians("a", 2), {"clump": 2.0, "clump-processes": 2.5, "mpich": 4.5, "openmpi": 4.0})
        self.assertEqual(measured(NUMBERS).medians("a", 2, "processor")["clump"], 4.0)
        self.assertEqual(measured({("a", 2): {"clump": [1.0, 3.0]}}).medians("a", 2), {"clump": 2.0})
        self.assertEqual(measured(NUMBERS).medians("a", 16), {})

    def test_start_up_is_told_apart(self):
        found = measured(NUMBERS).medians("a", 2, "work")
        self.assertAlmostEqual(found["clump"], 1.9)
        self.assertAlmostEqual(found["openmpi"], 3.0)
        self.assertNotIn("clump-openmpi", measured(NUMBERS).medians("c", 2, "work"), "its start-up was not measured")
        shorter = measured({("start", 2): {"clump": [1.0], "mpich": [1.0], "intel": [1.0]}, ("a", 2): {"clump": [0.9], "mpich": [1.2], "intel": [1.5]}})
        self.assertEqual(shorter.medians("a", 2, "work"), {"intel": 0.5}, "what is left of the others is no more than noise")

    def test_the_best_peer_is_another_library(self):
        self.assertEqual(summary.best_peer({"clump": 1.0, "clump-openmpi": 0.5, "mpich": 4.0, "intel": 3.0}), ("intel", 3.0))
        self.assertIsNone(summary.best_peer({"clump": 1.0, "clump-processes": 2.0}))

    def test_ratios(self):
        found = measured(NUMBERS)
        self.assertEqual(summary.ratios(found, 2), {"a": 0.5, "b": 8.0})
        self.assertEqual(summary.fibers_by_processes(found, 2), {"a": 0.8, "b": 2.0})
        self.assertEqual(summary.facade_by_openmpi(measured({("a", 2): {"clump-openmpi": [3.0], "openmpi": [6.0]}}), 2), {"a": 0.5})

    def test_a_peer_is_given_so_many_times_what_clump_took(self):
        found = measured(NUMBERS)
        self.assertEqual(summary.time_limit(found, "b", 2, "mpich", 60, 4), 32.0)
        self.assertEqual(summary.time_limit(found, "b", 2, "mpich", 25, 4), 25, "the limit for all")
        self.assertEqual(summary.time_limit(found, "a", 2, "mpich", 60, 4), summary.LEAST_LIMIT)
        self.assertEqual(summary.time_limit(found, "b", 2, "clump-processes", 60, 4), 60)
        self.assertEqual(summary.time_limit(found, "b", 16, "mpich", 60, 4), 60, "Clump was not measured")
        self.assertEqual(summary.time_limit(found, "b", 2, "mpich", 60, None), 60)

    def test_a_peer_that_was_ended_took_longer(self):
        slow = {("a", 64, "mpich"): "did not end within 12 s", ("a", 64, "openmpi"): "did not end within 20 s", ("b", 64, "mpich"): "did not end within 12 s"}
        found = measured({("start", 64): {"clump": [1.0], "mpich": [2.0], "openmpi": [2.0]}, ("a", 64): {"clump": [3.0]},
                          ("b", 64): {"clump": [3.0], "openmpi": [6.0]}}, slow)
        self.assertEqual(summary.ratios(found, 64), {"a": 0.25, "b": 0.5})
        self.assertEqual(summary.at_most(found, 64), ["a"], "of b there is a time")
        self.assertEqual(found.floors("a", 64, "work"), {"mpich": 10.0, "openmpi": 18.0})
        self.assertEqual(summary.ratios(found, 64, "openmpi"), {"b": 1.0}, "a peer beside those that came to an end")
        self.assertAlmostEqual(summary.ratios(found, 64, what="work")["a"], 0.2)
        self.assertEqual(summary.ratios(found, 64, what="processor").keys(), {"b"})
        text = "\n".join(page.times_table(found, 64, "wall"))
        self.assertIn("| a | 3.00 | > 12.0 | > 20.0 |  | ≤ 0.25 |", text)
        self.assertIn("| 64 | 1 | 2 | ≤ 0.35 | 0.30 | 2 of 2 | ≤ 0.32 | 2 of 2 | 0.50 (1) |", "\n".join(page.means_table(found, 2)))
        self.assertEqual(summary.ratios(measured({("a", 64): {"clump": [3.0]}}, {("a", 64, "mpich"): "exit code 1"}), 64), {})

    def test_what_is_not_told_of_a_peer_may_be_less(self):
        found = measured({("start", 64): {"clump": [1.0], "mpich": [2.0], "openmpi": [8.0]}, ("a", 64): {"clump": [3.0], "openmpi": [9.0]}},
                         {("a", 64, "mpich"): "did not end within 12 s"})
        self.assertEqual(found.floors("a", 64), {"mpich": 12.0})
        self.assertEqual(found.floors("a", 64, "work"), {}, "Open MPI's work is a second or less")
        self.assertEqual(summary.ratios(found, 64, what="work"), {})
        twice = measured({("a", 64): {"clump": [3.0], "mpich": [10.0]}}, {("a", 64, "mpich"): "did not end within 12 s"})
        self.assertEqual(summary.at_most(twice, 64), ["a"], "in one round it was ended")
        self.assertIn("| > 10.0 |", "\n".join(page.times_table(twice, 64, "wall")))

    def test_another_launcher_has_another_start_up(self):
        found = measured({("start", 2): {"clump": [1.0], "openmpi": [1.0]}, ("a", 2): {"clump": [3.0], "openmpi": [4.0]}})
        found.other_launcher.add(("a", "openmpi"))
        self.assertEqual(found.medians("a", 2, "work"), {"clump": 2.0})
        self.assertEqual(Measured.from_json(found.as_json()), found)

    def test_geometric_means(self):
        self.assertAlmostEqual(summary.geometric_mean([0.5, 8.0]), 2.0)
        self.assertAlmostEqual(summary.geometric_mean([0.5, None, 0.5]), 0.5)
        self.assertIsNone(summary.geometric_mean([]))
        self.assertAlmostEqual(summary.mean_against_best(measured(NUMBERS), 2), 2.0)
        self.assertAlmostEqual(summary.mean_against_best(measured(NUMBERS), 2, "mpich"), (4.5 / 4.0) ** 0.5)
        self.assertIsNone(summary.mean_against_best(measured(NUMBERS), 16))

    def test_numbers_are_read_again(self):
        found = measured(NUMBERS, {("c", 2, "mpich"): "exit code 1"})
        self.assertEqual(Measured.from_json(found.as_json()), found)


class Page(unittest.TestCase):
    def results(self, gaps=None, busy=0.0):
        return {"machine": "2 cores of X", "cores": 2, "date": "2026-11-27T18:00:00", "busy": busy, "versions": {"clump": "0.1"},
                "absent": {"intel": "it is not installed"}, "programs": [["a", "does a", "a-source"]], **measured(NUMBERS, gaps).as_json()}

    def test_tables(self):
        found = measured(NUMBERS, {("c", 2, "mpich"): "exit code 1"})
        rows = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]] for line in page.times_table(found, 2, "wall") if line}
        self.assertEqual(rows["program"], ["Clump", "Clump, processes", "Clump, Open MPI's binary", "MPICH", "Open MPI", "best peer", "Clump by it",
                                           "fibers by processes"])
        self.assertEqual(rows["a"], ["2.00", "2.50", "", "4.50", "4.00", "Open MPI", "0.50", "0.80"])
        self.assertEqual(rows["c"], ["1.00", "", "3.00", "gap", "", "", "", ""])
        self.assertEqual(rows["start"][:4], ["0.10", "0.10", "", "0.50"])
        means = page.means_table(found, 2)[2].split("|")
        self.assertEqual([cell.strip() for cell in means[1:7]], ["2", "3", "2", "2.00", "0.90", "1 of 2"])
        self.assertEqual(means[7].strip(), "3.16")
        self.assertEqual(page.ways_table(found)[2], "| 2 | 1.26 | 2.00 (b) |  |")

    def test_what_is_wanted_depends_on_ranks_a_core(self):
        self.assertEqual([page.wanted_of(ranks, 2) for ranks in (1, 2, 16, 64)], [None, 0.9, 0.5, 0.3])
        self.assertEqual(page.wanted_of(16, 16), 0.9)

    def test_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            written = page.write(self.results({("c", 2, "mpich"): "exit code 1", ("c", 16, "mpich"): "exit code 1"}, busy=0.4), Path(folder))
            text = written.read_text()
            for name in ("programs-wall.svg", "programs-work.svg", "programs-processor.svg", "programs-a.svg"):
                self.assertIn(f"]({name})", text)
                self.assertIn("</svg>", (Path(folder) / name).read_text())
        self.assertIn("- c, MPICH, 2, 16 ranks: exit code 1", text)
        self.assertIn("Not measured: Intel MPI: it is not installed.", text)
        self.assertIn("NOT QUIET: others used up to 40 %", text)
        self.assertIn("27 November 2026.", text)
        self.assertIn("Medians of 3 rounds. Wall time", text)
        self.assertIn("# Programs of others, timed on 2 cores", text)

    def test_another_page_has_charts_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            written = page.write(self.results({}), Path(folder), "there")
            self.assertEqual(written.name, "there.md")
            self.assertEqual([path.name for path in Path(folder).iterdir() if path.name.startswith("programs")], [])
            for name in ("there-wall.svg", "there-a.svg"):
                self.assertIn(f"]({name})", written.read_text())
                self.assertTrue((Path(folder) / name).exists())


class Verdicts(unittest.TestCase):
    def setUp(self):
        self.bench = Bench.__new__(Bench)
        self.bench.answers = {}
        self.program = Program("a", "", "", None, None, says("^converged", never="^nan"), lambda run: numbers(r"^energy (\S+)", run.output), 1e-3)

    def judge(self, output, way="mpich", ranks=2):
        self.bench.judge(self.program, Run(ranks, output, Path(".")), Way(way, "standard", ()))

    def test_the_programs_own_verdict(self):
        self.judge("converged\nenergy 1\n")
        with self.assertRaisesRegex(Failed, "wrong result: its output has nothing like"):
            self.judge("energy 1\n")
        with self.assertRaisesRegex(Failed, "wrong result: nan"):
            self.judge("nan\nconverged\n")

    def test_the_same_as_the_first(self):
        self.judge("converged\nenergy 100\n")
        self.judge("converged\nenergy 100.05\n", "clump")
        self.judge("converged\nenergy 3\n", "clump", ranks=4)
        with self.assertRaisesRegex(Failed, r"wrong result: \[101.0\] where mpich has \[100.0\]"):
            self.judge("converged\nenergy 101\n", "clump")
        with self.assertRaisesRegex(Failed, r"wrong result: \[\] where mpich"):
            self.judge("converged\n", "clump")


class Grids(unittest.TestCase):
    def test_grids(self):
        self.assertEqual([grid(ranks, 3) for ranks in (1, 2, 4, 16, 64)], [[1, 1, 1], [2, 1, 1], [2, 2, 1], [4, 2, 2], [4, 4, 4]])
        self.assertEqual([grid(ranks, 2) for ranks in (1, 2, 6, 16, 64)], [[1, 1], [2, 1], [3, 2], [4, 4], [8, 8]])


if __name__ == "__main__":
    unittest.main()
