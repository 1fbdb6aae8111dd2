"""Which tests belong to a set, which of them have to run, and what they need of the build.

    python3 sets.py files   --build DIR --set SET [--regex REGEX]
    python3 sets.py numbers --build DIR --set SET [--regex REGEX] [--label LABEL] [--again]
    python3 sets.py passed  --build DIR --since SECONDS REPORT...

files    prints the files that the tests need, relative to DIR: ninja's targets. Prints 'all' if a test does not say what it needs.
numbers  prints the tests for ctest's option -I, which means other tests when it stands beside -L, -LE, -R or -E. First a line of those with the label
         waits, then one of the others; a line is empty if it has no tests. LABEL: only tests that have it. A test that has passed runs again only if
         something that it uses is newer, or with --again.
passed   notes that the tests that passed in ctest's JUnit REPORTs, the NAME.alone.xml beside them included, used what was there at SECONDS (of time.time()).

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
import time
from pathlib import Path
from typing import NamedTuple

import count_results

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
SETS = ("quick", "all", "nightly")
# The target of what every test may use: libraries and tools.
PRODUCT = "clump_tested"
# Tests that look at the whole of the repository.
LOOK_EVERYWHERE = re.compile(r"(abi|bench|docs|install|lab|layering|real|run)\.")
# What the Python modules of several folders import.
SHARED = ("tests/launcher", "tests/run", "tests/cluster")


class Rule(NamedTuple):
    pattern: re.Pattern
    set: str
    why: str


class Test(NamedTuple):
    number: int
    name: str
    command: list
    labels: list
    required: list
    environment: list
    folder: str


def rules(path=HERE / "sets.csv"):
    with open(path, newline="") as file:
        rows = [Rule(re.compile(row["pattern"]), row["set"], row["why"]) for row in csv.DictReader(file)]
    for row in rows:
        if row.set not in SETS:
            raise SystemExit(f"{path}: the set of {row.pattern.pattern} is '{row.set}': write one of {', '.join(SETS)}")
    return rows


def tests_of(build):
    """All tests of a build tree, as ctest knows them."""
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True, text=True).stdout
    found = []
    for number, entry in enumerate(json.loads(listed)["tests"], start=1):
        properties = {each["name"]: each["value"] for each in entry.get("properties", [])}
        command = entry.get("command", [])
        if command and command[0].endswith("/clump_measured"):
            command = command[2:]  # without the file that it writes
        found.append(Test(number, entry["name"], command, properties.get("LABELS", []), properties.get("REQUIRED_FILES", []),
                          properties.get("ENVIRONMENT", []), properties.get("WORKING_DIRECTORY", "")))
    return found


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
    return [test for test in tests_of(build)
            if set_of(test, table) in sets_in(wanted) and re.search(regex, test.name) and (not label or label in test.labels)]


def built_files(test, build):
    """The files of the build tree that a test names, relative to it. Whether they are built is not looked at."""
    named = [*test.command, *test.required]
    return {os.path.relpath(path, build) for path in named if path.startswith(f"{build}/") and not Path(path).is_dir()}


def says_what_it_needs(test, build):
    """A script that is told where the build tree is starts programs that its command does not show: it has to list them in REQUIRED_FILES."""
    told = any(re.search(re.escape(build) + r"(/bin|/include|/lib|/examples)?/?(:|$)", word) for word in [*test.command, *test.environment])
    return bool(test.required) or not told


def newest(paths):
    return max((path.stat().st_mtime for path in paths if path.is_file()), default=0.0)


class Inputs:
    """When what a test uses was last changed."""

    def __init__(self, build):
        self.build = Path(build)
        self.product = newest([*self.build.glob("lib/**/*.so*"), *(self.build / "bin" / tool for tool in ("mpiexec", "mpicc", "mpicxx", "mpifort", "clump"))])
        listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True,
                                text=True).stdout
        self.sources = {name: (SOURCE / name).stat().st_mtime for name in listed.split("\0") if name and (SOURCE / name).is_file()}

    def sources_below(self, folders):
        return max((time for name, time in self.sources.items() if any(name.startswith(f"{folder}/") for folder in folders)), default=0.0)

    def changed(self, test):
        files = newest(self.build / name for name in built_files(test, self.build))
        if test.name.startswith("unit."):
            return files
        if LOOK_EVERYWHERE.match(test.name) or not says_what_it_needs(test, str(self.build)):
            return max(files, self.product, newest(self.build.glob("bin/*")), max(self.sources.values()))
        text = " ".join([*test.command, *test.environment, test.folder])
        folders = {os.path.dirname(name) if os.path.splitext(name)[1] else name for name in re.findall(re.escape(str(SOURCE)) + r"/([^\s:;]+)", text)}
        return max(files, self.product, self.sources_below([*folders, *(SHARED if folders else ())]))


def passed_file(build):
    return Path(build) / "passed.json"


def read_passed(build):
    path = passed_file(build)
    return json.loads(path.read_text()) if path.exists() else {}


def write_passed(build, since, reports):
    passed = read_passed(build)
    for report in map(Path, reports):
        if not report.exists():
            continue
        for name, outcome in {**count_results.outcomes(report), **count_results.second_results(report)}.items():
            if outcome == "passed":
                passed[name] = since
            else:
                passed.pop(name, None)
    passed_file(build).write_text(json.dumps(passed, indent=0, sort_keys=True))


def print_files(build, tests):
    if not all(says_what_it_needs(test, build) for test in tests):
        print("all")
        return
    # What is written when the tree is configured is there already.
    listed = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], check=True, capture_output=True, text=True).stdout
    can_be_built = {line.rsplit(":", 1)[0] for line in listed.splitlines()}
    print("\n".join([PRODUCT, *sorted(set().union(*(built_files(test, build) for test in tests)) & can_be_built)]))


def print_numbers(build, tests, again):
    inputs, passed = Inputs(build), {} if again else read_passed(build)
    due = [test for test in tests if test.name not in passed or inputs.changed(test) >= passed[test.name]]
    if len(due) < len(tests):
        print(f"{len(tests) - len(due)} of {len(tests)} tests have passed with all that they use: not run again", file=sys.stderr)
    for waits in (True, False):
        numbers = [str(test.number) for test in due if ("waits" in test.labels) is waits]
        print(",".join(["0,0,0", *numbers]) if numbers else "")


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("files", "numbers", "passed"))
    parser.add_argument("reports", nargs="*")
    parser.add_argument("--build", required=True, type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--set", choices=(*SETS, "soak"), default="quick")
    parser.add_argument("--regex", default="")
    parser.add_argument("--label", default="")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--since", type=float, default=time.time())
    options = parser.parse_intermixed_args(words)
    if options.what == "passed":
        write_passed(options.build, options.since, options.reports)
    elif options.what == "files":
        print_files(options.build, chosen(options.build, options.set, options.regex))
    else:
        print_numbers(options.build, chosen(options.build, options.set, options.regex, options.label), options.again)


if __name__ == "__main__":
    main(sys.argv[1:])
