"""What count_results.py makes of ctest's files."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import count_results


def junit(**tests):
    cases = "".join(f'<testcase name="{name}" time="1" status="{status}"/>' for name, status in tests.items())
    return f"<testsuite>{cases}</testsuite>"


class CountResults(unittest.TestCase):
    def count(self, seconds=None, **files):
        """The exit code and the lines for these files; the first one's name is handed over. `seconds` of tests are those of build/release."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                (Path(folder) / f"{name.replace('_', '.')}.xml").write_text(text)
            measured = Path(folder) / "release" / "core-seconds"
            measured.mkdir(parents=True)
            for name, text in (seconds or {}).items():
                (measured / name).write_text(text)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                code = count_results.main(["--builds", folder, f"{folder}/{next(iter(files))}.xml"])
        return code, printed.getvalue().splitlines()

    def test_all_pass(self):
        code, lines = self.count(release=junit(a="run", b="notrun"))
        self.assertEqual((code, lines[-1]), (0, "1 passed, 0 failed, 1 skipped"))

    def test_one_fails(self):
        code, lines = self.count(release=junit(a="run", b="fail"))
        self.assertEqual((code, lines[-2:]), (1, ["failed: b (build/release)", "1 passed, 1 failed"]))

    def test_passes_alone(self):
        code, lines = self.count(release=junit(a="run", b="fail"), release_alone=junit(b="run"))
        self.assertEqual((code, lines[-2:]), (0, ["  b (build/release): passed alone", "2 passed, 0 failed"]))
        self.assertIn("fault of the test", lines[-3])

    def test_fails_alone_too(self):
        code, lines = self.count(release=junit(a="run", b="fail"), release_alone=junit(b="fail"))
        self.assertEqual((code, lines[-2:]), (1, ["failed: b (build/release)", "1 passed, 1 failed"]))

    def test_seconds_are_added_up_by_kind(self):
        names = ("mpi.p2p.a.2", "mpi.p2p.a.2.threads", "mpi.rma.b.16.hosts4", "image.c")
        report = "<testsuite>" + "".join(f'<testcase name="{name}" status="run"/>' for name in names) + "</testsuite>"
        lines = self.count({"mpi.p2p.a.2": "1.5 0.5", "mpi.p2p.a.2.threads": "1 0", "mpi.rma.b.16.hosts4": "0 2"}, release=report)[1]
        self.assertEqual(lines[0], "core-seconds of the 4 tests of build/release: 5: mpi.p2p 3, hosts.rma 2, image 0")
        self.assertTrue(lines[1].startswith("  most: mpi.p2p.a.2 2.0, mpi.rma.b.16.hosts4 2.0, mpi.p2p.a.2.threads 1.0"), lines[1])

    def test_what_is_not_built_has_failed(self):
        report = '<testsuite><testcase name="a" status="run"/><testcase name="b" status="notrun"><skipped message="Required Files Missing"/></testcase></testsuite>'
        self.assertEqual(self.count(release=report)[1][-2:], ["failed: b (build/release)", "1 passed, 1 failed"])

    def test_nothing_ran(self):
        self.assertEqual(self.count(release=junit())[0], 1)

    def test_no_report(self):
        self.assertEqual(count_results.main(["/nonexistent/release.xml"]), 1)


if __name__ == "__main__":
    unittest.main()
