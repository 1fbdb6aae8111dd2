"""Are labels read, and recall and precision counted, as diagnosis.py says?"""

import tempfile
import unittest
from pathlib import Path

import diagnosis

HEAD = """/*
BEGIN_MPI_FEATURES
  P2P!basic: Yes
  RMA: {rma}
END_MPI_FEATURES
BEGIN_MBI_TESTS
{tests}
END_MBI_TESTS */
"""
ONE = "  $ mpirun -np 3 ${EXE} 1\n  | OK\n  | OK"
BOTH_BUFFERS = "\n".join(f"  $ mpirun -np 4 ${kind}_buffer ${{EXE}}\n  | ERROR: BufferingHazard\n  | in words" for kind in ("zero", "infty"))
TWO = "\n".join(f"  $ mpirun -np 2 ${{EXE}} {number}\n  | ERROR: CallMatching\n  | in words" for number in (1, 2))


def read(tests, rma="Lacking"):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "one.c"
        source.write_text(HEAD.format(tests=tests, rma=rma))
        return diagnosis.read(source)


class Labels(unittest.TestCase):
    def test_one_test(self):
        (test,) = read(ONE)
        self.assertEqual((test.ranks, test.arguments, test.label, test.feature), (3, ("1",), "OK", "P2P"))

    def test_arguments_make_several_tests_and_buffers_do_not(self):
        self.assertEqual([test.arguments for test in read(TWO, rma="Yes")], [("1",), ("2",)])
        (test,) = read(BOTH_BUFFERS, rma="Yes")
        self.assertEqual((test.ranks, test.label, test.feature), (4, "BufferingHazard", "RMA"))

    def test_other_files_have_none(self):
        self.assertEqual(read("nothing"), [])


class Counts(unittest.TestCase):
    def test_recall_and_precision(self):
        wrong, right = read(TWO), read(ONE)
        tests = wrong + right
        answers = {(wrong[0], "check"): "told", (wrong[1], "check"): "late", (right[0], "check"): "told"}
        *_, whole = diagnosis.rows(tests, answers, "check")
        self.assertEqual(whole, ("all", 1, 1, 1, 0, "0.500", "0.500"))
        self.assertEqual(list(diagnosis.classes(tests, answers, ["check"])), [("CallMatching", 2, 1), ("OK", 1, 1)])


if __name__ == "__main__":
    unittest.main()
