"""mpiexec --reproducible: reductions give the same bits wherever the ranks are, and however they are run."""

import os
import random
import unittest

import tool
from seed import seed

SANITIZED = bool(os.environ.get("CLUMP_SANITIZE"))
RANKS = 11
PLACEMENTS = int(os.environ.get("CLUMP_PLACEMENTS", 10 if SANITIZED else 20))


def sums(*options):
    return tool.run(*options, "-n", RANKS, tool.program("sums"))


def any_placement(draw):
    """Options that put ranks somewhere, drawn at random."""
    cores = sorted(os.sched_getaffinity(0))
    draw.shuffle(cores)
    where = ["--cores", ",".join(map(str, cores[:draw.randint(1, len(cores))]))]
    if draw.random() < 0.5:
        where += ["--workers", draw.randint(1, len(cores))]
    how = draw.choice([["fibers"], ["threads"], ["processes"], ["fibers", "--per-process", draw.randint(1, RANKS)],
                       ["threads", "--per-process", draw.randint(1, RANKS)]])
    if SANITIZED and how[0] == "fibers":
        how[0] = "threads"
    return ["--ranks", *how] + (where if how[0] == "fibers" else where[:2])


class Reproducible(tool.Case):
    def test_placements(self):
        draw = random.Random(seed(20261123))
        expected = None
        for _ in range(PLACEMENTS):
            options = any_placement(draw)
            result = sums("--reproducible", *options)
            self.assertEqual(result.code, 0, (options, result))
            blocking, nonblocking = result.out.split()
            self.assertEqual(blocking, nonblocking, options)
            expected = expected or blocking
            self.assertEqual(blocking, expected, options)

    def test_that_the_order_makes_a_difference(self):
        here, there = sums("--ranks", "processes"), sums("--ranks", "threads")
        self.assertEqual([here.code, there.code], [0, 0])
        self.assertNotEqual(here.out, there.out)

    def test_environment(self):
        wrong = tool.run("-n", 1, tool.program("sums"), env={"CLUMP_REDUCTIONS": "exact"})
        self.assertNotEqual(wrong.code, 0)
        self.assertIn("CLUMP_REDUCTIONS", wrong.err)
        self.assertIn("reproducible", wrong.err)


if __name__ == "__main__":
    unittest.main()
