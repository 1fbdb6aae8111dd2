"""How `./dev real debian` judges runs and what its table says, without running anything."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import debian
import debian_physics
import debian_tools
from checks import FAILED, PASSED, SKIPPED, Outcome
from debian_case import Case, Run, no_other_lines, same_lines, same_numbers, says
from debian_root import make_root
from sources import Missing

PEER = Case("c", "p", "c").peer


class Folders(unittest.TestCase):
    def setUp(self):
        self.top = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_of(self, way, ranks=2, code=0, milliseconds=500, **files):
        """A run that has left these files."""
        run = Run(self.top / f"{way}.{ranks}", ranks)
        run.folder.mkdir()
        left = {"output_txt": "", **files, "code_txt": str(code), "milliseconds_txt": str(milliseconds)}
        for name, text in left.items():
            (run.folder / name.replace("_", ".")).write_text(text)
        return run


class Judges(Folders):
    def test_numbers_within_a_tolerance(self):
        ours, peer = self.run_of("clump", output_txt="e 1.0001\ne 5\n"), self.run_of("openmpi", output_txt="e 1\ne 5\n")
        self.assertEqual(same_numbers(r"^e (\S+)", relative=1e-3)(ours, peer), "")
        self.assertIn("1.0001 where Open MPI has 1.0", same_numbers(r"^e (\S+)", relative=1e-5)(ours, peer))
        self.assertIn("has 0 numbers", same_numbers(r"^f (\S+)")(ours, peer), "nothing compared is no agreement")
        self.assertIn("has 2 numbers", same_numbers(r"^e (\S+)", relative=1, at_least=3)(ours, peer))

    def test_lines(self):
        ours, peer = self.run_of("clump", output_txt="b\na\ntime 3\n"), self.run_of("openmpi", output_txt="a\nb\ntime 4\n")
        self.assertEqual(same_lines(leave_out="time", any_order=True)(ours, peer), "")
        self.assertIn("'b' where Open MPI has 'a'", same_lines(leave_out="time")(ours, peer))
        self.assertIn("has 0 lines", same_lines("none.txt")(ours, peer))

    def test_lines_of_launchers_do_not_count(self):
        ours, peer = self.run_of("clump", output_txt="usage\nmpiexec: rank 0 aborted\n  #0  main\n"), self.run_of("openmpi", output_txt="-----\nusage\n")
        self.assertEqual(no_other_lines(ours, peer), "")
        self.assertIn("'more'", no_other_lines(self.run_of("clump", 4, output_txt="usage\nmore\n"), peer))

    def test_a_case(self):
        case = Case("c", "p", "c", sound=says("done"), agree=same_lines())
        self.assertIn("it was not started", debian.judge(self.top, case, 2, debian.OURS))
        self.run_of("openmpi", output_txt="done\n1\n")
        self.assertEqual(debian.judge(self.top, case, 2, PEER), "")
        self.run_of("clump", output_txt="done\n2\n")
        self.assertIn("'2' where Open MPI has '1'", debian.judge(self.top, case, 2, debian.OURS))
        self.run_of("clump", 4, code=139, output_txt="done\n1\n")
        self.assertIn("exit code 139", debian.judge(self.top, case, 4, debian.OURS))

    def test_graphs(self):
        side = debian_tools.SIDE
        self.assertEqual(debian_tools.grid_graph(2).splitlines(), ["0", "4 8", "0 000", "2 2 1", "2 3 0", "2 0 3", "2 1 2"])
        stripes = {v: v // (side * side // 8) for v in range(side * side)}
        as_text = lambda parts: f"{len(parts)}\n" + "".join(f"{v}\t{part}\n" for v, part in parts.items())  # noqa: E731
        run = self.run_of("clump", parts_map=as_text(stripes))
        self.assertEqual(debian_tools.partition(run), "")
        self.assertTrue(7 * side <= debian_tools.edges_between(stripes) <= 8 * side)
        self.assertIn("parts of", debian_tools.partition(self.run_of("clump", 4, parts_map=as_text({v: 0 for v in range(side * side)}))))
        self.assertIn("maps 1 vertices", debian_tools.partition(self.run_of("clump", 16, parts_map=as_text({0: 0}))))

    def test_energies(self):
        block = "".join(f"{name:>15}" for name in ("Potential", "Kinetic En.", "Total Energy")) + "\n" + "".join(f"{x:>15}" for x in (-1.5, 2.5, 1.0))
        self.assertEqual(debian_physics.energy_column(block, "Total Energy"), [1.0])


class Needs(Folders):
    def test_without_root(self):
        with mock.patch("os.geteuid", return_value=1000), self.assertRaisesRegex(Missing, "it needs root"):
            make_root(self.top / "root", [], ["hpcc"], self.top / "log.txt")
        self.assertEqual(list(self.top.iterdir()), [])

    def test_a_program_that_stops(self):
        case = Case("c", "p", "c", stops=("MPI_File_open", "Cannot open"))
        self.assertEqual(debian.stopped_at(case, debian.OURS, "Cannot open x"), "MPI_File_open")
        self.assertEqual(debian.stopped_at(case, debian.OURS, "opened"), "")
        self.assertEqual(debian.stopped_at(case, PEER, "Cannot open x"), "")


class Table(unittest.TestCase):
    def outcome(self, verdict, reason=""):
        return Outcome(verdict, reason)

    def test_what_became_of_a_case(self):
        case = Case("c", "p", "c")
        mine = {2: self.outcome(PASSED), 4: self.outcome(PASSED), 16: self.outcome(FAILED, "exit code 1")}
        self.assertEqual(debian.result_of(case, mine, {}), "equal (2, 4 ranks); FAILED: exit code 1 (16 ranks)")
        told = {("c", 2, PEER): self.outcome(FAILED, "exit code 3")}
        self.assertEqual(debian.result_of(case, {2: self.outcome(SKIPPED, "MPI_File_open is not built")}, told),
                         "stops: MPI_File_open is not built; Open MPI's own run: exit code 3 (2 ranks)")

    def test_cases_can_be_told_apart(self):
        names = [case.name for case in debian.CASES]
        self.assertEqual(len(names), len(set(names)))
        for case in debian.CASES:
            for name in case.files:
                self.assertTrue((debian.INPUTS / name).is_file(), name)


if __name__ == "__main__":
    unittest.main()
