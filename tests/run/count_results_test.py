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
    def count(self, **files):
        """The exit code and the lines for these files; the first one's name is handed over."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                (Path(folder) / f"{name.replace('_', '.')}.xml").write_text(text)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                code = count_results.main([f"{folder}/{next(iter(files))}.xml"])
        return code, printed.getvalue().splitlines()

    def test_all_pass(self):
        code, lines = self.count(release=junit(a="run", b="notrun"))
        self.assertEqual((code, lines[-1]), (0, "1 passed, 0 failed, 1 skipped"))

    def test_one_fails(self):
        code, lines = self.count(release=junit(a="run", b="fail"))
        self.assertEqual((code, lines[0], lines[-1]), (1, "failed: b (build/release)", "1 passed, 1 failed"))

    def test_passes_alone(self):
        code, lines = self.count(release=junit(a="run", b="fail"), release_alone=junit(b="run"))
        self.assertEqual((code, lines[0], lines[-1]), (0, "failed beside other tests, passed alone: b (build/release)", "2 passed, 0 failed"))

    def test_fails_alone_too(self):
        code, lines = self.count(release=junit(a="run", b="fail"), release_alone=junit(b="fail"))
        self.assertEqual((code, lines[0], lines[-1]), (1, "failed: b (build/release)", "1 passed, 1 failed"))

    def test_nothing_ran(self):
        self.assertEqual(self.count(release=junit())[0], 1)


if __name__ == "__main__":
    unittest.main()
