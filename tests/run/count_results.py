"""Adds up the results in ctest's JUnit files: core-seconds by kind of test, the tests that took most, those that failed, and 'N passed, N failed'
as the last line. NAME.alone.xml beside NAME.xml has the second results of tests that failed the first time; these count, and what passed only then is listed
as a fault of the test.

    python3 count_results.py [--builds DIR] REPORT...

DIR/PRESET/core-seconds has a file for each test with its seconds of processor time (tests/run/measured.c).

Exit code 1 if a test failed, if a file is missing (its ctest did not get as far as writing it), or if nothing ran.
"""

import argparse
import collections
import re
import signal
import sys
import xml.etree.ElementTree
from pathlib import Path


def outcome(case):
    """passed, failed or skipped: ctest gives status="run" to what passed, "fail" to what failed, "notrun" to what skipped itself and to what is not built."""
    status = case.get("status")
    if status == "run":
        return "passed"
    skipped = case.find("skipped")
    is_missing = skipped is not None and re.search("Required Files Missing|Unable to find executable", skipped.get("message", ""))
    return "failed" if status == "fail" or is_missing else "skipped"


def kind(name):
    """What a test is about: mpi.collectives, image, hosts.rma for a program of the chapter on several hosts."""
    words = name.split(".")
    if words[-1] in ("hosts2", "hosts3", "hosts4", "uneven"):
        return "hosts." + words[1]
    return ".".join(words[:2]) if words[0] == "mpi" else words[0]


def core_seconds(folder, name):
    """User and system time of a test in seconds; 0 if its file is not there, as when it was ended for taking too long."""
    path = folder / name
    return sum(map(float, path.read_text().split())) if path.is_file() else 0.0


def print_seconds(build, seconds):
    kinds = collections.Counter()
    for name, time in seconds.items():
        kinds[kind(name)] += time
    print(f"core-seconds of the {len(seconds)} tests of build/{build}: {sum(seconds.values()):.0f}: "
          + ", ".join(f"{name} {time:.0f}" for name, time in kinds.most_common(24)))
    print("  most: " + ", ".join(f"{name} {time:.1f}" for name, time in seconds.most_common(8)))


def outcomes(path):
    """{name: outcome} of a report."""
    return {case.get("name"): outcome(case) for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase")}


def second_results(path):
    """{name: outcome} of the tests that ran once more, alone; empty if none did."""
    alone = path.with_suffix(".alone.xml")
    return outcomes(alone) if alone.exists() else {}


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builds", type=Path, default=Path("build"))
    parser.add_argument("reports", nargs="+", type=Path)
    options = parser.parse_args(words)
    counts = collections.Counter()
    seconds = collections.defaultdict(collections.Counter)
    failed, unsteady, broken = [], [], False
    for path in options.reports:
        if not path.exists():
            print(f"no results from build/{path.stem}")
            broken = True
            continue
        build = path.stem.split("-waits")[0]
        second = second_results(path)
        for name, first in outcomes(path).items():
            result = second.get(name, first)
            counts[result] += 1
            seconds[build][name] = core_seconds(options.builds / build / "core-seconds", name)
            if result == "failed":
                failed.append(f"failed: {name} (build/{build})")
            elif name in second and result == "passed":
                unsteady.append(f"  {name} (build/{build}): {result} alone")
    for build, times in seconds.items():
        print_seconds(build, times)
    if unsteady:
        print("these tests failed beside others and not alone. That is a fault of the test: it depends on what else the machine does. Mend it:", *unsteady, sep="\n")
    if failed:
        print(*failed, sep="\n")
    line = f"{counts['passed']} passed, {counts['failed']} failed"
    print(line + (f", {counts['skipped']} skipped" if counts["skipped"] else ""))
    return 1 if broken or counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # so that `head` ends it without a word
    sys.exit(main(sys.argv[1:]))
