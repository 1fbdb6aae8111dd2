"""The tests of MPICH's C interface (test/mpi in its sources), built with our mpicc and judged as their own runtests judges them; and once more
for each other family of MPI libraries, built with its mpicc, of which Clump's mpiexec runs the programs as they are, and beside it the family's own
mpiexec. Those that pass in one way only stand in build/real/NAME.md.

Left out are Fortran's folders; C++ is no part of MPI any more.
mpich_differences.txt says which other tests are not run, and why.
"""

import fnmatch
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import leash
from checks import PASSED, Check, first_words
from python import VARIABLES
from sources import run_quietly

PACKAGE = "mpich"
FOLDERS = ["attr", "coll", "comm", "datatype", "errhan", "group", "info", "init", "io", "mpi_t", "part", "pt2pt", "rma", "spawn", "topo",
           "threads/coll", "threads/comm", "threads/init", "threads/mpi_t", "threads/part", "threads/pt2pt", "threads/rma", "threads/spawn",
           "errors/attr", "errors/basic", "errors/coll", "errors/comm", "errors/datatype", "errors/group", "errors/io", "errors/pt2pt", "errors/rma", "errors/topo"]
NATIVE = {"mpich": ["mpiexec"], "openmpi": ["mpiexec", "--oversubscribe", "--allow-run-as-root"]}  # how a family's own job is started
MANY = 100_000  # messages of so many random datatypes, thousands of times


@dataclass(frozen=True)
class Suite:
    family: str = ""  # the folder of its compiler wrappers among the peers; "": ours

    @property
    def NAME(self):
        return f"mpich-tests-{self.family}" if self.family else "mpich-tests"

    def build(self, place):
        folder, version = place.archive.source(PACKAGE, place.folder, members=["test/mpi", "maint/version.m4"])
        tests, wrappers = folder / "test/mpi", place.peers / self.family / "bin" if self.family else place.bin
        if not (tests / "Makefile").exists():
            place.say("configuring")
            run_quietly(["./configure", f"--with-mpi={wrappers.parent}", "--enable-fortran=none", "--disable-cxx",
                         "--disable-perftest", "--disable-collalgo-tests", "--enable-threads=multiple",
                         "--enable-strictmpi", f"MPICC={wrappers / 'mpicc'}", f"MPICXX={wrappers / 'mpicxx'}", "CFLAGS=-O1 -g"],
                        place.logs / "configure.txt", cwd=tests)  # fmt: skip
        flags = f"CPPFLAGS=-include {Path(__file__).with_name('mpich_compat.h')}"
        # What does not compile is found out when its turn to run comes.
        for part in ["util", "dtpools", *FOLDERS]:
            place.say(f"building {part}")
            goals = ["all"] if part in ("util", "dtpools") else ["check-am", "TESTS="]
            command = ["make", "-k", f"-j{place.jobs}", "-C", tests / part, *goals, flags]
            with (place.logs / f"make.{part.replace('/', '.')}.txt").open("w") as log:
                leash.run(command, stdout=log, stderr=subprocess.STDOUT)
        return version

    def checks(self, place):
        tests, differences = place.folder / "test/mpi", read_differences(self.family)
        for folder in FOLDERS:
            for name, line in tests_of(tests / folder):
                yield make_check(place, folder, name, line, differences, self.family)
                if self.family:
                    yield native_check(place, folder, name, line, self.family)

    def report(self, place, outcomes):
        """Lines of a table in markdown: the tests that pass in one way and not in another. `outcomes`: [(check, way, outcome)]."""
        ways, tests = list(dict.fromkeys(way for _, way, _ in outcomes)), {}
        for check, way, outcome in outcomes:
            tests.setdefault(f"{check.group}/{check.name}", {})[way] = outcome
        yield "| test | " + " | ".join(ways) + " |"
        yield "|---|" + "---|" * len(ways)
        for name, told in tests.items():
            if PASSED in (verdicts := {outcome.verdict for outcome in told.values()}) and len(verdicts) > 1:
                yield f"| {name} | " + " | ".join(in_words(told.get(way)) for way in ways) + " |"


SUITES = [Suite(), Suite("mpich"), Suite("openmpi")]


def tests_of(folder):
    """(name of the test, (program, number of ranks, settings)) of the folder's lists."""
    numbers = {}
    lines = [line for name in ("testlist", "testlist.dtp") if (folder / name).exists() for line in (folder / name).read_text().splitlines()]
    for line in lines:
        words = line.split("#")[0].split()
        if not words or (folder / words[0]).is_dir():
            continue
        program, ranks = words[0], words[1] if len(words) > 1 else "2"
        settings = [word.partition("=")[::2] for word in words[2:]]
        if any(key == "env" or (key == "strict" and value.lower() == "false") for key, value in settings):
            continue  # the same test again with a variable of MPICH's, or a test of what is MPICH's own
        numbers[program] = numbers.get(program, 0) + 1
        yield f"{program}.{ranks}" if numbers[program] == 1 else f"{program}.{ranks}.{numbers[program]}", (program, ranks, settings)


