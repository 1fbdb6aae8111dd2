"""Adds up the results in ctest's JUnit files: seconds by kind of test, the slowest ones, those that failed, and 'N passed, N failed'
as the last line. NAME.alone.xml beside NAME.xml has the second results of tests that failed the first time; these count.

Exit code 1 if a test failed, if a file is missing (its ctest did not get as far as writing it), or if nothing ran.
"""

import collections
import signal
import sys
import xml.etree.ElementTree
from pathlib import Path


def outcome(case):
    """passed, failed or skipped: ctest gives status="run" to what passed, "fail" to what failed."""
    status = case.get("status")
    if status == "run":
        return "passed"
    return "failed" if status == "fail" else "skipped"


def kind(name):
    """What a test is about: mpi.collectives, image, cluster (which is the last word of a test that runs on several hosts)."""
    words = name.split(".")
    if words[-1] in ("hosts2", "hosts3", "hosts4", "uneven"):
        return "hosts." + words[1]
    return ".".join(words[:2]) if words[0] == "mpi" else words[0]


def print_seconds(build, seconds):
    """Where the time goes; tests run side by side, so this is more than passes on a clock."""
    kinds = collections.Counter()
    for name, time in seconds.items():
        kinds[kind(name)] += time
    print(f"seconds of build/{build}: " + ", ".join(f"{name} {time:.0f}" for name, time in kinds.most_common(24)))
    print("  slowest: " + ", ".join(f"{name} {time:.0f}" for name, time in seconds.most_common(8)))


def cases_in(path):
    return list(xml.etree.ElementTree.parse(path).getroot().iter("testcase"))


def second_results(path):
    """{name: outcome} of the tests that ran once more, alone; empty if none did."""
    alone = path.with_suffix(".alone.xml")
    return {case.get("name"): outcome(case) for case in cases_in(alone)} if alone.exists() else {}


def main(paths):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    broken = False
    for path in map(Path, paths):
        if not path.exists():
            print(f"no results from build/{path.stem}")
            broken = True
            continue
        seconds = collections.Counter()
        second = second_results(path)
        for case in cases_in(path):
            name = case.get("name")
            seconds[name] += float(case.get("time", 0))
            result = second.get(name, outcome(case))
            counts[result] += 1
            if result == "failed":
                print(f"failed: {name} (build/{path.stem})")
            elif name in second:
                print(f"failed beside other tests, {result} alone: {name} (build/{path.stem})")
        print_seconds(path.stem, seconds)
    line = f"{counts['passed']} passed, {counts['failed']} failed"
    print(line + (f", {counts['skipped']} skipped" if counts["skipped"] else ""))
    return 1 if broken or counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # so that `head` ends it without a word
    sys.exit(main(sys.argv[1:]))
