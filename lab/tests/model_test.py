"""The formulas of the papers with the parameters that they print give the ratios that they print."""

import unittest

from clump_lab import model
from clump_lab.model import PAPERS


class Of000(unittest.TestCase):
    def test_cpu_seconds_of_the_example(self):
        example = PAPERS["000"]["example"]
        masteronly = model.communication_cpu_seconds(example["cpus"], example["share_of_one"])
        overlapped = model.communication_cpu_seconds(example["communicating"], example["share_of_those"])
        self.assertEqual(round(masteronly), example["printed"]["masteronly_cpu_seconds"])
        self.assertEqual(round(overlapped, 1), example["printed"]["overlapped_cpu_seconds"])

    def test_ratios_of_table_1(self):
        for machine in PAPERS["000"]["machines"]:
            greatest = max(machine["masteronly_gbs"], machine["pure_gbs"])
            with self.subTest(machine["name"]):
                self.assertAlmostEqual(100 * machine["masteronly_gbs"] / greatest, machine["printed"]["masteronly_percent"], delta=1)
                if machine["peak_gflops"]:
                    self.assertAlmostEqual(greatest / machine["peak_gflops"], machine["printed"]["bytes_per_flop"], delta=0.001)


class Of002(unittest.TestCase):
    paper = PAPERS["002"]

    def test_ratios_of_table_1(self):
        columns = zip(self.paper["mpp_mbs"], self.paper["hybrid_mbs"], self.paper["printed"]["hybrid_time_by_mpp"])
        ratios = [(model.hybrid_by_mpp(mpp, hybrid, self.paper["size_ratio"]), printed) for mpp, hybrid, printed in columns]
        for computed, printed in ratios:
            self.assertAlmostEqual(computed, printed, delta=0.0051)
        self.assertEqual((round(min(ratios)[0], 2), round(max(ratios)[0], 2)), (1.49, 1.73))

    def test_bounds_of_epsilon(self):
        n = self.paper["printed"]["epsilon_threads"]
        self.assertEqual(model.epsilon_bounds(1 / n, n, 1)[1], self.paper["printed"]["greatest_epsilon"])
        for threads in (2, 4, 8, 16):
            for m in range(1, threads):
                self.assertAlmostEqual(model.epsilon(m / threads, threads, m), 1 + m * (1 - 1 / threads))
                for percent in range(0, 100):
                    f = percent / 100
                    low, high, balanced = model.epsilon_bounds(f, threads, m)
                    found = model.epsilon(f, threads, m)
                    self.assertLessEqual(found, high + 1e-9)
                    self.assertLessEqual(found, balanced + 1e-9)
                    if f <= m / threads:
                        self.assertGreaterEqual(found, low - 1e-9)

    def test_funneled_pays_from_half_of_what_is_printed(self):
        for n, m in ((8, 1), (8, 2), (16, 4)):
            f = model.funneled_pays_from(n, m)
            self.assertAlmostEqual(model.epsilon(f, n, m), 1)
            self.assertGreater(model.epsilon(2 * f, n, m), 1.001)  # the printed value is on the safe side

    def test_access_of_table_2(self):
        access = self.paper["access"]
        found = model.two_sided(access["size"], access["asymptotic_mbs"] * 1e6, access["latency_us"] * 1e-6) / 1e6
        self.assertAlmostEqual(found, access["printed"]["two_sided_mbs"], delta=2)
        self.assertAlmostEqual(8 / access["printed"]["word_latency_us"], access["printed"]["word_mbs"], delta=0.5)

    def test_cartesian_experiment(self):
        cartesian = self.paper["cartesian"]
        self.assertEqual(round(100 * (cartesian["hybrid_ms"] / cartesian["pure_ms"] - 1)), cartesian["printed"]["more_percent"])


class Of003(unittest.TestCase):
    paper = PAPERS["003"]

    def test_all_18_entries_of_table_3(self):
        for ways, kernels in self.paper["table3"].items():
            for kernel, printed in kernels.items():
                found = ["%d:%d" % model.external_internal(kernel, ranks, int(ways)) for ranks in (4, 8, 16)]
                self.assertEqual(found, printed, (kernel, ways))

    def test_ratios_of_table_2(self):
        """Twelve of the sixteen within a quarter. The others are named, and so the report says them."""
        far = [(kernel, nodes, ratio) for kernel, nodes, ratio, computed, printed in model.table_2_ratios() if abs(computed / printed - 1) > 0.25]
        self.assertEqual(far, [("CG", 2, "2/1"), ("CG", 4, "2/1"), ("LU", 4, "2/1"), ("FT", 4, "2/1")])


if __name__ == "__main__":
    unittest.main()
