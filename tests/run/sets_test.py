"""Which tests sets.py chooses, what it says they need, and when it runs them again. CLUMP_BUILD names the build tree, whose tests sets.csv is about."""

import contextlib
import io
import os
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import inputs
import sets


def a_test(name="mpi.p2p.a.2", number=1, command=(), **properties):
    return inputs.Test(number, name, list(command), properties)


RULES = [sets.Rule(re.compile(r"mpi\..*\.threads"), "all", ""), sets.Rule(re.compile(r"mpi\.slow\..*"), "nightly", "")]


class Choice(unittest.TestCase):
    def test_the_first_rule_decides(self):
        self.assertEqual(sets.set_of(a_test("mpi.slow.a.threads"), RULES), "all")
        self.assertEqual(sets.set_of(a_test("mpi.slow.a"), RULES), "nightly")

    def test_a_pattern_is_for_the_whole_name(self):
        self.assertEqual(sets.set_of(a_test("mpi.p2p.a.threads.more"), RULES), "quick")

    def test_labels_go_before_rules(self):
        self.assertEqual(sets.set_of(a_test("mpi.p2p.a.threads", LABELS=["mpi", "nightly"]), RULES), "nightly")
        self.assertEqual(sets.set_of(a_test("mpi.p2p.a.threads", LABELS=["soak"]), RULES), "soak")

    def test_each_set_has_those_before_it(self):
        self.assertEqual(sets.sets_in("quick"), {"quick"})
        self.assertEqual(sets.sets_in("all"), {"quick", "all"})
        self.assertEqual(sets.sets_in("soak"), {"quick", "all", "soak"})
        self.assertEqual(sets.sets_in("nightly"), {"quick", "all", "nightly", "soak"})


class Table(unittest.TestCase):
    def test_each_row_is_about_a_test(self):
        names = [test.name for test in inputs.tests_of(os.environ["CLUMP_BUILD"])]
        for rule in sets.rules():
            self.assertTrue(rule.why, f"sets.csv: {rule.pattern.pattern} has no reason")
            self.assertTrue(any(map(rule.pattern.fullmatch, names)), f"sets.csv: no test has a name like {rule.pattern.pattern}: take the row out")

    def test_quick_tests_say_what_they_need(self):
        build = os.environ["CLUMP_BUILD"]
        silent = [test.name for test in sets.chosen(build, "quick") if not inputs.says_what_it_needs(test, build)]
        self.assertEqual(silent, [], "these start programs and do not name them in REQUIRED_FILES, so that all would be built for them")


class Needs(unittest.TestCase):
    def test_what_a_command_names(self):
        with tempfile.TemporaryDirectory() as build:
            test = a_test(command=[f"{build}/bin/mpiexec", "-n", "2", f"{build}/bin/a", build], REQUIRED_FILES=[f"{build}/lib/b.so"])
            self.assertEqual(inputs.named_files(test), {f"{build}/bin/mpiexec", f"{build}/bin/a", f"{build}/lib/b.so"})

    def test_a_script_has_to_say(self):
        python = ["/usr/bin/python3", "-m", "unittest", "a_test"]
        told = ["CLUMP_BUILD=/b"]
        self.assertTrue(inputs.says_what_it_needs(a_test(command=["/b/bin/mpiexec", "-n", "2", "/b/bin/a"]), "/b"))
        self.assertTrue(inputs.says_what_it_needs(a_test(command=python), "/b"))
        self.assertFalse(inputs.says_what_it_needs(a_test(command=python, ENVIRONMENT=told), "/b"))
        self.assertFalse(inputs.says_what_it_needs(a_test(command=[*python, "--include", "/b/include"]), "/b"))
        self.assertTrue(inputs.says_what_it_needs(a_test(command=python, ENVIRONMENT=told, REQUIRED_FILES=["/b/bin/a"]), "/b"))


