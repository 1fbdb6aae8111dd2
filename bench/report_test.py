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
        row = self.cells(("many-64", "memory", 0), {"clump": 1e6}, {("many-64", "mpich"): "exit code 1"})
        self.assertEqual(row[3:], ["1.00", "failed", ""])

    def test_threads_are_counted_not_bytes(self):
        row = self.cells(("threads-2", "threads-own", 4), {"clump": 1e-6, "mpich": 2e-6})
        self.assertEqual(row, ["message rate, 4 threads a rank, a communicator each", "2", "M messages/s", "1.00", "0.50", "2.00"])

        row = self.cells(("threads-2", "threads-pingpong-own", 1), {"clump": 1e-6, "mpich": 2e-6})
        self.assertEqual(row, ["a round trip of 8 B by each thread, 1 thread a rank beside the main thread, a communicator each", "2", "µs", "1.00", "2.00", "2.00"])

    def test_hosts_are_named_and_ours_without_stages_is_no_peer(self):
        names = ["clump", "clump-flat", "openmpi"]
        row = report.row(("hosts-allreduce-16", "allreduce", 8), names, {"clump": 2e-6, "clump-flat": 1e-6, "openmpi": 6e-6}, {})
        self.assertEqual([cell.strip() for cell in row.split("|")[1:-1]], ["allreduce, 8 B", "16 on 4 hosts", "µs", "2.00", "1.00", "6.00", "3.00"])

    def test_imbalance_is_shown_as_times_the_perfect_balance(self):
        self.assertEqual(self.cells(("imbalance-32", "balance", 0), {"clump": 1.05, "mpich": 1.26}),
                         ["the same by the perfect balance of its work", "32", "times", "1.05", "1.26", "1.20"])

    def test_ranks_on_one_core_are_named(self):
        self.assertEqual(self.cells(("onecore-2", "pingpong", 8), {"clump": 1e-6})[1], "2 on one core")

    def test_a_job_that_uses_nothing_gives_no_ratio(self):
        row = self.cells(("many-16", "waiting", 0), {"clump": 0.0, "mpich": 2.0})
        self.assertEqual(row[2:], ["% of a core", "0.000", "200", ""])

    def test_nothing_hidden_gives_no_ratio(self):
        key = ("overlap-2", "hidden-ibcast-idle", 1 << 20)
        self.assertEqual(self.cells(key, {"clump": 0.95, "mpich": 0.0}),
                         ["ibcast, 1 MB, behind computation, other ranks idle", "2", "% hidden", "95.0", "0.000", ""])
        self.assertEqual(self.cells(key, {"clump": 0.9, "mpich": 0.3})[-1], "3.00")

    def test_a_limit_stands_beside_what_it_limits(self):
        limits = {("limits", "limit-bcast", 1 << 20): {"machine": 8e-5}, ("limits", "limit-copy-1", 4 << 20): {"machine": 4e-4}}
        rows = {("bcast-2", "bcast", 1 << 20): {"clump": 1e-4, "mpich": 2e-4}, ("bcast-16", "bcast", 1 << 20): {"clump": 1e-3, "mpich": 1e-2}}
        text = report.markdown("here", self.names, limits | rows, {})
        self.assertIn("| bcast, 1 MB | 2 | µs | 100 | 200 | 2.00 | 80.0 | 80 % |", text)
        self.assertIn("| bcast, 1 MB | 16 | µs | 1000 | 10000 | 10 |  |  |", text)
        self.assertEqual(text.count("limit-bcast"), 0)
        self.assertIn("| memcpy by one core, 4 MB |", text)
        del rows["bcast-2", "bcast", 1 << 20]
        self.assertNotIn("bare limit", report.markdown("here", self.names, limits | rows, {}))

    def test_limits_stand_apart(self):
        text = report.markdown("here", self.names, {("limits", "limit-copy-1", 4 << 20): {"machine": 4e-4},
                                                    ("halo-16", "halo", 64): {"clump": 1e-6, "mpich": 1e-6}}, {})
        self.assertIn("| memcpy by one core, 4 MB | MB/s | 10486 |", text)
        self.assertEqual(text.count("| halo, 64 B | 16 |"), 1)
        self.assertNotIn("| limits", text)

    def test_datatypes_stand_beside_the_loop_by_hand(self):
        text = report.markdown("here", self.names, {("datatypes-2", "pack-vector", 1 << 20): {"clump": 2e-4, "mpich": 4e-4},
                                                    ("datatypes-2", "pack-vector-by-hand", 1 << 20): {"clump": 1e-4, "mpich": 1e-4}}, {})
        self.assertIn("| pack, every other double, 1 MB | 10486 | 5243 | 2621 | 0.50 | 2.00 |", text)
        self.assertEqual(text.count("pack"), 1)

    def test_targets(self):
        text = report.targets_table([("a", "b", "c", "met"), ("d", "e", "f", "not met"), ("g", "h", "", "not measured")])
        self.assertIn("| a | b | c | met |", text)
        self.assertIn("1 of 2 measured targets met", text)


if __name__ == "__main__":
    unittest.main()
