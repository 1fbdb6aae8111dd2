"""Which tests belong to a set, which of them have to run, and what they need of the build.

    python3 sets.py files   --build DIR --set SET [--regex REGEX]
    python3 sets.py numbers --build DIR --set SET [--regex REGEX] [--label LABEL] [--again]
    python3 sets.py passed  --build DIR REPORT...

files    prints what ninja has to build for the tests; 'all' if a test does not say what it needs. Exit code 2: REGEX is wrong, or no test has such a name.
numbers  prints the tests for ctest's option -I, which means other tests when it stands beside -L, -LE, -R or -E. First a line of those with the label
         waits, then one of the others; a line is empty if it has no tests. LABEL: only tests that have it. A test that has passed is left out as long as
         all that it uses is as it was (inputs.py), but with --again.
passed   notes which of those have passed, by ctest's JUnit REPORTs and the NAME.alone.xml beside them.

SET is quick, all or nightly, and each has the tests of those before it; soak has the tests with the label soak besides those of `all`. A test with the label
soak or nightly is in that set. The set of another one is that of the first row of sets.csv whose pattern matches the whole name, and quick if there is none.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import count_results
import inputs

HERE = Path(__file__).resolve().parent
SETS = ("quick", "all", "nightly")
# The target of what every test may use: libraries and tools.
PRODUCT = "clump_tested"


class Rule(NamedTuple):
    pattern: re.Pattern
    set: str
    why: str


def rules(path=HERE / "sets.csv"):
    with open(path, newline="") as file:
        rows = [Rule(re.compile(row["pattern"]), row["set"], row["why"]) for row in csv.DictReader(file)]
    for row in rows:
        if row.set not in SETS:
            raise SystemExit(f"{path}: the set of {row.pattern.pattern} is '{row.set}': write one of {', '.join(SETS)}")
    return rows


def set_of(test, table):
    for label in ("nightly", "soak"):
        if label in test.labels:
            return label
    return next((rule.set for rule in table if rule.pattern.fullmatch(test.name)), "quick")


def sets_in(wanted):
    if wanted == "soak":
        return {"quick", "all", "soak"}
    return {"soak", *SETS} if wanted == "nightly" else set(SETS[:SETS.index(wanted) + 1])


def chosen(build, wanted, regex="", label=""):
    table = rules()
    return [test for test in inputs.tests_of(build)
            if set_of(test, table) in sets_in(wanted) and re.search(regex, test.name) and (not label or label in test.labels)]


def print_files(build, tests):
    if not all(inputs.says_what_it_needs(test, build) for test in tests):
        print("all")
        return
    # What is written when the tree is configured is there already, and ninja does not know it.
    listed = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], check=True, capture_output=True, text=True).stdout
    can_be_built = {line.rsplit(":", 1)[0] for line in listed.splitlines()}
    named = {os.path.relpath(path, build) for test in tests for path in inputs.named_files(test)}
    print("\n".join([PRODUCT, *sorted(named & can_be_built)]))


def file_of(build, name):
    return Path(build) / f"{name}.json"


def read(path):
    return json.loads(path.read_text()) if path.exists() else {}


def write(path, digests):
    path.write_text(json.dumps(digests, indent=0, sort_keys=True))


def print_numbers(build, tests, again):
    """What begins to run has not passed until it is noted, also if it is interrupted."""
    of, passed, table = inputs.Inputs(build), read(file_of(build, "passed")), rules()
    digests = {test.name: of.digest(test, quick=set_of(test, table) == "quick") for test in tests}
    due = [test for test in tests if again or passed.get(test.name) != digests[test.name]]
    write(file_of(build, "passed"), {name: digest for name, digest in passed.items() if name not in {test.name for test in due}})
    write(file_of(build, "due"), {test.name: digests[test.name] for test in due})
    if len(due) < len(tests):
        print(f"{len(tests) - len(due)} of {len(tests)} tests have passed with all that they use: not run again", file=sys.stderr)
    for waits in (True, False):
        numbers = [str(test.number) for test in due if ("waits" in test.labels) is waits]
        print(",".join(["0,0,0", *numbers]) if numbers else "")


def note_passed(build, reports):
    passed, due = read(file_of(build, "passed")), read(file_of(build, "due"))
    for report in map(Path, reports):
        if report.exists():
            for name, outcome in {**count_results.outcomes(report), **count_results.second_results(report)}.items():
                if outcome == "passed" and name in due:
                    passed[name] = due[name]
    write(file_of(build, "passed"), passed)


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("files", "numbers", "passed"))
    parser.add_argument("reports", nargs="*")
    parser.add_argument("--build", required=True, type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--set", choices=(*SETS, "soak"), default="quick")
    parser.add_argument("--regex", default="")
    parser.add_argument("--label", default="")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_intermixed_args(words)
    if options.what == "passed":
        note_passed(options.build, options.reports)
        return 0
    try:
        tests = chosen(options.build, options.set, options.regex, options.label)
    except re.error as error:
        print(f"-R '{options.regex}' is no regular expression: {error}", file=sys.stderr)
        return 2
    if not tests:
        print(f"-R '{options.regex}': no test of the set '{options.set}' has such a name; 'ctest --test-dir {options.build} -N' lists all", file=sys.stderr)
        return 2
    if options.what == "files":
        print_files(options.build, tests)
    else:
        print_numbers(options.build, tests, options.again)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
