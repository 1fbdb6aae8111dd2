"""Are the targets judged as they are worded?"""

import subprocess
import time
import types
import unittest
from unittest import mock

import cluster
import libraries
import measurements
import plot
import targets
from libraries import Failed
from targets import at_least, at_most, cost, part_of_limit, part_of_time, times_faster

KEY, OTHER = ("a", "b", 8), ("a", "c", 8)


def values(**numbers):
    return lambda key: numbers.get(key[1])


def sizes_by_name(arguments):
    """{(operation, bytes)} of the arguments [NAME BYTES...]..."""
    found, operation = set(), None
    for argument in arguments:
        if isinstance(argument, str):
            operation = argument
        else:
            found.add((operation, argument))
    return found


class Judges(unittest.TestCase):
    def test_times_faster_is_against_the_best_peer(self):
        peers = [values(b=60e-6), values(b=45e-6), values()]
        self.assertEqual(times_faster(KEY, 30)(values(b=1e-6), peers), ("45.0 times", True))
        self.assertEqual(times_faster(KEY, 30)(values(b=2e-6), peers), ("22.5 times", False))

    def test_part_of_time(self):
        self.assertEqual(part_of_time(KEY, 0.8)(values(b=0.8e-6), [values(b=1e-6)]), ("0.80 of the best peer", True))
        self.assertFalse(part_of_time(KEY, 0.8)(values(b=0.9e-6), [values(b=1e-6)])[1])

    def test_cost_is_met_by_a_gain(self):
        self.assertEqual(cost(KEY, OTHER, 0.05)(values(b=1.0, c=0.9), [values(b=1.0, c=1.5), values(b=1.0)]),
                         ("-10.0 % (peers: +50.0 %)", True))
        self.assertFalse(cost(KEY, OTHER, 0.05)(values(b=1.0, c=1.06), [])[1])

    def test_at_least(self):
        self.assertEqual(at_least(KEY, 0.9, targets.percent)(values(b=0.9), []), ("90 %", True))
        self.assertEqual(at_least(KEY, 0.9, targets.percent)(values(b=0.89), []), ("89 %", False))

    def test_part_of_limit_is_of_the_speed(self):
        key = ("bcast-2", "bcast", 8)
        measured = {key: 2e-3, ("limits", "limit-bcast", 8): 1.4e-3}
        self.assertEqual(part_of_limit(key, 0.7)(measured.get, []), ("70 % of the limit", True))
        self.assertEqual(part_of_limit(key, 0.7)((measured | {key: 2.1e-3}).get, []), ("67 % of the limit", False))
        self.assertEqual(part_of_limit(key, 0.7)((measured | {key: None}).get, []), ("", None))
        self.assertEqual(part_of_limit(("bcast-4", *key[1:]), 0.7)((measured | {("bcast-4", *key[1:]): 2e-3}).get, []), ("", None))

    def test_nothing_measured_is_no_verdict(self):
        for judge in (times_faster(KEY, 1), part_of_time(KEY, 1), at_most(KEY, 1, str), at_least(KEY, 1, str), part_of_limit(KEY, 1),
                      cost(KEY, OTHER, 1)):
            self.assertEqual(judge(values(), []), ("", None))


class TheList(unittest.TestCase):
    def test_every_target_is_about_something_that_is_measured_for_it(self):
        needed = {m.name for m in measurements.MEASUREMENTS if m.for_targets}
        self.assertLessEqual(targets.measurements_for(targets.TARGETS), needed)
        self.assertLessEqual(targets.measurements_for(targets.PROCESS_TARGETS), needed)

    def test_every_target_between_hosts_is_measured_there(self):
        known = {(m.name, size) for m in cluster.MEASUREMENTS for size in m.arguments[2:]} | {("hosts-pingpong-2", None)}
        for target in targets.CLUSTER_TARGETS:
            def lookup(key):
                self.assertIn((key[0], None if key[0] == "hosts-pingpong-2" else str(key[2])), known)
                return 1.0
            target.judge(lookup, [lookup])

    def test_every_target_of_collectives_is_measured_for_it(self):
        known = {("limits", f"limit-{operation}", size) for operation, size in sizes_by_name(measurements.COLLECTIVE_LIMITS)}
        for measurement in measurements.COLLECTIVES:
            if measurement.for_targets:
                known |= {(measurement.name, *key) for key in sizes_by_name(measurement.arguments[1:])}
        ways = [f"hidden-{operation}-{how}" for operation in ("iallreduce", "ibcast", "ialltoall") for how in ("idle", "waiting", "busy")]
        known |= {("overlap-2", way, 1 << 20) for way in ways}
        asked = set()

        def lookup(key):
            asked.add(key)
            return 1.0
        for target in targets.COLLECTIVE_TARGETS:
            self.assertIsNotNone(target.judge(lookup, [lookup])[1])
        self.assertLessEqual(asked, known)
        self.assertIn(("limits", "limit-alltoall", 8 << 20), asked)

    def test_the_limit_is_the_machines(self):
        medians = {("bcast-2", "bcast", 1 << 20): {"clump": 1e-4, "mpich": 2e-4}, ("limits", "limit-bcast", 1 << 20): {"machine": 5e-5}}
        rows = targets.verdicts(["clump", "mpich"], medians, targets.COLLECTIVE_TARGETS)
        self.assertEqual([row[2:] for row in rows if row[2]], [("2.00 times", "met"), ("50 % of the limit", "not met")])

    def test_flat_is_no_peer(self):
        medians = {("hosts-allreduce-16", "allreduce", 8): {"clump": 1.0, "clump-flat": 1.1, "openmpi": 3.0}}
        rows = targets.verdicts(["clump", "clump-flat", "openmpi"], medians, targets.CLUSTER_TARGETS)
        self.assertEqual([row[2:] for row in rows if row[2]], [("3.00 times", "met")])

    def test_every_program_is_compiled(self):
        known = {program.stem for program in libraries.PROGRAMS}
        for measurement in measurements.MEASUREMENTS + measurements.COLLECTIVES + cluster.MEASUREMENTS:
            self.assertIn(measurement.program, known)
            self.assertGreater(measurement.ranks, 0)
            self.assertIn(measurement.sharing, {None, *libraries.SHARING})


