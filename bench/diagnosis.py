#!/usr/bin/env python3
"""How many of labelled programs does Clump tell to be wrong, and of how many right ones does it say so? Compiles and runs the programs of a
folder that say by themselves what is wrong with them, as those of the MPI Bugs Initiative do (docs/diagnosis.md says where its generators are),
in each mode, and prints recall and precision by class and by feature. A program is told to be wrong if its job fails or deadlocks and says so;
one that only takes too long is not told.
"""

import argparse
import csv
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

MODES = {"default": [], "check": ["--check=error"], "explore": ["--check=error", "--explore", "10"]}

@dataclass(frozen=True)
class Test:
    """A program, and one way to run it."""

    source: Path
    number: int
    ranks: int
    arguments: tuple
    label: str  # "OK", or the class of its error
    feature: str

    @property
    def name(self):
        return self.source.stem + (f" {' '.join(self.arguments)}" if self.arguments else "") + (f" ({self.number})" if self.number > 1 else "")


def feature_of(text):
    """What a program is about, by its list of features: one-sided communication, else collectives, else messages."""
    used = set(re.findall(r"^ +(\w+)(?:!\w+)?: Yes", text, flags=re.M))
    return next((feature for feature in ("RMA", "COLL", "P2P") if feature in used), "other")


def read(source):
    """How the file says that it is run, and with what outcome. Options for libraries with or without buffers come as variables; they are
    left out, and of tests that differ in these only the first one counts."""
    text = source.read_text(errors="replace")
    found = re.findall(r"^ *\$ *mpirun -np (\d+) (?:\$\w+ )?\$\{EXE\}(.*)\n *\| *(OK|ERROR: *\w+)", text, flags=re.M)
    tests = {}
    for ranks, arguments, label in found:
        key = int(ranks), tuple(arguments.split())
        tests.setdefault(key, Test(source, len(tests) + 1, *key, label.split()[-1], feature_of(text)))
    return list(tests.values())


def finish(command, seconds, log):
    """The exit code of a command, whose output goes into a file; None if it takes too long. All its processes end with it."""
    with open(log, "w") as output:
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return job.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
            return None


def compiled(source, options):
    """The program, or None if it cannot be compiled. One that is newer than its source is kept."""
    binary = options.work / source.stem
    if binary.exists() and binary.stat().st_mtime > source.stat().st_mtime:
        return binary
    command = [options.mpicc, "-g", "-O0", "-w", "-o", binary, source]
    return binary if finish(command, options.timeout, f"{binary}.compile") == 0 else None


def answers_of(tests, options):
    """{(test, mode): "told", "silent", "late" or "not compiled"} of the tests of one program."""
    binary, answers = compiled(tests[0].source, options), {}
    for test in tests:
        for mode in options.modes:
            if binary is None:
                answers[test, mode] = "not compiled"
                continue
            job = [options.mpiexec, *MODES[mode], "-n", str(test.ranks), binary, *test.arguments]
            code = finish(job, options.timeout, f"{binary}.{test.number}.{mode}")
            answers[test, mode] = "late" if code is None else "told" if code != 0 else "silent"
    return answers


def share(part, whole):
    return f"{part / whole:.3f}" if whole else ""


def rows(tests, answers, mode):
    """Of each feature, and of all: the counts that recall and precision are made of."""
    for feature in [*sorted({one.feature for one in tests}), "all"]:
        counts = Counter((one.label != "OK", answers[one, mode] == "told") for one in tests if feature in (one.feature, "all"))
        found, missed, false, silent = (counts[key] for key in ((True, True), (True, False), (False, True), (False, False)))
        yield feature, found, missed, false, silent, share(found, found + missed), share(found, found + false)


def classes(tests, answers, modes):
    for label in sorted({one.label for one in tests}):
        those = [one for one in tests if one.label == label]
        yield label, len(those), *(sum(answers[one, mode] == "told" for one in those) for mode in modes)


def table(head, lines):
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in (head, ["---"] * len(head), *lines)) + "\n"


def report(tests, answers, modes):
    text = ""
    for mode in modes:
        text += f"\n{mode}:\n\n" + table(("feature", "found", "missed", "false alarms", "right and silent", "recall", "precision"), rows(tests, answers, mode))
    text += "\ntests that are told to be wrong, by class:\n\n" + table(("class", "tests", *modes), classes(tests, answers, modes))
    for mode in modes:
        unexpected = [one for one in tests if (answers[one, mode] == "told") != (one.label != "OK")]
        text += f"\n{mode}, other than labelled ({len(unexpected)}):\n"
        text += "".join(f"  {one.label}: {one.name}: {answers[one, mode]}\n" for one in unexpected)
    return text


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path, metavar="DIR", help="the folder of programs (*.c)")
    parser.add_argument("--bin", type=Path, help="the folder of mpicc and mpiexec (default: those in PATH)")
    parser.add_argument("--modes", default=",".join(MODES), help="some of %(default)s")
    parser.add_argument("--only", default="", metavar="REGEX", help="programs whose name matches")
    parser.add_argument("--timeout", type=float, default=20, metavar="SECONDS", help="for one program (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many programs at a time (default: %(default)s)")
    parser.add_argument("--work", type=Path, default=Path("diagnosis"), metavar="FOLDER",
                        help="for programs, what they print, and results.csv (default: %(default)s)")  # fmt: skip
    options = parser.parse_args(arguments)
    options.modes = options.modes.split(",")
    if unknown := set(options.modes) - set(MODES):
        parser.error(f"--modes: {', '.join(sorted(unknown))}: there are {', '.join(MODES)}")
    for tool in ("mpicc", "mpiexec"):
        found = shutil.which(tool, path=options.bin)
        if found is None:
            parser.error(f"{tool} is not in {options.bin or 'PATH'}: give its folder by --bin")
        setattr(options, tool, found)
    options.work = options.work.absolute()
    return options


def main(arguments):
    options = parse(arguments)
    sources = [one for one in sorted(options.dir.glob("*.c")) if re.search(options.only, one.name)]
    programs = [tests for tests in map(read, sources) if tests]
    if not programs:
        sys.exit(f"diagnosis: {options.dir} has no labelled program" + (f" that matches {options.only}" if options.only else ""))
    options.work.mkdir(parents=True, exist_ok=True)
    answers, done = {}, 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for job in as_completed([pool.submit(answers_of, tests, options) for tests in programs]):
            answers.update(job.result())
            done += 1
            if done % 50 == 0 or done == len(programs):
                print(f"{done} of {len(programs)} programs", file=sys.stderr, flush=True)
    tests = [test for program in programs for test in program]
    with open(options.work / "results.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("test", "feature", "label", *options.modes))
        writer.writerows((one.name, one.feature, one.label, *(answers[one, mode] for mode in options.modes)) for one in tests)
    print(report(tests, answers, options.modes))


if __name__ == "__main__":
    main(sys.argv[1:])
