"""Adds up the results in ctest's JUnit files, names the tests that failed, and prints 'N passed, N failed' as the last line.

Exit code 1 if a test failed, if a file is missing (its ctest did not get as far as writing it), or if nothing ran.
"""

import sys
import xml.etree.ElementTree
from pathlib import Path


def outcome(case):
    """passed, failed or skipped: ctest gives status="run" to what passed, "fail" to what failed."""
    status = case.get("status")
    if status == "run":
        return "passed"
    return "failed" if status == "fail" else "skipped"


def main(paths):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    broken = False
    for path in map(Path, paths):
        if not path.exists():
            print(f"no results from build/{path.stem}")
            broken = True
            continue
        for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
            result = outcome(case)
            counts[result] += 1
            if result == "failed":
                print(f"failed: {case.get('name')} (build/{path.stem})")
    line = f"{counts['passed']} passed, {counts['failed']} failed"
    print(line + (f", {counts['skipped']} skipped" if counts["skipped"] else ""))
    return 1 if broken or counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
