"""One sample program (CLUMP_SAMPLE): its bug is seldom seen, found by --explore, and comes again with the seed; without it all is well."""

import os
import re
import unittest

import tool

SAMPLE = os.environ["CLUMP_SAMPLE"]
RANKS = 4
SEEDS = 1000
SEEDS_OF_MENDED = 200
REPEATS = 10


def explored(variant, *options):
    return tool.run(*options, "-n", RANKS, tool.BIN / f"explore_{SAMPLE}{variant}")


class Sample(tool.Case):
    def test_usually_passes(self):
        codes = [explored("").code for _ in range(5)]
        self.assertGreaterEqual(codes.count(0), 3, codes)

    def test_is_found_and_repeats(self):
        found = explored("", "--explore", SEEDS)
        self.assertNotEqual(found.code, 0, found)
        told = re.search(r"^mpiexec: seed (\d+) fails, with exit code (\d+) .*:\n  (mpiexec --seed (\d+) .*)\n\Z", found.err, re.MULTILINE)
        self.assertIsNotNone(told, found.err)
        self.assertEqual(told[1], told[4])
        self.assertEqual(int(told[2]), found.code)
        words = told[3].split()[1:]
        for _ in range(REPEATS):
            again = tool.run(*words)
            self.assertEqual((again.code, again.out, again.err), (found.code, found.out, found.err[:told.start()]))

    def test_mended(self):
        result = explored("_mended", "--explore", SEEDS_OF_MENDED)
        self.assert_says(result, 0, f"mpiexec: {SEEDS_OF_MENDED} seeds tried (1 to {SEEDS_OF_MENDED}), and no run has failed")


if __name__ == "__main__":
    unittest.main()
