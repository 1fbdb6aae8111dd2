"""Do the tables of pages say what the results say?"""

import unittest

import pages

RESULTS = {"machine": "2 cores", "date": "2026-11-05T10:00:00", "rounds": 3, "failures": [], "values": [
    {"measurement": "small-16", "operation": "barrier", "bytes": 0,
     "libraries": {"clump": [2e-6, 1e-6, 9e-6], "mpich": [6e-6], "intel": [4e-6], "clump-flat": [1e-7]}},
    {"measurement": "pingpong-2", "operation": "pingpong", "bytes": 64 << 10, "libraries": {"clump": [64e-6], "openmpi": [32e-6]}},
    {"measurement": "many-16", "operation": "memory", "bytes": 0, "libraries": {"clump": [1e6]}},
]}


class Table(unittest.TestCase):
    def test_whole_table(self):
        lines = pages.whole_table(RESULTS).splitlines()
        self.assertEqual(lines[0], "2 cores; 5 November 2026, medians of 3 rounds.")
        self.assertIn("| barrier | 16 | µs | 2.00 | 6.00 |  | 4.00 | 2.00 |", lines)

    def test_imbalance_in_times_the_perfect_balance(self):
        values = [{"measurement": f"imbalance-{ranks}", "operation": operation, "bytes": 0, "libraries": libraries} for ranks, operation, libraries in (
            (16, "balance", {"clump": [1.02, 1.04, 1.5], "openmpi": [1.2]}), (16, "imbalance", {"clump": [0.02]}), (16, "longest", {"clump": [0.2], "openmpi": [0.22]}),
            (2, "balance", {"clump": [1.3], "mpich": [1.31], "openmpi": [1.32]}), (2, "longest", {"clump": [1.3]}))]
        self.assertEqual(pages.imbalance_table(dict(RESULTS, values=values)).splitlines(), [
            "| ranks | longest rank's work | Clump | MPICH | Open MPI |",
            "|---|---|---|---|---|",
            "| 2 | 1.30 | 1.30 | 1.31 | 1.32 |",
            "| 16 | 0.21 | 1.04 | failed | 1.20 |",
            "",
            "Work and times are multiples of the perfect balance: all work divided by the number of cores. 2 cores; 5 November 2026, medians of 3 rounds.",
        ])


if __name__ == "__main__":
    unittest.main()
