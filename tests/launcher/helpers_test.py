"""Cores that no rank has help with large data, but not while the rank is in a parallel region."""

import os
import unittest

import tool

CORES = len(os.sched_getaffinity(0))


def helped(*options, until=lambda parts: True):
    """What part of the work others did, outside of parallel regions and inside. Where other programs have the cores, helpers have none: up to
    ten runs, until one is as it is to be."""
    for _ in range(10):
        result, parts = helped_once(*options)
        if result.code != 0 or until(parts):
            break
    return result, parts


def helped_once(*options):
    result = tool.run(*options, tool.program("helpers"))
    parts = {}
    for line in result.out.splitlines():
        where, _, counts = line.partition(": ")
        words = counts.split()
        parts[where] = int(words[0]) / max(int(words[2]), 1)
    return result, parts


class Helpers(tool.Case):
    @unittest.skipIf(CORES < 2, "needs a core that no rank has")
    def test_outside_of_parallel_regions(self):
        result, parts = helped("-n", 1, until=lambda parts: parts["outside"] > 0.02 and parts["inside"] < parts["outside"] / 2)
        self.assertEqual(result.code, 0, result)
        self.assertGreater(parts["outside"], 0.02, result)
        self.assertLess(parts["inside"], parts["outside"] / 2, result)

    def test_not_wanted(self):
        result, parts = helped("--helpers", 0, "-n", 1, until=lambda parts: parts["outside"] < 0.02)
        self.assertEqual(result.code, 0, result)
        self.assertLess(parts["outside"], 0.02, result)  # the monitor helps now and then

    def test_same_results_everywhere(self):
        for options in (["-n", CORES], ["-n", 2 * CORES + 1], ["-n", 2, "--per-process", 1], ["-n", 2, "--scheduler", "threads"]):
            result, _ = helped(*options)
            self.assertEqual(result.code, 0, (options, result))

    def test_wrong_number(self):
        result = tool.run("--helpers", -1, "-n", 1, tool.program("helpers"))
        self.assertEqual(result.code, 2, result)
        self.assertIn("--helpers -1: must be at least 0", result.err)


if __name__ == "__main__":
    unittest.main()
