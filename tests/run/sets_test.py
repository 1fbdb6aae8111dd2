"""Which tests sets.py chooses, what it says they need, and when it runs them again. CLUMP_BUILD names the build tree, whose tests sets.csv is about."""

import os
import re
import tempfile
import unittest
from pathlib import Path

import sets


def a_test(name="mpi.p2p.a.2", number=1, command=(), labels=(), required=(), environment=(), folder=""):
    return sets.Test(number, name, list(command), list(labels), list(required), list(environment), folder)


RULES = [sets.Rule(re.compile(r"mpi\..*\.threads"), "all", ""), sets.Rule(re.compile(r"mpi\.slow\..*"), "nightly", "")]


class Choice(unittest.TestCase):
    def test_the_first_rule_decides(self):
        self.assertEqual(sets.set_of(a_test("mpi.slow.a.threads"), RULES), "all")
        self.assertEqual(sets.set_of(a_test("mpi.slow.a"), RULES), "nightly")

    def test_a_pattern_is_for_the_whole_name(self):
        self.assertEqual(sets.set_of(a_test("mpi.p2p.a.threads.more"), RULES), "quick")

    def test_labels_go_before_rules(self):
        self.assertEqual(sets.set_of(a_test("mpi.p2p.a.threads", labels=["mpi", "nightly"]), RULES), "nightly")
        self.assertEqual(sets.set_of(a_test("mpi.p2p.a.threads", labels=["soak"]), RULES), "soak")

    def test_each_set_has_those_before_it(self):
        self.assertEqual(sets.sets_in("quick"), {"quick"})
        self.assertEqual(sets.sets_in("all"), {"quick", "all"})
        self.assertEqual(sets.sets_in("soak"), {"quick", "all", "soak"})
        self.assertEqual(sets.sets_in("nightly"), {"quick", "all", "nightly", "soak"})


class Table(unittest.TestCase):
    def test_each_row_is_about_a_test(self):
        names = [test.name for test in sets.tests_of(os.environ["CLUMP_BUILD"])]
        for rule in sets.rules():
            self.assertTrue(rule.why, f"sets.csv: {rule.pattern.pattern} has no reason")
            self.assertTrue(any(map(rule.pattern.fullmatch, names)), f"sets.csv: no test has a name like {rule.pattern.pattern}: take the row out")

    def test_quick_tests_say_what_they_need(self):
        build = os.environ["CLUMP_BUILD"]
        silent = [test.name for test in sets.chosen(build, "quick") if not sets.says_what_it_needs(test, build)]
        self.assertEqual(silent, [], "these start programs and do not name them in REQUIRED_FILES, so that all would be built for them")


class Needs(unittest.TestCase):
    def test_what_a_command_names(self):
        with tempfile.TemporaryDirectory() as build:
            test = a_test(command=[f"{build}/bin/mpiexec", "-n", "2", f"{build}/bin/a", "/bin/true"], required=[f"{build}/lib/b.so"])
            self.assertEqual(sets.built_files(test, build), {"bin/mpiexec", "bin/a", "lib/b.so"})

    def test_a_script_has_to_say(self):
        python = ["/usr/bin/python3", "-m", "unittest", "a_test"]
        self.assertTrue(sets.says_what_it_needs(a_test(command=["/b/bin/mpiexec", "-n", "2", "/b/bin/a"]), "/b"))
        self.assertTrue(sets.says_what_it_needs(a_test(command=python), "/b"))
        self.assertFalse(sets.says_what_it_needs(a_test(command=python, environment=["CLUMP_BUILD=/b"]), "/b"))
        self.assertFalse(sets.says_what_it_needs(a_test(command=[*python, "--include", "/b/include"]), "/b"))
        self.assertTrue(sets.says_what_it_needs(a_test(command=python, environment=["CLUMP_BUILD=/b"], required=["/b/bin/a"]), "/b"))


class Again(unittest.TestCase):
    """A test that has passed runs again when something that it uses is newer than the time that stands for it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = folder.name
        for name in ("lib/libmpi_abi.so.1", "bin/mpiexec", "bin/a", "bin/other"):
            path = Path(self.build) / name
            path.parent.mkdir(exist_ok=True)
            path.touch()
            os.utime(path, (100, 100))

    def changed(self, test, name, sources=()):
        os.utime(Path(self.build) / name, (200, 200))
        inputs = sets.Inputs(self.build)
        inputs.sources = dict(sources)
        return inputs.changed(test)

    def program(self, **more):
        return a_test(command=[f"{self.build}/bin/mpiexec", f"{self.build}/bin/a"], **more)

    def test_a_new_library(self):
        self.assertEqual(self.changed(self.program(), "lib/libmpi_abi.so.1"), 200)

    def test_a_new_program(self):
        self.assertEqual(self.changed(self.program(), "bin/a"), 200)

    def test_the_program_of_another_test(self):
        self.assertEqual(self.changed(self.program(), "bin/other"), 100)

    def test_a_unit_test_uses_itself_alone(self):
        self.assertEqual(self.changed(a_test("unit.a", command=[f"{self.build}/bin/a"]), "lib/libmpi_abi.so.1"), 100)

    def test_a_script_and_those_beside_it(self):
        test = self.program(folder=f"{sets.SOURCE}/tests/corpus", required=[f"{self.build}/bin/a"])
        self.assertEqual(self.changed(test, "bin/other", [("tests/corpus/corpus_test.py", 300), ("docs/index.md", 400)]), 300)
        self.assertEqual(self.changed(test, "bin/other", [("tests/launcher/tool.py", 300)]), 300)

    def test_some_look_everywhere(self):
        self.assertEqual(self.changed(a_test("docs.links"), "bin/other", [("docs/index.md", 400)]), 400)

    def test_passed_and_failed(self):
        report = Path(self.build) / "release.xml"
        report.write_text('<testsuite><testcase name="a" status="run"/><testcase name="b" status="fail"/><testcase name="c" status="fail"/></testsuite>')
        report.with_suffix(".alone.xml").write_text('<testsuite><testcase name="c" status="run"/></testsuite>')
        sets.passed_file(self.build).write_text('{"b": 1.0, "d": 2.0}')
        sets.write_passed(self.build, 5.0, [report])
        self.assertEqual(sets.read_passed(self.build), {"a": 5.0, "c": 5.0, "d": 2.0})


if __name__ == "__main__":
    unittest.main()
