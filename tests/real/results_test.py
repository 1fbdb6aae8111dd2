"""What `./dev real` counts and tells of runs, and what it would run on several hosts, without running anything."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import mpich_tests
from checks import FAILED, PASSED, SKIPPED, Check, Outcome
from python import OURS, PEER, Difference, Environment, Tests, ranks_on
from rank_report import same_everywhere
from run import Hosts, Place, Results, parse_options


def results(*runs):
    """Of (way, module, {test: (verdict, why)}, whether it ended)."""
    made = Results({"p": "1.0"})
    for way, module, tests, ended in runs:
        check = Check("2 ranks", module, [], None, None, way=way)
        verdict = PASSED if ended and all(each != FAILED for each, _ in tests.values()) else FAILED
        made.outcomes.append(("p", way, check, Outcome(verdict, tests=tests, ended=ended)))
    return made


class Counting(unittest.TestCase):
    def test_one_test_or_several(self):
        self.assertEqual(Outcome(PASSED).count(PASSED), 1)
        self.assertEqual(Outcome(FAILED, tests={"a": (PASSED, ""), "b": (PASSED, ""), "c": (FAILED, "why")}).count(PASSED), 2)
        self.assertEqual(Outcome(PASSED, tests={}).count(PASSED), 0, "a module of which every test is left out")

    def test_table(self):
        made = results((OURS, "a", {"a.x": (PASSED, ""), "a.y": (SKIPPED, "files")}, True), (OURS, "b", {"b.x": (FAILED, "did not end")}, False),
                       (PEER, "a", {"a.x": (PASSED, ""), "a.y": (FAILED, "")}, True))
        self.assertEqual(list(made.table())[2:], ["| p 1.0 | 2 ranks | processes | 1 | 1 | 1 | 1 |", "| p 1.0 | 2 ranks | mpich | 1 | 1 | 0 | 0 |"])
        self.assertEqual(made.last_line(), "1 passed, 1 failed, 1 skipped")

    def test_what_failed_as_a_whole_is_one_failure(self):
        self.assertEqual(results((OURS, "a", {}, False)).failed(), 1)
        self.assertEqual(results((PEER, "a", {}, False)).failed(), 0)


class Apart(unittest.TestCase):
    def test_by_reason(self):
        made = results((OURS, "a", {"a.x": (PASSED, ""), "a.y": (SKIPPED, "files"), "a.z": (SKIPPED, "files")}, True),
                       (PEER, "a", {"a.x": (PASSED, ""), "a.y": (PASSED, ""), "a.z": (PASSED, ""), "a.w": (PASSED, "")}, True))
        self.assertEqual(list(made.apart()), ["p, 2 ranks: 2 skipped: files", "    a.y", "    a.z",
                                              "p, 2 ranks: 1 not run: its module cannot be loaded, or did not come to it", "    a.w"])

    def test_of_one_way_alone(self):
        self.assertEqual(list(results((PEER, "a", {"a.x": (PASSED, "")}, True)).apart()), [])


class Ways(unittest.TestCase):
    def test_what_passes_in_one_way_only(self):
        told = [("same", "mpich", Outcome(PASSED)), ("same", "fibers", Outcome(PASSED)), ("ours", "mpich", Outcome(PASSED)),
                ("ours", "fibers", Outcome(FAILED, "a|b")), ("theirs", "mpich", Outcome(FAILED)), ("theirs", "fibers", Outcome(PASSED)),
                ("neither", "mpich", Outcome(FAILED)), ("neither", "fibers", Outcome(FAILED))]
        outcomes = [(Check("coll", name, [], None, None), way, outcome) for name, way, outcome in told]
        self.assertEqual(list(mpich_tests.SUITES[1].report(None, outcomes)),
                         ["| test | mpich | fibers |", "|---|---|---|", "| coll/ours | passed | failed: a\\|b |", "| coll/theirs | failed | passed |"])


class Names(unittest.TestCase):
    def test_addresses_are_left_out(self):
        self.assertEqual(same_everywhere("t.py::t[int-139634178409472-sum]"), "t.py::t[int-ADDRESS-sum]")
        self.assertEqual(same_everywhere("t.py::t[10000000-2]"), "t.py::t[10000000-2]")


class OnHosts(unittest.TestCase):
    def test_numbers_of_ranks(self):
        self.assertEqual(ranks_on(None, [1, 2, 3]), [1, 2, 3])
        for number, usual, chosen in (2, [1, 8], [2, 5]), (3, [1, 8], [3, 7]), (4, [1, 8], [4]), (2, [2, 3], [2]), (4, [2, 3], []):
            self.assertEqual(ranks_on(Hosts("", number), usual), chosen)

    def test_a_difference_of_one_way(self):
        differences = [Difference("t.a", "", False, ""), Difference("t.b", "", False, "openmpi-abi")]
        left_out = {}
        with tempfile.TemporaryDirectory() as folder:
            place = Place("p", None, Path(folder, "p"), None, set(), 1, Path("/peers"))
            for way in OURS, "openmpi-abi", PEER:
                command = Tests("a", [], Path("/p"), differences, {}).check(place, Environment(way, Path("/e"), ["mpiexec"]), 2).command
                left_out[way] = [command[n + 1] for n, word in enumerate(command) if word == "-x"]
        self.assertEqual(left_out, {OURS: ["t.a"], "openmpi-abi": ["t.a", "t.b"], PEER: []})

    def test_the_check_says_where_it_was(self):
        with tempfile.TemporaryDirectory() as folder:
            tests = Tests("a", [], Path("/p"), [], {})
            ours = Environment(OURS, Path("/e"), ["mpiexec"])
            alone, spread = (tests.check(Place("p", None, Path(folder, "p"), None, set(), 1, Path("/peers"), hosts), ours, 2) for hosts in (None, Hosts("", 2)))
        self.assertEqual((alone.group, spread.group), ("2 ranks", "2 ranks on 2 hosts"))
        self.assertNotEqual(alone.command[3], spread.command[3], "where the ranks report")

    def test_what_cannot_be_on_hosts_is_refused(self):
        needed = ["--bin", "/b", "--cache", "/c", "--out", "/o", "--peers", "/p"]
        self.assertEqual(parse_options([*needed, "--hosts", "2"]).programs, ["mpi4py", "numba-mpi", "mpi4py-fft"])
        for words, why in ((["2", "hpcc"], "'hpcc' is none"), (["2", "--way", "mpich"], "'mpich' is none"), (["1"], "2 to 8"), (["9"], "2 to 8")):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as said:
                parse_options([*needed, "--hosts", *words])
            self.assertIn(why, said.getvalue())


if __name__ == "__main__":
    unittest.main()