class Numbers(unittest.TestCase):
    def test_lines_become_numbers(self):
        self.assertEqual(measurements.numbers_in(["barrier 0 1e-6\n", "halo 64 2e-6\n"]), {("barrier", 0): 1e-6, ("halo", 64): 2e-6})

    def test_examples_say_how_long_they_took(self):
        matmul = "ranks      n  block   seconds   MFLOPS  result\n    8   1024     32     0.210    10224  exact\n"
        self.assertEqual(measurements.SECONDS_IN_OUTPUT["matmul"](matmul), 0.21)
        jacobi = "64 x 64 points on 1 x 2 ranks: error 2 before, 1.92 after 300 iterations; 338.5 microseconds each\n"
        self.assertAlmostEqual(measurements.SECONDS_IN_OUTPUT["jacobi"](jacobi), 338.5e-6)

    def test_the_best_of_a_few_runs(self):
        times = iter([3.0, 1.0, 2.0])
        self.assertEqual(measurements.best_of(3, 1, lambda: next(times)), 1.0)
        self.assertEqual(measurements.best_of(3, 0, lambda: 5.0), 5.0)


class Collectives(unittest.TestCase):
    def test_no_buffer_is_longer_than_wanted(self):
        for ranks, longest in ((2, 16 << 20), (4, 16 << 20), (16, 16 << 20), (64, 4 << 20)):
            for operation in measurements.OPERATIONS:
                blocks = ranks if operation in ("allgather", "alltoall") else 1
                sizes = measurements.large_sizes(operation, ranks)
                self.assertEqual(sizes, sorted(set(sizes)))
                self.assertEqual(sizes[-1] * blocks, longest)


class FakeLibrary:
    """Starts a shell script instead of an MPI program."""

    def __init__(self, script):
        self.script = script

    def start(self, _measurement, _arguments=()):
        return subprocess.Popen(["sh", "-c", self.script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


class Runs(unittest.TestCase):
    four = measurements.Measurement("many-4", "many", measurements.run_many)

    def run_many(self, script, timeout=100):
        with mock.patch.object(measurements, "IDLE_SECONDS", 0.1):
            return measurements.run_many(FakeLibrary(script), self.four, types.SimpleNamespace(timeout=timeout))

    def test_a_waiting_job_is_looked_at(self):
        numbers = self.run_many("echo ring-hop 8 1e-6; echo ready; sleep 1")
        self.assertEqual(numbers["ring-hop", 8], 1e-6)
        self.assertLess(numbers["waiting", 0], 0.5)
        self.assertGreater(numbers["memory", 0], 0)

    def test_a_job_that_fails_says_why(self):
        with self.assertRaisesRegex(Failed, "exit code 3: no such thing"):
            self.run_many("echo no such thing >&2; exit 3")

    def test_a_job_that_hangs_is_ended(self):
        begin = time.monotonic()
        with self.assertRaises(Failed):
            self.run_many("sleep 200", timeout=0.2)
        self.assertLess(time.monotonic() - begin, 150)  # 0.2 s is usual

    def test_a_timed_program_that_hangs_is_ended(self):
        process = FakeLibrary("sleep 60").start(None)
        with self.assertRaisesRegex(Failed, "did not end within"):
            libraries.finish(process, 0.2)
        self.assertIsNotNone(process.poll())


class Curves(unittest.TestCase):
    def test_medians_by_size(self):
        entry = {"measurement": "threads-2", "operation": "threads-own"}
        results = {"values": [entry | {"bytes": 16, "libraries": {"clump": [3e-6, 1e-6, 2e-6]}},
                              entry | {"bytes": 2, "libraries": {"clump": [1e-6], "mpich": [4e-6]}}]}
        self.assertEqual(plot.curves(results, "threads-2", "threads-own", lambda value, size: value * 1e6),
                         {"clump": ([2, 16], [1.0, 2.0]), "mpich": ([2], [4.0])})


if __name__ == "__main__":
    unittest.main()
