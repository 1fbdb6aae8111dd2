"""Is the table right about who is better?"""

import unittest

import report


class Table(unittest.TestCase):
    names = ["clump", "mpich"]

    def cells(self, key, medians, failures=None):
        return [cell.strip() for cell in report.row(key, self.names, medians, failures or {}).split("|")[1:-1]]

    def test_latency_less_is_better(self):
        row = self.cells(("pingpong-2", "pingpong", 8), {"clump": 1e-6, "mpich": 2e-6})
        self.assertEqual(row, ["ping-pong, latency, 8 B", "2", "µs", "1.00", "2.00", "2.00"])

    def test_bandwidth_more_is_better(self):
        row = self.cells(("pingpong-16", "pingpong", 4 << 20), {"clump": 4e-3, "mpich": 1e-3})
        self.assertEqual(row[3:], ["1049", "4194", "0.25"])

    def test_failed_peer_is_shown_and_gives_no_ratio(self):
        row = self.cells(("memory-64", "memory", 0), {"clump": 1e6}, {("memory-64", "mpich"): "exit code 1"})
        self.assertEqual(row[3:], ["1.00", "failed", ""])


if __name__ == "__main__":
    unittest.main()
