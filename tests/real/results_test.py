"""What `./dev real` counts and tells of runs, without running anything."""

import unittest

from checks import FAILED, PASSED, SKIPPED, Check, Outcome
from python import OURS, PEER
from run import Results


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


if __name__ == "__main__":
    unittest.main()