def in_words(outcome):
    """A cell of the table."""
    if outcome is None:
        return "not run"
    return outcome.verdict + (f": {outcome.reason}" if outcome.reason else "").replace("|", "\\|").replace("\n", " ")


def make_check(place, folder, name, line, differences, family):
    program, _, settings = line
    where = place.folder / "test/mpi" / folder
    skip = next((reason for pattern, reason in differences if fnmatch.fnmatch(f"{folder}/{program}", pattern)), "") or why_not_run(settings)
    if family:
        skip = skip or why_not_compiled(where / program)
    return check_of(place, folder, name, line, [place.bin / "mpiexec"], skip or unbuilt_functions(place, where, program))


def native_check(place, folder, name, line, family):
    """The same under the family's own mpiexec and library."""
    launcher, *options = NATIVE[family]
    skip = why_not_run(line[2]) or why_not_compiled(place.folder / "test/mpi" / folder / line[0])
    return check_of(place, folder, name, line, [place.peers / family / "bin" / launcher, *options], skip, way=family,
                    environment=VARIABLES.get(family, {}))


def check_of(place, folder, name, line, launcher, skip, **more):
    program, ranks, settings = line
    options, where = dict(settings), place.folder / "test/mpi" / folder
    arguments = [value for key, value in settings if key == "arg"]
    return Check(folder, name, [*launcher, "-n", ranks, where / program, *arguments], where, JUDGES[options.get("resultTest", "")], skip,
                 min(60, int(options.get("timeLimit", 60))), **more)


def why_not_compiled(program):
    """Of a family's compiler. What ours does not compile fails."""
    return "" if program.exists() else "this family's compiler does not make it: a test of what --enable-strictmpi leaves out, or of what the family lacks"


def why_not_run(settings):
    """Why a test is run in no way."""
    options = dict(settings)
    if "xfail" in options:
        return "MPICH's list says that it fails with MPICH"
    long = int(options.get("timeLimit", 0)) > 240 or any(number > MANY for number in counts_of(settings))
    return "takes a minute or more" if long else ""


def counts_of(settings):
    """The counts among a test's arguments."""
    return [int(found[1]) for key, value in settings if key == "arg" and (found := re.fullmatch(r"-(?:\w*cnt|count)=(\d+)", value))]


def read_differences(family):
    """[(pattern of folder/program, reason)]: those that count for all, and those that count for the family; for ours, whose name is
    empty, the line begins with the colon."""
    lines = Path(__file__).with_name("mpich_differences.txt").read_text().splitlines()
    found = [line.partition(" ")[::2] for line in lines if line and line[0] != "#"]
    return [(pattern.removeprefix(f"{family}:"), reason.strip()) for pattern, reason in found if ":" not in pattern or pattern.startswith(f"{family}:")]


def unbuilt_functions(place, folder, program):
    """Functions without a body that the program itself calls; what the suite's own library might call does not count."""
    objects = [folder / f"{program}.o", *folder.glob(f"{program}-*.o")]
    called = set()
    for name in objects:
        if name.exists():
            symbols = subprocess.run(["nm", "-u", name], capture_output=True, text=True, check=False).stdout.split()
            called |= {symbol.removeprefix("P") for symbol in symbols if symbol.startswith(("MPI_", "PMPI_"))}
    missing = sorted(called & place.missing)
    return f"needs {', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''}" if missing else ""


def no_errors(code, text):
    """One line 'No Errors' and nothing else."""
    lines = [line for line in text.splitlines() if line.strip()]
    wrong = [line for line in lines if not re.fullmatch(r"\s*(No [Ee]rrors|Test Passed)\s*", line)]
    if wrong or code != 0:
        return f"exit code {code}: {first_words(chr(10).join(wrong))}"
    return "" if lines else "it did not print 'No Errors'"


def fails_silently(code, text):
    """Output is allowed, and the exit code must not be 0."""
    return "" if code != 0 else f"exit code 0, but the job should have failed: {first_words(text)}"


def no_errors_but_fails(code, text):
    return no_errors(0, text) or fails_silently(code, text)


JUDGES = {"": no_errors, "TestStatus": fails_silently, "TestErrFatal": fails_silently, "TestStatusNoErrors": no_errors_but_fails}
