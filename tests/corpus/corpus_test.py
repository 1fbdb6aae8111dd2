"""Runs all cases of the corpus: programs that are wrong in one way, with what is said about each, and correct ones about which nothing may
be said. The comments of the C files tell what is expected (corpus.h). How ranks run tells the environment: CLUMP_SCHEDULER, CLUMP_RANKS,
CLUMP_PER_PROCESS; with CLUMP_CLUSTER, a folder of hosts that tests/cluster/hosts.sh has made, they are on two hosts. `corpus_test.py CASE...` runs these cases only and shows what they say."""

import copy
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

BUILD = pathlib.Path(os.environ["CLUMP_BUILD"])
HERE = pathlib.Path(__file__).parent
SECONDS = 150  # after which a case hangs; each ends as soon as it can
AT_ONCE = 1 if "CLUMP_CLUSTER" in os.environ else 4  # most cases wait for a deadlock to be found

if "CLUMP_CLUSTER" in os.environ:
    sys.path.insert(0, str(HERE.parent / "cluster"))
    import cluster


class Case:
    def __init__(self, source: pathlib.Path, name: str, comment: str, marks: dict):
        self.program, self.name, self.argument = source.stem, name, name
        self.ranks, self.options, self.modes, self.stdin, self.quit, self.code, self.says = "2", [], None, None, None, None, []
        there = []
        self.lines = self.unchecked = None
        for key, value in re.findall(r"^ \* (\w+): (.*?)(?: \*/)?$", comment, re.MULTILINE):
            if key in ("says", "hosts"):
                (self.says if key == "says" else there).append(re.sub(r"@(\w+)", lambda mark: f"{source.name}:{marks[mark.group(1)]}", value))
            elif key == "options":
                self.options = value.split()
            elif key == "modes":
                self.modes = value.split()
            else:
                assert key in ("ranks", "stdin", "quit", "code", "lines", "unchecked"), f"{source.name}: {name}: {key}"
                setattr(self, key, value)
        if there and "CLUMP_CLUSTER" in os.environ:
            self.says = there

    def checked(self):
        """The same case with --check."""
        case = copy.copy(self)
        case.name, case.options = f"{self.name}-checked", [*self.options, "--check"]
        return case

    def command(self) -> list:
        words = [*self.options, "-n", self.ranks, str(BUILD / "bin" / f"corpus_{self.program}"), self.argument]
        mpiexec = str(BUILD / "bin" / "mpiexec")
        if "CLUMP_CLUSTER" not in os.environ:
            return [mpiexec, *words]
        return cluster.on("h0", mpiexec, "--host", "h0,h1" if int(self.ranks) > 1 else "h1", *words)

    def wrong(self, code: int, err: str) -> list:
        """What is not as expected."""
        wanted = self.code or ("1" if self.says else "0")
        problems = [] if wanted == "..." or code == int(wanted) else [f"exit code {code} instead of {wanted}"]
        if self.lines is not None and len(err.splitlines()) != int(self.lines):
            problems.append(f"it says {len(err.splitlines())} lines instead of {self.lines}")
        if not self.says and err:
            problems.append("it is not silent")
        for text in self.says:
            pattern = ".*".join(re.escape(part) for part in text.split("..."))
            if not re.search(pattern, err):
                problems.append(f"nothing says: {text}")
        return problems


def cases_of(source: pathlib.Path) -> list:
    """Marks belong to the case before them, or to all if they are before the first."""
    text = source.read_text()
    starts = list(re.finditer(r"^/\* CASE ([\w-]+)(?: \*/)?$", text, re.MULTILINE))
    found = []
    marks = {}
    for start, end in zip(starts, [*(s.start() for s in starts[1:]), len(text)]):
        part = text[start.start():end]
        first = text.count("\n", 0, start.start()) + 1
        own = {mark.group(1): first + part.count("\n", 0, mark.start()) for mark in re.finditer(r"/\* @(\w+) \*/", part)}
        comment = part[: part.index("*/") + 2]
        found.append(Case(source, start.group(1), comment, {**marks, **own}))
        marks = own  # what lies before a case may be a helper of it
    return found


def all_cases() -> list:
    cases = [case for source in sorted(HERE.glob("*.c")) for case in cases_of(source)]
    if "CLUMP_CLUSTER" in os.environ:
        return cases  # there is time for programs that are written for --check
    return cases + [case.checked() for case in cases if case.program == "silent" and case.unchecked is None]


def mode() -> str:
    how = "per2" if "CLUMP_PER_PROCESS" in os.environ else os.environ.get("CLUMP_RANKS", os.environ.get("CLUMP_SCHEDULER", "fibers"))
    return f"hosts-{how}" if "CLUMP_CLUSTER" in os.environ else how


def run(case: Case) -> tuple:
    job = subprocess.Popen(case.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    if case.stdin is not None:
        time.sleep(0.4)
    if case.quit is not None:
        if select.select([job.stdout], [], [], SECONDS)[0]:  # begun(), or the end of the job
            job.stdout.readline()
        time.sleep(float(case.quit))
        job.send_signal(signal.SIGQUIT)
    try:
        _, err = job.communicate(f"{case.stdin}\n" if case.stdin is not None else "", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        job.kill()
        told = f"it has not ended within {SECONDS} s: {job.communicate()[1]}"
        print(f"{case.program} {case.name}: {told}", flush=True)  # now: if more of them hang, ctest ends this before unittest prints its failures
        return -1, told
    return job.returncode, err


def setUpModule() -> None:
    if "CLUMP_CLUSTER" in os.environ:
        cluster.skip_without_hosts()


class Corpus(unittest.TestCase):
    maxDiff = None

    def test_all(self):
        cases = [case for case in all_cases() if case.modes is None or mode() in case.modes]
        self.assertGreater(len(cases), 190 if "CLUMP_CLUSTER" in os.environ else 220)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for case, (code, err) in zip(cases, pool.map(run, cases)):
                with self.subTest(program=case.program, case=case.name):
                    self.assertEqual(case.wrong(code, err), [], err)


def main(names: list) -> int:
    failed = 0
    for case in all_cases():
        if names and case.name not in names and case.program not in names or case.modes is not None and mode() not in case.modes:
            continue
        begin = time.monotonic()
        code, err = run(case)
        problems = case.wrong(code, err)
        failed += bool(problems)
        print(f"{'WRONG' if problems else 'ok'} {case.program} {case.name} ({time.monotonic() - begin:.1f} s, exit code {code})")
        if problems or names:
            print(err, *problems, sep="\n  ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
