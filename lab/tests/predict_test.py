"""What the advisor says follows from its parameters."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest

from clump_lab import __main__ as program_of_lab
from clump_lab import advise, model, predict
from clump_lab.predict import Machine, Program

from report_test import results_of


def answer(*words):
    """What `clump lab advise WORDS` prints, and its exit code."""
    parser, out = program_of_lab.make_parser(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code = advise.main(parser, parser.parse_args(["advise", *map(str, words)]))
        except SystemExit as end:
            code = end.code
    return code, out.getvalue()


class Times(unittest.TestCase):
    def test_one_cpu_that_fills_the_way(self):
        """Then masteronly saves what pure MPI sends within the node, and nothing else."""
        machine, program = Machine("m", 4, {1: 1e9, 4: 1e9}, 1e9), Program(0.4, 0.5)
        times = predict.times(machine, program)
        self.assertAlmostEqual(times["masteronly"][0], 0.6 + 0.4 * 0.5)
        self.assertEqual(times["masteronly"][1:], (1, 4))
        self.assertEqual(times["pure MPI"], (1.0, 4, 1))

    def test_one_cpu_that_gets_a_quarter(self):
        machine, program = Machine("m", 4, {1: 0.25e9, 4: 1e9}, 4e9), Program(0.4, 0.0)
        times = predict.times(machine, program)
        self.assertAlmostEqual(times["masteronly"][0], 0.6 + 0.4 * 4)
        self.assertAlmostEqual(times["masteronly, 2 processes a node"][0], 0.6 + 0.4 / 0.5)
        self.assertGreater(times["masteronly"][0], 1)
        style = predict.ranked(machine, program)[0][0]
        self.assertTrue(style == "pure MPI" or style.startswith("multiple"), style)

    def test_overlapping_gains_what_002_says(self):
        """At f = 1/n of the accumulated time funneled gains most, 2 - 1/n, if its fixed share is that of the communication."""
        n, f = 8, 1 / 8
        machine = Machine("m", n, {1: 1e9, n: 1e9}, 1e9)
        talk = f / (f + (1 - f) / n)  # of masteronly's time, which is pure MPI's here as nothing stays inside
        times = predict.times(machine, Program(talk, 0.0))
        self.assertAlmostEqual(times["masteronly"][0] / times["funneled, fixed"][0], model.epsilon(f, n, 1))
        self.assertAlmostEqual(model.epsilon(f, n, 1), 1.875)

    def test_hangs_on_the_parameter_that_is_uncertain(self):
        program = Program(0.5, 0.0)
        best = predict.ranked(Machine("m", 2, {1: 0.9e9, 2: 1e9}, 1e12), program)[0][0]
        self.assertEqual(best, "funneled, adaptive")
        unsure = Machine("m", 2, {1: 0.6e9, 2: 1e9}, 1e12, {"bandwidth of 1 between nodes": 2.5})
        self.assertIn(("bandwidth of 1 between nodes", "pure MPI"), predict.hangs_on(unsure, program))
        sure = Machine("m", 2, {1: 0.1e9, 2: 1e9}, 1e12, {"bandwidth of 1 between nodes": 1.01, "bandwidth of 2 between nodes": 1.01, "bandwidth within a node": 1.01})
        self.assertEqual(predict.hangs_on(sure, program), [])

    def test_latency_decides_for_small_messages(self):
        """Two CPUs that get the same bandwidth as one. Small messages: masteronly saves those inside the node, and pays a region for each exchange."""
        machine = Machine("m", 2, {1: 1e9, 2: 1e9}, 1e9, latency=1e-6, latency_inside=1e-6, region=4e-6)
        small, unknown = Program(0.4, 0.5, 8), Program(0.4, 0.5)
        self.assertAlmostEqual(predict.times(machine, unknown)["masteronly"][0], 0.6 + 0.4 * 0.5)  # the papers' formula alone
        self.assertAlmostEqual(predict.times(machine, small)["masteronly"][0], 0.6 + 0.4 * 0.5 + 0.4 * 4e-6 / (1e-6 + 16 / 1e9))
        self.assertEqual(predict.ranked(machine, small)[0][0], "pure MPI")
        self.assertNotEqual(predict.ranked(machine, Program(0.4, 0.5, 1 << 20))[0][0], "pure MPI")

    def test_sides_of_a_grid(self):
        self.assertEqual(predict.sides_of(2, 128), [128])                # two halves: one neighbour
        self.assertEqual(predict.sides_of(4, 128), [64, 64])             # squares, two neighbours
        self.assertEqual(sorted(predict.sides_of(16, 128)), [32] * 4)    # inside: all four

    def test_the_papers_machines(self):
        ibm, nec = predict.of_paper("IBM"), predict.of_paper("NEC SX-6")
        self.assertEqual(round(predict.cpu_seconds(ibm)["masteronly"]), 57)
        self.assertAlmostEqual(4 / (ibm.bandwidth(4) / ibm.bandwidth(16)), 4.5, delta=0.05)
        self.assertGreater(predict.times(ibm, Program(0.3, 0.5))["masteronly"][0], 1)
        self.assertLess(predict.times(nec, Program(0.3, 0.5))["masteronly"][0], 1)
        self.assertIsNone(predict.of_paper("VAX"))


class Answers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_of_a_report_and_a_profile(self):
        (self.folder / "results.json").write_text(json.dumps(results_of(0.25)))
        profile = {"clump_profile": 2, "ranks": [{"times": {"compute": 7, "messages": 1, "waiting": 2, "no_core": 50}}, {}],
                   "distances": {"within_host": {"messages": 3, "bytes": 300}, "between_hosts": {"messages": 1, "bytes": 100}}}
        (self.folder / "p.json").write_text(json.dumps(profile))
        code, said = answer(self.folder, "--profile", self.folder / "p.json")
        self.assertEqual(code, 0, said)
        self.assertIn("f = 0.300, 75 % of the bytes inside a node, usual message 100 bytes", said)
        self.assertIn("machine: mpich, messages of 1024 bytes, 4 CPUs a node", said)
        self.assertIn("masteronly 16", said)  # four CPUs, a quarter of the bandwidth

    def test_mistakes(self):
        for words, code, said in (([], 2, "needs the folder"), (["--machine", "VAX"], 2, "no machine 'VAX'"), (["/nowhere"], None, None),
                                  (["--machine", "IBM", "--f", "1.5"], 2, "not 1.5"), (["--machine", "IBM", "--check"], 2, "needs the folder"),
                                  (["--machine", "IBM", "--profile", "/nowhere"], None, None)):
            found, text = answer(*words)
            self.assertNotEqual(found, 0, words)
            if said:
                self.assertEqual(found, code, words)
                self.assertIn(said, text)


class Checked(unittest.TestCase):
    """Predictions for the lab's own programs, on a made-up machine of two cores: a message takes 1 us + bytes / (1 GB/s), a region 1 ms, a barrier 0.2 ms."""

    def setUp(self):
        self.results = results_of()
        self.results["machine"]["cores"] = 2
        self.measure("machine", {"one rank of threads": [{"what": "region", "seconds": 1e-3, "amount": 2}, {"what": "barrier", "seconds": 2e-4, "amount": 2}]})
        self.measure("access", {"access": [{"what": "two-sided", "bytes": 8 ** k, "seconds": 2e-6 + 8 ** k / 1e9} for k in range(1, 7)]})

    def measure(self, name, cells):
        self.results["experiments"][name] = {"gaps": [], "runs": [{"library": "mpich", "label": label, "rows": rows} for label, rows in cells.items()]}

    def stencils(self, cells):
        self.measure("styles", {label: [{"n": n, "overlap": 0, "seconds": seconds, "communication": 1e-4} for n, seconds in by_size.items()] for label, by_size in cells.items()})

    def test_advice_beside_measurement(self):
        self.stencils({"one core": {256: 4e-3}, "pure": {256: 2.1e-3}, "masteronly": {256: 3e-3}, "funneled-fixed": {256: 5e-3}, "funneled-adaptive": {256: 3e-3}, "multiple": {256: 3e-3}})
        rows = predict.checked(self.results, "mpich")
        self.assertEqual([(row[1], row[4], row[-1]) for row in rows], [("pure", "pure", 1.0)])
        self.assertAlmostEqual(rows[0][2], 2e-3 + 1e-6 + 2048 / 1e9, delta=1e-6)

    def test_a_part_of_a_large_square_fits_in_a_cache(self):
        """A point of 512 * 512 takes a quarter of one of 1024 * 1024; half of 1024 * 1024 is between them, and half of the least is as it."""
        per_point = {512: 1e-9, 1024: 4e-9}
        self.stencils({"one core": {n: n * n * each for n, each in per_point.items()}})
        half = predict.points_seconds(self.results, "mpich", 1024 * 1024 / 2)
        self.assertAlmostEqual(half / (1024 * 1024 / 2), 1e-9 + 3e-9 * (1 / 2 - 1 / 4) / (1 - 1 / 4))
        self.assertAlmostEqual(predict.points_seconds(self.results, "mpich", 1000), 1e-6)
        self.assertAlmostEqual(predict.points_seconds(self.results, "mpich", 4 << 20), (4 << 20) * 4e-9)
        self.assertIsNone(predict.points_seconds(self.results, "intel", 1000))

    def test_styles_that_overlap_have_a_barrier_more(self):
        self.stencils({"one core": {256: 4e-3}})
        found = predict.stencil_seconds(self.results, "mpich", 256, 2)
        self.assertAlmostEqual(found["masteronly"], 2e-3 + 1e-3)
        self.assertAlmostEqual(found["funneled-adaptive"], found["masteronly"] + 2e-4)
        self.assertAlmostEqual(found["funneled-fixed"], 4e-3 + 1e-3 + 2e-4)
        self.assertEqual(found["multiple"], found["masteronly"])

    def test_product(self):
        """Of one block size that was measured alone, and one that was not; three ranks cannot share 16 strips evenly, and a broadcast has two stages."""
        self.measure("matmul", {"one core": [{"n": 512, "block": 32, "seconds": 0.16}, {"n": 512, "block": 16, "seconds": 0.2}]})
        strip = 1e-6 + 8 * 512 * 32 / 1e9
        found = predict.product_seconds(self.results, "mpich", 512, 32, 2)
        self.assertAlmostEqual(found["1 a core"], 0.08 + 16 * strip, delta=1e-4)
        self.assertAlmostEqual(found["masteronly"], 0.08 + 16 * 1e-3)
        self.assertAlmostEqual(predict.product_seconds(self.results, "mpich", 512, 32, 3)["1 a core"], 0.06 + 16 * 2 * strip, delta=1e-4)
        self.assertAlmostEqual(predict.product_seconds(self.results, "mpich", 512, 16, 2)["masteronly"], 0.1 + 32 * 1e-3)

    def test_equal_by_the_formulas(self):
        self.stencils({"one core": {256: 4e-1}, "pure": {256: 0.3}, "masteronly": {256: 0.2}, "funneled-fixed": {256: 1.0}, "funneled-adaptive": {256: 1.0}, "multiple": {256: 1.0}})
        text, found = advise.check(self.results)
        self.assertTrue(found)
        self.assertIn("in 0 of 1 configurations. In 1 of the others the formulas take both for equal (within 5 %).", text)


if __name__ == "__main__":
    unittest.main()