class Again(unittest.TestCase):
    """A test that has passed runs again when something that it uses is not as it was."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name)
        self.build = self.source / "build" / "release"
        self.files = ("tests/corpus/corpus_test.py", "tests/launcher/tool.py", "tests/mpi/p2p/a.c", "docs/index.md", "tools/gdb/ranks.py")
        for name in (*self.files, *(f"build/release/{name}" for name in ("lib/libmpi_abi.so.1", "bin/mpiexec", "bin/clump-channels", "bin/a", "bin/other"))):
            (self.source / name).parent.mkdir(parents=True, exist_ok=True)
            (self.source / name).write_text(name)
        patch = mock.patch.object(inputs, "SOURCE", self.source)
        patch.start()
        self.addCleanup(patch.stop)

    def program(self, *more, **properties):
        return a_test(command=[f"{self.build}/bin/mpiexec", f"{self.build}/bin/a", *more], **properties)

    def script(self):
        return self.program(WORKING_DIRECTORY=f"{self.source}/tests/corpus", ENVIRONMENT=[f"CLUMP_BUILD={self.build}"], REQUIRED_FILES=[f"{self.build}/bin/a"])

    def digest(self, test, quick=False):
        return inputs.Inputs(self.build, [name for name in self.files if (self.source / name).exists()]).digest(test, quick)

    def assert_runs_again(self, wanted, test, name, change=lambda path: path.write_text("something else")):
        before = self.digest(test)
        change(self.source / name)
        self.assertEqual(self.digest(test) != before, wanted, name)

    def test_nothing_has_changed(self):
        self.assertEqual(self.digest(self.program()), self.digest(self.program()))

    def test_a_program_runs_again_for_the_product_and_itself(self):
        for name in ("build/release/lib/libmpi_abi.so.1", "build/release/bin/a", "build/release/bin/clump-channels", "tools/gdb/ranks.py"):
            self.assert_runs_again(True, self.program(), name)
        for name in ("build/release/bin/other", "tests/mpi/p2p/a.c", "tests/launcher/tool.py", "docs/index.md"):
            self.assert_runs_again(False, self.program(), name)

    def test_the_first_set_does_without_the_bindings(self):
        for name in ("libmpifort_abi.so.1", "clump/mpich/libmpi.so.12"):
            before, of_all = self.digest(self.program(), quick=True), self.digest(self.program())
            path = self.build / "lib" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
            self.assertEqual(self.digest(self.program(), quick=True), before)
            self.assertNotEqual(self.digest(self.program()), of_all)

    def test_a_unit_test_uses_itself_and_what_it_names(self):
        test = a_test("unit.a", command=[f"{self.build}/bin/a"], REQUIRED_FILES=[f"{self.source}/docs/index.md"])
        self.assert_runs_again(False, test, "build/release/lib/libmpi_abi.so.1")
        self.assert_runs_again(True, test, "docs/index.md")

    def test_a_script_runs_again_for_all_scripts(self):
        for name in ("tests/corpus/corpus_test.py", "tests/launcher/tool.py"):
            self.assert_runs_again(True, self.script(), name)
        for name in ("docs/index.md", "tests/mpi/p2p/a.c", "build/release/bin/other"):
            self.assert_runs_again(False, self.script(), name)

    def test_what_is_removed_or_older_counts(self):
        self.assert_runs_again(True, self.script(), "tests/launcher/tool.py", Path.unlink)
        self.assert_runs_again(True, self.program(), "build/release/bin/a", lambda path: os.utime(path, (100, 100)))

    def test_some_look_everywhere(self):
        self.assert_runs_again(True, a_test("docs.links"), "docs/index.md")

    def test_its_own_words_and_variables_count(self):
        before = self.digest(self.program())
        self.assertNotEqual(self.digest(self.program("-v")), before)
        self.assertNotEqual(self.digest(self.program(PASS_REGULAR_EXPRESSION=["x"])), before)
        with mock.patch.dict(os.environ, CLUMP_RANKS="processes"):
            self.assertNotEqual(self.digest(self.program()), before)

    def run_and_note(self, *outcomes):
        """The tests that are due, of three named a, b and c; then they end so."""
        tests = [self.program()._replace(number=number, name=name) for number, name in enumerate("abc", start=1)]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()), mock.patch.object(inputs, "files_of_repository", lambda: self.files):
            sets.print_numbers(self.build, tests, again=False)
        report = self.build / "release.xml"
        report.write_text("<testsuite>" + "".join(f'<testcase name="{name}" status="{status}"/>' for name, status in outcomes) + "</testsuite>")
        sets.note_passed(self.build, [report])
        return printed.getvalue().split("\n")[1]

    def test_what_has_passed_is_left_out(self):
        self.assertEqual(self.run_and_note(("a", "run"), ("b", "fail")), "0,0,0,1,2,3")
        self.assertEqual(self.run_and_note(("b", "run"), ("c", "notrun")), "0,0,0,2,3")
        self.assertEqual(self.run_and_note(("c", "run")), "0,0,0,3")
        self.assertEqual(self.run_and_note(), "")
        (self.build / "bin/a").write_text("another program")
        self.assertEqual(self.run_and_note(), "0,0,0,1,2,3")
        self.assertEqual(self.run_and_note(), "0,0,0,1,2,3", "an interrupted run leaves none that has passed")


if __name__ == "__main__":
    unittest.main()
