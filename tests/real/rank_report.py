"""Runs tests written in Python in one rank of a job, and writes what becomes of each into a file of this rank's own.

    rank_report.py FOLDER mpi4py TESTS [option ...]    mpi4py's tests, by its own test/main.py, which lies in TESTS
    rank_report.py FOLDER pytest [option ...]

The file's lines are: what happened (begin, passed, failed, skipped), a tab, the test, a tab, why; and "end" when all tests are through.
"""

import os
import re
import sys
import unittest
from pathlib import Path


def same_everywhere(name):
    """Names of parametrised tests may have addresses in them, which differ from rank to rank and from library to library."""
    return re.sub(r"\b\d{12,}\b", "ADDRESS", name)


class Report:
    def __init__(self, folder):
        self.file = (folder / f"{os.getpid()}.txt").open("w", encoding="utf-8", buffering=1)

    def say(self, what, test="", why=""):
        lines = [line for line in str(why).splitlines() if line.strip()]
        self.file.write(f"{what}\t{same_everywhere(test)}\t{lines[-1].strip()[:300] if lines else ''}\n")


class Result(unittest.TestResult):
    """A test of which a subtest fails has failed."""

    def __init__(self, report):
        super().__init__()
        self.report = report

    def startTest(self, test):
        super().startTest(test)
        self.report.say("begin", test.id())

    def addSuccess(self, test):
        super().addSuccess(test)
        self.report.say("passed", test.id())

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.report.say("passed", test.id())

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.report.say("failed", test.id(), "was expected to fail")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.report.say("skipped", test.id(), reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._wrong(test, self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self._wrong(test, self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._wrong(test, (self.failures + self.errors)[-1][1])

    def _wrong(self, test, text):
        print(text, file=sys.stderr, flush=True)
        self.report.say("failed", test.id(), text)


class Runner:
    def __init__(self, report):
        self.report = report

    def run(self, test):
        result = Result(self.report)
        result.startTestRun()
        test(result)
        result.stopTestRun()
        return result


class Plugin:
    """The same for pytest."""

    def __init__(self, report):
        self.report = report

    def pytest_runtest_logstart(self, nodeid):
        self.report.say("begin", nodeid)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.report.say("failed", report.nodeid, report.longreprtext)
        elif report.skipped:
            self.report.say("skipped", report.nodeid, report.longreprtext)
        elif report.when == "call":
            self.report.say("passed", report.nodeid)

    def pytest_collectreport(self, report):
        if report.failed:
            self.report.say("failed", report.nodeid, report.longreprtext)


def main():
    sys.path.pop(0)  # this folder's modules are not for the tests
    sys.dont_write_bytecode = True
    report, how, options = Report(Path(sys.argv[1])), sys.argv[2], sys.argv[3:]
    if how == "pytest":
        import pytest

        code = pytest.main(["-p", "no:cacheprovider", *options], plugins=[Plugin(report)])
        report.say("end")
        sys.exit(code)
    sys.path.insert(0, options[0])
    from main import TestProgram

    try:
        TestProgram(module=None, argv=["main.py", *options[1:]], testRunner=Runner(report))
    finally:
        report.say("end")


if __name__ == "__main__":
    main()
